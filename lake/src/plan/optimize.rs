//! What an optimize packs.

use serde::{Deserialize, Serialize};

use crate::table::Partition;

/// What an optimize does, bin by bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OptimizeDetail {
    /// Bytes below which a file is a candidate.
    pub min_bytes: u64,
    /// Bytes that a packed file should have.
    pub target_bytes: u64,
    /// Bytes of all active files: what is rewritten is a share of it.
    pub table_bytes: u64,
    /// The bins, by partition.
    pub bins: Vec<Bin>,
    /// Candidates that stay as they are, by reason.
    pub passed: Vec<Passed>,
}

/// Files that become one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The partition.
    pub partition: Partition,
    /// The files, relative to the table's root.
    pub paths: Vec<String>,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that the new file will have, as far as can be told: less what deletion vectors mask.
    pub predicted_bytes: u64,
    /// Rows that the new file will have; `None` where a file does not say.
    pub rows: Option<u64>,
    /// Rows that deletion vectors mask, which are not written again.
    pub deleted_rows: u64,
}

/// Files that are not packed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// Why.
    pub why: String,
    /// How many.
    pub files: u64,
    /// The first of them, relative to the table's root.
    pub example: String,
}
