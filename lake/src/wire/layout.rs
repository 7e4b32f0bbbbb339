//! What is said of sizes and partitions.

use serde::{Deserialize, Serialize};

use crate::table::{Partition, Version};

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
