//! What is said of two versions.

use serde::{Deserialize, Serialize};

use crate::table::{DataFile, Partition, Version};

/// What happened between two versions, in one word. See contracts: the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing differs.
    Identical,
    /// No file differs.
    Metadata,
    /// Files differ, no row does.
    Rewrite,
    /// Files only came.
    Append,
    /// Files only went, or the same paths hold larger deletion vectors.
    Delete,
    /// Every file of `from` is gone and others came.
    Overwrite,
    /// Files went and came.
    Change,
}

/// What came and went, in one partition or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Files that are in `to` and not in `from`, by path and deletion vector.
    pub files_added: u64,
    /// Files that are in `from` and not in `to`.
    pub files_removed: u64,
    /// Their bytes.
    pub bytes_added: u64,
    /// Their bytes.
    pub bytes_removed: u64,
    /// Their rows; `None` where a file does not say.
    pub rows_added: Option<u64>,
    /// Their rows; `None` where a file does not say.
    pub rows_removed: Option<u64>,
}

/// One partition's share of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionDiff {
    /// The partition.
    pub partition: Partition,
    /// What came and went in it.
    #[serde(flatten)]
    pub totals: Totals,
}

/// How a field of the schema changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaChange {
    /// `added`, `removed`, `renamed`, `type` or `nullability`.
    pub change: SchemaChangeKind,
    /// Dotted logical path, as `to` names it (as `from` does for a removed one).
    pub field: String,
    /// Before.
    pub from: Option<String>,
    /// After.
    pub to: Option<String>,
}

/// The kind of a [`SchemaChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's words")]
pub enum SchemaChangeKind {
    Added,
    Removed,
    Renamed,
    Type,
    Nullability,
}

/// A key whose value differs; `None` where it is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyChange {
    /// The key.
    pub key: String,
    /// Before.
    pub from: Option<String>,
    /// After.
    pub to: Option<String>,
}

/// Two versions compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DiffReport {
    /// The version compared from.
    pub from: Option<Version>,
    /// The version compared to.
    pub to: Version,
    /// What happened, in one word.
    pub verdict: Verdict,
    /// What came and went in all.
    #[serde(flatten)]
    pub totals: Totals,
    /// The same by partition, most rows first; at most a few thousand.
    pub partitions: Vec<PartitionDiff>,
    /// Partitions that differ, in all.
    pub partitions_total: u64,
    /// Fields that differ.
    pub schema: Vec<SchemaChange>,
    /// Properties that differ.
    pub properties: Vec<KeyChange>,
    /// Protocol entries that differ.
    pub protocol: Vec<KeyChange>,
    /// Paths that are in both with another deletion vector.
    pub vectors_changed: u64,
    /// Rows that a deletion vector of `to` masks and `from` did not.
    pub rows_masked: u64,
    /// Files of `from` and their rows, where they were counted.
    pub from_files: Option<u64>,
    /// Rows of `from`, where they were counted.
    pub from_rows: Option<u64>,
    /// Bytes of `from`, where they were counted.
    #[serde(default)]
    pub from_bytes: Option<u64>,
    /// Columns in `to`, leaves counted once.
    pub columns: u64,
    /// Only where asked for, sorted by path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub added: Option<Vec<DataFile>>,
    /// Only where asked for, sorted by path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removed: Option<Vec<DataFile>>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Whether a file came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's words")]
pub enum FileChange {
    Added,
    Removed,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Whether it came or went.
    pub change: FileChange,
    /// The file.
    #[serde(flatten)]
    pub file: DataFile,
}

/// A page of files that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffFilesReport {
    /// Files that match the query.
    pub matching: u64,
    /// Files that differ in all.
    pub total: u64,
    /// The page: removed before added of the same path.
    pub files: Vec<ChangedFile>,
}
