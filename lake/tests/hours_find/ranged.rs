//! A store in memory that finds a listing's first key as a real one does: the one of the crate walks
//! over every key for each listing, which for a year of keys is most of a test's time.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

#[derive(Debug, Default)]
pub(crate) struct Ranged {
    inner: InMemory,
    keys: Arc<Mutex<BTreeMap<String, ObjectMeta>>>,
}

impl Ranged {
    fn note(&self, key: &Path, meta: Option<ObjectMeta>) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        match meta {
            Some(meta) => drop(keys.insert(key.to_string(), meta)),
            None => drop(keys.remove(key.as_ref())),
        }
    }

    pub(crate) async fn remove(&self, key: &Path) -> Result<()> {
        self.inner.delete(key).await?;
        self.note(key, None);
        Ok(())
    }

    /// Keys below a prefix that come after one, each looked for when it is wanted.
    fn after(
        &self,
        prefix: Option<&Path>,
        after: String,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let prefix = prefix
            .map(|prefix| format!("{prefix}/"))
            .unwrap_or_default();
        let first = (Arc::clone(&self.keys), prefix.clone().max(after), prefix);
        stream::unfold(first, |(keys, after, prefix)| async move {
            let next = {
                let all = keys.lock().unwrap_or_else(PoisonError::into_inner);
                let range = (Bound::Excluded(after), Bound::Unbounded);
                let (key, meta) = all.range(range).next()?;
                key.starts_with(&prefix)
                    .then(|| (key.clone(), meta.clone()))
            };
            let (key, meta) = next?;
            Some((Ok(meta), (keys, key, prefix)))
        })
        .boxed()
    }
}

impl fmt::Display for Ranged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ranged")
    }
}

#[async_trait]
impl ObjectStore for Ranged {
    async fn put_opts(&self, at: &Path, bytes: PutPayload, how: PutOptions) -> Result<PutResult> {
        let put = self.inner.put_opts(at, bytes, how).await?;
        self.note(at, Some(self.inner.head(at).await?));
        Ok(put)
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, how).await
    }

    async fn get_opts(&self, at: &Path, how: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(at, how).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.after(prefix, String::new())
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.after(prefix, offset.to_string())
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, how).await
    }
}
