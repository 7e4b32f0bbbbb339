//! What the commits that there are say of unreferenced objects: whether one ever named them, and
//! which versions need them.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use hashbrown::{HashMap, HashSet};
use object_store::path::Path;

use super::references::References;
use crate::delta::commit::lines;
use crate::delta::key::{Key, key};
use crate::delta::log::{Head, Log, read_optional};
use crate::delta::path::{Location, LogFile, locate};
use crate::delta::tombstone::{NamedFile, Tombstone, named};
use crate::delta::vector::{self, Descriptor};
use crate::host::{Progress, SharedHost};
use crate::table::Version;
use crate::{Kind, Result};

/// Commits fetched at once.
const AHEAD: usize = 64;

/// Objects that no version needs any more, and what is found out about them.
pub(super) struct Past<'a> {
    root: Path,
    references: &'a References,
    /// Objects that go.
    going: HashSet<Path>,
    /// Objects that no version needs and that stay all the same.
    staying: HashSet<Path>,
    /// Those of both that something in the log named.
    named: HashSet<Path>,
    /// Files of the version at hand that go, or are gone already.
    lacking: HashMap<Key, Fate>,
    /// Versions that can be restored now and not afterwards.
    pub(super) unrestorable: Vec<Version>,
    pub(super) warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Stays,
    Goes,
    Gone,
}

impl<'a> Past<'a> {
    pub(super) fn new(
        root: &Path,
        references: &'a References,
        going: HashSet<Path>,
        staying: HashSet<Path>,
    ) -> Self {
        Self {
            root: root.clone(),
            references,
            going,
            staying,
            named: HashSet::new(),
            lacking: HashMap::new(),
            unrestorable: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Whether something in the log named an object.
    pub(super) fn named(&self, key: &Path) -> bool {
        self.named.contains(key)
    }

    /// Takes what was removed, as the checkpoint tells it.
    pub(super) fn take_tombstones(&mut self, tombstones: &[Tombstone]) {
        for tombstone in tombstones {
            self.name(&tombstone.path, tombstone.vector.as_ref());
        }
    }

    /// Reads the commits from the oldest on, and follows the versions from the oldest that can be
    /// rebuilt.
    pub(super) async fn read(&mut self, log: &Log, head: &Head, host: &SharedHost) -> Result<()> {
        let mut versions = self.start(log, head, host).await?;
        let entries = log.list_range(head.first_listed(), head.latest).await?;
        let commits: Vec<(Version, Path)> = entries
            .into_iter()
            .filter_map(|entry| match entry.file {
                LogFile::Commit(version) => Some((version, entry.meta.location)),
                _ => None,
            })
            .collect();
        let of = commits.len() as u64;
        let store = Arc::clone(&log.store);
        let mut read = stream::iter(commits)
            .map(|(version, path)| {
                let store = Arc::clone(&store);
                async move { Ok::<_, crate::Error>((version, read_optional(&store, &path).await?)) }
            })
            .buffered(AHEAD);
        let mut done = 0;
        while let Some((version, read)) = read.try_next().await? {
            let bytes = read.map(|(_, bytes)| bytes).unwrap_or_default();
            let whole = self.take(&bytes, versions.as_ref().is_some_and(|at| version > *at));
            versions = match versions {
                Some(at) if version > at && (!whole || version != at.next()) => {
                    self.warnings.push(format!(
                        "which versions after {at} cannot be restored any more is not known: \
                         version {} cannot be read",
                        at.next()
                    ));
                    None
                }
                Some(at) if version > at => {
                    self.judge(version);
                    Some(version)
                }
                other => other,
            };
            done += 1;
            host.progress(Progress {
                step: "reading commits".to_owned(),
                done,
                of: Some(of),
            });
            host.pause().await;
        }
        Ok(())
    }

    /// The oldest version, whose files are all known; `None` where it cannot be rebuilt.
    async fn start(
        &mut self,
        log: &Log,
        head: &Head,
        host: &SharedHost,
    ) -> Result<Option<Version>> {
        let Some(earliest) = head.extent().earliest else {
            return Ok(None);
        };
        let snapshot = match log.snapshot(head, earliest, host).await {
            Ok(snapshot) => snapshot,
            Err(error) if matches!(error.kind(), Kind::Damaged | Kind::Unsupported) => {
                self.warnings.push(format!(
                    "which versions cannot be restored any more is not known: \
                     version {earliest} cannot be rebuilt"
                ));
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        for file in snapshot.files.iter() {
            let vector = file.vector();
            self.add(file.raw_path(), vector.as_ref());
        }
        self.judge(earliest);
        Ok(Some(earliest))
    }

    /// Takes a commit, and its changes to the version at hand where they are wanted. False where
    /// some of it cannot be read.
    fn take(&mut self, bytes: &[u8], follow: bool) -> bool {
        let mut whole = !bytes.is_empty();
        let mut removes: Vec<NamedFile<'_>> = Vec::new();
        for (_, text) in lines(bytes) {
            let Ok(line) = named(text) else {
                whole = false;
                continue;
            };
            for file in [&line.add, &line.remove, &line.cdc].into_iter().flatten() {
                self.name(&file.path, file.deletion_vector.as_ref());
            }
            if let Some(add) = line.add.as_ref().filter(|_| follow) {
                self.add(&add.path, add.deletion_vector.as_ref());
            }
            removes.extend(line.remove.filter(|_| follow));
        }
        // Where a commit both adds and removes a file, its remove counts.
        for remove in removes {
            let key = key(&remove.path, remove.deletion_vector.as_ref());
            self.lacking.remove(&key);
        }
        whole
    }

    fn name(&mut self, raw: &str, descriptor: Option<&Descriptor>) {
        // A writer that forgot to encode a path meant what it says.
        let verbatim = Path::parse(format!("{}/{raw}", self.root));
        let verbatim = verbatim.ok().filter(|_| raw.contains('%'));
        let keys = self.keys(raw, descriptor).into_iter().chain([verbatim]);
        for key in keys.flatten() {
            if self.going.contains(&key) || self.staying.contains(&key) {
                self.named.insert(key);
            }
        }
    }

    fn add(&mut self, raw: &str, descriptor: Option<&Descriptor>) {
        let keys = self.keys(raw, descriptor);
        let fates = keys.iter().flatten().map(|key| self.fate(key));
        let fate = fates.max().unwrap_or(Fate::Stays);
        if fate != Fate::Stays {
            self.lacking.insert(key(raw, descriptor), fate);
        }
    }

    /// The objects of a file, as far as they lie below the root.
    fn keys(&self, raw: &str, descriptor: Option<&Descriptor>) -> [Option<Path>; 2] {
        let data = match locate(&self.root, raw) {
            Ok(Location::Inside(path)) => Some(path),
            _ => None,
        };
        let vector = descriptor.map(|d| vector::location(&self.root, d));
        [data, vector.and_then(Result::ok).flatten()]
    }

    fn fate(&self, key: &Path) -> Fate {
        if self.going.contains(key) {
            return Fate::Goes;
        }
        match self.references.get(key) {
            Some((_, true)) => Fate::Stays,
            _ if self.staying.contains(key) => Fate::Stays,
            _ => Fate::Gone,
        }
    }

    fn judge(&mut self, version: Version) {
        let mut fates = self.lacking.values();
        if !self.lacking.is_empty() && fates.all(|fate| *fate == Fate::Goes) {
            self.unrestorable.push(version);
        }
    }
}
