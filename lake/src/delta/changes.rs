//! What differs between two versions, from the commits between them. No snapshot is built where
//! the commits say everything; one is where they do not.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use hashbrown::HashMap;
use serde::Deserialize;

use super::action::{Add, Metadata, Protocol, Remove, Values};
use super::commit::{lines, parse_line, rows, value_pairs};
use super::features::check_reader;
use super::files::RawPartition;
use super::key::{Key, key};
use super::log::{Head, Log, read_optional};
use super::path::{checksum_key, commit_key, shown};
use super::schema::{logical_partition, parse, partition_names};
use super::snapshot::{Snapshot, State};
use super::stats::num_records;
use super::vector::Descriptor;
use crate::diff::{Changed, Changes, Side};
use crate::host::{Progress, SharedHost};
use crate::table::{DataFile, Time, Version};
use crate::{Error, Result};

/// A window of more commits than this is compared as two snapshots.
const WINDOW: u64 = 2_000;

/// A tail of more commits than this is not read only to learn a table's columns.
const LONGEST_TAIL: u64 = 10_000;

/// A version of at most this many files is rebuilt where its log is short, though a checksum file
/// has its sums: that knows no rows, and a remove does not tell when its file was put.
const FEW_FILES: u64 = 20_000;

/// Where snapshots come from when the commits do not say enough; the caller may remember them.
pub(crate) trait Snapshots {
    /// The snapshot of a version.
    async fn snapshot(&self, version: Version) -> Result<Arc<Snapshot>>;
}

/// A file as far as an action tells.
#[derive(Clone, Debug)]
struct Told {
    path: String,
    bytes: Option<u64>,
    records: Option<i64>,
    partition: Option<RawPartition>,
    vector: Option<Descriptor>,
    modified: Option<i64>,
}

/// First and last action on one file in a window.
struct Seen {
    /// The commit of the last action.
    commit: Version,
    first_is_add: bool,
    last_is_add: bool,
    last: Told,
}

#[derive(Default)]
struct Window {
    files: HashMap<Key, Seen>,
    data_change: bool,
    /// An add may be of a file that was active already (statistics computed anew).
    ambiguous: bool,
    metadata: Option<Metadata>,
    protocol: Option<Protocol>,
}

impl Log {
    /// Compares two versions, `from` the lower one; `None` for the empty table before version 0.
    pub(crate) async fn changes(
        &self,
        head: &Head,
        from: Option<Version>,
        to: Version,
        snapshots: &impl Snapshots,
        host: &SharedHost,
    ) -> Result<Changes> {
        let first = from.map_or(0, |v| v.0.saturating_add(1));
        let count = (to.0 + 1).saturating_sub(first);
        if count > WINDOW {
            return self.compare(from, to, snapshots).await;
        }
        let window = match self.window(first, to.0, host).await? {
            Some(window) if !window.ambiguous => window,
            _ => return self.compare(from, to, snapshots).await,
        };
        self.net(head, from, window, snapshots, host)
            .await
            .map_err(|e| e.at("key", commit_key(&self.root, to)))
    }

    /// Folds the commits `first..=last`; `None` where one of them is gone.
    async fn window(&self, first: u64, last: u64, host: &SharedHost) -> Result<Option<Window>> {
        let mut window = Window::default();
        let mut fetched = stream::iter(first..=last)
            .map(|v| async move {
                self.read_commit(Version(v))
                    .await
                    .map(|read| (Version(v), read))
            })
            .buffered(64);
        let mut done = 0;
        while let Some((version, read)) = fetched.try_next().await? {
            let Some((_, bytes)) = read else {
                return Ok(None);
            };
            window
                .take(version, &bytes)
                .map_err(|e| e.at("key", commit_key(&self.root, version)))?;
            done += 1;
            host.progress(Progress {
                step: "reading commits".to_owned(),
                done,
                of: Some(last + 1 - first),
            });
            host.pause().await;
        }
        Ok(Some(window))
    }

    async fn net(
        &self,
        head: &Head,
        from: Option<Version>,
        window: Window,
        snapshots: &impl Snapshots,
        host: &SharedHost,
    ) -> Result<Changes> {
        let mut added = Vec::new();
        let mut removed = Vec::new();
        for (id, seen) in window.files {
            match (seen.first_is_add, seen.last_is_add) {
                (true, true) => added.push(seen.last),
                (false, false) => removed.push((id, seen.last)),
                _ => {}
            }
        }
        let metadata_changed = window.metadata.is_some() || window.protocol.is_some();
        let to_side = match (window.metadata, window.protocol, from) {
            (Some(metadata), Some(protocol), _) => Side::of(metadata, protocol)?,
            (metadata, protocol, None) => Side::of(
                metadata.ok_or_else(|| Error::damaged("the log has no metaData action"))?,
                protocol.ok_or_else(|| Error::damaged("the log has no protocol action"))?,
            )?,
            (metadata, protocol, Some(from)) => match self.side(head, from, host).await? {
                Some(before) => Side::of(
                    metadata.unwrap_or(before.metadata),
                    protocol.unwrap_or(before.protocol),
                )?,
                None => Side::default(),
            },
        };
        let from_side = match from {
            Some(from) if metadata_changed => self.side(head, from, host).await?,
            Some(_) => Some(to_side.clone()),
            None => None,
        };
        let partitioned = !to_side.names.is_empty();
        let untold = |t: &Told| {
            t.bytes.is_none() || t.records.is_none() || (partitioned && t.partition.is_none())
        };
        let mut from_files = None;
        let mut from_rows = None;
        let mut from_bytes = None;
        if from.is_none() {
            (from_files, from_rows, from_bytes) = (Some(0), Some(0), Some(0));
        } else if let Some(from) =
            from.filter(|_| !removed.is_empty() || !added.is_empty() && head.is_short())
        {
            let checksum = if removed.iter().any(|(_, t)| untold(t)) {
                None
            } else {
                self.checksum(from).await
            };
            let snapshot = match &checksum {
                // Where nothing went it is counted only, and who knows how many there are to count.
                None if removed.is_empty() => None,
                None => Some(snapshots.snapshot(from).await?),
                // What the checksum tells is enough where the log cannot be replayed.
                Some(sums) if head.is_short() && sums.num_files <= FEW_FILES => {
                    snapshots.snapshot(from).await.ok()
                }
                Some(_) => None,
            };
            match (snapshot, checksum) {
                (None, None) => {}
                (None, Some(checksum)) => {
                    from_files = Some(checksum.num_files);
                    from_bytes = Some(checksum.table_size_bytes);
                }
                (Some(snapshot), _) => {
                    from_files = Some(snapshot.files.len() as u64);
                    from_bytes = Some(bytes_of(&snapshot));
                    from_rows = snapshot
                        .files
                        .iter()
                        .map(|f| f.rows())
                        .try_fold(0u64, |sum, r| sum.checked_add(r?));
                    fill(&mut removed, &snapshot);
                }
            }
        }
        let before = from_side.as_ref().unwrap_or(&to_side);
        let removed = removed.into_iter().map(|(_, t)| file(before, t)).collect();
        let added = added.into_iter().map(|t| file(&to_side, t)).collect();
        Ok(Changes {
            from: from_side,
            to: to_side,
            added,
            removed,
            data_change: Some(window.data_change),
            from_files,
            from_rows,
            from_bytes,
            warnings: Vec::new(),
        })
    }

    /// A version's columns, properties and protocol. `None` where reading them would mean reading
    /// a long log from its start.
    async fn side(&self, head: &Head, version: Version, host: &SharedHost) -> Result<Option<Side>> {
        if let Some(Checksum {
            metadata: Some(metadata),
            protocol: Some(protocol),
            ..
        }) = self.checksum(version).await
        {
            return Side::of(metadata, protocol).map(Some);
        }
        let segment = self.segment(head, version).await?;
        let base = segment.checkpoints.first().map_or(0, |c| c.version.0);
        if version.0.saturating_sub(base) > LONGEST_TAIL {
            return Ok(None);
        }
        Ok(Some(Side::of_state(
            &self.state(head, version, host).await?,
        )))
    }

    /// Compares two snapshots file by file.
    async fn compare(
        &self,
        from: Option<Version>,
        to: Version,
        snapshots: &impl Snapshots,
    ) -> Result<Changes> {
        let new = snapshots.snapshot(to).await?;
        let old = match from {
            Some(from) => Some(snapshots.snapshot(from).await?),
            None => None,
        };
        let mut known: HashMap<Key, bool> = HashMap::with_capacity(new.files.len());
        for file in new.files.iter() {
            known.insert(file.key(), false);
        }
        let mut removed = Vec::new();
        if let Some(old) = &old {
            for file in old.files.iter() {
                match known.get_mut(&file.key()) {
                    Some(both) => *both = true,
                    None => removed.push(Changed {
                        file: old.files.data_file(file),
                        masked: file.deleted_rows(),
                    }),
                }
            }
        }
        let mut added = Vec::new();
        for file in new.files.iter() {
            if known.get(&file.key()) == Some(&false) {
                added.push(Changed {
                    file: new.files.data_file(file),
                    masked: file.deleted_rows(),
                });
            }
        }
        let rows_of = |s: &Snapshot| {
            s.files
                .iter()
                .map(|f| f.rows())
                .try_fold(0u64, |sum, r| sum.checked_add(r?))
        };
        Ok(Changes {
            from_files: Some(old.as_ref().map_or(0, |o| o.files.len() as u64)),
            from_rows: old.as_ref().map_or(Some(0), |o| rows_of(o)),
            from_bytes: Some(old.as_ref().map_or(0, |o| bytes_of(o))),
            from: old.as_ref().map(|o| Side::of_state(&o.state)),
            to: Side::of_state(&new.state),
            added,
            removed,
            data_change: None,
            warnings: vec!["the commits between the versions do not tell everything; the versions were compared file by file".to_owned()],
        })
    }

    /// A version's checksum file, where it is there and readable (PROTOCOL, "Version Checksum File").
    pub(crate) async fn checksum(&self, version: Version) -> Option<Checksum> {
        let (_, bytes) = read_optional(&self.store, &checksum_key(&self.root, version))
            .await
            .ok()??;
        serde_json::from_slice(&bytes).ok()
    }
}

fn bytes_of(snapshot: &Snapshot) -> u64 {
    let files = snapshot.files.iter();
    files.fold(0u64, |sum, f| sum.saturating_add(f.bytes()))
}

/// Counts of a version, as its writer left them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Checksum {
    pub(crate) num_files: u64,
    pub(crate) table_size_bytes: u64,
    #[serde(default)]
    metadata: Option<Metadata>,
    #[serde(default)]
    protocol: Option<Protocol>,
}

impl Window {
    fn take(&mut self, commit: Version, bytes: &[u8]) -> Result<()> {
        let mut quiet_add = false;
        let mut any_remove = false;
        let mut here: Vec<(Key, bool, Told)> = Vec::new();
        let mut any = false;
        for (number, text) in lines(bytes) {
            let line = parse_line(text).map_err(|e| e.at("line", number))?;
            any = true;
            if let Some(add) = &line.add {
                quiet_add |= !add.data_change;
                self.data_change |= add.data_change;
                here.push((
                    key(&add.path, add.deletion_vector.as_ref()),
                    true,
                    told_by_add(add),
                ));
            }
            if let Some(remove) = &line.remove {
                any_remove = true;
                self.data_change |= remove.data_change;
                here.push((
                    key(&remove.path, remove.deletion_vector.as_ref()),
                    false,
                    told_by_remove(remove),
                ));
            }
            self.metadata = line.meta_data.or(self.metadata.take());
            self.protocol = line.protocol.or(self.protocol.take());
        }
        if !any {
            return Err(Error::damaged("the commit is empty"));
        }
        self.ambiguous |= quiet_add && !any_remove;
        for (id, is_add, told) in here {
            match self.files.get_mut(&id) {
                Some(seen) => {
                    // An add of what is active already says nothing of when it came, and a commit
                    // that both adds and removes a file says nothing at all.
                    self.ambiguous |= is_add && seen.last_is_add || seen.commit == commit;
                    seen.commit = commit;
                    seen.last_is_add = is_add;
                    seen.last = told;
                }
                None => {
                    self.files.insert(
                        id,
                        Seen {
                            commit,
                            first_is_add: is_add,
                            last_is_add: is_add,
                            last: told,
                        },
                    );
                }
            }
        }
        Ok(())
    }
}

fn told_by_add(add: &Add<'_>) -> Told {
    Told {
        path: add.path.clone().into_owned(),
        bytes: u64::try_from(add.size).ok(),
        records: add.stats.as_deref().and_then(num_records),
        partition: Some(raw(&add.partition_values)),
        vector: add.deletion_vector.clone(),
        modified: add.modification_time,
    }
}

fn told_by_remove(remove: &Remove<'_>) -> Told {
    Told {
        path: remove.path.clone().into_owned(),
        bytes: remove.size.and_then(|s| u64::try_from(s).ok()),
        records: remove.stats.as_deref().and_then(num_records),
        partition: remove.partition_values.as_ref().map(raw),
        vector: remove.deletion_vector.clone(),
        modified: None,
    }
}

fn raw(values: &Values<'_>) -> RawPartition {
    value_pairs(values)
        .map(|(k, v)| (k.to_owned(), v.map(str::to_owned)))
        .collect()
}

/// Completes removed files from the version that still had them, and drops those that it did not
/// have: a remove of a file that is not active changes nothing.
fn fill(removed: &mut Vec<(Key, Told)>, snapshot: &Snapshot) {
    let names = partition_names(&snapshot.state.metadata, &snapshot.state.schema);
    let mut wanted: HashMap<Key, Told> = removed.drain(..).collect();
    for file in snapshot.files.iter() {
        let Some((id, mut told)) = wanted.remove_entry(&file.key()) else {
            continue;
        };
        told.path = file.raw_path().to_owned();
        told.bytes = Some(file.bytes());
        told.records = file.records().and_then(|n| i64::try_from(n).ok());
        told.modified = file.modified().map(|t| t.0);
        told.vector = told.vector.take().or_else(|| file.vector());
        if told.partition.is_none() {
            let logical = snapshot.files.partitions().get(file.partition());
            let value = |name: &String| logical.and_then(|p| p.get(name).cloned()).flatten();
            told.partition = Some(names.iter().map(|(l, p)| (p.clone(), value(l))).collect());
        }
        removed.push((id, told));
    }
}

impl Side {
    /// One end of a diff, from its own actions.
    fn of(metadata: Metadata, protocol: Protocol) -> Result<Self> {
        check_reader(&protocol)?;
        let schema = parse(&metadata)?;
        let names = partition_names(&metadata, &schema);
        Ok(Self {
            schema,
            names,
            metadata,
            protocol,
        })
    }

    /// One end of a diff, from a version's state.
    fn of_state(state: &State) -> Self {
        Self {
            names: partition_names(&state.metadata, &state.schema),
            schema: state.schema.clone(),
            metadata: state.metadata.clone(),
            protocol: state.protocol.clone(),
        }
    }
}

fn file(side: &Side, told: Told) -> Changed {
    let raw = told.partition.unwrap_or_default();
    // Where the table's columns were not read, the log's own names have to do.
    let partition = if side.names.is_empty() {
        raw.into_iter().collect()
    } else {
        logical_partition(&side.names, &raw).0
    };
    let masked = told
        .vector
        .as_ref()
        .map_or(0, |v| u64::try_from(v.cardinality).unwrap_or(0));
    let file = DataFile {
        path: shown(&told.path),
        bytes: told.bytes,
        rows: rows(told.records, told.vector.as_ref()),
        deleted_rows: masked,
        partition,
        modified: told.modified.map(Time),
        deletes: told.vector.iter().map(Descriptor::unique_id).collect(),
    };
    Changed { file, masked }
}
