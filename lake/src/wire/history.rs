//! What is said of commits: history, overview, one commit, its lines.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{DiffReport, ErrorReport};
use crate::table::{Time, Version};

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
    /// Names that keep this version: pins; branches and tags of Iceberg.
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
