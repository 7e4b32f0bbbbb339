//! What a restore goes back to.

use serde::{Deserialize, Serialize};

use crate::table::Time;

/// The version that a restore goes back to, and the table as it leaves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreDetail {
    /// When the version was committed.
    pub target_time: Option<Time>,
    /// Active files afterwards.
    pub files_after: u64,
    /// Their bytes.
    pub bytes_after: u64,
    /// Rows that a reader gets afterwards; `None` where a file does not say.
    pub rows_after: Option<u64>,
}
