//! Who did what, why, and what came of it.

use serde::{Deserialize, Serialize};

use super::Act;
use crate::hours::Day;
use crate::table::{Time, Version};

/// One act that was carried out, refused, or came too late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// A random id.
    pub id: String,
    /// When it ended.
    pub at: Time,
    /// Who.
    pub by: Option<String>,
    /// The table, by name.
    pub table: String,
    /// The act.
    pub kind: Act,
    /// The day of the hour that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<Day>,
    /// The hour; none for a whole day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour: Option<u8>,
    /// What was done, where it was no plan of this act that was carried out: `Quarantine emptied`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The plan's id.
    pub plan_id: String,
    /// The newest version when it was planned; `None` where there came to be no plan.
    pub base_version: Option<Version>,
    /// The version to go back to.
    pub target_version: Option<Version>,
    /// Why, in the person's words.
    pub reason: Option<String>,
    /// What came of it.
    pub ended: Ended,
    /// The version that was made.
    pub version: Option<Version>,
    /// What was done, or why not, in one sentence.
    pub message: String,
}

/// What came of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It was done.
    Applied,
    /// The plan was refused.
    Refused,
    /// Somebody else committed first.
    Conflict,
    /// It failed; the message says how far it came.
    Failed,
    /// A person stopped it.
    Cancelled,
}

/// `GET /api/audit`: newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPage {
    /// The records.
    pub records: Vec<AuditRecord>,
    /// Ask again with this to get older ones.
    pub next_before: Option<String>,
    /// Whether records outlive the server: `[server] control` names where they are kept.
    pub kept: bool,
    /// Records that cannot be read and are left out.
    #[serde(default)]
    pub unreadable: u64,
}
