//! Acts that take a while, watched.

use serde::{Deserialize, Serialize};

use super::{Act, Applied};
use crate::table::Time;
use crate::wire::ErrorReport;

/// An act that is being carried out, or was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// A random id.
    pub id: String,
    /// The act.
    pub kind: Act,
    /// The table, by name.
    pub location: String,
    /// The plan.
    pub plan_id: String,
    /// How it stands.
    pub state: JobState,
    /// Who.
    pub by: Option<String>,
    /// Since when.
    pub started: Time,
    /// Until when.
    pub ended: Option<Time>,
    /// What it does now, in words.
    pub step: String,
    /// Units done.
    pub done: u64,
    /// Units in all, where they are known.
    pub of: Option<u64>,
    /// Bytes done.
    pub bytes_done: u64,
    /// Bytes in all, where they are known.
    pub bytes_of: Option<u64>,
    /// Why it failed.
    pub error: Option<ErrorReport>,
    /// What it did.
    pub result: Option<Applied>,
}

/// How a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract's words")]
pub enum JobState {
    Waiting,
    Running,
    Cancelling,
    Done,
    Failed,
    Cancelled,
    /// Its server died. The table is readable, and a new plan goes on from there.
    Orphaned,
}

impl JobState {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running | Self::Cancelling)
    }
}

/// `GET /api/jobs`: newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Jobs {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// Whether they outlive the server: `[server] control` names where they are kept.
    pub kept: bool,
    /// Records that cannot be read and are left out.
    #[serde(default)]
    pub unreadable: u64,
}
