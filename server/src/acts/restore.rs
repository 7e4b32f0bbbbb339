//! A restore: one attempt at the version after the plan's, or as many as consent allows.

use std::time::Instant;

use lake::answer::Root;
use lake::delta::restore::{self, Request};
use lake::delta::write::{Signature, probe};
use lake::host::SharedHost;
use lake::plan::{Applied, Outcome, Plan};
use lake::table::Version;
use lake::wire::CommitRow;
use lake::{Error, Kind, Result};

use super::{Consent, millis_since, now};

/// Plans made at most while others keep committing.
const ROUNDS: u32 = 10;

/// Plans a restore, and carries it out where there is consent and no refusal.
pub async fn restore(
    root: &Root,
    request: &Request,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    let mut planned = restore::plan(root, request, host).await?;
    let Some(consent) = consent.filter(|_| planned.plan.refused.is_none()) else {
        return Ok(Outcome {
            plan: planned.plan,
            applied: None,
        });
    };
    consent.check(&planned.plan.id)?;
    let signature = consent.sign();
    probe(&root.store, &root.path, &signature.txn_id).await?;
    let mut attempts = 1;
    loop {
        let signature = Signature {
            now: now(),
            ..signature.clone()
        };
        let started = Instant::now();
        match restore::apply(&planned, &signature, host).await {
            Ok(committed) => {
                let applied = Applied {
                    version: Some(committed.version),
                    took_ms: millis_since(started),
                    attempts,
                    deleted: 0,
                    bytes_deleted: 0,
                    failed: Vec::new(),
                    proven_files: committed.files,
                    warnings: Vec::new(),
                    hours: None,
                    stopped: None,
                };
                return Ok(Outcome {
                    plan: planned.plan,
                    applied: Some(applied),
                });
            }
            Err(error) if error.kind() == Kind::Conflict && consent.over_appends => {
                if attempts == ROUNDS {
                    return Err(error);
                }
                attempts += 1;
                let before = planned.plan.base();
                let again = Request {
                    expect: None,
                    ..request.clone()
                };
                planned = restore::plan(root, &again, host).await?;
                if !only_appended(&planned.plan, before) {
                    return Err(error);
                }
                if let Some(why) = &planned.plan.refused {
                    return Err(Error::new(Kind::Conflict, why.clone()));
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether every commit after `before` did nothing but add files.
fn only_appended(plan: &Plan, before: Version) -> bool {
    let appended = |row: &CommitRow| {
        row.damaged.is_none()
            && row.files_removed == Some(0)
            && row.files_added.unwrap_or(0) > 0
            && !row.metadata_change
    };
    let newer = plan.undone.iter().filter(|row| row.version > before);
    newer.clone().count() as u64 == plan.base().0 - before.0 && newer.clone().all(appended)
}
