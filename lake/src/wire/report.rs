//! The answers about a table's log: history, commit, snapshot, diff, layout.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Kind};
use crate::schema::Schema;
use crate::table::{DataFile, Partition, Time, Version};

/// An error as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// What the caller can do about it.
    pub kind: Kind,
    /// The sentence.
    pub message: String,
    /// Key, version, line.
    pub location: Option<String>,
}

impl From<&Error> for ErrorReport {
    fn from(error: &Error) -> Self {
        Self {
            kind: error.kind(),
            message: error.sentence(),
            location: error.location(),
        }
    }
}

impl From<ErrorReport> for Error {
    fn from(report: ErrorReport) -> Self {
        let error = Self::new(report.kind, report.message);
        match report.location {
            Some(location) => error.at("key", location),
            None => error,
        }
    }
}

/// A table format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the formats' own names")]
pub enum Format {
    Delta,
    Iceberg,
    Hudi,
}

/// One commit in a history.
///
/// File, byte and row figures are computed from the commit's own actions, never taken from
/// `metrics`; `None` where an action does not state them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitRow {
    /// The version this commit made.
    pub version: Version,
    /// The instant that time travel resolves by: in-commit where enabled, else the commit file's.
    pub timestamp: Option<Time>,
    /// Whether `timestamp` is an in-commit timestamp.
    #[serde(default)]
    pub in_commit: bool,
    /// `commitInfo.timestamp`: what the writer's clock said. Shown, never resolved by.
    pub writer_timestamp: Option<Time>,
    /// The writer's word for what it did.
    pub operation: Option<String>,
    /// The table's own JSON, untouched.
    pub parameters: Value,
    /// Who, as the writer says.
    pub user: Option<String>,
    /// Which engine, as the writer says.
    pub engine: Option<String>,
    /// `userMetadata`: why, as the writer says.
    pub reason: Option<String>,
    /// The table's own JSON, untouched.
    pub metrics: Value,
    /// `add` actions.
    pub files_added: Option<u64>,
    /// `remove` actions.
    pub files_removed: Option<u64>,
    /// Bytes of `add` actions.
    pub bytes_added: Option<u64>,
    /// Bytes of `remove` actions.
    pub bytes_removed: Option<u64>,
    /// Rows of `add` actions, less rows masked.
    pub rows_added: Option<u64>,
    /// Rows of `remove` actions, less rows masked.
    pub rows_removed: Option<u64>,
    /// Whether any action says that rows changed.
    pub data_change: bool,
    /// The version before, where there is one.
    pub parent: Option<Version>,
    /// Branches and tags (Iceberg).
    pub refs: Vec<String>,
    /// Why this commit cannot be read in full.
    pub damaged: Option<String>,
    /// `Some(false)`: this version cannot be rebuilt from the log. `None`: it can, but whether
    /// its data files are still there was not asked.
    pub restorable: Option<bool>,
    /// Whether the commit changes the schema, the properties or the protocol.
    pub metadata_change: bool,
}

/// A page of a history, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryReport {
    /// The table's root, as the caller named it.
    pub location: String,
    /// The table's format.
    pub format: Format,
    /// The newest version in the log.
    pub latest_version: Version,
    /// The oldest version that can still be rebuilt from the log.
    pub earliest_version: Option<Version>,
    /// The oldest commit that is still in the log.
    pub first_commit: Option<Version>,
    /// The commits.
    pub commits: Vec<CommitRow>,
    /// Ask for commits before this version next; `None` at the end.
    pub next_before: Option<Version>,
    /// What a person should know about this log.
    pub warnings: Vec<String>,
}

/// What the lake page shows of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverviewReport {
    /// The table's format.
    pub format: Format,
    /// The newest version.
    pub version: Version,
    /// The newest commits, newest first; at most a screenful.
    pub recent: Vec<CommitRow>,
    /// Files of the newest version, where a checksum file says so or the log is short.
    pub files: Option<u64>,
    /// Bytes, likewise.
    pub bytes: Option<u64>,
    /// Rows, likewise.
    pub rows: Option<u64>,
    /// What needs a person, worst first.
    pub attention: Vec<Attention>,
}

/// One thing that needs a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attention {
    /// Which rule: `rows_removed`, `overwrite`, `column_dropped`, `column_retyped`, `past_lost`, `damaged`.
    pub rule: String,
    /// The commit that did it.
    pub version: Option<Version>,
    /// The strong half of the sentence: `Version 48 removed 80 % of the rows`.
    pub what: String,
    /// The rest: `in one commit, by ana@tlp: region = 'US'`.
    pub detail: String,
    /// The version before it, which a restore would go back to.
    pub restore_to: Option<Version>,
}

/// Which version a time or `latest` means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolveReport {
    /// The version.
    pub version: Version,
    /// When it was committed.
    pub timestamp: Option<Time>,
    /// Whether it is the newest version.
    pub latest: bool,
}

/// One version of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotReport {
    /// The table's root, as the caller named it.
    pub location: String,
    /// The table's format.
    pub format: Format,
    /// The version.
    pub version: Version,
    /// When it was committed.
    pub timestamp: Option<Time>,
    /// Active data files.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Rows a reader gets; `None` where a file does not say.
    pub rows: Option<u64>,
    /// Rows masked by deletion vectors or position deletes.
    pub deleted_rows: u64,
    /// Logical names, in the table's order.
    pub partition_columns: Vec<String>,
    /// Columns.
    pub schema: Schema,
    /// Table properties.
    pub properties: IndexMap<String, String>,
    /// Protocol, in the format's own keys.
    pub protocol: serde_json::Map<String, Value>,
    /// Files sorted by path; only where asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub paths: Option<Vec<DataFile>>,
    /// The table's own id.
    pub table_id: Option<String>,
    /// The table's own name.
    pub name: Option<String>,
    /// The table's own description.
    pub description: Option<String>,
    /// When the table was created, as its metadata says.
    pub created: Option<Time>,
    /// Domain metadata: name and configuration text.
    pub domains: IndexMap<String, String>,
    /// Streaming writers: application id and the last transaction it committed.
    pub transactions: IndexMap<String, i64>,
    /// How the version was rebuilt: the checkpoint's version, and commits read after it.
    pub checkpoint: Option<Version>,
    /// Commits read after the checkpoint.
    pub commits_read: u64,
    /// Features this build does not write, by name; acts are refused because of them.
    pub unsupported_writer_features: Vec<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// A page of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilesReport {
    /// Files that match the query.
    pub matching: u64,
    /// Files in all.
    pub total: u64,
    /// The page.
    pub files: Vec<DataFile>,
}

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

/// One commit and what it changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitReport {
    /// The table's root, as the caller named it.
    pub location: String,
    /// The commit.
    pub commit: CommitRow,
    /// The newest version of the table.
    pub latest_version: Version,
    /// The commit against the version before it.
    pub diff: Option<DiffReport>,
    /// Why there is no diff.
    pub diff_error: Option<ErrorReport>,
    /// Key of the commit file, relative to the table's root.
    pub log_key: String,
    /// Its size in bytes.
    pub log_bytes: u64,
    /// Actions in it, by name.
    pub actions: IndexMap<String, u64>,
    /// The whole `commitInfo`, untouched.
    pub commit_info: Value,
}

/// One line of a commit file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionLine {
    /// Line number from 1.
    pub line: u64,
    /// The action's name: `add`, `remove`, `metaData`…; empty for a damaged line.
    pub action: String,
    /// The line's text; its beginning where it is long.
    pub text: String,
    /// Bytes of the whole line.
    pub bytes: u64,
    /// Why the line cannot be read.
    pub damaged: Option<String>,
}

/// Raw lines of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionsReport {
    /// Lines in all.
    pub total: u64,
    /// The page.
    pub lines: Vec<ActionLine>,
}

/// One partition's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionLayout {
    /// The partition.
    pub partition: Partition,
    /// Files in it.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Rows a reader gets; `None` where a file does not say.
    pub rows: Option<u64>,
    /// Median size of a file in bytes.
    pub median_bytes: u64,
    /// Files smaller than the threshold.
    pub small_files: u64,
    /// Files after packing the small ones to the target size.
    pub files_after_packing: u64,
    /// Bytes that packing would rewrite.
    pub bytes_to_rewrite: u64,
}

/// Files of a size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeBucket {
    /// Files smaller than this, and not smaller than the bucket before; `None` for the last.
    pub under_bytes: Option<u64>,
    /// Files in the bucket.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Something worth acting on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `error` or `warning`.
    pub severity: Severity,
    /// Which rule.
    pub rule: String,
    /// Key or partition.
    pub location: Option<String>,
    /// The fact, with its figures and the threshold beside them.
    pub message: String,
}

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's words")]
pub enum Severity {
    Warning,
    Error,
}

/// Partitions, sizes, small files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutReport {
    /// The table's root, as the caller named it.
    pub location: String,
    /// The version.
    pub version: Version,
    /// Active data files.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Rows a reader gets; `None` where a file does not say.
    pub rows: Option<u64>,
    /// Median size of a file in bytes.
    pub median_bytes: u64,
    /// A tenth of the files are smaller.
    pub p10_bytes: u64,
    /// A tenth of the files are larger.
    pub p90_bytes: u64,
    /// Largest file.
    pub max_bytes: u64,
    /// Files smaller than the threshold.
    pub small_files: u64,
    /// Bytes of them.
    pub small_bytes: u64,
    /// The threshold in bytes.
    pub small_bytes_threshold: u64,
    /// The size that packing aims at.
    pub target_bytes: u64,
    /// Partition columns, logical names.
    pub partition_columns: Vec<String>,
    /// Partitions, most bytes first; a page gets the first few thousand.
    pub partitions: Vec<PartitionLayout>,
    /// Partitions in all.
    pub partitions_total: u64,
    /// Files by size, smallest first.
    pub histogram: Vec<SizeBucket>,
    /// Keys that should not be.
    pub illegal_keys: Vec<String>,
    /// What is worth acting on, worst first.
    pub findings: Vec<Finding>,
}

/// Whether the data files of a version are there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresenceReport {
    /// The version.
    pub version: Version,
    /// Files and deletion vectors asked for.
    pub checked: u64,
    /// Of how many.
    pub of: u64,
    /// Those that are gone, at most a thousand.
    pub missing: Vec<String>,
    /// How many are gone.
    pub missing_total: u64,
}
