//! Commits for tests.

use lake::table::{Time, Version};
use lake::wire::CommitRow;
use serde_json::Value;

/// A commit that appended one small file.
pub(super) fn commit(version: u64, operation: &str) -> CommitRow {
    CommitRow {
        version: Version(version),
        timestamp: Some(Time(1_794_000_000_000 + version as i64 * 3_600_000)),
        writer_timestamp: None,
        in_commit: false,
        operation: Some(operation.to_owned()),
        parameters: Value::Null,
        user: Some("job 8812".to_owned()),
        engine: Some("engine".to_owned()),
        reason: None,
        metrics: Value::Null,
        files_added: Some(1),
        files_removed: Some(0),
        bytes_added: Some(1_000),
        bytes_removed: Some(0),
        rows_added: Some(10),
        rows_removed: Some(0),
        data_change: true,
        parent: version.checked_sub(1).map(Version),
        refs: Vec::new(),
        damaged: None,
        restorable: None,
        metadata_change: false,
    }
}
