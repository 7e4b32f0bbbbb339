//! A compaction carried out: the run is written, counted, and published as any other.

use std::sync::Arc;

use object_store::ObjectStore;

use super::write::{Written, write};
use super::{Planned, Work};
use crate::delta::write::Signature;
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::publish::look::objects;
use crate::hours::publish::{self, Claim, What, run};
use crate::plan::{Plan, Published, PublishedOutcome};
use crate::table::Time;
use crate::{Error, Kind, Result};

/// Carries a plan out under a run that nobody else has, by [`super::run_id`].
///
/// Nothing is ever deleted. Where it ends without a publish, by an error or by a refusal, the hour is
/// as it was, and what was written of the run lies there unpublished.
pub async fn apply(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    planned: &Planned,
    run: &str,
    signature: &Signature,
    host: &SharedHost,
) -> Result<Published> {
    run::check(run)?;
    let Some(work) = &planned.work else {
        let mut told = Published::of(&planned.plan, planned.slot);
        // Nothing had to be done: what a reader may scan is told all the same.
        if told.outcome == PublishedOutcome::Unchanged {
            let (known, now) = (planned.asked.as_ref(), planned.store_time);
            publish::tell(dataset, store, now, known, &mut told, host).await?;
        }
        return Ok(told);
    };
    let named = (run, signature.engine.as_str());
    let written = write(dataset, store, planned, work, named, host).await;
    let unpublished = || format!("run {run} is not published");
    let written = written.map_err(|e| e.within(unpublished()))?;
    let again = objects(dataset, store, planned.slot).await?;
    if let Some(why) = work.source.moved(&again) {
        let why = format!("{}: {why}", unpublished());
        return Ok(refused(&planned.plan, planned.slot, why));
    }
    if host.cancelled() {
        let stopped = "stopped before anything was published: the hour is as it was";
        return Err(Error::new(Kind::Cancelled, stopped));
    }
    let request = publish::Request {
        slot: planned.slot,
        what: What::Run(Claim {
            run: run.to_owned(),
            count: written.objects,
            replace: true,
            definition_version: work.source.definition_version.clone(),
            max_event_time: newest(planned, work, &written),
            takes: work.source.takes(run),
        }),
        as_of: signature.now,
        over: work.source.over.clone(),
    };
    let (known, now) = (planned.asked.as_ref(), planned.store_time);
    let act = publish::plan_knowing(dataset, store, &request, now, known, host).await?;
    if let Some(why) = &act.plan.refused {
        let why = format!("{}: {why}", unpublished());
        return Ok(refused(&act.plan, planned.slot, why));
    }
    let mut told = publish::apply(dataset, store, &act, signature, host).await?;
    let mut warnings = planned.plan.warnings.clone();
    warnings.append(&mut told.warnings);
    told.warnings = warnings;
    told.message.get_or_insert_with(|| {
        format!(
            "{} rows of {} objects are in {} now",
            written.rows,
            work.inputs.len(),
            written.objects
        )
    });
    Ok(told)
}

/// `plan` says how the hour stands.
fn refused(plan: &Plan, slot: Slot, why: String) -> Published {
    Published {
        outcome: PublishedOutcome::Refused,
        refused: Some(why),
        ..Published::of(plan, slot)
    }
}

/// What is said of the newest event where the files do not say: what the marker said of the same
/// rows, else the last instant that an event of the hour can have.
fn newest(planned: &Planned, work: &Work, written: &Written) -> Option<Time> {
    match written.newest {
        Some(_) => None,
        None => {
            let last = Time(planned.slot.end().0 - 1);
            Some(work.source.max_event_time.unwrap_or(last))
        }
    }
}
