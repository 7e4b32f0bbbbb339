//! What an act will do, before it is done; and what it did.

mod audit;
mod hours;
mod job;
mod optimize;
mod request;
mod restore;
mod vacuum;

use serde::{Deserialize, Serialize};

pub use self::audit::{AuditPage, AuditRecord, Ended};
pub use self::hours::{
    ExpireDetail, Expired, HoursDetail, Published, PublishedOutcome, RunPinEntry, RunPinRequest,
    RunPins,
};
pub use self::job::{Job, JobState, Jobs};
pub use self::optimize::{Bin, OptimizeDetail, Passed};
pub use self::request::{ApplyRequest, PlanRequest};
pub use self::restore::RestoreDetail;
pub use self::vacuum::{
    Emptied, Leftover, Origin, Pin, PinRequest, Pins, PutBack, Quarantine, Quarantined, Spared,
    VacuumDetail,
};
use crate::table::{Time, Version};
use crate::wire::{CommitRow, ErrorReport, KeyChange, SchemaChange};

/// What is to be done to a table, or to an hour of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's words")]
pub enum Act {
    #[default]
    Restore,
    Vacuum,
    Optimize,
    Publish,
    Repoint,
    Compact,
    ExpireRuns,
}

impl Act {
    /// Whether it is an act on a dataset's hours, and not on a table.
    pub fn on_hours(self) -> bool {
        match self {
            Self::Restore | Self::Vacuum | Self::Optimize => false,
            Self::Publish | Self::Repoint | Self::Compact | Self::ExpireRuns => true,
        }
    }
}

/// What an act would do to a table as it was at `base_version`.
///
/// The same plan has the same `id` on any machine: it is a digest of the table, the arguments,
/// `as_of` and the actions, without what is random or late by nature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The digest, in hexadecimal.
    pub id: String,
    /// The act.
    pub kind: Act,
    /// The table's root, as the caller named it.
    pub location: String,
    /// The instant taken as now.
    pub as_of: Time,
    /// The newest version when the plan was made; `None` for what is done to hours.
    pub base_version: Option<Version>,
    /// The version to go back to.
    pub target_version: Option<Version>,
    /// Why this cannot be done.
    pub refused: Option<String>,
    /// Files that become active.
    pub files_to_add: u64,
    /// Files that are active no longer.
    pub files_to_remove: u64,
    /// Objects that are deleted.
    pub files_to_delete: u64,
    /// Active files that are replaced by packed ones.
    pub files_to_rewrite: u64,
    /// Files that are written.
    pub files_to_write: u64,
    /// Bytes of the files that become active.
    pub bytes_to_add: u64,
    /// Bytes of the files that are active no longer.
    pub bytes_to_remove: u64,
    /// Bytes of the objects that are deleted.
    pub bytes_to_delete: u64,
    /// Bytes of the files that are replaced.
    pub bytes_to_rewrite: u64,
    /// Rows that a reader gets again; `None` where a file does not say.
    pub rows_to_add: Option<u64>,
    /// Rows that a reader gets no longer; `None` where a file does not say.
    pub rows_to_remove: Option<u64>,
    /// Keys that the plan needs and the store does not have, relative to the table's root.
    pub missing_files: Vec<String>,
    /// Fields that change.
    pub schema: Vec<SchemaChange>,
    /// Properties that change.
    pub properties: Vec<KeyChange>,
    /// Protocol entries that change.
    pub protocol: Vec<KeyChange>,
    /// Commits whose effect goes, newest first: the newest 1,000 of [`Plan::commits_undone`].
    pub undone: Vec<CommitRow>,
    /// What a person should know before they say yes.
    pub warnings: Vec<String>,
    /// What a restore goes back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<RestoreDetail>,
    /// What a vacuum deletes, one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuum: Option<VacuumDetail>,
    /// What an optimize packs, bin by bin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimize: Option<OptimizeDetail>,
    /// What becomes of an hour, or of old runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<HoursDetail>,
}

impl Plan {
    /// A plan that does nothing yet.
    pub fn new(
        kind: Act,
        location: String,
        as_of: Time,
        base_version: impl Into<Option<Version>>,
    ) -> Self {
        Self {
            id: String::new(),
            kind,
            location,
            as_of,
            base_version: base_version.into(),
            target_version: None,
            refused: None,
            files_to_add: 0,
            files_to_remove: 0,
            files_to_delete: 0,
            files_to_rewrite: 0,
            files_to_write: 0,
            bytes_to_add: 0,
            bytes_to_remove: 0,
            bytes_to_delete: 0,
            bytes_to_rewrite: 0,
            rows_to_add: Some(0),
            rows_to_remove: Some(0),
            missing_files: Vec::new(),
            schema: Vec::new(),
            properties: Vec::new(),
            protocol: Vec::new(),
            undone: Vec::new(),
            warnings: Vec::new(),
            restore: None,
            vacuum: None,
            optimize: None,
            hours: None,
        }
    }

    /// The version that the plan stands on; 0 for what is done to hours.
    pub fn base(&self) -> Version {
        self.base_version.unwrap_or_default()
    }

    /// Commits whose effect goes, listed or not.
    pub fn commits_undone(&self) -> u64 {
        let target = self.target_version.unwrap_or(self.base());
        self.base().0.saturating_sub(target.0)
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The version that the commit made; `None` for what was done to hours.
    pub version: Option<Version>,
    /// Milliseconds from the put of the commit to the end of its proof.
    pub took_ms: u64,
    /// Times that the act was planned and tried.
    pub attempts: u32,
    /// Objects that were deleted, as the store confirmed.
    pub deleted: u64,
    /// Their bytes.
    pub bytes_deleted: u64,
    /// Keys that were to be deleted and may still be there, each with the reason.
    pub failed: Vec<Failed>,
    /// Active files of the new version, counted and compared with the plan.
    pub proven_files: u64,
    /// What a person should know afterwards.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What became of an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Box<Published>>,
    /// Why it ended before all was done: a person stopped it, or something failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<ErrorReport>,
}

impl Applied {
    /// The version that the commit made; 0 for what was done to hours.
    pub fn committed(&self) -> Version {
        self.version.unwrap_or_default()
    }
}

/// A key that an act could not deal with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The key, relative to the table's root.
    pub key: String,
    /// Why.
    pub why: String,
}

/// A plan, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The plan.
    pub plan: Plan,
    /// `None` where it was not asked for or is refused.
    pub applied: Option<Applied>,
}
