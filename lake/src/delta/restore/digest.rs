//! What makes two plans the same: a digest of all that they would do.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Request, Restore};
use crate::{Error, Kind, Result};

/// The plan's id: what it is of and what it does, without what is random or late by nature.
pub(super) fn digest(restore: &Restore, request: &Request) -> Result<String> {
    let plan = &restore.plan;
    let inputs = serde_json::json!({
        "kind": plan.kind,
        "table": restore.head_metadata.id,
        "base_version": plan.base_version,
        "target_version": plan.target_version,
        "partitions": request.partitions,
        "allow_missing": request.allow_missing,
        "as_of": plan.as_of,
        "refused": plan.refused,
    });
    let mut sha = Sha256::new();
    take(&mut sha, &inputs)?;
    take(&mut sha, &restore.metadata)?;
    take(&mut sha, &restore.protocol)?;
    take(&mut sha, &restore.domains)?;
    for fields in restore.adds.iter().chain(&restore.removes) {
        take(&mut sha, fields)?;
    }
    let bytes = sha.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Adds a value to a digest, as JSON spells it.
fn take(sha: &mut Sha256, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(value)
        .map_err(|e| Error::new(Kind::Internal, "a plan that JSON cannot hold").because(e))?;
    sha.update(text);
    sha.update(b"\n");
    Ok(())
}
