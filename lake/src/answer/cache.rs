//! What a reader remembers of a table: versions it rebuilt and the last comparison.

use std::sync::{Arc, Mutex, PoisonError};

use crate::answer::Root;
use crate::delta::changes::Snapshots;
use crate::delta::log::{Head, Log};
use crate::delta::snapshot::Snapshot;
use crate::diff::Changes;
use crate::host::SharedHost;
use crate::table::Version;
use crate::wire::TableRef;
use crate::{Error, Result};

/// Files that remembered versions hold in all; the oldest are forgotten first. A million files
/// take about 150 MB.
const FILES: usize = 2_000_000;

/// Versions remembered at most.
const VERSIONS: usize = 16;

#[derive(Default)]
pub(super) struct Cache {
    entries: Arc<Mutex<Entries>>,
}

#[derive(Default)]
struct Entries {
    snapshots: Vec<Known>,
    changes: Vec<Compared>,
}

/// A comparison: its table, both versions, and what tells the newer one's commit from another.
type Compared = (
    TableRef,
    Option<Version>,
    Version,
    Option<String>,
    Arc<Changes>,
);

struct Known {
    table: TableRef,
    version: Version,
    /// What tells the commit's file from another of its name: a table can be dropped and made again.
    identity: Option<String>,
    snapshot: Arc<Snapshot>,
}

impl Cache {
    pub(super) fn of(&self, table: &TableRef) -> TableCache {
        TableCache {
            entries: Some(Arc::clone(&self.entries)),
            table: table.clone(),
        }
    }
}

/// The part of a cache that belongs to one table.
#[derive(Clone)]
pub(super) struct TableCache {
    entries: Option<Arc<Mutex<Entries>>>,
    table: TableRef,
}

impl TableCache {
    fn with<T>(&self, work: impl FnOnce(&mut Entries) -> T) -> Option<T> {
        let entries = self.entries.as_ref()?;
        // A panic elsewhere leaves whole entries behind: they are pushed and removed, never edited.
        Some(work(
            &mut entries.lock().unwrap_or_else(PoisonError::into_inner),
        ))
    }

    /// A version, if it is known and its commit's file is the same.
    pub(super) fn snapshot(
        &self,
        version: Version,
        identity: Option<&str>,
    ) -> Option<Arc<Snapshot>> {
        let identity = identity?;
        self.with(|entries| {
            let mine = |k: &Known| {
                k.table == self.table
                    && k.version == version
                    && k.identity.as_deref() == Some(identity)
            };
            entries
                .snapshots
                .iter()
                .find(|k| mine(k))
                .map(|k| Arc::clone(&k.snapshot))
        })?
    }

    /// A version that a page is looking at, without asking the store whether it is still the same.
    pub(super) fn pinned(&self, version: Version) -> Option<Arc<Snapshot>> {
        self.with(|entries| {
            let mine = |k: &&Known| k.table == self.table && k.version == version;
            entries
                .snapshots
                .iter()
                .rev()
                .find(mine)
                .map(|k| Arc::clone(&k.snapshot))
        })?
    }

    pub(super) fn remember(
        &self,
        version: Version,
        identity: Option<String>,
        snapshot: &Arc<Snapshot>,
    ) {
        self.with(|entries| {
            entries
                .snapshots
                .retain(|k| k.table != self.table || k.version != version);
            let known = Known {
                table: self.table.clone(),
                version,
                identity,
                snapshot: Arc::clone(snapshot),
            };
            entries.snapshots.push(known);
            let held = |all: &[Known]| all.iter().map(|k| k.snapshot.files.len()).sum::<usize>();
            while entries.snapshots.len() > 1
                && (entries.snapshots.len() > VERSIONS || held(&entries.snapshots) > FILES)
            {
                entries.snapshots.remove(0);
            }
        });
    }

    fn changes(
        &self,
        from: Option<Version>,
        to: Version,
        identity: Option<&str>,
    ) -> Option<Arc<Changes>> {
        let identity = identity?;
        self.with(|entries| {
            let found = entries.changes.iter().find(|(t, f, v, i, _)| {
                *t == self.table && *f == from && *v == to && i.as_deref() == Some(identity)
            });
            found.map(|(.., changes)| Arc::clone(changes))
        })?
    }

    fn remember_changes(
        &self,
        from: Option<Version>,
        to: Version,
        identity: Option<String>,
        changes: &Arc<Changes>,
    ) {
        self.with(|entries| {
            entries.changes.truncate(3);
            entries.changes.insert(
                0,
                (self.table.clone(), from, to, identity, Arc::clone(changes)),
            );
        });
    }
}

/// A table being asked about.
pub(super) struct Table {
    pub(super) root: Root,
    pub(super) cache: TableCache,
    pub(super) host: SharedHost,
}

struct FromTable<'a> {
    table: &'a Table,
    log: &'a Log,
    head: &'a Head,
}

impl Snapshots for FromTable<'_> {
    async fn snapshot(&self, version: Version) -> Result<Arc<Snapshot>> {
        self.table.snapshot_at(self.log, self.head, version).await
    }
}

impl Table {
    /// A table asked once, with nothing remembered.
    pub(super) fn once(root: &Root, host: &SharedHost) -> Self {
        let table = TableRef {
            zone: String::new(),
            prefix: root.path.to_string(),
        };
        Self {
            root: root.clone(),
            cache: TableCache {
                entries: None,
                table,
            },
            host: Arc::clone(host),
        }
    }

    /// What differs between two versions, in either order.
    pub(super) async fn changes(&self, from: Option<Version>, to: Version) -> Result<Arc<Changes>> {
        let log = self.log();
        let head = log.head().await?;
        let newest = from.map_or(to, |f| f.max(to));
        if newest > head.latest {
            return Err(Error::not_found(format!(
                "there is no version {newest}: the newest is {}",
                head.latest
            )));
        }
        let identity = head.identity(newest);
        if let Some(known) = self.cache.changes(from, to, identity.as_deref()) {
            return Ok(known);
        }
        let snapshots = FromTable {
            table: self,
            log: &log,
            head: &head,
        };
        let changes = match from {
            Some(from) if from > to => log
                .changes(&head, Some(to), from, &snapshots, &self.host)
                .await?
                .reversed(),
            _ => log.changes(&head, from, to, &snapshots, &self.host).await?,
        };
        let changes = Arc::new(changes);
        self.cache.remember_changes(from, to, identity, &changes);
        Ok(changes)
    }

    /// The snapshot a page is looking at.
    pub(super) async fn pinned(&self, version: Version) -> Result<Arc<Snapshot>> {
        if let Some(known) = self.cache.pinned(version) {
            return Ok(known);
        }
        let log = self.log();
        let head = log.head().await?;
        let version = log
            .resolve(&head, crate::table::At::Version(version))
            .await?;
        self.snapshot_at(&log, &head, version).await
    }
}
