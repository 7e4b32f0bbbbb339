//! Are a version's files still there?

use futures::{StreamExt, stream};
use object_store::ObjectStoreExt;
use object_store::path::Path;

use super::cache::Table;
use crate::delta::path::{Location, locate};
use crate::delta::vector;
use crate::host::Progress;
use crate::table::Version;
use crate::wire::PresenceReport;
use crate::{Error, Result};

/// Files asked for at most: one HEAD each.
const MOST: usize = 20_000;

/// HEADs in flight at once.
const PARALLEL: usize = 32;

/// Missing files that are named.
const NAMED: usize = 1_000;

impl Table {
    pub(super) async fn presence(&self, version: Version) -> Result<PresenceReport> {
        let snapshot = self.pinned(version).await?;
        let mut keys: Vec<Path> = Vec::new();
        let mut of = 0;
        for file in snapshot.files.iter() {
            let object = locate(&self.root.path, file.raw_path())?;
            let vector = match file.vector() {
                Some(descriptor) => vector::location(&self.root.path, &descriptor)?,
                None => None,
            };
            let inside = match object {
                Location::Inside(path) => Some(path),
                Location::Outside(_) => None,
            };
            for key in inside.into_iter().chain(vector) {
                of += 1;
                if keys.len() < MOST {
                    keys.push(key);
                }
            }
        }
        keys.sort();
        keys.dedup();
        let checked = keys.len() as u64;
        let mut missing = Vec::new();
        let mut missing_total = 0;
        let mut done = 0;
        let mut heads = stream::iter(keys)
            .map(|key| async move { (self.root.store.head(&key).await, key) })
            .buffer_unordered(PARALLEL);
        while let Some((answer, key)) = heads.next().await {
            match answer {
                Ok(_) => {}
                Err(object_store::Error::NotFound { .. }) => {
                    missing_total += 1;
                    if missing.len() < NAMED {
                        missing.push(key.to_string());
                    }
                }
                // Refused is neither there nor gone.
                Err(error) => return Err(Error::from(error).at("key", key)),
            }
            done += 1;
            self.host.progress(Progress {
                step: "looking for data files".to_owned(),
                done,
                of: Some(checked),
            });
        }
        missing.sort();
        Ok(PresenceReport {
            version,
            checked,
            of,
            missing,
            missing_total,
        })
    }
}
