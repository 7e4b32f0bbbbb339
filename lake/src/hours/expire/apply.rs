//! The deletes, batch by batch, each decided once more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use object_store::ObjectStore;

use super::rules::Spare;
use super::whole::decided;
use super::{Planned, summed};
use crate::host::{Progress, SharedHost};
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::listing::{Object, path};
use crate::hours::publish::look::look;
use crate::plan::{Expired, Failed, Spared};
use crate::store::erase::{Eraser, Gone};
use crate::{Error, Kind, Result};

/// Keys of a batch at most: what one request deletes.
const BATCH: usize = 1000;

/// What came of an expiry.
#[derive(Clone, Debug, Default)]
pub struct Erased {
    /// Objects that were deleted, as the store confirmed.
    pub deleted: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects that were gone already.
    pub absent: u64,
    /// Keys that may still be there, each with the reason.
    pub failed: Vec<Failed>,
    /// Objects that were to be deleted and are needed after all.
    pub spared: Vec<Spared>,
}

/// Carries an expiry out.
pub async fn apply(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    planned: &Planned,
    host: &SharedHost,
) -> Result<Erased> {
    let mut erased = Erased::default();
    let mut eraser = Eraser::new(store, host);
    let mut spared = Vec::new();
    let mut known = planned.known.clone();
    let at = (planned.store_time, planned.audit);
    for batch in batches(planned) {
        if host.cancelled() {
            return Err(stopped(&erased));
        }
        host.progress(Progress {
            step: "deleting superseded runs".to_owned(),
            done: erased.deleted,
            of: Some(planned.plan.files_to_delete),
        });
        host.bytes(erased.bytes, planned.plan.bytes_to_delete);
        let mut going: Vec<Object> = Vec::new();
        for (slot, keys) in batch {
            // A key may have been put again since it was planned with: it is another one then.
            let seen = match look(dataset, store, slot).await {
                Ok(seen) => seen,
                Err(error) => {
                    // Nobody knows who needs them now.
                    let why = format!("the hour cannot be read again: {error}");
                    erased.failed.extend(keys.iter().map(|key| Failed {
                        key: key.clone(),
                        why: why.clone(),
                    }));
                    continue;
                }
            };
            let (hour, evidence) = ((dataset, store, slot), (&seen.markers, &seen.objects));
            let again = decided(hour, evidence, at, &mut known, host).await;
            let again = again.map_err(|error| match error.kind() {
                Kind::Cancelled => stopped(&erased),
                _ => error,
            })?;
            let goes: BTreeSet<&str> = again
                .groups
                .iter()
                .flat_map(|group| &group.objects)
                .map(|object| object.key.as_str())
                .collect();
            let stays: BTreeMap<&str, &str> = again
                .spared
                .iter()
                .map(|spare| (spare.object.key.as_str(), spare.why.as_str()))
                .collect();
            let mut gone = keys.len() as u64;
            for object in seen
                .objects
                .data()
                .filter(|object| keys.contains(&object.key))
            {
                gone = gone.saturating_sub(1);
                match goes.contains(object.key.as_str()) {
                    true => going.push(object.clone()),
                    false => spared.push(Spare {
                        until: None,
                        why: stays
                            .get(object.key.as_str())
                            .unwrap_or(&"a marker names it again")
                            .to_string(),
                        object: object.clone(),
                    }),
                }
            }
            erased.absent += gone;
        }
        delete(&going, &mut eraser, &mut erased).await?;
    }
    let kept: BTreeSet<&str> = spared
        .iter()
        .map(|spare| spare.object.key.as_str())
        .chain(erased.failed.iter().map(|failed| failed.key.as_str()))
        .collect();
    let markers = forgotten(planned, &kept);
    for (slot, keys) in markers {
        if host.cancelled() {
            break;
        }
        let seen = match look(dataset, store, slot).await {
            Ok(seen) => seen,
            Err(error) => {
                let why = format!("the hour cannot be read again: {error}");
                erased.failed.extend(keys.into_iter().map(|key| Failed {
                    key,
                    why: why.clone(),
                }));
                continue;
            }
        };
        let (hour, evidence) = ((dataset, store, slot), (&seen.markers, &seen.objects));
        let again = match decided(hour, evidence, at, &mut known, host).await {
            Err(error) if error.kind() == Kind::Cancelled => break,
            again => again?,
        };
        let gone = again.groups.iter().filter(|group| group.objects.is_empty());
        let going: Vec<Object> = gone
            .flat_map(|group| &group.markers)
            .filter(|object| keys.contains(&object.key))
            .cloned()
            .collect();
        delete(&going, &mut eraser, &mut erased).await?;
    }
    erased.spared = summed(spared);
    Ok(erased)
}

/// Whoever stops an expiry is told how far it came.
fn stopped(erased: &Erased) -> Error {
    let what = format!("stopped after {} objects were deleted", erased.deleted);
    Error::new(Kind::Cancelled, what)
}

/// The markers that were planned, by their hours, but for those of runs of which something is left.
fn forgotten(planned: &Planned, kept: &BTreeSet<&str>) -> BTreeMap<Slot, BTreeSet<String>> {
    let mut markers: BTreeMap<Slot, BTreeSet<String>> = BTreeMap::new();
    for group in groups(planned) {
        let whole = !group.keys.iter().any(|key| kept.contains(key.as_str()));
        if whole && !group.markers.is_empty() {
            let of = markers.entry(slot_of(group)).or_default();
            of.extend(group.markers.iter().cloned());
        }
    }
    markers
}

fn groups(planned: &Planned) -> impl Iterator<Item = &Expired> {
    let detail = planned.plan.hours.as_ref();
    let expired = detail.and_then(|detail| detail.expire.as_ref());
    expired.into_iter().flat_map(|detail| &detail.expired)
}

fn slot_of(group: &Expired) -> Slot {
    Slot {
        day: group.date,
        hour: group.hour,
    }
}

/// Keys that were planned, in batches of whole hours as far as they fit.
fn batches(planned: &Planned) -> Vec<BTreeMap<Slot, BTreeSet<String>>> {
    let mut batches = Vec::new();
    let mut batch: BTreeMap<Slot, BTreeSet<String>> = BTreeMap::new();
    let mut count = 0;
    for group in groups(planned) {
        let slot = slot_of(group);
        for key in &group.keys {
            if count == BATCH {
                batches.push(std::mem::take(&mut batch));
                count = 0;
            }
            batch.entry(slot).or_default().insert(key.clone());
            count += 1;
        }
    }
    batches.push(batch);
    batches
}

async fn delete(going: &[Object], eraser: &mut Eraser, erased: &mut Erased) -> Result<()> {
    let keys = going.iter().map(|object| path(&object.key));
    let keys = keys.collect::<Result<Vec<_>>>()?;
    let outcome = eraser.erase(&keys).await;
    for (object, gone) in going.iter().zip(outcome) {
        match gone {
            Gone::Deleted => {
                erased.deleted += 1;
                erased.bytes += object.bytes;
            }
            Gone::Absent => erased.absent += 1,
            Gone::Failed(why) => erased.failed.push(Failed {
                key: object.key.clone(),
                why: kept(&why),
            }),
        }
    }
    Ok(())
}

/// A refused delete names what keeps the object.
fn kept(why: &str) -> String {
    let lower = why.to_lowercase();
    let refused = [
        "accessdenied",
        "access denied",
        "objectlocked",
        "worm",
        "permission",
        "privileges",
        "403",
    ];
    match refused.iter().any(|word| lower.contains(word)) {
        true => format!("an Object Lock, a legal hold or a policy of the store keeps it: {why}"),
        false => why.to_owned(),
    }
}
