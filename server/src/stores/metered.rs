//! Counts the requests a store gets.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions,
};

use super::pages::{Page, PageQuery, Pages};
use crate::metrics::Metrics;

type Result<T, E = Error> = std::result::Result<T, E>;

/// A store whose requests are counted.
#[derive(Debug)]
pub(super) struct Metered {
    inner: Arc<dyn ObjectStore>,
    metrics: Arc<Metrics>,
}

impl Metered {
    pub(super) fn new(inner: Arc<dyn ObjectStore>, metrics: Arc<Metrics>) -> Self {
        Self { inner, metrics }
    }

    /// Notes whether the store failed; an answer that says no is an answer.
    fn note<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            note(&self.metrics, error);
        }
        result
    }
}

fn note(metrics: &Metrics, error: &Error) {
    let said_no = matches!(
        error,
        Error::NotFound { .. }
            | Error::NotModified { .. }
            | Error::Precondition { .. }
            | Error::AlreadyExists { .. }
    );
    if !said_no {
        metrics.store_errors.one();
    }
}

#[async_trait]
impl ObjectStore for Metered {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.metrics.store_writes.one();
        self.note(self.inner.put_opts(location, payload, opts).await)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.metrics.store_writes.one();
        self.note(self.inner.put_multipart_opts(location, opts).await)
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.metrics.store_gets.one();
        self.note(self.inner.get_opts(location, options).await)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.metrics.store_gets.one();
        self.note(self.inner.get_ranges(location, ranges).await)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let metrics = Arc::clone(&self.metrics);
        let deleted = self.inner.delete_stream(locations);
        deleted.inspect(move |_| metrics.store_writes.one()).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.metrics.store_lists.one();
        let metrics = Arc::clone(&self.metrics);
        let listing = self.inner.list(prefix);
        listing
            .inspect(move |item| {
                if let Err(error) = item {
                    note(&metrics, error);
                }
            })
            .boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.metrics.store_lists.one();
        let metrics = Arc::clone(&self.metrics);
        let listing = self.inner.list_with_offset(prefix, offset);
        listing
            .inspect(move |item| {
                if let Err(error) = item {
                    note(&metrics, error);
                }
            })
            .boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.metrics.store_lists.one();
        self.note(self.inner.list_with_delimiter(prefix).await)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.metrics.store_writes.one();
        self.note(self.inner.copy_opts(from, to, options).await)
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.metrics.store_writes.one();
        self.note(self.inner.rename_opts(from, to, options).await)
    }
}

impl fmt::Display for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.inner, f)
    }
}

/// Pages that are counted.
pub(super) struct MeteredPages {
    pub(super) inner: Arc<dyn Pages>,
    pub(super) metrics: Arc<Metrics>,
}

impl Pages for MeteredPages {
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<Page>> {
        self.metrics.store_lists.one();
        self.inner.page(query)
    }
}
