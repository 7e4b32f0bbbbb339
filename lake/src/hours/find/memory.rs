//! What is remembered of one dataset: days as they were listed, markers by their entity tag, and
//! what was verified of a listing and a marker.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::tree::Entry;
use super::{Days, ListedDay, Source, Window, has_tree};
use crate::hours::dataset::{Dataset, MarkerKind};
use crate::hours::day::{DAY, Day, Slot};
use crate::hours::foreign;
use crate::hours::judge::{Completeness, Markers, Read};
use crate::hours::listing::Object;
use crate::hours::marker::Marker;
use crate::hours::state::State;
use crate::hours::template::Tree;
use crate::table::Time;
use crate::wire::hours::Fresh;

/// The memory of one dataset. Nothing in it is believed without the listing it was verified with.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    days: BTreeMap<Day, Known>,
    tree: BTreeMap<Slot, Vec<(Tree, Object)>>,
    /// Days whose part of the tree was listed.
    trees: BTreeSet<Day>,
    bodies: HashMap<String, (Object, Bytes)>,
    gates: BTreeMap<Slot, Gate>,
}

#[derive(Debug)]
struct Known {
    listed: Arc<ListedDay>,
    /// How many times it was listed.
    times: u64,
    /// How it stood when it was last judged.
    worst: Option<State>,
}

/// What the gate found, and of which marker, run and dead letters.
#[derive(Debug)]
struct Gate {
    etag: Option<String>,
    digest: u64,
    found: Arc<Completeness>,
}

impl Memory {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which days of a window are listed now.
    pub(super) fn to_list(
        &self,
        dataset: &Dataset,
        days: Days,
        fresh: Fresh,
        now: Time,
    ) -> BTreeSet<Day> {
        let inner = self.lock();
        // Nothing lies in days that have not begun, but for clocks that run ahead.
        let last = Day::of(Time(now.0.saturating_add(DAY)));
        let wanted = days.iter().filter(|day| *day <= last);
        if fresh == Fresh::Again {
            return wanted.collect();
        }
        let mut list: BTreeSet<Day> = wanted
            .clone()
            .filter(|day| !inner.days.contains_key(day))
            .collect();
        if fresh == Fresh::Refresh {
            let open = |day: &Day| {
                let last = dataset.slots(*day).next_back();
                last.is_some_and(|slot| dataset.deadline(slot) > now) && day.start() <= now
            };
            list.extend(wanted.clone().filter(open));
            // The day that was listed the fewest times, of those the worst, of those the newest.
            let turn = wanted.filter(|day| !list.contains(day)).min_by_key(|day| {
                let known = inner.days.get(day);
                let times = known.map_or(0, |known| known.times);
                let worst = known.and_then(|known| known.worst);
                (
                    times,
                    worst.unwrap_or(State::Closed),
                    std::cmp::Reverse(*day),
                )
            });
            list.extend(turn);
        }
        list
    }

    pub(super) fn knows_tree(&self, days: Days) -> bool {
        let inner = self.lock();
        days.iter().all(|day| inner.trees.contains(&day))
    }

    pub(super) fn remember_day(&self, listed: ListedDay) {
        let mut inner = self.lock();
        let before = inner.days.get(&listed.day);
        let times = before.map_or(0, |known| known.times) + 1;
        let worst = before.and_then(|known| known.worst);
        let day = listed.day;
        let known = Known {
            listed: Arc::new(listed),
            times,
            worst,
        };
        inner.days.insert(day, known);
    }

    pub(super) fn remember_tree(&self, days: Days, entries: Vec<Entry>) {
        let mut inner = self.lock();
        inner.tree.retain(|slot, _| !days.holds(slot.day));
        inner.trees.extend(days.iter());
        for (slot, tree, object) in entries {
            inner.tree.entry(slot).or_default().push((tree, object));
        }
        // Bodies of markers that are gone.
        let listed: BTreeSet<&String> = inner
            .tree
            .values()
            .flatten()
            .map(|(_, object)| &object.key)
            .collect();
        let gone: Vec<String> = inner
            .bodies
            .keys()
            .filter(|key| !listed.contains(key) && !key.contains(foreign::COMMITTED))
            .cloned()
            .collect();
        for key in gone {
            inner.bodies.remove(&key);
        }
    }

    /// Markers of a window whose bodies are wanted and not remembered as they are listed.
    pub(super) fn unread(&self, dataset: &Dataset, days: Days) -> Vec<Object> {
        let inner = self.lock();
        let known = |object: &&Object| {
            let body = inner.bodies.get(&object.key);
            body.is_some_and(|(read, _)| same(read, object))
        };
        let objects: Vec<&Object> = match dataset.marker.kind {
            MarkerKind::Tidemark => {
                let slots = inner.tree.iter().filter(|(slot, _)| days.holds(slot.day));
                slots
                    .flat_map(|(_, entries)| entries)
                    .map(|(_, object)| object)
                    .collect()
            }
            MarkerKind::Committed => {
                let listed = days.iter().filter_map(|day| inner.days.get(&day));
                let hidden = listed.flat_map(|known| known.listed.listing.all_hidden());
                hidden
                    .filter(|object| foreign::committed_id(&object.key).is_some())
                    .collect()
            }
            MarkerKind::Success | MarkerKind::Custom => Vec::new(),
        };
        objects
            .into_iter()
            .filter(|object| !known(object))
            .cloned()
            .collect()
    }

    pub(super) fn remember_bodies(&self, bodies: Vec<(Object, Bytes)>) {
        let mut inner = self.lock();
        for (object, bytes) in bodies {
            inner.bodies.insert(object.key.clone(), (object, bytes));
        }
    }

    /// Remembers what the gate found in the run that a slot's marker names.
    pub fn remember_gate(
        &self,
        slot: Slot,
        etag: Option<String>,
        digest: u64,
        found: Completeness,
    ) -> Arc<Completeness> {
        let found = Arc::new(found);
        let gate = Gate {
            etag,
            digest,
            found: Arc::clone(&found),
        };
        self.lock().gates.insert(slot, gate);
        found
    }

    /// What the gate found before, if it was of this marker and these keys.
    pub fn gate(&self, slot: Slot, etag: Option<&str>, digest: u64) -> Option<Arc<Completeness>> {
        let inner = self.lock();
        let gate = inner.gates.get(&slot)?;
        let same = gate.digest == digest && gate.etag.as_deref() == etag && etag.is_some();
        same.then(|| Arc::clone(&gate.found))
    }

    /// Everything that is known of a window.
    pub(crate) fn window(&self, source: &Source, days: Days, now: Time) -> Window {
        let dataset = Arc::clone(&source.dataset);
        let mut inner = self.lock();
        let mut window = Window {
            listed: inner
                .days
                .range(days.from..=days.to)
                .map(|(day, known)| (*day, Arc::clone(&known.listed)))
                .collect(),
            markers: BTreeMap::new(),
            gates: BTreeMap::new(),
            days,
            now,
            dataset,
        };
        match window.dataset.marker.kind {
            _ if has_tree(&window.dataset) => {
                for (slot, entries) in inner.tree.iter().filter(|(slot, _)| days.holds(slot.day)) {
                    let markers = inner.markers(&window.dataset, *slot, entries);
                    window.markers.insert(*slot, Arc::new(markers));
                }
            }
            MarkerKind::Committed => {
                let bodies =
                    |object: &Object| inner.bodies.get(&object.key).map(|(_, b)| b.clone());
                window.markers =
                    foreign::committed(&window.dataset, window.listed.values(), &bodies);
            }
            _ => {}
        }
        for (slot, markers) in &window.markers {
            if let Some((object, Ok(marker))) = &markers.current {
                let digest = window.objects(*slot).digest();
                let gate = inner.gates.get(slot).filter(|gate| {
                    gate.digest == digest && gate.etag.is_some() && gate.etag == object.etag
                });
                let found = gate.map(|gate| Arc::clone(&gate.found));
                let found = found.or_else(|| marker.stated().map(Arc::new));
                window.gates.extend(found.map(|found| (*slot, found)));
            }
        }
        for day in days.iter() {
            let worst = window.worst(day);
            if let Some(known) = inner.days.get_mut(&day) {
                known.worst = worst;
            }
        }
        window
    }

    /// The days in a row, from `first` on, that are known until `last`; the first that is not.
    pub(crate) fn unread_from(&self, first: Day, last: Day) -> Option<Day> {
        let inner = self.lock();
        first.to(last).find(|day| !inner.days.contains_key(day))
    }
}

/// Whether an object is still the one that was read.
fn same(read: &Object, listed: &Object) -> bool {
    let tags = match (&read.etag, &listed.etag) {
        (Some(read), Some(listed)) => read.trim_matches('"') == listed.trim_matches('"'),
        _ => read.put == listed.put,
    };
    tags && read.bytes == listed.bytes
}

impl Inner {
    fn markers(&self, dataset: &Dataset, slot: Slot, entries: &[(Tree, Object)]) -> Markers {
        let mut markers = Markers::default();
        let body = |object: &Object| self.bodies.get(&object.key);
        for (tree, listed) in entries {
            if dataset.marker.kind == MarkerKind::Custom {
                if *tree == Tree::Current {
                    markers.plain = Some(listed.clone());
                }
                continue;
            }
            // Gone since it was listed.
            let Some((object, bytes)) = body(listed) else {
                continue;
            };
            let object = || Object {
                put: listed.put,
                ..object.clone()
            };
            match tree {
                Tree::Current => {
                    markers.current = Some((object(), Marker::parse(dataset, slot, bytes)));
                }
                Tree::Superseded(_) => {
                    markers
                        .superseded
                        .push((object(), Marker::parse(dataset, slot, bytes)));
                }
                Tree::Empty => markers.declared = Some(read(object(), bytes, "declaration")),
                Tree::Pin(_) => markers.pins.push(read(object(), bytes, "pin")),
            }
        }
        markers
    }
}

fn read<T: serde::de::DeserializeOwned>(object: Object, bytes: &Bytes, what: &str) -> Read<T> {
    let parsed = serde_json::from_slice(bytes);
    (
        object,
        parsed.map_err(|e| format!("the {what} cannot be read: {e}")),
    )
}
