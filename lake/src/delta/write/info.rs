//! `commitInfo` in Spark's names (PROTOCOL, "Commit Provenance Information").

use serde::Serialize;
use serde_json::{Map, Value};

use super::Signature;
use super::gate::is_true;
use crate::delta::action::Metadata;
use crate::table::{Time, Version};

/// What the log is told of an act.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Info {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) in_commit_timestamp: Option<i64>,
    pub(crate) timestamp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_name: Option<String>,
    pub(crate) operation: &'static str,
    pub(crate) operation_parameters: Map<String, Value>,
    pub(crate) read_version: u64,
    pub(crate) isolation_level: &'static str,
    pub(crate) is_blind_append: bool,
    /// Numbers as text.
    pub(crate) operation_metrics: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) tags: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_metadata: Option<String>,
    pub(crate) engine_info: String,
    pub(crate) txn_id: String,
}

impl Info {
    /// What is said of every act.
    pub(crate) fn new(
        operation: &'static str,
        isolation_level: &'static str,
        read_version: Version,
        signature: &Signature,
    ) -> Self {
        Self {
            in_commit_timestamp: None,
            timestamp: signature.now.0,
            user_name: signature.user.clone(),
            operation,
            operation_parameters: Map::new(),
            read_version: read_version.0,
            isolation_level,
            is_blind_append: false,
            operation_metrics: Map::new(),
            tags: Map::new(),
            user_metadata: signature.reason.clone(),
            engine_info: signature.engine.clone(),
            txn_id: signature.txn_id.clone(),
        }
    }

    /// Gives the commit its own time where the table wants one: now, or just after the commit before
    /// it (PROTOCOL, "In-Commit Timestamps").
    pub(crate) fn stamp(&mut self, metadata: &Metadata, before: Option<Time>) {
        if in_commit_timestamps(metadata) {
            let before = before.map_or(0, |t| t.0);
            self.in_commit_timestamp = Some(self.timestamp.max(before.saturating_add(1)));
        }
    }

    pub(crate) fn parameter(&mut self, name: &str, value: impl Into<Value>) {
        self.operation_parameters
            .insert(name.to_owned(), value.into());
    }

    pub(crate) fn metric(&mut self, name: &str, value: u64) {
        self.operation_metrics
            .insert(name.to_owned(), Value::String(value.to_string()));
    }
}

/// Whether commits carry their own time (PROTOCOL, "In-Commit Timestamps").
pub(crate) fn in_commit_timestamps(metadata: &Metadata) -> bool {
    is_true(metadata, "delta.enableInCommitTimestamps")
}

/// An instant as Spark writes it into `operationParameters`: UTC, without a zone.
pub(crate) fn zoneless(time: Time) -> String {
    let text = time.to_string();
    text.trim_end_matches('Z').replacen('T', " ", 1)
}
