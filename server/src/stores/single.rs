//! Deletes of one key sent as what they are. object_store's S3 client sends every delete as one of
//! many keys (`POST /?delete`), which some stores do not have, and whose XML cannot name every key.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::path::Path;
use object_store::signer::{Method, Signer};
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// One store through two clients.
#[derive(Debug)]
pub(super) struct Single<S> {
    /// Deletes many keys with one request.
    pub(super) many: Arc<S>,
    /// Deletes each key with its own request.
    pub(super) one: Arc<S>,
}

#[async_trait]
impl<S: ObjectStore> ObjectStore for Single<S> {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.many.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.many.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.many.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        mut locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let (many, one) = (Arc::clone(&self.many), Arc::clone(&self.one));
        let chosen = async move {
            let first = locations.next().await;
            let second = locations.next().await;
            if second.is_none() {
                return one.delete_stream(stream::iter(first).boxed());
            }
            let all = stream::iter(first.into_iter().chain(second)).chain(locations);
            many.delete_stream(all.boxed())
        };
        stream::once(chosen).flatten().boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.many.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.many.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.many.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.many.copy_opts(from, to, options).await
    }
}

#[async_trait]
impl<S: PaginatedListStore> PaginatedListStore for Single<S> {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        opts: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        self.many.list_paginated(prefix, opts).await
    }
}

#[async_trait]
impl<S: Signer> Signer for Single<S> {
    async fn signed_url(
        &self,
        method: Method,
        path: &Path,
        expires_in: Duration,
    ) -> Result<url::Url> {
        self.many.signed_url(method, path, expires_in).await
    }
}

impl<S: fmt::Display> fmt::Display for Single<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.many.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use lake::store::CountingStore;
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn one_key_goes_by_itself_and_many_together() {
        let inner: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let client = || Arc::new(CountingStore::new(Arc::clone(&inner)));
        let store = Single {
            many: client(),
            one: client(),
        };
        let keys: Vec<Path> = (0..4).map(|n| Path::from(format!("k{n}"))).collect();
        for key in &keys {
            store.put(key, "x".into()).await.unwrap();
        }
        store.delete(&keys[0]).await.unwrap();
        let rest = stream::iter(keys[1..].to_vec()).map(Ok).boxed();
        let told: Vec<_> = store.delete_stream(rest).collect().await;
        let told: Vec<Path> = told.into_iter().map(Result::unwrap).collect();
        assert_eq!(told, keys[1..]);
        assert_eq!(store.one.counts().deletes, 1);
        assert_eq!(store.many.counts().deletes, 3);
        let none = store.delete_stream(stream::empty().boxed());
        assert_eq!(none.count().await, 0);
    }
}
