//! Two versions compared: the verdict, the roll-up by partition, the schema, the keys.

pub(crate) mod schema;

use std::cmp::Reverse;

use hashbrown::HashMap;
use indexmap::IndexMap;
use serde_json::Value;

use crate::delta::action::{Metadata, Protocol};
use crate::schema::Schema;
use crate::table::{DataFile, Partition, Version};
use crate::wire::{ChangedFile, DiffReport, FileChange, KeyChange, PartitionDiff, Totals, Verdict};

pub use schema::schema_changes;

/// A file that differs, with the rows its deletion vector masks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) file: DataFile,
    pub(crate) masked: u64,
}

/// What a version is, as far as a diff shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    pub(crate) schema: Schema,
    /// Logical and physical names of the partition columns.
    pub(crate) names: Vec<(String, String)>,
    pub(crate) metadata: Metadata,
    pub(crate) protocol: Protocol,
}

/// What differs between two versions, before it is put into words and sums.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    /// `None` for the empty table before version 0.
    pub(crate) from: Option<Side>,
    pub(crate) to: Side,
    pub(crate) added: Vec<Changed>,
    pub(crate) removed: Vec<Changed>,
    /// Whether an action said that rows changed; `None` where no action was read.
    pub(crate) data_change: Option<bool>,
    pub(crate) from_files: Option<u64>,
    pub(crate) from_rows: Option<u64>,
    pub(crate) from_bytes: Option<u64>,
    pub(crate) warnings: Vec<String>,
}

/// Partitions that a report for a page holds at most.
const PARTITIONS: usize = 5_000;

impl Changes {
    /// The same, read from the higher version to the lower one.
    #[must_use]
    pub(crate) fn reversed(self) -> Self {
        let sum = |files: &[Changed]| {
            files
                .iter()
                .try_fold(0u64, |sum, c| sum.checked_add(c.file.rows?))
        };
        let rows =
            || Some((self.from_rows? + sum(&self.added)?).saturating_sub(sum(&self.removed)?));
        let size = |files: &[Changed]| {
            files
                .iter()
                .try_fold(0u64, |sum, c| sum.checked_add(c.file.bytes?))
        };
        let bytes =
            || Some((self.from_bytes? + size(&self.added)?).saturating_sub(size(&self.removed)?));
        let files = self
            .from_files
            .map(|n| (n + self.added.len() as u64).saturating_sub(self.removed.len() as u64));
        Self {
            from_rows: rows(),
            from_bytes: bytes(),
            from_files: files,
            to: self.from.unwrap_or_default(),
            from: Some(self.to),
            added: self.removed,
            removed: self.added,
            data_change: self.data_change,
            warnings: self.warnings,
        }
    }

    /// The diff without its files.
    pub(crate) fn report(&self, from: Option<Version>, to: Version) -> DiffReport {
        let none = Side::default();
        let before = self.from.as_ref().unwrap_or(&none);
        let schema = schema_changes(&before.schema, &self.to.schema);
        let properties = key_changes(
            &before.metadata.configuration,
            &self.to.metadata.configuration,
        );
        let protocol = match &self.from {
            Some(before) => key_changes(
                &protocol_keys(&before.protocol),
                &protocol_keys(&self.to.protocol),
            ),
            None => key_changes(&IndexMap::new(), &protocol_keys(&self.to.protocol)),
        };
        let (vectors_changed, rows_masked) = self.vectors();
        let metadata_differs = !schema.is_empty()
            || !properties.is_empty()
            || !protocol.is_empty()
            || self.named_otherwise();
        let mut partitions = self.partitions();
        let partitions_total = partitions.len() as u64;
        partitions.truncate(PARTITIONS);
        DiffReport {
            from,
            to,
            verdict: self.verdict(metadata_differs),
            totals: totals(&self.added, &self.removed),
            partitions,
            partitions_total,
            columns: self.to.schema.leaves(),
            schema,
            properties,
            protocol,
            vectors_changed,
            rows_masked,
            from_files: self.from_files,
            from_rows: self.from_rows,
            from_bytes: self.from_bytes,
            added: None,
            removed: None,
            warnings: self.warnings.clone(),
        }
    }

    /// Files that differ, sorted by path; a removed one stands before an added one of its path.
    pub(crate) fn files(&self) -> Vec<ChangedFile> {
        let one = |change| {
            move |c: &Changed| ChangedFile {
                change,
                file: c.file.clone(),
            }
        };
        let removed = self.removed.iter().map(one(FileChange::Removed));
        let mut files: Vec<_> = removed
            .chain(self.added.iter().map(one(FileChange::Added)))
            .collect();
        files.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        files
    }

    /// A comment, a name or the partitioning differs.
    fn named_otherwise(&self) -> bool {
        let Some(before) = &self.from else {
            return true;
        };
        let (a, b) = (&before.metadata, &self.to.metadata);
        a.id != b.id
            || a.name != b.name
            || a.description != b.description
            || a.partition_columns != b.partition_columns
            || before.schema != self.to.schema
    }

    fn verdict(&self, metadata_differs: bool) -> Verdict {
        if self.added.is_empty() && self.removed.is_empty() {
            return if metadata_differs {
                Verdict::Metadata
            } else {
                Verdict::Identical
            };
        }
        if self.data_change == Some(false) {
            return Verdict::Rewrite;
        }
        if self.removed.is_empty() {
            return Verdict::Append;
        }
        let masked = masked_by_path(&self.removed);
        let only_masks = |c: &Changed| {
            masked
                .get(c.file.path.as_str())
                .is_some_and(|before| c.masked > *before)
        };
        if self.added.iter().all(only_masks) {
            return Verdict::Delete;
        }
        let kept = masked_by_path(&self.added);
        let gone = self
            .removed
            .iter()
            .filter(|c| !kept.contains_key(c.file.path.as_str()))
            .count() as u64;
        if self.from_files == Some(gone) {
            return Verdict::Overwrite;
        }
        Verdict::Change
    }

    /// Paths on both sides, and rows that only the new deletion vectors mask.
    fn vectors(&self) -> (u64, u64) {
        let before = masked_by_path(&self.removed);
        let both = self
            .added
            .iter()
            .filter_map(|c| Some((c.masked, *before.get(c.file.path.as_str())?)));
        both.fold((0, 0), |(paths, rows), (now, then)| {
            (paths + 1, rows + now.saturating_sub(then))
        })
    }

    /// What came and went by partition: most rows first, then most bytes.
    fn partitions(&self) -> Vec<PartitionDiff> {
        type Key<'a> = Vec<(&'a str, Option<&'a str>)>;
        let mut by: IndexMap<Key<'_>, (Vec<&Changed>, Vec<&Changed>)> = IndexMap::new();
        for changed in &self.added {
            by.entry(pairs(&changed.file.partition))
                .or_default()
                .0
                .push(changed);
        }
        for changed in &self.removed {
            by.entry(pairs(&changed.file.partition))
                .or_default()
                .1
                .push(changed);
        }
        let owned = |key: Key<'_>| -> Partition {
            key.into_iter()
                .map(|(k, v)| (k.to_owned(), v.map(str::to_owned)))
                .collect()
        };
        let mut partitions: Vec<PartitionDiff> = by
            .into_iter()
            .map(|(key, (added, removed))| PartitionDiff {
                partition: owned(key),
                totals: totals(added, removed),
            })
            .collect();
        let weight = |t: &Totals| {
            (
                t.rows_added.unwrap_or(0) + t.rows_removed.unwrap_or(0),
                t.bytes_added + t.bytes_removed,
            )
        };
        partitions.sort_by_key(|partition| Reverse(weight(&partition.totals)));
        partitions
    }
}

fn pairs(partition: &Partition) -> Vec<(&str, Option<&str>)> {
    partition
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_deref()))
        .collect()
}

fn masked_by_path(files: &[Changed]) -> HashMap<&str, u64> {
    files
        .iter()
        .map(|c| (c.file.path.as_str(), c.masked))
        .collect()
}

fn totals<'a>(
    added: impl IntoIterator<Item = &'a Changed>,
    removed: impl IntoIterator<Item = &'a Changed>,
) -> Totals {
    let sums = |files: &mut dyn Iterator<Item = &'a Changed>| {
        files.fold((0u64, 0u64, Some(0u64)), |(files, bytes, rows), c| {
            (
                files + 1,
                bytes.saturating_add(c.file.bytes.unwrap_or(0)),
                rows.and_then(|r| r.checked_add(c.file.rows?)),
            )
        })
    };
    let (files_added, bytes_added, rows_added) = sums(&mut added.into_iter());
    let (files_removed, bytes_removed, rows_removed) = sums(&mut removed.into_iter());
    Totals {
        files_added,
        files_removed,
        bytes_added,
        bytes_removed,
        rows_added,
        rows_removed,
    }
}

/// Keys whose values differ, in the order of the new side; keys that went come last.
pub(crate) fn key_changes(
    from: &IndexMap<String, String>,
    to: &IndexMap<String, String>,
) -> Vec<KeyChange> {
    let change = |key: &String| KeyChange {
        key: key.clone(),
        from: from.get(key).cloned(),
        to: to.get(key).cloned(),
    };
    let came = to.keys().filter(|k| from.get(*k) != to.get(*k)).map(change);
    let went = from.keys().filter(|k| !to.contains_key(*k)).map(change);
    came.chain(went).collect()
}

/// A protocol as keys and texts, features sorted, in the protocol's own names.
pub(crate) fn protocol_keys(protocol: &Protocol) -> IndexMap<String, String> {
    let text = |value: &Value| match value {
        Value::Array(features) => {
            let mut names: Vec<&str> = features.iter().filter_map(Value::as_str).collect();
            names.sort_unstable();
            names.join(", ")
        }
        other => other.to_string(),
    };
    match serde_json::to_value(protocol) {
        Ok(Value::Object(map)) => map.iter().map(|(k, v)| (k.clone(), text(v))).collect(),
        _ => IndexMap::new(),
    }
}
