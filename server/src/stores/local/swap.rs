//! An object replaced only where it still has the tag that somebody saw.
//!
//! A disk has no such call, so all who swap in one tree take turns: one file at its root is locked
//! while the tag is compared and the object replaced. Whoever writes past this store does not wait
//! for the turn, and is not kept from anything.

use std::fs::{File, OpenOptions};
use std::io;

use object_store::path::Path;
use object_store::{ObjectStore as _, PutMode, PutOptions, PutPayload, PutResult, UpdateVersion};

use super::tree::object_meta;
use super::{LocalStore, Result, blocking, io_error};

/// The file at a tree's root that is locked. Its name is that of a staged upload, which no listing
/// shows and no read finds.
pub(super) const LOCK: &str = ".tidemark-swap#0";

impl LocalStore {
    /// Replaces `location` where it has the tag of `version`.
    pub(super) async fn swap(
        &self,
        location: &Path,
        payload: PutPayload,
        version: UpdateVersion,
        mut options: PutOptions,
    ) -> Result<PutResult> {
        self.fence(location).await?;
        let path = self.tree.path(LOCK);
        // Held until it is dropped, however this ends.
        let _turn = blocking(move || turn(&path).map_err(|e| io_error(e, LOCK))).await?;
        let (file, key) = (self.tree.path(location.as_ref()), location.clone());
        blocking(move || {
            let meta = std::fs::metadata(&file).map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => changed(&key, "there is no such object"),
                _ => io_error(e, key.as_ref()),
            })?;
            let found = object_meta(key.clone(), &meta).e_tag;
            match version.e_tag.is_some() && found == version.e_tag {
                true => Ok(()),
                false => Err(changed(&key, "it has another tag")),
            }
        })
        .await?;
        options.mode = PutMode::Overwrite;
        self.inner.put_opts(location, payload, options).await
    }
}

/// Waits for the lock.
fn turn(path: &std::path::Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    file.lock()?;
    Ok(file)
}

fn changed(key: &Path, why: &'static str) -> object_store::Error {
    object_store::Error::Precondition {
        path: key.to_string(),
        source: why.into(),
    }
}
