//! One directory of the local disk as a fence: what lies in it, and what only seems to.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use object_store::ObjectMeta;

use super::names::{NameCache, Names};

/// The directory a store is rooted at, and the names read in it.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    cache: NameCache,
}

impl Tree {
    /// A tree at `root`, which must be absolute and free of links.
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            cache: NameCache::default(),
        }
    }

    /// The sorted names of a directory in the tree.
    pub(super) fn names(&self, directory: &Path) -> io::Result<Arc<Names>> {
        self.cache.read(directory)
    }

    /// Where a key lies, if following it does not leave the tree.
    pub(super) fn directory(&self, key: &str) -> io::Result<Option<PathBuf>> {
        if key.is_empty() {
            return Ok(Some(self.root.clone()));
        }
        Ok(self
            .inside(&self.root.join(key))
            .map(|_| self.root.join(key)))
    }

    /// Where a key lies, whatever is there.
    pub(super) fn path(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    /// What `path` really is, if it exists and lies in the tree.
    pub(super) fn inside(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        real.starts_with(&self.root).then_some(real)
    }

    /// The key of a place that lies in the tree; `None` for any other.
    pub(super) fn key(&self, real: &Path) -> Option<String> {
        Some(real.strip_prefix(&self.root).ok()?.to_str()?.to_owned())
    }

    /// Whether a folder on the way to a key is a link.
    pub(super) fn is_linked(&self, key: &str) -> bool {
        let mut folders = key.match_indices('/').filter_map(|(at, _)| key.get(..at));
        folders.any(|folder| self.root.join(folder).is_symlink())
    }

    /// Whether a key exists but leads out of the tree.
    pub(super) fn escapes(&self, key: &str) -> bool {
        match self.root.join(key).canonicalize() {
            Ok(real) => !real.starts_with(&self.root),
            Err(_) => false,
        }
    }
}

/// What a listing says of a file. The tag is the one that reading the file gives.
pub(super) fn object_meta(location: object_store::path::Path, meta: &Metadata) -> ObjectMeta {
    let modified = meta.modified().unwrap_or(UNIX_EPOCH);
    let micros = modified
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_micros();
    ObjectMeta {
        location,
        last_modified: modified.into(),
        size: meta.len(),
        e_tag: Some(format!("\"{:x}-{micros:x}-{:x}\"", inode(meta), meta.len())),
        version: None,
    }
}

#[cfg(unix)]
fn inode(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}
