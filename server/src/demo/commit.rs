//! A commit to be written: what was done, when, by whom and why.

use indexmap::IndexMap;
use lake::table::Time;
use serde_json::{Value, json};

use super::action::Action;

/// A commit to be written.
pub struct Commit {
    pub(super) at: Time,
    pub(super) info: IndexMap<String, Value>,
    pub(super) actions: Vec<Action>,
}

impl Commit {
    /// A commit of an operation at an instant.
    pub fn new(at: Time, operation: &str, parameters: Value) -> Self {
        let mut info = IndexMap::new();
        info.insert("timestamp".to_owned(), at.0.into());
        info.insert("operation".to_owned(), operation.into());
        info.insert("operationParameters".to_owned(), parameters);
        Self {
            at,
            info,
            actions: Vec::new(),
        }
    }

    /// Who: a person, or a job by its number.
    #[must_use]
    pub fn by(mut self, user: &str) -> Self {
        self.info.insert("userName".to_owned(), user.into());
        if let Some(job) = user.strip_prefix("job ") {
            self.info.insert("job".to_owned(), json!({"jobId": job}));
        }
        self
    }

    /// Why, in the person's words.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        self.info.insert("userMetadata".to_owned(), reason.into());
        self
    }

    /// What the engine counted.
    #[must_use]
    pub fn counting(mut self, metrics: Value) -> Self {
        self.info.insert("operationMetrics".to_owned(), metrics);
        self
    }

    /// A commit that only adds what it did not read.
    #[must_use]
    pub fn blind(mut self) -> Self {
        self.info.insert("isBlindAppend".to_owned(), true.into());
        self
    }

    /// A commit under snapshot isolation.
    #[must_use]
    pub fn snapshot_isolation(mut self) -> Self {
        let level = "SnapshotIsolation".into();
        self.info.insert("isolationLevel".to_owned(), level);
        self
    }

    /// Adds actions.
    #[must_use]
    pub fn with(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }
}
