//! Forgetting: what is remembered of a dataset stays within a number of objects.
//!
//! Days go that were asked about longest ago, and never those of a question that is being answered.
//! Of slots that let "closed up to" pass it stays known that they did.

use std::collections::BTreeMap;

use super::Finder;
use super::memory::{Known, Memory, Standing};
use crate::hours::dataset::Dataset;
use crate::hours::day::{Day, Slot};
use crate::hours::listing::SlotObjects;
use crate::table::Time;

/// Objects that are remembered where nobody says how many: some sixty megabytes, and a year of a
/// dataset with two dozen objects an hour.
pub(super) const OBJECTS: usize = 250_000;

/// Days that a question is about, remembered for as long as it is being answered.
pub(super) struct Held<'a> {
    memory: &'a Memory,
    dataset: &'a Dataset,
    days: (Day, Day),
    now: Time,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut known = self.memory.lock();
        let held = known.held.iter().position(|days| *days == self.days);
        if let Some(at) = held {
            known.held.swap_remove(at);
        }
        known.forget(self.dataset, self.now);
    }
}

impl Finder {
    /// Holds the days of a window until the guard goes.
    pub(super) fn hold(&self, from: Day, to: Day) -> Held<'_> {
        let mut known = self.memory.lock();
        known.held.push((from, to));
        known.questions += 1;
        let question = known.questions;
        for day in from.to(to) {
            known.used.insert(day, question);
        }
        Held {
            memory: &self.memory,
            dataset: &self.dataset,
            days: (from, to),
            now: self.now,
        }
    }
}

impl Known {
    /// Forgets days until few enough objects are left.
    fn forget(&mut self, dataset: &Dataset, now: Time) {
        let mut days: BTreeMap<Day, usize> = BTreeMap::new();
        for (slot, keys) in &self.slots {
            *days.entry(slot.day).or_default() += size(&keys.objects);
        }
        for (slot, markers) in &self.markers {
            *days.entry(slot.day).or_default() += markers.tree.len();
        }
        for (slot, letters) in &self.letters {
            *days.entry(slot.day).or_default() += letters.len();
        }
        let mut all: usize = days.values().sum();
        if all <= self.limit {
            return;
        }
        let held = |day: &Day| {
            self.held
                .iter()
                .any(|(from, to)| (from..=to).contains(&day))
        };
        let mut order: Vec<(u64, Day, usize)> = days
            .into_iter()
            .filter(|(day, objects)| *objects > 0 && !held(day))
            .map(|(day, objects)| (self.used.get(&day).copied().unwrap_or(0), day, objects))
            .collect();
        order.sort_unstable();
        for (_, day, objects) in order {
            if all <= self.limit {
                break;
            }
            self.forget_day(dataset, day, now);
            all -= objects;
        }
    }

    fn forget_day(&mut self, dataset: &Dataset, day: Day, now: Time) {
        for slot in dataset.slots(day) {
            let standing = self.standing(dataset, slot, now);
            let passes = |standing: Standing| {
                standing.verdict.state.lets_pass() && !standing.unchecked(dataset)
            };
            match standing.is_some_and(passes) {
                true => self.passed.insert(slot),
                false => self.passed.remove(&slot),
            };
        }
        for slot in dataset.slots(day).chain([Slot::day(day)]) {
            self.slots.remove(&slot);
            self.markers.remove(&slot);
            self.letters.remove(&slot);
            self.gates.remove(&slot);
        }
        self.days.remove(&day);
        self.trees.remove(&day);
        self.used.remove(&day);
        let folder = dataset.prefix_of(Slot::day(day));
        self.commits.retain(|key, _| !key.starts_with(&folder));
    }
}

fn size(objects: &SlotObjects) -> usize {
    let runs: usize = objects.runs.values().map(Vec::len).sum();
    objects.loose.len() + objects.hidden.len() + runs
}
