//! Keeps small objects that never change, and asks the store each time whether they still stand.
//!
//! A hit costs the store one conditional read without a body: what is cached is bytes on the way,
//! never the right to see them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, RenameOptions,
};

use crate::metrics::Metrics;

type Result<T, E = Error> = std::result::Result<T, E>;

/// Larger objects pass through.
const MAX_OBJECT: u64 = 1024 * 1024;

/// Objects of all stores, the least recently used forgotten first.
#[derive(Debug)]
pub struct Cache {
    limit: u64,
    metrics: Arc<Metrics>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    objects: HashMap<String, Object>,
    /// Keys by when they were last used.
    order: BTreeMap<u64, String>,
    clock: u64,
    bytes: u64,
}

#[derive(Clone, Debug)]
struct Object {
    meta: ObjectMeta,
    bytes: Bytes,
    used: u64,
}

impl Cache {
    /// A cache of at most `limit` bytes of objects; 0 keeps nothing.
    pub fn new(limit: u64, metrics: Arc<Metrics>) -> Self {
        Self {
            limit,
            metrics,
            kept: Mutex::default(),
        }
    }

    /// `store` behind this cache. `name` tells its keys from those of other stores.
    pub fn wrap(self: &Arc<Self>, store: Arc<dyn ObjectStore>, name: &str) -> Arc<dyn ObjectStore> {
        if self.limit == 0 {
            return store;
        }
        Arc::new(Cached {
            inner: store,
            cache: Arc::clone(self),
            name: name.to_owned(),
        })
    }

    fn get(&self, key: &str) -> Option<Object> {
        let mut kept = self.lock();
        kept.clock += 1;
        let now = kept.clock;
        let object = kept.objects.get_mut(key)?;
        let before = std::mem::replace(&mut object.used, now);
        let object = object.clone();
        if let Some(key) = kept.order.remove(&before) {
            kept.order.insert(now, key);
        }
        Some(object)
    }

    fn put(&self, key: String, meta: ObjectMeta, bytes: Bytes) {
        let mut kept = self.lock();
        kept.forget(&key);
        kept.clock += 1;
        let used = kept.clock;
        kept.bytes += bytes.len() as u64;
        kept.order.insert(used, key.clone());
        kept.objects.insert(key, Object { meta, bytes, used });
        while kept.bytes > self.limit {
            let Some((_, oldest)) = kept.order.pop_first() else {
                break;
            };
            kept.forget(&oldest);
        }
        self.metrics.cache_bytes.set(kept.bytes);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn forget(&mut self, key: &str) {
        if let Some(object) = self.objects.remove(key) {
            self.bytes = self.bytes.saturating_sub(object.bytes.len() as u64);
            self.order.remove(&object.used);
        }
    }
}

/// Whether an object of this key is never written twice.
fn is_immutable(key: &Path) -> bool {
    let name = key.filename().unwrap_or_default();
    match name.rsplit_once('.') {
        Some((_, "parquet" | "avro" | "bin" | "crc")) => true,
        Some((_, "json")) => key.as_ref().contains("_delta_log/") || name.contains(".metadata."),
        _ => false,
    }
}

#[derive(Debug)]
struct Cached {
    inner: Arc<dyn ObjectStore>,
    cache: Arc<Cache>,
    name: String,
}

impl Cached {
    /// Reads an object that is kept: the store only says whether it still stands.
    async fn revalidate(
        &self,
        location: &Path,
        kept: Object,
        options: &GetOptions,
    ) -> Result<Option<GetResult>> {
        let question = GetOptions {
            if_none_match: kept.meta.e_tag.clone(),
            extensions: options.extensions.clone(),
            ..GetOptions::default()
        };
        match self.inner.get_opts(location, question).await {
            Err(Error::NotModified { .. }) => {
                self.cache.metrics.cache_hits.one();
                options.check_preconditions(&kept.meta)?;
                let Some(range) = range_of(options, &kept) else {
                    return Ok(None);
                };
                Ok(slice(kept, range))
            }
            // It changed: the answer is the new object, and whoever wants a part of it asks again.
            Ok(fresh) if options.range.is_none() && options.if_match.is_none() => {
                self.keep(location, fresh).await.map(Some)
            }
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Passes a whole object on, keeping it where it is small.
    async fn keep(&self, location: &Path, result: GetResult) -> Result<GetResult> {
        let whole = result.range == (0..result.meta.size);
        if !whole || result.meta.size > MAX_OBJECT || result.meta.e_tag.is_none() {
            return Ok(result);
        }
        let (meta, range) = (result.meta.clone(), result.range.clone());
        let attributes = result.attributes.clone();
        let bytes = result.bytes().await?;
        let key = self.key(location);
        self.cache.put(key, meta.clone(), bytes.clone());
        Ok(GetResult {
            payload: payload(bytes),
            meta,
            range,
            attributes,
            extensions: Default::default(),
        })
    }

    fn key(&self, location: &Path) -> String {
        format!("{}{location}", self.name)
    }
}

fn range_of(options: &GetOptions, kept: &Object) -> Option<Range<u64>> {
    match &options.range {
        // What cannot be satisfied is the store's to refuse.
        Some(range) => range.as_range(kept.meta.size).ok(),
        None => Some(0..kept.meta.size),
    }
}

fn slice(kept: Object, range: Range<u64>) -> Option<GetResult> {
    let start = usize::try_from(range.start).ok()?;
    let end = usize::try_from(range.end).ok()?;
    if start > end || end > kept.bytes.len() {
        return None;
    }
    Some(GetResult {
        payload: payload(kept.bytes.slice(start..end)),
        meta: kept.meta,
        range,
        attributes: Attributes::default(),
        extensions: Default::default(),
    })
}

fn payload(bytes: Bytes) -> GetResultPayload {
    GetResultPayload::Stream(futures::stream::once(async move { Ok(bytes) }).boxed())
}

#[async_trait]
impl ObjectStore for Cached {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if options.head || options.version.is_some() || !is_immutable(location) {
            return self.inner.get_opts(location, options).await;
        }
        if let Some(kept) = self.cache.get(&self.key(location))
            && let Some(answer) = self.revalidate(location, kept, &options).await?
        {
            return Ok(answer);
        }
        self.cache.metrics.cache_misses.one();
        let whole = options.range.is_none();
        let result = self.inner.get_opts(location, options).await?;
        if !whole {
            return Ok(result);
        }
        self.keep(location, result).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}

impl fmt::Display for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.inner, f)
    }
}

#[cfg(test)]
mod tests;
