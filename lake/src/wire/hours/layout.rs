//! How a dataset's hours lie in the store.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::super::Finding;
use crate::hours::{Day, State};
use crate::table::{Partition, Version};

/// Sizes over a window of a dataset, hour by hour: `tidemark layout DATASET`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetLayout {
    /// URL of its prefix.
    pub location: String,
    /// A dataset has none.
    pub version: Option<Version>,
    /// The dataset's name.
    pub dataset: String,
    /// Its zone.
    pub zone: String,
    /// First day.
    pub from: Day,
    /// Last day, included.
    pub to: Day,
    /// Data objects of the published runs, and of hours without one.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the median object.
    pub median_bytes: Option<u64>,
    /// A tenth of the objects are smaller.
    pub p10_bytes: Option<u64>,
    /// A tenth of the objects are larger.
    pub p90_bytes: Option<u64>,
    /// Objects smaller than the threshold.
    pub small_files: u64,
    /// The threshold: the budget's median, where there is one.
    pub small_bytes_threshold: u64,
    /// Partition columns.
    pub partition_columns: Vec<String>,
    /// Hours that have objects, oldest first.
    pub partitions: Vec<HourLayout>,
    /// Hours of the window by state, those without any left out.
    pub counts: IndexMap<State, u64>,
    /// LIST requests of a reader that lists the closed hours' parent prefixes.
    pub lists_of_parents: u64,
    /// LIST requests of a reader that lists their published runs alone.
    pub lists_of_runs: u64,
    /// Keys that should not be, one for each thing that is wrong with some; the finding says how
    /// many there are.
    pub illegal_keys: Vec<String>,
    /// What is worth acting on, worst first.
    pub findings: Vec<Finding>,
}

/// Sizes of one hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HourLayout {
    /// The hour, as keys spell it.
    pub partition: Partition,
    /// How it stands.
    pub state: State,
    /// Data objects of its published run; of the whole hour where there is none.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// A listing does not tell.
    pub rows: Option<u64>,
    /// Bytes of the median object.
    pub median_bytes: Option<u64>,
    /// A tenth of the objects are smaller.
    pub p10_bytes: Option<u64>,
    /// A tenth of the objects are larger.
    pub p90_bytes: Option<u64>,
    /// Objects smaller than the threshold.
    pub small_files: u64,
}
