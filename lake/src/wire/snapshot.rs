//! What is said of one version and its files.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Format;
use crate::schema::Schema;
use crate::table::{DataFile, Time, Version};

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

/// Whether the data files of a version are there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresenceReport {
    /// The version.
    pub version: Version,
    /// Files and deletion vectors asked for.
    pub checked: u64,
    /// Of how many. Those outside the table, and those above some thousands, are not asked for.
    pub of: u64,
    /// Those that are gone, at most a thousand.
    pub missing: Vec<String>,
    /// How many are gone.
    pub missing_total: u64,
}
