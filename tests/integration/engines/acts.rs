//! Our acts on a table, as a person does them after having read the plan.

use std::sync::Arc;

use lake::Result;
use lake::answer::{self, Root};
use lake::delta::{optimize, restore, vacuum};
use lake::host::{Quiet, SharedHost};
use lake::plan::Outcome;
use lake::table::{At, Version};
use server::acts::{self, Consent, Sizes};

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
    let request = restore::Request {
        at: At::Version(Version(version)),
        partitions: Vec::new(),
        allow_missing: false,
        as_of: acts::now(),
        expect: Some(Version(head)),
    };
    let host: SharedHost = Arc::new(Quiet);
    acts::restore(root, &request, Some(&consent()), &host).await
}

/// Packs what can be packed.
pub(super) async fn optimize(root: &Root) -> Result<Outcome> {
    let sizes = Sizes::default();
    let request = optimize::Request {
        target: None,
        min: sizes.min,
        default_target: sizes.target,
        partitions: Vec::new(),
        as_of: acts::now(),
        expect: None,
    };
    let host: SharedHost = Arc::new(Quiet);
    acts::optimize(root, &request, Some(&consent()), &host).await
}

/// Deletes all that the newest version does not need.
pub(super) async fn vacuum(root: &Root) -> Result<Outcome> {
    let request = vacuum::Request {
        retain: Some(0),
        allow_short: true,
        below_an_hour: true,
        quarantine: false,
        as_of: acts::now(),
        expect: None,
    };
    let host: SharedHost = Arc::new(Quiet);
    acts::vacuum(root, &request, Some(&consent()), &host).await
}

/// The newest version.
pub(super) async fn head(root: &Root) -> Result<u64> {
    let host: SharedHost = Arc::new(Quiet);
    let newest = answer::snapshot(root, At::Latest, false, &host).await?;
    Ok(newest.version.0)
}
