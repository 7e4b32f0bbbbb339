//! Closing an hour: a marker is put over a run that was listed, counted and checked; moved back to
//! an older run; or the declaration that nothing happened.
//!
//! An act is planned from one look at the slot and carried out on that look alone: the marker is
//! created, or swapped for the one that was seen, and every answer of the store is settled by
//! reading. So an act that fails has left no marker or a true one, and may be tried again.

mod apply;
pub(crate) mod asked;
mod claim;
pub(crate) mod gates;
mod history;
pub(crate) mod look;
pub(super) mod put;
pub(crate) mod refuse;
mod repoint;
pub(crate) mod run;
mod taken;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::path::Path;
use serde_json::{Map, Value};

pub(crate) use self::apply::tell;
pub use self::apply::{apply, refresh};
use self::asked::{Asked, standing};
use self::look::{Look, look};
use super::Dataset;
use super::day::Slot;
use super::letters::Letters;
use super::listing::{Object, path};
use super::marker::Marker;
use super::taken::Took;
use super::template::Template;
use crate::delta::write::Digest;
use crate::host::SharedHost;
use crate::plan::{Act, HoursDetail, Plan, Published};
use crate::store::probe::{Probed, probe, probe_swap};
use crate::table::Time;
use crate::{Error, Kind, Result};

/// What is to be done to an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The hour.
    pub slot: Slot,
    /// What.
    pub what: What,
    /// The instant taken as now: the publisher's clock, for people.
    pub as_of: Time,
    /// The marker that may be replaced.
    pub over: Over,
}

/// What is to be said of an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// That a run is what a reader may scan.
    Run(Claim),
    /// That nothing happened.
    Empty,
    /// That a run that was published before is what a reader may scan again.
    Repoint {
        /// The run.
        run: String,
    },
}

/// A run, and what its writer says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The run.
    pub run: String,
    /// Data objects that the writer counted.
    pub count: u64,
    /// Replace a marker that still matches.
    pub replace: bool,
    /// What the rows mean; the dataset's own where there is none.
    pub definition_version: Option<String>,
    /// The newest event, where the files do not say.
    pub max_event_time: Option<Time>,
    /// What its writer says of the loose keys beside it.
    pub takes: Takes,
}

/// Which loose keys a run took in, as its writer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Takes {
    /// Its writer does not say. What is known of the run before stays known.
    #[default]
    Unsaid,
    /// All that are listed.
    Loose,
    /// Just these; others that are no newer than `until` are in doubt.
    These {
        /// What it took in.
        took: Took,
        /// The store's time.
        until: Option<Time>,
    },
}

/// Which marker an act may find in its way. Another one is [`Kind::Conflict`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Over {
    /// Whatever is there when it is planned.
    #[default]
    Any,
    /// None.
    Nothing,
    /// The one with this entity tag.
    Marker(String),
}

/// An act on an hour, decided and not yet done.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What it does, for people.
    pub plan: Plan,
    slot: Slot,
    write: Option<Write>,
    /// The store's clock when it was planned.
    store_time: Time,
    /// What the gate said of the run that is current once this is done.
    asked: Option<Asked>,
}

/// What an act writes.
#[derive(Clone, Debug)]
enum Write {
    Marker {
        marker: Box<Marker>,
        /// The marker that it takes the place of, as it stands.
        over: Option<(Object, Bytes)>,
        /// The list of loose keys that it names, and where that lies.
        record: Option<(String, Bytes)>,
    },
    Empty,
}

/// What is decided of an act before it becomes a plan.
#[derive(Default)]
struct Decided {
    refused: Option<String>,
    unchanged: Option<String>,
    write: Option<Write>,
    superseded: Option<String>,
    findings: Vec<crate::wire::Finding>,
    asked: Option<Asked>,
    warnings: Vec<String>,
    /// Data objects and bytes of the run.
    amount: (u64, u64),
}

impl Decided {
    fn refused(why: impl Into<String>) -> Self {
        Self {
            refused: Some(why.into()),
            ..Self::default()
        }
    }

    fn unchanged(why: impl Into<String>) -> Self {
        Self {
            unchanged: Some(why.into()),
            ..Self::default()
        }
    }
}

/// The store's clock, and the proof that it creates and swaps objects only where it should.
/// `scratch` is a random name.
pub async fn prove(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    what: &What,
    scratch: &str,
) -> Result<Probed> {
    let root = marker_root(dataset)?;
    match what {
        What::Empty => probe(store, &root, scratch).await,
        What::Run(_) | What::Repoint { .. } => probe_swap(store, &root, scratch).await,
    }
}

/// Where scratch keys of a dataset lie.
pub fn marker_root(dataset: &Dataset) -> Result<Path> {
    path(&Template::of(dataset).root())
}

/// Plans an act on an hour; `store_time` is the store's clock, by [`prove`]. A plan that is refused
/// says why.
pub async fn plan(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    request: &Request,
    store_time: Time,
    host: &SharedHost,
) -> Result<Planned> {
    plan_knowing(dataset, store, request, store_time, None, host).await
}

/// Plans as [`plan`] does; `known` is what the gate of completeness said of a run a while ago.
pub(crate) async fn plan_knowing(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    request: &Request,
    store_time: Time,
    known: Option<&Asked>,
    host: &SharedHost,
) -> Result<Planned> {
    let slot = request.slot;
    refuse::misnamed(dataset, request)?;
    let kind = match request.what {
        What::Run(_) | What::Empty => Act::Publish,
        What::Repoint { .. } => Act::Repoint,
    };
    let mut plan = Plan::new(kind, dataset.name.clone(), request.as_of, None);
    let mut detail = HoursDetail {
        date: Some(slot.day),
        hour: slot.hour,
        ..HoursDetail::default()
    };
    let mut digest = Digest::default();
    digest.take(&(kind, &dataset.name, &dataset.url, slot, request.as_of))?;
    digest.take(&request_digest(request))?;
    let decided = match refuse::before_looking(dataset, slot, store_time) {
        Some(why) => Decided::refused(why),
        None => {
            let seen = look(dataset, store, slot).await?;
            refuse::moved_on(&seen, &request.over)?;
            let at = (slot, store_time);
            let stands = standing(dataset, store, at, &seen, known, host).await?;
            detail.state = Some(stands.verdict.state);
            detail.reasons.clone_from(&stands.verdict.reasons);
            let seen = (&seen, &stands);
            take(&mut digest, seen.0)?;
            match &request.what {
                What::Run(claim) => {
                    claim::decide(dataset, store, request, claim, seen, host).await?
                }
                What::Empty => {
                    let other = crate::hours::spelled::day_of(dataset, store, slot.day).await?;
                    let letters = Letters::of(dataset, store, slot).await?;
                    refuse::empty(dataset, slot, seen.0, &letters, other.as_deref())
                }
                What::Repoint { run } => {
                    repoint::decide(dataset, store, request, run, seen, host).await?
                }
            }
        }
    };
    if let Some(Write::Marker { marker, .. }) = &decided.write {
        let body = body_of(marker)?;
        // What cannot be read again is not written.
        Marker::parse(dataset, slot, &body)
            .map_err(|why| Error::new(Kind::Internal, format!("a marker that is none: {why}")))?;
        detail.marker = Some(map_of(marker)?);
        digest.take(&detail.marker)?;
    }
    (plan.files_to_add, plan.bytes_to_add) = decided.amount;
    plan.refused = decided.refused;
    plan.warnings = decided.warnings;
    detail.unchanged = decided.unchanged;
    detail.superseded_run = decided.superseded;
    detail.findings = decided.findings;
    digest.take(&(&plan.refused, &detail.unchanged))?;
    plan.id = digest.finish();
    plan.hours = Some(detail);
    Ok(Planned {
        plan,
        slot,
        write: decided.write,
        store_time,
        asked: decided.asked,
    })
}

/// What was asked for, as the digest takes it.
fn request_digest(request: &Request) -> Value {
    match &request.what {
        What::Run(claim) => serde_json::json!({
            "run": claim.run, "count": claim.count, "replace": claim.replace,
            "definition_version": claim.definition_version,
            "max_event_time": claim.max_event_time,
            "takes_loose": claim.takes == Takes::Loose,
        }),
        What::Empty => Value::from("empty"),
        What::Repoint { run } => serde_json::json!({ "repoint": run }),
    }
}

/// The current marker and the keys, as the digest takes them.
pub(crate) fn take(digest: &mut Digest, seen: &Look) -> Result<()> {
    let current = seen.markers.current.as_ref();
    digest.take(&current.map(|(object, _)| &object.etag))?;
    for object in seen.objects.data() {
        digest.take(&(&object.key, object.bytes, &object.etag))?;
    }
    Ok(())
}

/// A marker as it is written.
fn body_of(marker: &Marker) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(marker)
        .map_err(|e| Error::new(Kind::Internal, "a marker that JSON cannot hold").because(e))
}

/// A marker as reports show it.
fn map_of(marker: &Marker) -> Result<Map<String, Value>> {
    match serde_json::to_value(marker) {
        Ok(Value::Object(map)) => Ok(map),
        _ => Err(Error::new(Kind::Internal, "a marker that is no object")),
    }
}

impl Planned {
    /// What is to be told where nothing is written.
    fn told(&self) -> Published {
        Published::of(&self.plan, self.slot)
    }
}
