//! What Spark counts of an operation, as it writes it: every figure as text.

use serde_json::{Value, json};

use super::action::Add;

/// Bytes in all.
pub(super) fn bytes(sizes: impl Iterator<Item = i64>) -> String {
    sizes.sum::<i64>().to_string()
}

/// Of a WRITE.
pub(super) fn written(adds: &[Add], rows: usize) -> Value {
    json!({
        "numFiles": adds.len().to_string(),
        "numOutputRows": rows.to_string(),
        "numOutputBytes": bytes(adds.iter().map(|a| a.size)),
    })
}

/// Of a DELETE that took `rows` with the files `gone`, or copied the others into the files `came`.
pub(super) fn deleted(gone: &[Add], came: &[Add], rows: usize, copied: usize) -> Value {
    json!({
        "numRemovedFiles": gone.len().to_string(),
        "numRemovedBytes": bytes(gone.iter().map(|a| a.size)),
        "numAddedFiles": came.len().to_string(),
        "numAddedBytes": bytes(came.iter().map(|a| a.size)),
        "numDeletedRows": rows.to_string(),
        "numCopiedRows": copied.to_string(),
        "numAddedChangeFiles": "0",
        "numDeletionVectorsAdded": "0",
        "numDeletionVectorsRemoved": "0",
        "numDeletionVectorsUpdated": "0",
        "executionTimeMs": "2214",
        "scanTimeMs": "1420",
        "rewriteTimeMs": "790",
    })
}
