//! Acts on the hours of a dataset, proven by the store's own clock, signed and timed here.

use std::time::Instant;

use lake::figures::counted;
use lake::host::{Progress, SharedHost};
use lake::hours::compact;
use lake::hours::publish::{self, Claim, Over, Request, Takes, What};
use lake::hours::{Slot, expire};
use lake::plan::{Act, Applied, Outcome, Plan, PlanRequest, Published, PublishedOutcome};
use lake::table::Time;
use lake::{Error, Kind, Result};
use uuid::Uuid;

use super::{Asked, Consent, millis_since};
use crate::datasets::Placed;
use crate::metastore;

/// Refuses what cannot be meant.
pub(super) fn check(asked: &Asked) -> Result<()> {
    let request = &asked.request;
    match request.kind {
        Act::Publish | Act::Repoint => of(request, asked.as_of).map(drop),
        Act::Compact => compaction(&asked.request, asked.as_of).map(drop),
        _ => Ok(()),
    }
}

/// The hour that is meant.
pub fn slot(request: &PlanRequest) -> Result<Slot> {
    let day = request.date.ok_or_else(|| {
        Error::invalid("say which hour: `date`, and `hour` where there are hours")
    })?;
    Ok(Slot {
        day,
        hour: request.hour,
    })
}

/// What is asked of `lake`.
fn of(request: &PlanRequest, as_of: Time) -> Result<Request> {
    let run = || {
        let run = request.run.clone();
        run.ok_or_else(|| Error::invalid("say which run: `run`"))
    };
    let what = match (request.kind, request.empty) {
        (Act::Repoint, _) => What::Repoint { run: run()? },
        (_, true) if request.run.is_some() || request.count.is_some() => {
            return Err(Error::invalid(
                "an hour is empty, or it has a run: not both",
            ));
        }
        (_, true) => What::Empty,
        (_, false) => What::Run(Claim {
            run: run()?,
            count: request.count.ok_or_else(|| {
                Error::invalid(
                    "say how many objects the run's writer counted: `count`; a listing that is \
                     compared with itself proves nothing",
                )
            })?,
            replace: request.replace,
            definition_version: request.definition_version.clone(),
            max_event_time: request.max_event_time,
            takes: match request.took_loose {
                true => Takes::Loose,
                false => Takes::Unsaid,
            },
        }),
    };
    Ok(Request {
        slot: slot(request)?,
        what,
        as_of,
        over: Over::Any,
    })
}

/// Plans an act on a dataset, and carries it out where there is consent and no refusal.
pub async fn act(
    placed: &Placed,
    asked: &Asked,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    match asked.request.kind {
        Act::Publish | Act::Repoint => publish(placed, asked, consent, host).await,
        Act::ExpireRuns => expire_runs(placed, asked, consent, host).await,
        Act::Compact => compact(placed, asked, consent, host).await,
        Act::Restore | Act::Vacuum | Act::Optimize => Err(Error::invalid(
            "this is done to a table, and not to a dataset",
        )),
    }
}

/// The store's clock; or the caller's and why nothing can be written, where it is only planned.
async fn clock(
    placed: &Placed,
    what: &What,
    asked: &Asked,
    consent: Option<&Consent>,
) -> Result<(Time, Option<String>)> {
    let scratch = Uuid::new_v4().to_string();
    match publish::prove(&placed.dataset, &placed.store, what, &scratch).await {
        Ok(proved) => Ok((proved.store_time, None)),
        // What would happen is shown all the same.
        Err(error)
            if consent.is_none() && matches!(error.kind(), Kind::Denied | Kind::Unsupported) =>
        {
            Ok((
                asked.as_of,
                Some(format!("nothing can be written here: {error}")),
            ))
        }
        Err(error) => Err(error),
    }
}

fn planned_only(mut plan: Plan, read_only: Option<String>) -> Outcome {
    plan.refused = plan.refused.or(read_only);
    Outcome {
        plan,
        applied: None,
    }
}

/// Publishes or repoints.
async fn publish(
    placed: &Placed,
    asked: &Asked,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    let Placed { dataset, store } = placed;
    let request = of(&asked.request, asked.as_of)?;
    let (now, read_only) = clock(placed, &request.what, asked, consent).await?;
    let planned = publish::plan(dataset, store, &request, now, host).await?;
    let Some(consent) = consent.filter(|_| planned.plan.refused.is_none()) else {
        return Ok(planned_only(planned.plan, read_only));
    };
    consent.check(&planned.plan.id)?;
    let started = Instant::now();
    let mut published = publish::apply(dataset, store, &planned, &consent.sign(), host).await?;
    register(placed, now, &mut published, host).await;
    Ok(Outcome {
        plan: planned.plan,
        applied: Some(Applied {
            stopped: None,
            version: None,
            took_ms: millis_since(started),
            attempts: 1,
            deleted: 0,
            bytes_deleted: 0,
            failed: Vec::new(),
            proven_files: published.objects,
            warnings: Vec::new(),
            hours: Some(Box::new(published)),
        }),
    })
}

/// Has the catalog remember what an act left. The hour is looked at again once the catalog has
/// answered: of two publishers, the one it heard last may be the one whose marker was replaced.
async fn register(placed: &Placed, now: Time, published: &mut Published, host: &SharedHost) {
    let Placed { dataset, store } = placed;
    if dataset.metastore.is_none() || published.outcome == PublishedOutcome::Refused {
        return;
    }
    host.progress(Progress {
        step: "registering the partition".to_owned(),
        done: 0,
        of: None,
    });
    for _ in 0..ROUNDS {
        let contradicted = metastore::remember(dataset, published).await;
        if published.registered != Some(true) && !contradicted {
            return;
        }
        let mut again = published.clone();
        match publish::refresh(dataset, store, now, &mut again, host).await {
            Ok(()) if contradicted || again.marker != published.marker => *published = again,
            _ => return,
        }
    }
}

/// How often a publisher tells the catalog while others do.
const ROUNDS: usize = 5;

/// What is asked of `lake` of a compaction.
fn compaction(request: &PlanRequest, as_of: Time) -> Result<compact::Request> {
    if request.target_size == Some(0) {
        return Err(Error::invalid("a file of no bytes cannot be aimed at"));
    }
    Ok(compact::Request {
        slot: slot(request)?,
        target: request.target_size.unwrap_or(compact::TARGET),
        with_late: request.with_late,
        as_of,
        over: Over::Any,
    })
}

/// Packs an hour and publishes what came of it.
async fn compact(
    placed: &Placed,
    asked: &Asked,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    let Placed { dataset, store } = placed;
    let request = compaction(&asked.request, asked.as_of)?;
    let (now, read_only) = clock(placed, &What::Run(Claim::default()), asked, consent).await?;
    let planned = compact::plan(dataset, store, &request, now, host).await?;
    let Some(consent) = consent.filter(|_| planned.plan.refused.is_none()) else {
        return Ok(planned_only(planned.plan, read_only));
    };
    consent.check(&planned.plan.id)?;
    let started = Instant::now();
    let signature = consent.sign();
    let run = compact::run_id(signature.now, &signature.txn_id);
    let mut published = compact::apply(dataset, store, &planned, &run, &signature, host).await?;
    register(placed, now, &mut published, host).await;
    Ok(Outcome {
        plan: planned.plan,
        applied: Some(Applied {
            stopped: None,
            version: None,
            took_ms: millis_since(started),
            attempts: 1,
            deleted: 0,
            bytes_deleted: 0,
            failed: Vec::new(),
            proven_files: published.objects,
            warnings: Vec::new(),
            hours: Some(Box::new(published)),
        }),
    })
}

/// Expires superseded runs.
async fn expire_runs(
    placed: &Placed,
    asked: &Asked,
    consent: Option<&Consent>,
    host: &SharedHost,
) -> Result<Outcome> {
    let Placed { dataset, store } = placed;
    let (now, read_only) = clock(placed, &What::Empty, asked, consent).await?;
    // The earlier of the two clocks: nothing goes too soon, and the same plan comes out again.
    let now = now.min(asked.as_of);
    let planned = expire::plan(dataset, store, asked.as_of, now, host).await?;
    let Some(consent) = consent.filter(|_| planned.plan.refused.is_none()) else {
        return Ok(planned_only(planned.plan, read_only));
    };
    consent.check(&planned.plan.id)?;
    let started = Instant::now();
    let erased = expire::apply(dataset, store, &planned, host).await?;
    let mut warnings = Vec::new();
    if erased.absent > 0 {
        warnings.push(format!("{} gone already", counted(erased.absent, "object")));
    }
    for spared in &erased.spared {
        warnings.push(format!(
            "{} spared, `{}` among them: {}",
            counted(spared.objects, "object"),
            spared.example,
            spared.why
        ));
    }
    Ok(Outcome {
        plan: planned.plan,
        applied: Some(Applied {
            stopped: None,
            version: None,
            took_ms: millis_since(started),
            attempts: 1,
            deleted: erased.deleted,
            bytes_deleted: erased.bytes,
            failed: erased.failed,
            proven_files: 0,
            warnings,
            hours: None,
        }),
    })
}

#[cfg(test)]
mod tests;
