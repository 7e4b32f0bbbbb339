//! Counts what a read costs: requests, bytes, and round trips that had to wait for each other.
//!
//! The three figures do not depend on the machine's mood, so tests can hold them to a number.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::{LIST_PAGE, Request, yield_once};

/// What was asked of a [`CountingStore`] so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// GETs of bytes.
    pub gets: u64,
    /// HEADs.
    pub heads: u64,
    /// LISTs: one for every [`LIST_PAGE`] keys that were taken, and one for a listing without any.
    pub lists: u64,
    /// PUTs. A multipart upload counts once.
    pub puts: u64,
    /// Keys deleted.
    pub deletes: u64,
    /// Copies and renames.
    pub copies: u64,
    /// Bytes of objects that GETs answered with.
    pub bytes: u64,
    /// The longest chain of requests of which each started after the one before had ended.
    pub round_trips: u64,
}

impl Counts {
    /// Requests in all.
    pub fn requests(&self) -> u64 {
        self.gets + self.heads + self.lists + self.puts + self.deletes + self.copies
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} requests ({} GET, {} HEAD, {} LIST), {} bytes, {} round trips",
            self.requests(),
            self.gets,
            self.heads,
            self.lists,
            self.bytes,
            self.round_trips
        )
    }
}

/// One request that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What was asked for.
    pub request: Request,
    /// Of which key, or below which prefix.
    pub key: String,
    /// Its place in the longest chain of requests that led to it, from 1.
    pub depth: u64,
}

/// A store that counts.
///
/// A request's depth is one more than the greatest depth among the requests that had ended when it
/// started. Over a store that answers at once, requests of one `join` still share a depth: each
/// lets the others start before it ends. With a window of requests in flight, the depth is an upper
/// bound of the chain.
#[derive(Debug)]
pub struct CountingStore {
    inner: Arc<dyn ObjectStore>,
    log: Log,
}

impl CountingStore {
    /// Counts what is asked of `inner` from now on.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self {
            inner,
            log: Log::default(),
        }
    }

    /// What was asked since the start or the last [`CountingStore::take`].
    pub fn counts(&self) -> Counts {
        self.log.lock().counts
    }

    /// As [`CountingStore::counts`], and starts from nothing.
    pub fn take(&self) -> Counts {
        std::mem::take(&mut *self.log.lock()).counts
    }

    /// Every request, in the order in which they started.
    pub fn asked(&self) -> Vec<Asked> {
        self.log.lock().asked.clone()
    }
}

#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    asked: Vec<Asked>,
    /// The greatest depth among the requests that have ended.
    ended: u64,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, request: Request, key: impl fmt::Display) -> u64 {
        let mut state = self.lock();
        let counts = &mut state.counts;
        match request {
            Request::Get => counts.gets += 1,
            Request::Head => counts.heads += 1,
            Request::List => counts.lists += 1,
            Request::Put => counts.puts += 1,
            Request::Delete => counts.deletes += 1,
            Request::Copy => counts.copies += 1,
        }
        let depth = state.ended + 1;
        state.counts.round_trips = state.counts.round_trips.max(depth);
        state.asked.push(Asked {
            request,
            key: key.to_string(),
            depth,
        });
        depth
    }

    fn end(&self, depth: u64) {
        let mut state = self.lock();
        state.ended = state.ended.max(depth);
    }

    /// Counts one request around `call`.
    async fn around<T>(
        &self,
        request: Request,
        key: &Path,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let depth = self.start(request, key);
        yield_once().await;
        let answer = call.await;
        self.end(depth);
        answer
    }

    /// Counts the pages of a listing while it is consumed.
    fn pages(
        self,
        prefix: String,
        inner: BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        struct Listing {
            log: Log,
            prefix: String,
            inner: BoxStream<'static, Result<ObjectMeta>>,
            taken: u64,
            ended: bool,
        }
        let listing = Listing {
            log: self,
            prefix,
            inner,
            taken: 0,
            ended: false,
        };
        let stream = futures::stream::unfold(listing, |mut l| async move {
            if l.ended {
                return None;
            }
            if l.taken > 0 {
                // A full page may have been the last one: only a key more shows another request.
                let item = l.inner.next().await;
                if item.is_some() && l.taken.is_multiple_of(LIST_PAGE) {
                    let depth = l.log.start(Request::List, &l.prefix);
                    yield_once().await;
                    l.log.end(depth);
                }
                l.taken += 1;
                return item.map(|item| (item, l));
            }
            let depth = l.log.start(Request::List, &l.prefix);
            yield_once().await;
            let item = l.inner.next().await;
            l.log.end(depth);
            l.taken = 1;
            l.ended = item.is_none();
            item.map(|item| (item, l))
        });
        stream.boxed()
    }
}

impl fmt::Display for CountingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "counting {}", self.inner)
    }
}

#[async_trait]
impl ObjectStore for CountingStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        let call = self.inner.put_opts(location, payload, opts);
        self.log.around(Request::Put, location, call).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let call = self.inner.put_multipart_opts(location, opts);
        self.log.around(Request::Put, location, call).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let (request, head) = match options.head {
            true => (Request::Head, true),
            false => (Request::Get, false),
        };
        let call = self.inner.get_opts(location, options);
        let result = self.log.around(request, location, call).await?;
        if !head {
            self.log.lock().counts.bytes += result.range.end - result.range.start;
        }
        Ok(result)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let log = self.log.clone();
        let counted = locations.map(move |location| {
            if let Ok(location) = &location {
                let depth = log.start(Request::Delete, location);
                log.end(depth);
            }
            location
        });
        self.inner.delete_stream(counted.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let inner = self.inner.list(prefix);
        self.log.clone().pages(text(prefix), inner)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let inner = self.inner.list_with_offset(prefix, offset);
        self.log.clone().pages(text(prefix), inner)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let root = Path::default();
        let call = self.inner.list_with_delimiter(prefix);
        let key = prefix.unwrap_or(&root);
        let result = self.log.around(Request::List, key, call).await?;
        let entries = (result.objects.len() + result.common_prefixes.len()) as u64;
        for _ in 1..entries.div_ceil(LIST_PAGE) {
            let depth = self.log.start(Request::List, key);
            self.log.end(depth);
        }
        Ok(result)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let call = self.inner.copy_opts(from, to, options);
        self.log.around(Request::Copy, to, call).await
    }
}

fn text(prefix: Option<&Path>) -> String {
    prefix.map(Path::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::TryStreamExt;
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;

    async fn filled(keys: u64) -> CountingStore {
        let inner = InMemory::new();
        for key in 0..keys {
            let path = Path::from(format!("a/{key:05}"));
            inner.put(&path, "123".into()).await.unwrap();
        }
        CountingStore::new(Arc::new(inner))
    }

    #[tokio::test]
    async fn requests_that_wait_for_each_other_are_a_chain() {
        let store = filled(4).await;
        let path = Path::from("a/00000");
        for _ in 0..3 {
            store.get(&path).await.unwrap();
        }
        let counts = store.take();
        assert_eq!((counts.gets, counts.round_trips, counts.bytes), (3, 3, 9));

        let reads = (0..4).map(|n| {
            let (store, path) = (&store, Path::from(format!("a/{n:05}")));
            async move { store.get(&path).await }
        });
        futures::future::try_join_all(reads).await.unwrap();
        store.head(&path).await.unwrap();
        let counts = store.counts();
        assert_eq!((counts.gets, counts.heads), (4, 1));
        assert_eq!((counts.round_trips, counts.bytes), (2, 12));
        assert_eq!(store.asked().last().unwrap().depth, 2);
    }

    #[tokio::test]
    async fn a_listing_costs_the_pages_that_were_taken() {
        let store = filled(2500).await;
        let all: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert_eq!(all.len(), 2500);
        let counts = store.take();
        assert_eq!((counts.lists, counts.round_trips), (3, 3));

        let first: Vec<_> = store.list(None).take(1000).try_collect().await.unwrap();
        assert_eq!(first.len(), 1000);
        assert_eq!(store.take().lists, 1);

        let prefix = Path::from("nothing");
        let none: Vec<_> = store.list(Some(&prefix)).try_collect().await.unwrap();
        assert!(none.is_empty());
        assert_eq!(store.take().lists, 1);

        let from = Path::from("a/01499");
        let rest: Vec<_> = store
            .list_with_offset(None, &from)
            .try_collect()
            .await
            .unwrap();
        assert_eq!(rest.len(), 1000);
        assert_eq!(store.take().lists, 1);
    }
}
