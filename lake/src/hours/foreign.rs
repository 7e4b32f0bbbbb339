//! Hours that are closed by other writers' markers: `_SUCCESS`, `_committed_…`, or an object of the
//! dataset's own choice. They are read, never written.
//!
//! Such a marker names no count, so what it says is weaker than what ours says: that its writer had
//! finished when it was put. Data put later makes it stale. Names are case sensitive, and a marker
//! above the partitions that it should close says nothing of them.

mod committed;

use std::collections::BTreeMap;

use super::dataset::{Dataset, MarkerKind};
use super::day::Slot;
use super::judge::{
    Completeness, Verdict, about, conclude, duration, early, early_words, gate, over_budget,
    unpublished,
};
use super::listing::{Object, SlotObjects};
use super::state::{Reason, State};
use crate::table::Time;
pub use committed::{Commit, is_commit};

/// The name of Hadoop's marker.
const SUCCESS: &str = "_SUCCESS";

/// Keys of one kind that are named as evidence.
const SHOWN: usize = 20;

/// Everything that is known of a slot.
#[derive(Clone, Copy, Debug)]
pub struct Foreign<'a> {
    /// The slot.
    pub slot: Slot,
    /// Its keys.
    pub objects: &'a SlotObjects,
    /// Hidden keys of its day that lie in no slot.
    pub of_day: &'a [Object],
    /// The object of the dataset's template, where it is there.
    pub custom: Option<&'a Object>,
    /// Contents of `_committed_…` objects, by key.
    pub commits: &'a BTreeMap<String, (Object, Result<Commit, String>)>,
    /// What the gate of completeness found in what is closed; `None` where nobody knows.
    pub completeness: Option<&'a Completeness>,
    /// Now.
    pub now: Time,
}

impl<'a> Foreign<'a> {
    /// Hidden keys at the level that markers close.
    fn hidden(&self, dataset: &Dataset) -> &'a [Object] {
        match whole_day(dataset, self.slot) {
            true => self.of_day,
            false => &self.objects.hidden,
        }
    }

    /// The folder that a marker of this level lies in.
    fn folder(&self, dataset: &Dataset) -> String {
        match whole_day(dataset, self.slot) {
            true => dataset.prefix_of(Slot::day(self.slot.day)),
            false => dataset.prefix_of(self.slot),
        }
    }
}

fn whole_day(dataset: &Dataset, slot: Slot) -> bool {
    dataset.marker.whole_day && slot.hour.is_some()
}

/// Judges a slot of a dataset with foreign markers.
pub fn judge(dataset: &Dataset, evidence: Foreign<'_>) -> Verdict {
    let (counted, reasons) = weigh(dataset, evidence);
    conclude(evidence.objects, &counted, reasons)
}

/// The objects that a reader of a slot reads, where it is closed.
pub fn run<'a>(dataset: &Dataset, evidence: Foreign<'a>) -> Vec<&'a Object> {
    weigh(dataset, evidence).0
}

fn weigh<'a>(dataset: &Dataset, evidence: Foreign<'a>) -> (Vec<&'a Object>, Vec<Reason>) {
    let mut reasons = Vec::new();
    let mut counted: Vec<&Object> = Vec::new();
    let closed = match dataset.marker.kind {
        MarkerKind::Committed => committed::judge(dataset, evidence, &mut counted, &mut reasons),
        _ => {
            let markers = markers(dataset, evidence);
            by_presence(dataset, evidence, &markers, &mut counted, &mut reasons)
        }
    };
    if !closed {
        let mut state = unpublished(dataset, evidence.slot, counted.len() as u64, evidence.now);
        let work = in_progress(evidence.hidden(dataset), None);
        if let Some(work) = work {
            // Somebody writes: it is no hour in which nothing happened.
            if state.state == State::Empty {
                state = Reason::new(State::Late, "no marker, and a writer that did not finish");
            }
            reasons.push(about(state.state, in_progress_words(work), work));
        }
        reasons.push(state);
        reasons.sort_by_key(|reason| reason.key.is_some());
    } else if !counted.is_empty() {
        gate(dataset, evidence.completeness, None, &mut reasons);
    }
    (counted, reasons)
}

/// A prefix below which a reader finds the data of a closed slot.
pub fn scan(dataset: &Dataset, evidence: Foreign<'_>) -> String {
    let found = markers(dataset, evidence);
    let slot = dataset.prefix_of(evidence.slot);
    match found.as_slice() {
        [(folder, _)]
            if dataset.marker.kind == MarkerKind::Success && folder.starts_with(&slot) =>
        {
            folder.clone()
        }
        _ => slot,
    }
}

/// The object that closes a slot: of commits the newest one.
pub fn marker<'a>(dataset: &Dataset, evidence: Foreign<'a>) -> Option<&'a Object> {
    match dataset.marker.kind {
        MarkerKind::Committed => committed::newest(dataset, evidence),
        _ => markers(dataset, evidence)
            .first()
            .map(|(_, object)| *object),
    }
}

/// Markers whose presence closes something, each with the prefix that it closes.
fn markers<'a>(dataset: &Dataset, evidence: Foreign<'a>) -> Vec<(String, &'a Object)> {
    let folder = evidence.folder(dataset);
    match dataset.marker.kind {
        MarkerKind::Success => {
            let own = format!("{folder}{SUCCESS}");
            let hidden = evidence.hidden(dataset).iter();
            let found: Vec<_> = hidden
                .filter_map(|object| {
                    let below = object.key.strip_suffix(SUCCESS)?;
                    let runs = !whole_day(dataset, evidence.slot)
                        && evidence.objects.runs.contains_key(below);
                    (object.key == own || runs).then(|| (below.to_owned(), object))
                })
                .collect();
            // One of the folder itself closes its runs too.
            let whole = found.iter().position(|(below, _)| *below == folder);
            match whole {
                Some(at) => found.into_iter().skip(at).take(1).collect(),
                None => found,
            }
        }
        MarkerKind::Custom => evidence
            .custom
            .map(|object| (folder, object))
            .into_iter()
            .collect(),
        MarkerKind::Committed | MarkerKind::Tidemark => Vec::new(),
    }
}

/// A slot whose marker says nothing but that it is there. Whether there is one.
fn by_presence<'a>(
    dataset: &Dataset,
    evidence: Foreign<'a>,
    markers: &[(String, &'a Object)],
    counted: &mut Vec<&'a Object>,
    reasons: &mut Vec<Reason>,
) -> bool {
    let Some((folder, marker)) = markers.first() else {
        counted.extend(evidence.objects.data());
        return false;
    };
    if let [first, others @ ..] = markers
        && !others.is_empty()
    {
        counted.extend(evidence.objects.data());
        for (_, marker) in std::iter::once(first).chain(others).take(SHOWN) {
            let message = format!("{} folders of this hour each have a marker", markers.len());
            reasons.push(about(State::Racing, message, marker));
        }
        return true;
    }
    if too_early(dataset, evidence, marker, reasons) {
        counted.extend(evidence.objects.data());
        return !whole_day(dataset, evidence.slot);
    }
    let within = |object: &&Object| {
        whole_day(dataset, evidence.slot) || object.key.starts_with(folder.as_str())
    };
    counted.extend(evidence.objects.data().filter(within));
    if counted.is_empty() {
        reasons.push(about(
            State::Empty,
            "a marker and no data: its writer had nothing to write".to_owned(),
            marker,
        ));
        return true;
    }
    let mut after: Vec<&&Object> = counted.iter().filter(|o| o.put > marker.put).collect();
    after.sort_by_key(|object| object.put);
    let total = after.len();
    for object in after.into_iter().take(SHOWN) {
        let behind = duration(object.put.0 - marker.put.0);
        let message = format!(
            "the marker is stale: this key was put {behind} after it{}",
            if total > SHOWN {
                format!(", one of {total}")
            } else {
                String::new()
            }
        );
        reasons.push(about(State::Mutated, message, object));
    }
    let outside = evidence.objects.data().filter(|object| !within(object));
    for object in outside.take(SHOWN) {
        reasons.push(about(
            State::Closed,
            "outside the folder that has the marker".to_owned(),
            object,
        ));
    }
    if let Some(work) = in_progress(evidence.hidden(dataset), Some(marker.put)) {
        reasons.push(about(State::Closed, in_progress_words(work), work));
    }
    finish(dataset, counted, reasons);
    true
}

/// Whether a marker was put before the slot had ended, and so does not count; and what that makes of
/// the slot. One of a whole day says nothing of the hours that were to come, which is no fault of it.
fn too_early(
    dataset: &Dataset,
    evidence: Foreign<'_>,
    marker: &Object,
    reasons: &mut Vec<Reason>,
) -> bool {
    let Foreign { slot, now, .. } = evidence;
    if !early(marker, slot, now) {
        return false;
    }
    let why = early_words(slot);
    reasons.push(match whole_day(dataset, slot) {
        false => about(State::Invalid, why, marker),
        true => {
            let data = evidence.objects.data().count() as u64;
            let state = unpublished(dataset, slot, data, now).state;
            about(state, format!("the day's marker was {why}"), marker)
        }
    });
    true
}

/// What is said of every closed slot.
fn finish(dataset: &Dataset, counted: &[&Object], reasons: &mut Vec<Reason>) {
    if reasons.iter().all(|reason| reason.state == State::Closed) {
        over_budget(dataset, counted, reasons);
    }
}

/// What a writer leaves that has begun and not finished: of a time after `since`, where there is
/// one.
fn in_progress(hidden: &[Object], since: Option<Time>) -> Option<&Object> {
    let working = |object: &&Object| {
        let mut folders = object.key.split('/');
        folders.any(|name| name == "_temporary" || name.starts_with(".spark-staging"))
    };
    let newer = |object: &&Object| since.is_none_or(|since| object.put > since);
    hidden
        .iter()
        .filter(working)
        .filter(newer)
        .max_by_key(|object| object.put)
}

fn in_progress_words(work: &Object) -> String {
    format!(
        "in progress, or given up: a writer left this at {}",
        work.put
    )
}

#[cfg(test)]
mod tests;
