//! Are the files that would come back still in the store? Asked of every one, and of every file of
//! deletion vectors.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};
use object_store::path::Path;

use super::Planning;
use crate::delta::files::FileRef;
use crate::delta::key::Key;
use crate::delta::path::{Location, locate};
use crate::delta::presence::missing;
use crate::delta::vector;
use crate::{Kind, Result};

/// What was found out.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Keys that are not there, relative to the table's root.
    pub(super) missing: BTreeSet<String>,
    /// Files that lie outside the table's root, which nobody looks for.
    pub(super) outside: u64,
    /// The keys that a file needs.
    needs: HashMap<Key, Vec<String>>,
}

impl Looked {
    /// The files that cannot come back: they, or their deletion vectors, are missing.
    pub(super) fn missing_files(&self, files: &[FileRef<'_>]) -> HashSet<Key> {
        let lacks = |f: &&FileRef<'_>| {
            let needs = self.needs.get(&f.key());
            needs.is_some_and(|keys| keys.iter().any(|key| self.missing.contains(key)))
        };
        files.iter().filter(lacks).map(|f| f.key()).collect()
    }
}

impl Planning<'_> {
    /// Looks for these files.
    pub(super) async fn look(&self, files: &[FileRef<'_>]) -> Result<Looked> {
        let mut looked = Looked::default();
        let mut keys: BTreeSet<Path> = BTreeSet::new();
        for file in files {
            let mut needs = Vec::new();
            match locate(&self.root.path, file.raw_path())? {
                Location::Inside(path) => {
                    needs.push(self.relative(&path));
                    keys.insert(path);
                }
                Location::Outside(_) => looked.outside += 1,
            }
            if let Some(descriptor) = file.vector() {
                match vector::location(&self.root.path, &descriptor) {
                    Ok(Some(path)) => {
                        needs.push(self.relative(&path));
                        keys.insert(path);
                    }
                    Ok(None) => {}
                    Err(error) if error.kind() == Kind::Unsupported => looked.outside += 1,
                    Err(error) => return Err(error),
                }
            }
            looked.needs.insert(file.key(), needs);
        }
        let missing = missing(&self.root.store, keys, self.host).await?;
        looked.missing = missing.iter().map(|key| self.relative(key)).collect();
        Ok(looked)
    }

    fn relative(&self, key: &Path) -> String {
        let (key, root) = (key.as_ref(), self.root.path.as_ref());
        let below = key.strip_prefix(root).unwrap_or(key);
        below.trim_start_matches('/').to_owned()
    }
}
