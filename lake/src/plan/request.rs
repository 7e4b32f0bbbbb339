//! What is asked of whoever plans and acts.

use serde::{Deserialize, Serialize};

use super::Act;
use crate::table::{Time, Version};

/// `POST /api/tables/{table}/plans`: what is to be planned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// The act.
    pub kind: Act,
    /// Restore: the version to go back to; this or `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Restore: the newest version committed at or before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// Restore and optimize: only files of these partitions: logical name and value, `None` for null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<(String, Option<String>)>,
    /// Restore: leave out files that the store no longer has.
    #[serde(default)]
    pub allow_missing: bool,
    /// Vacuum: keep what is younger, as `7d`, `168h` or `interval 1 week`; the table's own retention
    /// where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retain: Option<String>,
    /// Vacuum: let `retain` be shorter than the table's own.
    #[serde(default)]
    pub allow_short_retention: bool,
    /// Vacuum: move aside instead of deleting.
    #[serde(default)]
    pub quarantine: bool,
    /// Optimize: bytes that a packed file should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_size: Option<u64>,
}

/// `POST /api/plans/{id}/apply`: the inputs of the plan that was read, and why it is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyRequest {
    /// The table's name.
    pub table: String,
    /// What was planned.
    pub request: PlanRequest,
    /// [`super::Plan::as_of`] of the plan.
    pub as_of: Time,
    /// [`super::Plan::base_version`] of the plan.
    pub base_version: Version,
    /// Why, in the person's words. A restore needs it.
    #[serde(default)]
    pub reason: String,
}
