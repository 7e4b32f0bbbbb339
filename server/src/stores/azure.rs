//! Azure Blob Storage made to answer as the other stores do: it has no ranges that count from the
//! end, and its listings leave out the quotes that an entity tag has everywhere else.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::path::Path;
use object_store::signer::{Method, Signer};
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// A store of Azure's.
#[derive(Debug)]
pub(super) struct Azure<S>(pub(super) Arc<S>);

impl<S: ObjectStore> Azure<S> {
    /// Asks for the size, and makes of a suffix the range that it means there.
    async fn resolved(&self, location: &Path, mut options: GetOptions) -> Result<GetOptions> {
        let Some(GetRange::Suffix(length)) = options.range else {
            return Ok(options);
        };
        options.range = None;
        if options.head {
            return Ok(options);
        }
        let head = GetOptions {
            head: true,
            ..options.clone()
        };
        let meta = self.0.get_opts(location, head).await?.meta;
        // Nothing of an empty object can be named by a range.
        options.range =
            (meta.size > 0).then(|| GetRange::Bounded(meta.size.saturating_sub(length)..meta.size));
        // The end of this object, not of one that takes its place.
        options.if_match = options.if_match.or(meta.e_tag);
        Ok(options)
    }
}

fn quoted(mut meta: ObjectMeta) -> ObjectMeta {
    meta.e_tag = meta.e_tag.map(|tag| match tag.contains('"') {
        true => tag,
        false => format!("\"{tag}\""),
    });
    meta
}

fn all_quoted(mut result: ListResult) -> ListResult {
    result.objects = result.objects.into_iter().map(quoted).collect();
    result
}

#[async_trait]
impl<S: ObjectStore> ObjectStore for Azure<S> {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.0.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let options = self.resolved(location, options).await?;
        self.0.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix).map_ok(quoted).boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let listing = self.0.list_with_offset(prefix, offset);
        listing.map_ok(quoted).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await.map(all_quoted)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await
    }
}

#[async_trait]
impl<S: PaginatedListStore> PaginatedListStore for Azure<S> {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        opts: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        let mut page = self.0.list_paginated(prefix, opts).await?;
        page.result = all_quoted(page.result);
        Ok(page)
    }
}

#[async_trait]
impl<S: Signer> Signer for Azure<S> {
    async fn signed_url(
        &self,
        method: Method,
        path: &Path,
        expires_in: Duration,
    ) -> Result<url::Url> {
        self.0.signed_url(method, path, expires_in).await
    }
}

impl<S: fmt::Display> fmt::Display for Azure<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::ObjectStoreExt;
    use object_store::memory::InMemory;

    /// The store in memory tags objects without quotes, in listings as elsewhere.
    async fn filled() -> Azure<InMemory> {
        let inner = InMemory::new();
        inner
            .put(&Path::from("a/ten"), "0123456789".into())
            .await
            .unwrap();
        inner.put(&Path::from("a/none"), "".into()).await.unwrap();
        Azure(Arc::new(inner))
    }

    async fn end(store: &Azure<InMemory>, key: &str, length: u64) -> String {
        let options = GetOptions {
            range: Some(GetRange::Suffix(length)),
            ..GetOptions::default()
        };
        let options = store.resolved(&Path::from(key), options).await.unwrap();
        assert!(!matches!(options.range, Some(GetRange::Suffix(_))));
        let result = store.get_opts(&Path::from(key), options).await.unwrap();
        String::from_utf8(result.bytes().await.unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_suffix_becomes_a_range() {
        let store = filled().await;
        assert_eq!(end(&store, "a/ten", 3).await, "789");
        assert_eq!(end(&store, "a/ten", 300).await, "0123456789");
        assert_eq!(end(&store, "a/none", 3).await, "");
    }

    #[tokio::test]
    async fn listings_quote_entity_tags() {
        let store = filled().await;
        let prefix = Path::from("a");
        let listed: Vec<_> = store.list(Some(&prefix)).try_collect().await.unwrap();
        let delimited = store.list_with_delimiter(Some(&prefix)).await.unwrap();
        let tags: Vec<_> = listed.iter().chain(&delimited.objects).collect();
        assert_eq!(tags.len(), 4);
        for meta in tags {
            let tag = meta.e_tag.clone().unwrap();
            assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
            assert_eq!(quoted(meta.clone()).e_tag, Some(tag));
        }
    }
}
