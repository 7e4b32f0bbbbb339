//! What makes two restores the same.

use super::{Request, Restore};
use crate::Result;
use crate::delta::write::Digest;

/// The plan's id: what it is of and what it does.
pub(super) fn digest(restore: &Restore, request: &Request) -> Result<String> {
    let plan = &restore.plan;
    let mut digest = Digest::default();
    digest.take(&serde_json::json!({
        "kind": plan.kind,
        "table": restore.head_metadata.id,
        "base_version": plan.base_version,
        "target_version": plan.target_version,
        "partitions": request.partitions,
        "allow_missing": request.allow_missing,
        "as_of": plan.as_of,
        "refused": plan.refused,
    }))?;
    digest.take(&restore.metadata)?;
    digest.take(&restore.protocol)?;
    digest.take(&restore.domains)?;
    for fields in restore.adds.iter().chain(&restore.removes) {
        digest.take(fields)?;
    }
    Ok(digest.finish())
}
