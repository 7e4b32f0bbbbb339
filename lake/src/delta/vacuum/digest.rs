//! What makes two vacuums the same: what was asked of which table, and for which instant. What they
//! delete is decided again when they are carried out.

use super::Vacuum;
use crate::Result;
use crate::delta::write::Digest;

/// The plan's id.
pub(super) fn digest(vacuum: &Vacuum) -> Result<String> {
    let request = &vacuum.request;
    let mut digest = Digest::default();
    digest.take(&serde_json::json!({
        "kind": vacuum.plan.kind,
        "table": vacuum.metadata.id,
        "retain": request.retain,
        "allow_short": request.allow_short,
        "quarantine": request.quarantine,
        "as_of": vacuum.plan.as_of,
    }))?;
    Ok(digest.finish())
}
