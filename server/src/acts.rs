//! Acts on tables: planned and carried out by `lake`, timed and signed here.

pub mod answers;
#[cfg(test)]
mod tests;

use std::time::Instant;

use chrono::Utc;
use lake::answer::Root;
use lake::delta::restore::{self, Request};
use lake::delta::write::{Signature, probe};
use lake::host::SharedHost;
use lake::plan::{Applied, Outcome, Plan};
use lake::table::{Time, Version};
use lake::wire::CommitRow;
use lake::{Error, Kind, Result};
use uuid::Uuid;

/// Plans made at most while others keep committing.
const ROUNDS: u32 = 10;

/// That the act is to be done, by whom and why.
#[derive(Clone, Debug)]
pub struct Consent {
    /// Who.
    pub user: Option<String>,
    /// Why, in the person's words.
    pub reason: Option<String>,
    /// The plan that was read: another one is not carried out.
    pub plan: Option<String>,
    /// Whether commits that only added files may be undone too, should they arrive meanwhile.
    pub over_appends: bool,
}

/// Now.
pub fn now() -> Time {
    Time(Utc::now().timestamp_millis())
}

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
    if consent
        .plan
        .as_ref()
        .is_some_and(|id| *id != planned.plan.id)
    {
        return Err(Error::new(
            Kind::Conflict,
            "the plan is not the one that was read: the table changed since",
        ));
    }
    let txn_id = Uuid::new_v4().to_string();
    probe(&root.store, &root.path, &txn_id).await?;
    let mut attempts = 1;
    loop {
        let signature = Signature {
            now: now(),
            txn_id: txn_id.clone(),
            user: consent.user.clone(),
            reason: consent.reason.clone(),
            engine: concat!("tidemark/", env!("CARGO_PKG_VERSION")).to_owned(),
        };
        let started = Instant::now();
        match restore::apply(&planned, &signature, host).await {
            Ok(committed) => {
                let applied = Applied {
                    version: committed.version,
                    took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                    attempts,
                    deleted: 0,
                    bytes_deleted: 0,
                    failed: Vec::new(),
                    proven_files: committed.files,
                    warnings: Vec::new(),
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
                let before = planned.plan.base_version;
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
    newer.clone().count() as u64 == plan.base_version.0 - before.0 && newer.clone().all(appended)
}
