//! What makes two optimizes the same.

use super::{Optimize, Request};
use crate::Result;
use crate::delta::write::Digest;

/// The plan's id: what it is of and what it does.
pub(super) fn digest(optimize: &Optimize, request: &Request) -> Result<String> {
    let plan = &optimize.plan;
    let mut digest = Digest::default();
    digest.take(&serde_json::json!({
        "kind": plan.kind,
        "table": optimize.base.state.metadata.id,
        "base_version": plan.base_version,
        "partitions": request.partitions,
        "as_of": plan.as_of,
        "refused": plan.refused,
    }))?;
    digest.take(&plan.optimize)?;
    for bin in &optimize.bins {
        digest.take(&bin.values)?;
        for input in &bin.inputs {
            digest.take(&input.remove)?;
        }
    }
    Ok(digest.finish())
}
