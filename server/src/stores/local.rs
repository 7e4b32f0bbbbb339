//! The local disk as an object store: listings sorted by key and read as far as they are consumed,
//! and nothing outside the root.
//!
//! [`LocalFileSystem`] walks and stats everything below a prefix, in the order of the disk, before
//! it gives the first key. A log of a hundred thousand commits would pay for all of them to show
//! fifty.

mod desk;
mod names;
mod survey;
mod swap;
mod tree;
mod walk;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use lake::store::survey::{Survey, Unhidden};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    RenameOptions,
};

use self::desk::Desk;
use self::tree::{Tree, object_meta};
use self::walk::{Found, Walk, is_staged};
use super::pages::{Page, PageQuery, Pages};

type Result<T, E = object_store::Error> = std::result::Result<T, E>;

/// Most objects looked at in one turn on a blocking thread.
const MAX_TURN: usize = 256;

/// Objects deleted at once.
const DELETES: usize = 10;

/// A directory of the local disk.
#[derive(Clone)]
pub struct LocalStore {
    inner: Arc<LocalFileSystem>,
    tree: Arc<Tree>,
    desk: Arc<Desk>,
}

impl LocalStore {
    /// A store rooted at `root`, which must exist.
    pub fn new(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        let real = root
            .canonicalize()
            .map_err(|e| io_error(e, &root.display().to_string()))?;
        let inner = LocalFileSystem::new_with_prefix(&real)?;
        let tree = Arc::new(Tree::new(real));
        Ok(Self {
            inner: Arc::new(inner),
            desk: Arc::new(Desk::new(Arc::clone(&tree))),
            tree,
        })
    }

    /// Refuses a key that leads out of the root or names an unfinished upload, as if it were absent.
    async fn fence(&self, location: &Path) -> Result<()> {
        let tree = Arc::clone(&self.tree);
        let key = location.to_string();
        blocking(move || {
            let staged = key.rsplit('/').next().is_some_and(is_staged);
            if key.is_empty() || staged || tree.escapes(&key) {
                return Err(io_error(io::ErrorKind::NotFound.into(), &key));
            }
            Ok(())
        })
        .await
    }

    fn walk(
        &self,
        prefix: Option<&Path>,
        after: Option<&Path>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let tree = Arc::clone(&self.tree);
        let prefix = prefix.map(|p| p.to_string()).unwrap_or_default();
        let after = after.map(|p| p.to_string());
        let started = async move {
            blocking(move || Walk::start(tree, &prefix, after).map_err(|e| io_error(e, &prefix)))
                .await
        };
        futures::stream::once(started)
            .map_ok(|walk| {
                // Turns grow, so that a listing of which little is consumed looks at little.
                futures::stream::try_unfold((walk, 32), |(walk, turn)| async move {
                    let (walk, metas) = blocking(move || take(walk, turn)).await?;
                    let next = (walk, (turn * 2).min(MAX_TURN));
                    let go_on = !metas.is_empty();
                    Ok::<_, object_store::Error>(go_on.then(|| {
                        let metas = futures::stream::iter(metas.into_iter().map(Ok));
                        (metas, next)
                    }))
                })
                .try_flatten()
            })
            .try_flatten()
            .boxed()
    }
}

/// Up to `turn` files, with what the disk says of them.
fn take(mut walk: Walk, turn: usize) -> Result<(Walk, Vec<ObjectMeta>)> {
    let mut metas = Vec::with_capacity(turn);
    while metas.len() < turn {
        let Some((key, path)) = walk.next_file().map_err(|e| io_error(e, "listing"))? else {
            break;
        };
        if let Some(meta) = stat(&key, &path)? {
            metas.push(meta);
        }
    }
    Ok((walk, metas))
}

/// What the disk says of a file; `None` where it has gone since its name was read.
fn stat(key: &str, path: &std::path::Path) -> Result<Option<ObjectMeta>> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(object_meta(Path::parse(key)?, &meta))),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io_error(e, key)),
    }
}

impl Pages for LocalStore {
    fn page(&self, query: PageQuery) -> futures::future::BoxFuture<'_, Result<Page>> {
        let tree = Arc::clone(&self.tree);
        Box::pin(blocking(move || {
            let mut page = Page::default();
            let mut walk = Walk::start(tree, query.prefix.as_ref(), query.after)
                .map_err(|e| io_error(e, query.prefix.as_ref()))?;
            loop {
                let found = if query.delimiter {
                    walk.next_here()
                } else {
                    walk.next_file()
                        .map_err(|e| io_error(e, query.prefix.as_ref()))?
                        .map(|(key, path)| Found::File(key, path))
                };
                match found {
                    Some(_) if page.len() >= query.limit => {
                        page.more = true;
                        return Ok(page);
                    }
                    Some(Found::File(key, path)) => page.objects.extend(stat(&key, &path)?),
                    Some(Found::Directory(key)) => page.prefixes.push(Path::parse(key)?),
                    None => return Ok(page),
                }
            }
        }))
    }
}

#[async_trait]
impl ObjectStore for LocalStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        self.fence_parent(location).await?;
        match opts.mode {
            PutMode::Update(ref version) => {
                let version = version.clone();
                self.swap(location, payload, version, opts).await
            }
            _ => self.inner.put_opts(location, payload, opts).await,
        }
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.fence_parent(location).await?;
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if let Some(question) = Survey::on(&options) {
            let (tree, folder) = (Arc::clone(&self.tree), Survey::folder(location));
            let told = blocking(move || {
                survey::look(&tree, folder.as_ref()).map_err(|e| io_error(e, folder.as_ref()))
            });
            question.answer(told.await.map_err(lake::Error::from));
        } else if options.head && options.extensions.get::<Unhidden>().is_some() {
            let (tree, key) = (Arc::clone(&self.tree), location.clone());
            let upload = blocking(move || survey::unfinished(&tree, key)).await?;
            if let Some(meta) = upload {
                return Ok(survey::headed(meta));
            }
        }
        self.desk.get(location, options).await
    }

    async fn get_ranges(
        &self,
        location: &Path,
        ranges: &[std::ops::Range<u64>],
    ) -> Result<Vec<bytes::Bytes>> {
        self.fence(location).await?;
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        locations
            .map(move |location| {
                let store = store.clone();
                async move { store.remove(location?).await }
            })
            .buffered(DELETES)
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.walk(prefix, None)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.walk(prefix, Some(offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let query = PageQuery {
            prefix: prefix.cloned().unwrap_or_default(),
            after: None,
            delimiter: true,
            limit: usize::MAX,
        };
        let page = self.page(query).await?;
        Ok(ListResult {
            common_prefixes: page.prefixes,
            objects: page.objects,
            extensions: Default::default(),
        })
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.fence(from).await?;
        self.fence_parent(to).await?;
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.fence_removal(from).await?;
        self.fence_parent(to).await?;
        self.inner.rename_opts(from, to, options).await
    }
}

impl LocalStore {
    /// Deletes one object, or what is left of an upload that was never ended.
    async fn remove(&self, location: Path) -> Result<Path> {
        self.fence_removal(&location).await?;
        if !location.filename().is_some_and(is_staged) {
            self.inner.delete(&location).await?;
            return Ok(location);
        }
        let (tree, key) = (Arc::clone(&self.tree), location.to_string());
        let removed = move || {
            let removed = std::fs::remove_file(tree.path(&key));
            removed.map_err(|e| io_error(e, &key))
        };
        blocking(removed).await?;
        Ok(location)
    }

    /// Refuses to take an object away by a key that reaches it through a link: it may be another
    /// one's, under the key where it lies.
    async fn fence_removal(&self, location: &Path) -> Result<()> {
        self.fence_parent(location).await?;
        let tree = Arc::clone(&self.tree);
        let key = location.to_string();
        blocking(move || match tree.is_linked(&key) {
            true => Err(object_store::Error::PermissionDenied {
                path: key,
                source: "it is reached through a link".into(),
            }),
            false => Ok(()),
        })
        .await
    }

    /// Refuses to write where a directory on the way leads out of the root. The last name is not
    /// followed by a write: it is replaced.
    async fn fence_parent(&self, location: &Path) -> Result<()> {
        let tree = Arc::clone(&self.tree);
        let key = location.to_string();
        blocking(move || {
            let mut parents = key.match_indices('/').map(|(at, _)| at);
            match parents.any(|at| key.get(..at).is_some_and(|parent| tree.escapes(parent))) {
                true => Err(io_error(io::ErrorKind::PermissionDenied.into(), &key)),
                false => Ok(()),
            }
        })
        .await
    }
}

/// Runs file system calls where they may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(source) => Err(object_store::Error::JoinError { source }),
    }
}

fn io_error(source: io::Error, path: &str) -> object_store::Error {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => object_store::Error::NotFound {
            path,
            source: Box::new(source),
        },
        io::ErrorKind::PermissionDenied => object_store::Error::PermissionDenied {
            path,
            source: Box::new(source),
        },
        _ => object_store::Error::Generic {
            store: "local disk",
            source: Box::new(source),
        },
    }
}

impl fmt::Debug for LocalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.inner, f)
    }
}

impl fmt::Display for LocalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.inner, f)
    }
}

#[cfg(test)]
mod tests;
