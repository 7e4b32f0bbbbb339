//! The put, and what is true after it.

use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;
use serde_json::Value;

use super::asked::{Asked, standing};
use super::look::{look, markers};
use super::put::{Stands, create, swap};
use super::refuse::{published_already, winner};
use super::{Planned, Write, body_of, history, map_of};
use crate::delta::write::Signature;
use crate::host::{Progress, SharedHost};
use crate::hours::Dataset;
use crate::hours::listing::{Object, path};
use crate::hours::marker::{Declared, Marker};
use crate::hours::template::Template;
use crate::plan::{Published, PublishedOutcome};
use crate::table::Time;
use crate::{Error, Kind, Result};

/// Extra field of a marker: who published it.
pub(super) const BY: &str = "published_by";
/// Extra field of a marker: why, in the publisher's words.
const REASON: &str = "reason";
/// Extra field of a marker: a random id, which tells this put from every other.
const ID: &str = "publication_id";
/// Extra field of a marker: the program that put it.
const ENGINE: &str = "engine";

/// Carries a plan out. [`Kind::Conflict`] names whoever came first; an answer says how the hour
/// stands after it was looked at again.
pub async fn apply(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    planned: &Planned,
    signature: &Signature,
    host: &SharedHost,
) -> Result<Published> {
    let mut told = planned.told();
    match planned
        .write
        .as_ref()
        .filter(|_| planned.plan.refused.is_none())
    {
        None if planned.plan.refused.is_some() => return Ok(told),
        None => {}
        Some(_) if host.cancelled() => {
            return Err(Error::new(Kind::Cancelled, "nothing was put"));
        }
        Some(Write::Empty) => {
            declare(dataset, store, planned, signature, host).await?;
            told.outcome = PublishedOutcome::Published;
        }
        Some(Write::Marker {
            marker,
            over,
            record,
        }) => {
            let marker = sign(marker, signature);
            if let Some((key, body)) = record {
                step(host, "putting the list of loose keys that the run took in");
                list(store, (key, body), host).await?;
            }
            match mark(dataset, store, planned, (&marker, over.as_ref()), host).await? {
                None => {
                    told.outcome = PublishedOutcome::Published;
                    let detail = planned.plan.hours.as_ref();
                    told.superseded_run = detail.and_then(|detail| detail.superseded_run.clone());
                }
                Some(theirs) => told.message = Some(published_already(&theirs)),
            }
        }
    }
    step(host, "looking at the hour again");
    let (known, store_time) = (planned.asked.as_ref(), planned.store_time);
    let looked = tell(dataset, store, store_time, known, &mut told, host).await;
    // What was put is put. How the hour stands is not known, and that is what is told.
    looked.map_err(|error| {
        let done = match told.outcome {
            PublishedOutcome::Published => "the marker was put",
            _ => "nothing had to be put",
        };
        error.within(format!("{done}, and the hour cannot be looked at again"))
    })?;
    Ok(told)
}

fn step(host: &SharedHost, step: &str) {
    host.progress(Progress {
        step: step.to_owned(),
        done: 0,
        of: None,
    });
}

/// Adds what only the publisher knows.
fn sign(marker: &Marker, signature: &Signature) -> Marker {
    let mut marker = marker.clone();
    marker.published_at = signature.now;
    let mut set = |name: &str, value: Option<String>| match value {
        Some(value) => drop(marker.extra.insert(name.to_owned(), Value::from(value))),
        // It may be the marker of a run that is published again.
        None => drop(marker.extra.remove(name)),
    };
    set(BY, signature.user.clone());
    set(REASON, signature.reason.clone());
    set(ID, Some(signature.txn_id.clone()));
    set(ENGINE, Some(signature.engine.clone()));
    marker
}

/// Puts the list that a marker is going to name. One that stands there already is the same.
async fn list(
    store: &Arc<dyn ObjectStore>,
    (key, body): (&str, &Bytes),
    host: &SharedHost,
) -> Result<()> {
    let key = path(key)?;
    match create(store, &key, body, host).await? {
        Stands::Ours => Ok(()),
        Stands::Theirs(_) => Err(Error::new(
            Kind::Conflict,
            "another list of loose keys has this name, so nothing was published",
        )
        .at("key", &key)),
    }
}

/// Puts the marker; the one before is kept first. Gives the marker that stands where somebody else
/// published the same run first: then nothing is left to do.
async fn mark(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    planned: &Planned,
    (marker, over): (&Marker, Option<&(Object, Bytes)>),
    host: &SharedHost,
) -> Result<Option<Marker>> {
    let slot = planned.slot;
    let key = path(&Template::of(dataset).current(slot))?;
    let body = Bytes::from(body_of(marker)?);
    let stands = match over {
        None => {
            step(host, "putting the marker");
            create(store, &key, &body, host).await?
        }
        Some((object, before)) => {
            let Some(tag) = object.etag.as_deref() else {
                let what = "the store gives the marker no entity tag, so it cannot be replaced";
                return Err(Error::unsupported(what).at("key", &key));
            };
            step(host, "keeping the marker that was");
            history::keep(dataset, store, slot, before, host).await?;
            step(host, "putting the marker");
            swap(store, &key, &body, (tag, before), host).await?
        }
    };
    let Stands::Theirs(bytes) = stands else {
        return Ok(None);
    };
    let theirs = match Marker::parse(dataset, slot, &bytes) {
        Ok(theirs) if says_the_same(dataset, &theirs, marker) => return Ok(Some(theirs)),
        theirs => theirs,
    };
    let after_ours = theirs.as_ref().is_ok_and(|theirs| {
        theirs.run_id != marker.run_id && theirs.superseded().any(|run| run == marker.run_id)
    });
    let what = match after_ours {
        true => "was published and has been replaced since",
        false => "was not published",
    };
    Err(Error::new(
        Kind::Conflict,
        format!("run {} {what}: {}", marker.run_id, winner(&theirs)),
    )
    .at("key", &key))
}

/// Whether two markers name the same objects of the same run.
fn says_the_same(dataset: &Dataset, one: &Marker, other: &Marker) -> bool {
    let said = |marker: &Marker| (marker.object_count, marker.bytes, marker.scan(dataset));
    one.run_id == other.run_id && said(one) == said(other)
}

/// Puts the declaration that nothing happened.
async fn declare(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    planned: &Planned,
    signature: &Signature,
    host: &SharedHost,
) -> Result<()> {
    let reason = signature
        .reason
        .as_deref()
        .map(str::trim)
        .unwrap_or_default();
    if reason.is_empty() {
        return Err(Error::invalid(
            "say why nothing came: an empty hour needs a reason",
        ));
    }
    let declared = Declared {
        reason: reason.to_owned(),
        by: signature.user.clone(),
        declared_at: signature.now,
    };
    let body = serde_json::to_vec_pretty(&declared)
        .map_err(|e| Error::new(Kind::Internal, "words that JSON cannot hold").because(e))?;
    let key = path(&Template::of(dataset).empty(planned.slot))?;
    step(host, "declaring the hour empty");
    match create(store, &key, &Bytes::from(body), host).await? {
        Stands::Ours => Ok(()),
        Stands::Theirs(bytes) => {
            let theirs = serde_json::from_slice::<Declared>(&bytes);
            let what = match theirs {
                Ok(theirs) => format!(
                    "somebody else declared the hour empty at {}: {}",
                    theirs.declared_at, theirs.reason
                ),
                Err(_) => {
                    "somebody else declared the hour empty, in words that cannot be read".into()
                }
            };
            Err(Error::new(Kind::Conflict, what).at("key", &key))
        }
    }
}

/// Looks at the hour of an answer again, and tells how it stands now if its marker is another one by
/// now. `store_time` is the store's clock of a moment ago.
pub async fn refresh(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    store_time: Time,
    told: &mut Published,
    host: &SharedHost,
) -> Result<()> {
    let (markers, _) = markers(dataset, store, told.slot()).await?;
    let current = markers.marker().map(map_of).transpose()?;
    match current.is_some() && current == told.marker {
        true => Ok(()),
        false => tell(dataset, store, store_time, None, told, host).await,
    }
}

/// Looks at the hour of an answer, and tells how it stands; `known` is what the gate of completeness
/// said a while ago.
pub(crate) async fn tell(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    store_time: Time,
    known: Option<&Asked>,
    told: &mut Published,
    host: &SharedHost,
) -> Result<()> {
    let slot = told.slot();
    let seen = look(dataset, store, slot).await?;
    let current = seen.markers.current.as_ref();
    let put = current.map_or(store_time, |(object, _)| object.put);
    let now = put.max(store_time);
    let stands = standing(dataset, store, (slot, now), &seen, known, host).await?;
    let verdict = stands.verdict;
    told.marker = seen.markers.marker().map(map_of).transpose()?;
    told.state = Some(verdict.state);
    told.reasons = verdict.reasons;
    told.objects = verdict.objects;
    told.bytes = verdict.bytes;
    told.median_bytes = verdict.median_bytes;
    Ok(())
}
