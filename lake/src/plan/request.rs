//! What is asked of whoever plans and acts.

use serde::{Deserialize, Serialize};

use super::Act;
use crate::hours::Day;
use crate::table::{Time, Version};

/// `POST /api/tables/{table}/plans` and `POST /api/datasets/{dataset}/plans`: what is to be planned.
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
    /// Publish, repoint and compact: the date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Day>,
    /// Publish, repoint and compact: the hour; none for a dataset without hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<u8>,
    /// Publish and repoint: the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Publish: how many objects the writer of the run says it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Publish: replace a marker that still matches its run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub replace: bool,
    /// Publish: declare that nothing happened, instead of a run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub empty: bool,
    /// Publish: what the rows mean; the dataset's own where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition_version: Option<String>,
    /// Publish: the newest event, where the files do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_event_time: Option<Time>,
    /// Publish: the run took in all loose keys that are listed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub took_loose: bool,
    /// Compact: take in what came late.
    #[serde(default, skip_serializing_if = "is_false")]
    pub with_late: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// `POST /api/plans/{id}/apply`: the inputs of the plan that was read, and why it is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyRequest {
    /// The table's name; empty for an act on a dataset.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub table: String,
    /// The dataset's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// What was planned.
    pub request: PlanRequest,
    /// [`super::Plan::as_of`] of the plan.
    pub as_of: Time,
    /// [`super::Plan::base_version`] of the plan.
    #[serde(default)]
    pub base_version: Option<Version>,
    /// Why, in the person's words. A restore and an empty hour need it.
    #[serde(default)]
    pub reason: String,
}
