//! Readers' pins on runs: an object beside the markers that says who reads which run, and until
//! when. An expiry of old runs spares what is pinned.

use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use percent_encoding::percent_decode_str;

use super::Dataset;
use super::day::Slot;
use super::listing::{Listing, Object, path, prefix_path};
use super::marker::RunPin;
use super::publish::look::{markers, read_all};
use super::publish::put::{Stands, create};
use super::publish::run::{id, segment};
use super::template::{Template, Tree};
use crate::host::SharedHost;
use crate::plan::RunPinEntry;
use crate::{Error, Kind, Result};

/// Characters of a pin's name at most.
const LONGEST: usize = 60;

/// All pins of a dataset, by hour and name.
pub async fn list(dataset: &Dataset, store: &Arc<dyn ObjectStore>) -> Result<Vec<RunPinEntry>> {
    let template = Template::of(dataset);
    let root = prefix_path(&template.root())?;
    let listed: Vec<Object> = store
        .list(root.as_ref())
        .map_ok(Object::from)
        .try_collect()
        .await?;
    let mut slots = Vec::new();
    let mut pins = Vec::new();
    for object in listed {
        if let Some((slot, tree @ Tree::Pin(_))) = template.read(&object.key) {
            slots.push((object.key.clone(), slot));
            pins.push((tree, object));
        }
    }
    let read = read_all(store, pins).await?;
    let entries = read.into_iter().filter_map(|(tree, object, _, bytes)| {
        let (_, slot) = slots.iter().find(|(key, _)| *key == object.key)?;
        let Tree::Pin(name) = tree else {
            return None;
        };
        Some(entry(*slot, &name, &bytes))
    });
    Ok(entries.collect())
}

fn entry(slot: Slot, name: &str, bytes: &[u8]) -> RunPinEntry {
    let read = serde_json::from_slice::<RunPin>(bytes);
    let damaged = read
        .as_ref()
        .err()
        .map(|e| format!("the pin cannot be read: {e}"));
    let pin = read.ok();
    let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
    RunPinEntry {
        name,
        date: slot.day,
        hour: slot.hour,
        reader: pin.as_ref().map(|pin| pin.reader.clone()),
        run_id: pin.as_ref().map(|pin| pin.run_id.clone()),
        until: pin.as_ref().map(|pin| pin.until),
        reason: pin.and_then(|pin| pin.reason),
        damaged,
    }
}

/// Pins a run that has objects, under a name that is free in its hour. The same pin again is done
/// already; another one of that name is [`Kind::Conflict`].
pub async fn pin(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
    (name, pin): (&str, &RunPin),
    host: &SharedHost,
) -> Result<()> {
    let key = key(dataset, slot, name)?;
    let prefix = path(dataset.prefix_of(slot).trim_end_matches('/'))?;
    let mut listing = Listing::default();
    let keys: Vec<_> = store.list(Some(&prefix)).try_collect().await?;
    for meta in keys {
        listing.add(dataset, Object::from(meta));
    }
    let objects = listing.slots.remove(&slot).unwrap_or_default();
    let folder = |run: &String| id(run).as_deref() == Some(&pin.run_id);
    let there = objects.runs.keys().any(folder) || {
        // Its marker may call it by another name.
        let (markers, _) = markers(dataset, store, slot).await?;
        let all = markers.history().map(|(_, marker)| marker);
        let mut own = all
            .chain(markers.marker())
            .filter(|marker| marker.run_id == pin.run_id);
        own.any(|marker| {
            let scan = marker.scan(dataset);
            scan.is_some_and(|scan| objects.below(&scan).next().is_some())
        })
    };
    if !there {
        return Err(Error::not_found(format!(
            "{slot} has no run {}: nothing is listed below it",
            pin.run_id
        ))
        .at("key", prefix));
    }
    let body = serde_json::to_vec_pretty(pin)
        .map_err(|e| Error::new(Kind::Internal, "a pin that JSON cannot hold").because(e))?;
    match create(store, &key, &Bytes::from(body), host).await? {
        Stands::Ours => Ok(()),
        Stands::Theirs(bytes) => {
            let entry = entry(slot, name, &bytes);
            let what = match (entry.run_id, entry.until) {
                (Some(run), Some(until)) => {
                    format!("`{name}` pins run {run} until {until} already")
                }
                _ => format!("`{name}` is taken by a pin that cannot be read"),
            };
            let what = format!("{what}: unpin it first, or choose another name");
            Err(Error::new(Kind::Conflict, what).at("key", &key))
        }
    }
}

/// Takes a pin away. [`Kind::NotFound`] where there is none of this name.
pub async fn unpin(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
    name: &str,
) -> Result<()> {
    let key = key(dataset, slot, name)?;
    // Some stores delete what is not there without a word.
    match store.head(&key).await {
        Ok(_) => {}
        Err(object_store::Error::NotFound { .. }) => {
            let what = format!("{slot} has no pin named `{name}`");
            return Err(Error::not_found(what).at("key", &key));
        }
        Err(error) => return Err(Error::from(error).at("key", &key)),
    }
    let deleted = store.delete(&key).await;
    deleted.map_err(|e| Error::from(e).at("key", &key))
}

fn key(dataset: &Dataset, slot: Slot, name: &str) -> Result<Path> {
    let plain = !name.trim().is_empty() && !name.chars().any(char::is_control);
    if !plain || name.chars().count() > LONGEST {
        return Err(Error::invalid(format!(
            "a pin's name is text without control characters, of at most {LONGEST}"
        )));
    }
    if slot.hour.is_some() != dataset.hourly() {
        return Err(Error::invalid(match dataset.hourly() {
            true => format!("`{}` is closed hour by hour: name the hour", dataset.name),
            false => format!("`{}` is closed day by day and has no hours", dataset.name),
        }));
    }
    path(&Template::of(dataset).pin(slot, &segment(name)))
}

#[cfg(test)]
mod tests;
