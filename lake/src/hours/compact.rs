//! Compaction: an ended hour's loose keys into its first run, or a closed hour into a better one.
//!
//! No row changes. The rows of the inputs are written again as few larger files under a new run,
//! counted on both sides, and only then is the run published, as any other. Old run and loose keys
//! stay for the audit window; whatever goes wrong before the publish leaves a run that no marker
//! names, and that no reader sees.

mod apply;
mod columns;
mod inspect;
mod instants;
mod source;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use object_store::ObjectStore;

pub use self::apply::apply;
use self::columns::Columns;
use self::source::Source;
use super::Dataset;
use super::day::Slot;
use super::letters::Letters;
use super::listing::Object;
use super::publish::Over;
use super::publish::asked::{Asked, ask, standing};
use super::publish::gates::incomplete;
use super::publish::look::{look, objects};
use super::publish::{refuse, take};
use crate::delta::write::Digest;
use crate::host::SharedHost;
use crate::parquet::output::Memory;
use crate::plan::{Act, HoursDetail, Plan};
use crate::table::Time;
use crate::{Error, Result};

/// Bytes of a file of a new run, where nobody says another.
pub const TARGET: u64 = 128 << 20;

/// What is to be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The hour.
    pub slot: Slot,
    /// Bytes that a file of the new run should have.
    pub target: u64,
    /// Take in the keys that came after the marker.
    pub with_late: bool,
    /// The instant taken as now.
    pub as_of: Time,
    /// The marker that may be replaced.
    pub over: Over,
}

/// A compaction, decided and not yet done.
#[derive(Debug)]
pub struct Planned {
    /// What it does, for people.
    pub plan: Plan,
    /// What carrying it out may hold in memory.
    pub memory: Memory,
    slot: Slot,
    target: u64,
    store_time: Time,
    work: Option<Work>,
    /// What the gate said of the run that is current.
    asked: Option<Asked>,
}

/// All that is needed to carry one out.
#[derive(Debug)]
struct Work {
    source: Source,
    inputs: Vec<Input>,
    columns: Arc<Columns>,
    /// Whether the inputs are compressed well, and slowly.
    dense: bool,
}

/// A file that is packed.
#[derive(Clone, Debug)]
struct Input {
    object: Object,
    rows: u64,
}

/// The name of a run that is begun now: `20261110T140500Z-1f3a9c04`. `random` tells it from one that
/// somebody else begins in the same second.
pub fn run_id(now: Time, random: &str) -> String {
    let seconds = now.0.div_euclid(1000);
    let text = Time(seconds * 1000).to_string();
    let digits = text.split('.').next().unwrap_or_default();
    let digits: String = digits.chars().filter(|c| !"-:Z".contains(*c)).collect();
    let random: String = random.chars().filter(char::is_ascii_alphanumeric).collect();
    let random = random.get(..8).unwrap_or(&random);
    format!("{digits}Z-{random}")
}

/// Plans a compaction; `store_time` is the store's clock. A plan that is refused says why.
///
/// The footer of every input is read, so that what cannot be packed exactly is refused before
/// anything is written, as is what could not be published afterwards: by its columns, its event
/// times or its completeness.
pub async fn plan(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    request: &Request,
    store_time: Time,
    host: &SharedHost,
) -> Result<Planned> {
    if request.target == 0 {
        return Err(Error::invalid("files of 0 bytes cannot be made"));
    }
    let slot = request.slot;
    refuse::grain(dataset, slot)?;
    let mut plan = Plan::new(Act::Compact, dataset.name.clone(), request.as_of, None);
    let mut detail = HoursDetail {
        date: Some(slot.day),
        hour: slot.hour,
        ..HoursDetail::default()
    };
    let mut digest = Digest::default();
    digest.take(&(
        Act::Compact,
        &dataset.name,
        &dataset.url,
        slot,
        request.as_of,
    ))?;
    digest.take(&(request.target, request.with_late))?;
    let mut asked = None;
    let decided = match refuse::before_looking(dataset, slot, store_time) {
        Some(why) => Err(Not::Refused(why)),
        None => {
            let seen = look(dataset, store, slot).await?;
            refuse::moved_on(&seen, &request.over)?;
            let at = (slot, store_time);
            let stands = standing(dataset, store, at, &seen, None, host).await?;
            let verdict = stands.verdict;
            asked = stands.asked;
            take(&mut digest, &seen)?;
            let source = source::source(dataset, request, &seen, &verdict, store_time);
            detail.state = Some(verdict.state);
            detail.reasons = verdict.reasons;
            detail.superseded_run = seen.markers.marker().map(|marker| marker.run_id.clone());
            match source {
                Err(not) => Err(not),
                Ok(source) => {
                    plan.warnings.clone_from(&source.warnings);
                    plan.files_to_rewrite = source.inputs.len() as u64;
                    plan.bytes_to_rewrite = source.bytes();
                    plan.files_to_write = plan.bytes_to_rewrite.div_ceil(request.target).max(1);
                    let of = (dataset, store, slot, store_time);
                    decide(of, source, asked.as_ref(), &mut detail, host).await?
                }
            }
        }
    };
    let work = match decided {
        Ok(work) => Some(work),
        Err(Not::Refused(why)) => {
            plan.refused = Some(why);
            None
        }
        Err(Not::Needed(why)) => {
            detail.unchanged = Some(why);
            None
        }
    };
    digest.take(&(&plan.refused, &detail.unchanged))?;
    plan.id = digest.finish();
    plan.hours = Some(detail);
    Ok(Planned {
        plan,
        memory: Memory::default(),
        slot,
        target: request.target,
        store_time,
        work,
        asked,
    })
}

/// Why nothing is packed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Not {
    /// It may not be.
    Refused(String),
    /// The hour is as it was asked for.
    Needed(String),
}

/// What is decided of keys once their footers were read.
async fn decide(
    (dataset, store, slot, now): (&Dataset, &Arc<dyn ObjectStore>, Slot, Time),
    source: Source,
    known: Option<&Asked>,
    detail: &mut HoursDetail,
    host: &SharedHost,
) -> Result<Result<Work, Not>> {
    let looked = inspect::inspect(dataset, store, slot, &source, host).await?;
    detail.findings = looked.findings;
    let (inputs, columns, dense) = match looked.work {
        Ok(work) => work,
        Err(not) => return Ok(Err(not)),
    };
    if let Some(why) = settled((dataset, store, slot, now), &source, known, host).await? {
        return Ok(Err(Not::Refused(why)));
    }
    Ok(Ok(Work {
        source,
        inputs,
        columns: Arc::new(columns),
        dense,
    }))
}

/// Why the keys that were listed are not all there will be, or not all there should be: they are
/// listed again, and the dead letters are looked at.
async fn settled(
    (dataset, store, slot, now): (&Dataset, &Arc<dyn ObjectStore>, Slot, Time),
    source: &Source,
    known: Option<&Asked>,
    host: &SharedHost,
) -> Result<Option<String>> {
    let again = objects(dataset, store, slot).await?;
    if let Some(why) = source.moved(&again) {
        return Ok(Some(why));
    }
    let Some(rule) = &dataset.complete else {
        return Ok(None);
    };
    let letters = Letters::of(dataset, store, slot).await?;
    if source.first
        && let Some(why) =
            source::still_written(letters.objects().into_iter().flatten(), dataset, now)
    {
        return Ok(Some(why));
    }
    let of = (source.inputs.as_slice(), &letters);
    let Asked { found, .. } = ask(dataset, store, of, known, host).await?;
    let passes = found.passes(rule.report);
    Ok((!passes).then(|| incomplete(&found, rule.report)))
}
