//! Our acts on a table, as a person does them after having read the plan.

use std::sync::Arc;

use lake::Result;
use lake::answer::{self, Root};
use lake::delta::restore::Request;
use lake::host::{Quiet, SharedHost};
use lake::plan::Outcome;
use lake::table::{At, Version};
use server::acts::{self, Consent};

fn consent() -> Consent {
    Consent {
        user: Some("tidemark".to_owned()),
        reason: Some("a test".to_owned()),
        plan: None,
        over_appends: false,
    }
}

/// Puts a version back over `head`, which is the newest.
pub(super) async fn restore(root: &Root, version: u64, head: u64) -> Result<Outcome> {
    let request = Request {
        at: At::Version(Version(version)),
        partitions: Vec::new(),
        allow_missing: false,
        as_of: acts::now(),
        expect: Some(Version(head)),
    };
    let host: SharedHost = Arc::new(Quiet);
    acts::restore(root, &request, Some(&consent()), &host).await
}

/// The newest version.
pub(super) async fn head(root: &Root) -> Result<u64> {
    let host: SharedHost = Arc::new(Quiet);
    let newest = answer::snapshot(root, At::Latest, false, &host).await?;
    Ok(newest.version.0)
}
