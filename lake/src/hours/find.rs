//! Reading the hours of a window: which requests, in how many rounds, and what is remembered.
//!
//! The marker tree and the days' keys are listed side by side, then the markers that are not
//! remembered are read all at once: a month is a handful of sequential rounds. Never is an hour
//! listed by itself.

mod day;
mod memory;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::try_join_all;
use object_store::ObjectStore;
use object_store::path::Path;

use super::dataset::{Dataset, MarkerKind};
use super::day::{Day, Slot};
use super::foreign;
use super::judge::{Completeness, Evidence, Markers, Verdict, judge};
use super::listing::SlotObjects;
use super::state::State;
use crate::host::{Progress, SharedHost};
use crate::table::Time;
use crate::wire::hours::Fresh;
use crate::{Error, Result};

pub(crate) use day::merged;
pub use day::{KeyFinding, ListedDay};
pub use memory::Memory;

/// A dataset, and the store of its zone.
#[derive(Clone)]
pub struct Source {
    /// What is declared of it.
    pub dataset: Arc<Dataset>,
    /// The store of its zone, whose keys its prefix is relative to.
    pub store: Arc<dyn ObjectStore>,
}

/// Days, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days {
    /// The first.
    pub from: Day,
    /// The last.
    pub to: Day,
}

/// Windows longer than this are listed in parts of several days, so that a year costs little more
/// requests than it has pages of keys.
const PARTS: i32 = 31;

/// The hours of a window: what was found, and how each stands.
#[derive(Clone, Debug)]
pub struct Window {
    /// The dataset.
    pub dataset: Arc<Dataset>,
    /// Which days.
    pub days: Days,
    /// The instant taken as now.
    pub now: Time,
    /// The keys of each day.
    pub listed: BTreeMap<Day, Arc<ListedDay>>,
    /// The marker tree of each slot that has one.
    pub markers: BTreeMap<Slot, Arc<Markers>>,
    /// What the gate found, where it was asked or the marker says it.
    pub gates: BTreeMap<Slot, Arc<Completeness>>,
}

/// Reads the hours of a window, as far as they are not remembered.
pub async fn window(
    source: &Source,
    memory: &Memory,
    days: Days,
    fresh: Fresh,
    now: Time,
    host: &SharedHost,
) -> Result<Window> {
    let dataset = &source.dataset;
    let wanted = memory.to_list(dataset, days, fresh, now);
    let tree_known = fresh == Fresh::Known && memory.knows_tree(days);
    let parts = parts(days, &wanted);
    let of = parts.len() as u64;
    let done = std::sync::atomic::AtomicU64::new(0);
    let listings = try_join_all(parts.into_iter().map(|part| {
        let done = &done;
        async move {
            let listed = day::list(source, part, now).await?;
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            host.progress(Progress {
                step: "listing days".to_owned(),
                done,
                of: Some(of),
            });
            Ok(listed)
        }
    }));
    let tree = async {
        match tree_known || !has_tree(dataset) {
            true => Ok(None),
            false => tree::list(source, days).await.map(Some),
        }
    };
    let (listings, tree) = futures::future::try_join(listings, tree).await?;
    for listed in listings.into_iter().flatten() {
        memory.remember_day(listed);
    }
    if let Some(tree) = tree {
        memory.remember_tree(days, tree);
    }
    host.pause().await;
    let objects = memory.unread(dataset, days);
    if !objects.is_empty() {
        host.progress(Progress {
            step: "reading markers".to_owned(),
            done: 0,
            of: Some(objects.len() as u64),
        });
        memory.remember_bodies(tree::read(source, objects).await?);
    }
    Ok(memory.window(source, days, now))
}

/// A key of the zone.
fn parse(key: &str) -> Result<Path> {
    Path::parse(key).map_err(|e| Error::invalid("not a key").because(e).at("key", key))
}

/// Whether the dataset's markers lie in a tree of their own.
fn has_tree(dataset: &Dataset) -> bool {
    matches!(
        dataset.marker.kind,
        MarkerKind::Tidemark | MarkerKind::Custom
    )
}

/// Days that are listed together: neighbours, so many that a window has at most [`PARTS`] parts.
fn parts(days: Days, wanted: &BTreeSet<Day>) -> Vec<Days> {
    let length = (days.to.since(days.from) + 1).div_euclid(PARTS)
        + i32::from((days.to.since(days.from) + 1).rem_euclid(PARTS) > 0);
    let length = length.max(1);
    let mut parts: Vec<Days> = Vec::new();
    for day in wanted {
        match parts.last_mut() {
            Some(part) if part.to.plus(1) == *day && part.to.since(part.from) + 1 < length => {
                part.to = *day;
            }
            _ => parts.push(Days {
                from: *day,
                to: *day,
            }),
        }
    }
    parts
}

impl Days {
    /// The days from one to another; nothing where the second is before the first.
    pub fn new(from: Day, to: Day) -> Self {
        Self {
            from,
            to: to.max(from),
        }
    }

    /// Each of them.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Day> + Clone {
        self.from.to(self.to)
    }

    /// Whether a day is one of them.
    pub fn holds(self, day: Day) -> bool {
        self.from <= day && day <= self.to
    }
}

impl Window {
    /// The slots, oldest first.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = Slot> {
        let dataset = &self.dataset;
        self.days.iter().flat_map(|day| dataset.slots(day))
    }

    /// The keys of a slot.
    pub fn objects(&self, slot: Slot) -> &SlotObjects {
        static NONE: SlotObjects = SlotObjects::NONE;
        let day = self.listed.get(&slot.day);
        day.and_then(|day| day.listing.slots.get(&slot))
            .unwrap_or(&NONE)
    }

    /// The marker tree of a slot.
    pub fn markers(&self, slot: Slot) -> &Markers {
        static NONE: Markers = Markers::NONE;
        self.markers.get(&slot).map_or(&NONE, Arc::as_ref)
    }

    /// How a slot stands.
    pub fn verdict(&self, slot: Slot) -> Verdict {
        let evidence = Evidence {
            slot,
            markers: self.markers(slot),
            objects: self.objects(slot),
            completeness: self.gates.get(&slot).map(Arc::as_ref),
            now: self.now,
        };
        match self.dataset.marker.kind {
            MarkerKind::Tidemark => judge(&self.dataset, evidence),
            _ => {
                let day = self.listed.get(&slot.day).map(Arc::as_ref);
                foreign::judge(&self.dataset, evidence, day.map(|day| &day.listing))
            }
        }
    }

    /// Every slot's verdict, oldest first.
    pub fn verdicts(&self) -> Vec<(Slot, Verdict)> {
        self.slots()
            .map(|slot| (slot, self.verdict(slot)))
            .collect()
    }

    /// The worst state of a day.
    pub(super) fn worst(&self, day: Day) -> Option<State> {
        self.dataset
            .slots(day)
            .map(|slot| self.verdict(slot).state)
            .min()
    }
}

#[cfg(test)]
mod tests;
