//! What is remembered of one dataset.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::forget::OBJECTS;
use super::list::{InTree, Listed, Piece};
use super::plan::in_data;
use super::tally::Tally;
use crate::figures::counted;
use crate::hours::dataset::{Dataset, MarkerKind};
use crate::hours::day::{Day, Slot};
use crate::hours::foreign::{self, Commit, Foreign};
use crate::hours::judge::{Completeness, Evidence, Markers, Verdict, about, judge};
use crate::hours::letters;
use crate::hours::listing::{Object, SlotObjects, fingerprint};
use crate::hours::spelled::is_day;
use crate::hours::state::{Reason, Remark, State};
use crate::hours::template::Tree;
use crate::table::Time;

/// Listings, markers and answers of the gate, of one dataset. Shared between the questions about it.
#[derive(Debug)]
pub struct Memory(Mutex<Known>);

impl Default for Memory {
    fn default() -> Self {
        Self::bounded(OBJECTS)
    }
}

impl Memory {
    /// One that forgets what was asked about longest ago rather than remember more objects than
    /// these.
    pub fn bounded(objects: usize) -> Self {
        Self(Mutex::new(Known {
            limit: objects,
            ..Known::default()
        }))
    }

    /// How many days of keys are remembered.
    pub fn days(&self) -> usize {
        self.lock().days.len()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Known> {
        // A panic elsewhere leaves whole entries behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) slots: BTreeMap<Slot, Keys>,
    /// Days that were listed whole, with what lies in them and in no slot.
    pub(super) days: BTreeMap<Day, Rest>,
    pub(super) markers: BTreeMap<Slot, InMarkers>,
    pub(super) trees: BTreeSet<Day>,
    /// Contents of foreign commits, by key.
    pub(super) commits: BTreeMap<String, (Object, Result<Commit, String>)>,
    pub(super) letters: BTreeMap<Slot, Vec<Object>>,
    letters_refused: Option<String>,
    /// Dead letters of a day in no slot of it, and such that are in no day.
    letters_stray: BTreeMap<Day, String>,
    letters_beside: Option<String>,
    pub(super) gates: BTreeMap<Slot, (u64, Completeness)>,
    pub(super) root: Option<(Vec<String>, Vec<Object>)>,
    /// Closed days that had their turn to be listed again.
    turned: BTreeSet<Day>,
    /// Objects that may be remembered.
    pub(super) limit: usize,
    /// Days of questions that are being answered.
    pub(super) held: Vec<(Day, Day)>,
    /// How many questions there were, and the last one about a day.
    pub(super) questions: u64,
    pub(super) used: BTreeMap<Day, u64>,
    /// Slots of forgotten days that were closed or empty.
    pub(super) passed: BTreeSet<Slot>,
}

/// The keys of a slot, and when they were listed.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    pub(super) objects: Arc<SlotObjects>,
    pub(super) at: Time,
}

/// What lies in a day and in no slot.
#[derive(Debug, Default)]
pub(super) struct Rest {
    pub(super) hidden: Vec<Object>,
    pub(super) tally: Tally,
}

/// The marker tree of a slot.
#[derive(Debug, Default)]
pub(super) struct InMarkers {
    pub(super) tree: Vec<(Tree, Object)>,
    /// What was read, of this tree or of the one before.
    pub(super) read: Arc<Markers>,
    /// Whether it is of this one.
    pub(super) whole: bool,
    pub(super) pins: bool,
    pub(super) taken: bool,
}

/// How a slot stands, and what that is concluded from.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) slot: Slot,
    pub(super) verdict: Verdict,
    pub(super) completeness: Option<Completeness>,
    pub(super) markers: Arc<Markers>,
    pub(super) objects: Arc<SlotObjects>,
    pub(super) at: Option<Time>,
}

impl Standing {
    /// Whether it would be read or passed, and nobody knows whether it is complete.
    pub(super) fn unchecked(&self, dataset: &Dataset) -> bool {
        dataset.complete.is_some() && self.verdict.state.is_closed() && self.completeness.is_none()
    }

    /// Whether keys came that its run does not have.
    pub(super) fn late_data(&self) -> bool {
        self.verdict.reasons.iter().any(Reason::is_late_data)
    }

    /// What must be known of it where it is closed.
    pub(super) fn remark(&self, dataset: &Dataset) -> Option<Remark> {
        if self.unchecked(dataset) {
            return Some(Remark::NotChecked);
        }
        (self.verdict.state.is_closed() && self.late_data()).then_some(Remark::LateData)
    }
}

/// Whether two objects are one, as far as a listing tells.
pub(super) fn same(a: &Object, b: &Object) -> bool {
    let tags = match (&a.etag, &b.etag) {
        (Some(a), Some(b)) => a == b,
        _ => a.put == b.put,
    };
    a.key == b.key && a.bytes == b.bytes && tags
}

impl Known {
    pub(super) fn has_day(&self, day: Day) -> bool {
        self.days.contains_key(&day)
    }

    pub(super) fn has_tree(&self, day: Day) -> bool {
        self.trees.contains(&day)
    }

    pub(super) fn has_root(&self) -> bool {
        self.root.is_some()
    }

    /// Takes in a listing; gives the days that were known and whose markers have changed.
    pub(super) fn take(
        &mut self,
        dataset: &Dataset,
        piece: Piece,
        listed: Listed,
        now: Time,
    ) -> BTreeSet<Day> {
        match piece {
            Piece::Days(first, last) => {
                let slots = first.to(last).flat_map(|day| dataset.slots(day));
                let days: Vec<Slot> = slots.collect();
                if first.to(last).any(|day| self.days.contains_key(&day)) {
                    self.turned.extend(first.to(last));
                }
                let Listed {
                    slots,
                    mut hidden,
                    mut tally,
                    tree,
                    ..
                } = listed;
                self.keys(&days, slots, now);
                for day in first.to(last) {
                    let rest = Rest {
                        hidden: hidden.remove(&day).unwrap_or_default(),
                        tally: tally.remove(&day).unwrap_or_default(),
                    };
                    self.days.insert(day, rest);
                }
                if in_data(dataset) {
                    // The keys are of the same listing: nothing is older than its markers.
                    self.tree(first, last, None, tree);
                }
                BTreeSet::new()
            }
            Piece::Slot(slot) => {
                self.keys(&[slot], listed.slots, now);
                if in_data(dataset) {
                    self.tree(slot.day, slot.day, Some(slot), listed.tree);
                }
                BTreeSet::new()
            }
            Piece::Tree(first, last) => self.tree(first, last, None, listed.tree),
            Piece::Letters(first, last) => {
                self.letters
                    .retain(|slot, _| !(first..=last).contains(&slot.day));
                self.letters_refused = listed.refused;
                self.letters_beside = listed.beside;
                self.letters_stray
                    .retain(|day, _| !(first..=last).contains(day));
                self.letters_stray.extend(listed.stray);
                for (slot, objects) in listed.slots {
                    let data: Vec<Object> = objects.data().cloned().collect();
                    self.letters.insert(slot, data);
                }
                BTreeSet::new()
            }
            Piece::Root => {
                self.root = Some((listed.folders, listed.keys));
                BTreeSet::new()
            }
        }
    }

    fn keys(&mut self, of: &[Slot], mut listed: BTreeMap<Slot, SlotObjects>, at: Time) {
        let none = Arc::new(SlotObjects::default());
        for slot in of {
            let objects = match listed.remove(slot) {
                Some(objects) => Arc::new(objects),
                None => Arc::clone(&none),
            };
            self.slots.insert(*slot, Keys { objects, at });
        }
    }

    fn tree(
        &mut self,
        first: Day,
        last: Day,
        only: Option<Slot>,
        listed: Vec<InTree>,
    ) -> BTreeSet<Day> {
        let mut new: BTreeMap<Slot, Vec<(Tree, Object)>> = BTreeMap::new();
        for (slot, tree, object) in listed {
            new.entry(slot).or_default().push((tree, object));
        }
        let of = |slot: &Slot| match only {
            Some(only) => *slot == only,
            None => (first..=last).contains(&slot.day),
        };
        let old: Vec<Slot> = self.markers.keys().copied().filter(of).collect();
        for slot in old {
            new.entry(slot).or_default();
        }
        let mut changed = BTreeSet::new();
        for (slot, tree) in new.into_iter().filter(|(slot, _)| of(slot)) {
            let known = self.markers.entry(slot).or_default();
            let equal = known.tree.len() == tree.len()
                && known.tree.iter().zip(&tree).all(|(a, b)| same(&a.1, &b.1));
            if equal {
                continue;
            }
            let names = |tree: &[(Tree, Object)]| -> Vec<Object> {
                let closing = tree
                    .iter()
                    .filter(|(tree, _)| matches!(tree, Tree::Current | Tree::Empty));
                closing.map(|(_, object)| object.clone()).collect()
            };
            let moved = names(&known.tree) != names(&tree);
            known.tree = tree;
            known.whole = false;
            if moved && self.trees.contains(&slot.day) {
                changed.insert(slot.day);
            }
        }
        if only.is_none() {
            self.trees.extend(first.to(last));
        }
        changed
    }

    /// Forgets an object of the marker tree that has gone since it was listed.
    pub(super) fn gone(&mut self, slot: Slot, key: &str) {
        if let Some(known) = self.markers.get_mut(&slot) {
            known.tree.retain(|(_, object)| object.key != key);
        }
    }

    /// The closed day whose turn it is to be listed again: the worst first, then the newest.
    pub(super) fn turn(
        &mut self,
        dataset: &Dataset,
        from: Day,
        to: Day,
        wanted: &BTreeSet<Day>,
        now: Time,
    ) -> Option<Day> {
        let mut order: Vec<(State, i32, Day)> = from
            .to(to)
            .filter(|day| !wanted.contains(day))
            .map(|day| {
                let states = dataset
                    .slots(day)
                    .filter_map(|slot| Some(self.standing(dataset, slot, now)?.verdict.state));
                (states.min().unwrap_or(State::Empty), to.since(day), day)
            })
            .collect();
        order.sort_unstable();
        let waiting = |turned: &BTreeSet<Day>| {
            let mut days = order.iter().map(|(.., day)| *day);
            days.find(|day| !turned.contains(day))
        };
        if waiting(&self.turned).is_none() {
            self.turned.clear();
        }
        waiting(&self.turned)
    }

    /// When the store says that a slot's current marker was put.
    pub(super) fn marker_put(&self, slot: Slot) -> Option<Time> {
        let (object, _) = self.markers.get(&slot)?.read.current.as_ref()?;
        Some(object.put)
    }

    /// How a slot stands; `None` where its keys were never listed.
    pub(super) fn standing(&self, dataset: &Dataset, slot: Slot, now: Time) -> Option<Standing> {
        let keys = self.slots.get(&slot)?;
        Some(self.judge(dataset, slot, Arc::clone(&keys.objects), Some(keys.at), now))
    }

    /// How a slot stands, with no keys where none were listed: days far in the future.
    pub(super) fn standing_or_empty(&self, dataset: &Dataset, slot: Slot, now: Time) -> Standing {
        match self.standing(dataset, slot, now) {
            Some(standing) => standing,
            None => self.judge(dataset, slot, Arc::default(), None, now),
        }
    }

    fn judge(
        &self,
        dataset: &Dataset,
        slot: Slot,
        objects: Arc<SlotObjects>,
        at: Option<Time>,
        now: Time,
    ) -> Standing {
        let markers = match self.markers.get(&slot) {
            Some(known) => Arc::clone(&known.read),
            None => Arc::default(),
        };
        let completeness = self.completeness(dataset, slot, &markers, &objects);
        let mut verdict = match dataset.marker.kind {
            MarkerKind::Tidemark => {
                let evidence = Evidence {
                    slot,
                    markers: &markers,
                    objects: &objects,
                    completeness: completeness.as_ref(),
                    now,
                };
                judge(dataset, evidence)
            }
            _ => {
                let evidence = self.foreign(dataset, slot, &objects, now);
                let evidence = Foreign {
                    completeness: completeness.as_ref(),
                    ..evidence
                };
                foreign::judge(dataset, evidence)
            }
        };
        if objects.is_empty()
            && markers.current.is_none()
            && let Some(reason) = self.only_letters(dataset, slot, &markers, now)
        {
            verdict.state = verdict.state.min(reason.state);
            verdict.reasons.insert(0, reason);
            verdict.reasons.sort_by_key(|reason| reason.state);
        }
        if verdict.state == State::Empty
            && let Some(folder) = self.other_day(dataset, slot.day)
        {
            let message = "another way to write this day: no marker can close what lies there";
            let reason = Reason {
                key: Some(format!("{folder}/")),
                ..Reason::new(State::Late, message)
            };
            verdict.state = reason.state;
            verdict.reasons.insert(0, reason);
        }
        Standing {
            slot,
            verdict,
            completeness,
            markers,
            objects,
            at,
        }
    }

    /// Why a slot without data is not one in which nothing happened: all of it became dead letters.
    /// Where these only are reported, somebody may declare it empty all the same.
    fn only_letters(
        &self,
        dataset: &Dataset,
        slot: Slot,
        markers: &Markers,
        now: Time,
    ) -> Option<Reason> {
        let rule = dataset.complete.as_ref()?;
        let letters = self.letters_of(slot);
        let said_of = now >= slot.start() && !dataset.before_first(slot);
        let first = letters.first().filter(|_| said_of)?;
        let declared = matches!(&markers.declared, Some((_, Ok(_))));
        let state = match now < dataset.deadline(slot) {
            _ if rule.report && declared => State::Empty,
            true => State::Open,
            false => State::Late,
        };
        let count = counted(letters.len() as u64, "object");
        let message = format!("no data, and yet {count} of dead letters");
        Some(about(state, message, first))
    }

    /// A folder that is a day written another way, as far as what lies beside the days is known.
    fn other_day(&self, dataset: &Dataset, day: Day) -> Option<&String> {
        let (folders, _) = self.root.as_ref()?;
        let mut odd = folders.iter().filter(|folder| folder.contains('%'));
        odd.find(|folder| is_day(dataset, day, folder))
    }

    /// What is known of a slot with foreign markers.
    pub(super) fn foreign<'a>(
        &'a self,
        dataset: &Dataset,
        slot: Slot,
        objects: &'a SlotObjects,
        now: Time,
    ) -> Foreign<'a> {
        let day = self.days.get(&slot.day);
        Foreign {
            slot,
            objects,
            of_day: day.map_or(&[], |rest| rest.hidden.as_slice()),
            custom: self.custom(dataset, slot),
            commits: &self.commits,
            completeness: None,
            now,
        }
    }

    /// The object that closes a slot by its presence.
    fn custom(&self, dataset: &Dataset, slot: Slot) -> Option<&Object> {
        let slot = match dataset.marker.whole_day {
            true => Slot::day(slot.day),
            false => slot,
        };
        let tree = self.markers.get(&slot)?.tree.iter();
        let mut current = tree.filter(|(tree, _)| *tree == Tree::Current);
        current.next().map(|(_, object)| object)
    }

    /// What is known of a slot's completeness without asking the gate.
    fn completeness(
        &self,
        dataset: &Dataset,
        slot: Slot,
        markers: &Markers,
        objects: &SlotObjects,
    ) -> Option<Completeness> {
        let gate = dataset.complete.as_ref()?;
        let ours = dataset.marker.kind == MarkerKind::Tidemark;
        let marker = markers.marker();
        if ours && marker.is_none() {
            return None;
        }
        let unreadable = |why: String| {
            Some(Completeness {
                unreadable: Some(why),
                ..Completeness::default()
            })
        };
        let Some(prefix) = &gate.dead_letters else {
            return unreadable(
                "no prefix is configured where dead letters land, so a line that is missing cannot be told from one that was dead-lettered".to_owned(),
            );
        };
        if let Some(why) = &self.letters_refused {
            return unreadable(format!(
                "the dead letters below {prefix}/ cannot be listed: {why}"
            ));
        }
        let stray = self.letters_beside.as_ref();
        if let Some(key) = stray.or_else(|| self.letters_stray.get(&slot.day)) {
            return unreadable(letters::stray(key));
        }
        let (key, found) = self
            .gates
            .get(&slot)
            .map_or((0, None), |(k, f)| (*k, Some(f)));
        if let Some(found) = found
            && key == self.gate_key(slot, markers, objects)
        {
            return Some(found.clone());
        }
        // What the publisher found, when it asked the gate: true of the dead letters of then.
        let stated = marker?.stated()?;
        let letters = self.letters_of(slot);
        let holds = match &stated.letters {
            Some(then) => *then == fingerprint(letters),
            // It does not say of which. Where all lines had landed and there is no dead letter now,
            // none that went makes a difference.
            None => letters.is_empty() && stated.dead_lettered == 0,
        };
        holds.then_some(stated)
    }

    /// The dead letters of a slot.
    pub(super) fn letters_of(&self, slot: Slot) -> &[Object] {
        self.letters.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// What an answer of the gate is true of.
    pub(super) fn gate_key(&self, slot: Slot, markers: &Markers, objects: &SlotObjects) -> u64 {
        let marker = markers.current.iter().map(|(object, _)| object.clone());
        let mut all = SlotObjects {
            loose: marker.collect(),
            hidden: self.letters_of(slot).to_vec(),
            ..SlotObjects::default()
        };
        all.runs.clone_from(&objects.runs);
        all.loose.extend(objects.loose.iter().cloned());
        // Foreign commits say which files are read.
        all.hidden.extend(objects.hidden.iter().cloned());
        if let Some(rest) = self.days.get(&slot.day) {
            all.hidden.extend(rest.hidden.iter().cloned());
        }
        all.digest()
    }

    /// Whether the dead letters cannot be listed.
    pub(super) fn refused(&self) -> bool {
        self.letters_refused.is_some()
    }

    /// Whether the gate was asked about just this.
    pub(super) fn has_gated(&self, slot: Slot, key: u64) -> bool {
        self.gates
            .get(&slot)
            .is_some_and(|(known, _)| *known == key)
    }

    /// Remembers an answer of the gate.
    pub(super) fn gated(&mut self, slot: Slot, key: u64, found: Completeness) {
        self.gates.insert(slot, (key, found));
    }
}
