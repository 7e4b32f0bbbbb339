//! What markers say: read at once where it is not remembered.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;
use serde::de::DeserializeOwned;

use super::Finder;
use super::memory::{InMarkers, Keys, Known, same};
use crate::host::Progress;
use crate::hours::dataset::{Dataset, MarkerKind};
use crate::hours::day::{Day, Slot};
use crate::hours::foreign::{self, Commit};
use crate::hours::judge::{Markers, Read};
use crate::hours::listing::{Object, path};
use crate::hours::marker::Marker;
use crate::hours::template::Tree;
use crate::{Error, Kind, Result};

/// A marker is a kilobyte or two, and a commit names its files.
const LARGEST: u64 = 16 * 1024 * 1024;

/// How often markers are read that change meanwhile.
const TRIES: usize = 4;

/// An object to be read, and the slot whose markers it belongs to; `None` for a foreign commit.
type Wanted = (Option<Slot>, Object);

/// The object as it was read: another one may have taken its place since it was listed.
enum Found {
    Gone,
    Bytes(Object, Bytes),
    TooLarge,
}

impl Finder {
    /// Reads the markers of a window that are listed and not remembered.
    pub(super) async fn bodies(&self, from: Day, to: Day) -> Result<()> {
        self.bodies_of(|slot| (from..=to).contains(&slot.day), false)
            .await
    }

    /// Reads the markers of the slots that are wanted, with the readers' pins where `pins`.
    pub(super) async fn bodies_of(
        &self,
        wanted: impl Fn(Slot) -> bool + Copy,
        pins: bool,
    ) -> Result<()> {
        // Another question may list a newer marker while this one reads.
        for _ in 0..TRIES {
            let missing = missing(&self.dataset, &self.memory.lock(), wanted, pins);
            let read = self.read_all(missing).await?;
            if self.remember(read, wanted, pins) {
                return Ok(());
            }
        }
        Err(
            Error::new(Kind::Conflict, "markers change while they are read")
                .at("dataset", &self.dataset.name),
        )
    }

    async fn read_all(&self, missing: Vec<Wanted>) -> Result<Vec<(Wanted, Found)>> {
        let of = missing.len() as u64;
        let mut reads = stream::iter(missing)
            .map(|wanted| async move {
                let found = self.body(&wanted.1).await?;
                Ok::<_, Error>((wanted, found))
            })
            .buffer_unordered(self.host.reads().max(1));
        let mut read = Vec::new();
        while let Some(found) = reads.try_next().await? {
            read.push(found);
            let done = read.len() as u64;
            if done.is_multiple_of(256) || done == of {
                self.host.progress(Progress {
                    step: "reading markers".to_owned(),
                    done,
                    of: Some(of),
                });
            }
        }
        Ok(read)
    }

    /// Whether all that is wanted is known now.
    fn remember(
        &self,
        read: Vec<(Wanted, Found)>,
        wanted: impl Fn(Slot) -> bool,
        pins: bool,
    ) -> bool {
        let mut known = self.memory.lock();
        let mut contents = HashMap::new();
        for ((slot, object), found) in read {
            match (slot, found) {
                (Some(slot), Found::Gone) => known.gone(slot, &object.key),
                (None, Found::Gone) => {
                    let why = "it has gone since it was listed".to_owned();
                    known.commits.insert(object.key.clone(), (object, Err(why)));
                }
                (Some(_), found) => drop(contents.insert(object.key, found)),
                (None, found) => {
                    let (object, commit) = match found {
                        Found::Bytes(read, bytes) => (read, Commit::parse(&bytes)),
                        _ => (object, Err("the commit is too large".to_owned())),
                    };
                    known.commits.insert(object.key.clone(), (object, commit));
                }
            }
        }
        if self.dataset.marker.kind != MarkerKind::Tidemark {
            return true;
        }
        let Known { markers, slots, .. } = &mut *known;
        let mut whole = true;
        for (slot, markers) in markers.iter_mut().filter(|(slot, _)| wanted(**slot)) {
            let needs = Needs::of(slots.get(slot), pins);
            if stale(markers, needs) {
                whole &= sort(&self.dataset, *slot, markers, &mut contents, needs);
            }
        }
        whole
    }

    async fn body(&self, object: &Object) -> Result<Found> {
        if object.bytes > LARGEST {
            return Ok(Found::TooLarge);
        }
        let path = path(&object.key)?;
        let at = |e: object_store::Error| Error::from(e).at("key", &object.key);
        let result = match self.store.get(&path).await.map_err(at) {
            Err(error) if error.kind() == Kind::NotFound => return Ok(Found::Gone),
            result => result?,
        };
        let mut read = Object::from(result.meta.clone());
        let bytes = result.bytes().await.map_err(at)?;
        // A listing and a read may tell one time with more or fewer digits.
        if read.etag.is_some() && read.etag == object.etag {
            read.put = object.put;
        }
        Ok(Found::Bytes(read, bytes))
    }
}

/// What of a slot's marker tree is read beside its markers.
#[derive(Clone, Copy)]
struct Needs {
    pins: bool,
    /// What runs took in tells loose keys apart, where there are any.
    taken: bool,
}

impl Needs {
    fn of(keys: Option<&Keys>, pins: bool) -> Self {
        let taken = keys.is_some_and(|keys| !keys.objects.loose.is_empty());
        Self { pins, taken }
    }

    fn has(self, tree: &Tree) -> bool {
        match tree {
            Tree::Pin(_) => self.pins,
            Tree::Taken(_) => self.taken,
            Tree::Current | Tree::Superseded(_) | Tree::Empty => true,
        }
    }
}

/// Whether a slot's markers must be sorted anew.
fn stale(known: &InMarkers, needs: Needs) -> bool {
    !known.whole || (needs.pins && !known.pins) || (needs.taken && !known.taken)
}

/// What is listed and not remembered.
fn missing(
    dataset: &Dataset,
    known: &Known,
    wanted: impl Fn(Slot) -> bool,
    pins: bool,
) -> Vec<Wanted> {
    match dataset.marker.kind {
        MarkerKind::Tidemark => known
            .markers
            .iter()
            .filter(|(slot, _)| wanted(**slot))
            .map(|(slot, tree)| (slot, tree, Needs::of(known.slots.get(slot), pins)))
            .filter(|(_, known, needs)| stale(known, *needs))
            .flat_map(|(slot, known, needs)| {
                let tree = known.tree.iter();
                tree.filter(move |(tree, object)| {
                    needs.has(tree) && !remembers(&known.read, object)
                })
                .map(|(_, object)| (Some(*slot), object.clone()))
            })
            .collect(),
        MarkerKind::Committed => {
            let slots = known.slots.iter().filter(|(slot, _)| wanted(**slot));
            let hidden = slots.flat_map(|(_, keys)| &keys.objects.hidden);
            let days = known
                .days
                .iter()
                .filter(|(day, _)| wanted(Slot::day(**day)));
            let of_days = days.flat_map(|(_, rest)| &rest.hidden);
            hidden
                .chain(of_days)
                .filter(|object| foreign::is_commit(&object.key))
                .filter(|object| {
                    let read = known.commits.get(&object.key);
                    read.is_none_or(|(read, _)| !same(read, object))
                })
                .map(|object| (None, object.clone()))
                .collect()
        }
        MarkerKind::Success | MarkerKind::Custom => Vec::new(),
    }
}

/// Whether an object was read as it stands.
fn remembers(markers: &Markers, object: &Object) -> bool {
    let current = markers.current.iter().map(|(object, _)| object);
    let superseded = markers.superseded.iter().map(|(object, _)| object);
    let declared = markers.declared.iter().map(|(object, _)| object);
    let pins = markers.pins.iter().map(|(object, _)| object);
    let taken = markers.taken.iter().map(|(object, _)| object);
    let all = current.chain(superseded).chain(declared);
    let mut all = all.chain(pins).chain(taken);
    all.any(|known| same(known, object))
}

/// Puts what was read, and what was remembered, where it belongs. Whether nothing is missing.
fn sort(
    dataset: &Dataset,
    slot: Slot,
    known: &mut InMarkers,
    contents: &mut HashMap<String, Found>,
    needs: Needs,
) -> bool {
    let old = Arc::clone(&known.read);
    let mut markers = Markers::default();
    let marker = |bytes: &[u8]| Marker::parse(dataset, slot, bytes);
    known.whole = true;
    for (tree, listed) in &mut known.tree {
        let found = contents.remove(&listed.key);
        if let Some(Found::Bytes(read, _)) = &found {
            listed.clone_from(read);
        }
        let has = match tree {
            Tree::Current => {
                markers.current = read(listed, found, marker, old.current.as_slice());
                markers.current.is_some()
            }
            Tree::Superseded(_) => {
                let found = read(listed, found, marker, &old.superseded);
                found.map(|found| markers.superseded.push(found)).is_some()
            }
            Tree::Empty => {
                let parse = |bytes: &[u8]| json(bytes, "the declaration");
                markers.declared = read(listed, found, parse, old.declared.as_slice());
                markers.declared.is_some()
            }
            Tree::Pin(_) => {
                let parse = |bytes: &[u8]| json(bytes, "the pin");
                let found = read(listed, found, parse, &old.pins);
                found.map(|found| markers.pins.push(found)).is_some() || !needs.pins
            }
            Tree::Taken(_) => {
                let parse = |bytes: &[u8]| json(bytes, "the list");
                let found = read(listed, found, parse, &old.taken);
                found.map(|found| markers.taken.push(found)).is_some() || !needs.taken
            }
        };
        known.whole &= has;
    }
    known.read = Arc::new(markers);
    known.pins = needs.pins;
    known.taken = needs.taken;
    known.whole
}

/// What an object says, as read now or as remembered; `None` where it was not wanted.
fn read<T: Clone>(
    listed: &Object,
    found: Option<Found>,
    parse: impl Fn(&[u8]) -> Result<T, String>,
    old: &[Read<T>],
) -> Option<Read<T>> {
    match found {
        Some(Found::Bytes(_, bytes)) => Some((listed.clone(), parse(&bytes))),
        Some(Found::TooLarge) => {
            let why = format!("it has {} bytes: no marker has", listed.bytes);
            Some((listed.clone(), Err(why)))
        }
        Some(Found::Gone) | None => old.iter().find(|(known, _)| same(known, listed)).cloned(),
    }
}

fn json<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|e| format!("{what} cannot be read: {e}"))
}
