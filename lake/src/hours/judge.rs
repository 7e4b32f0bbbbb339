//! The rule: what an hour's markers and its listing say together.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::dataset::Dataset;
use super::day::Slot;
use super::listing::{Object, SlotObjects};
use super::marker::{Declared, Marker, RunPin};
use super::state::{Reason, State};
use super::taken::Took;
use crate::figures;
use crate::table::Time;

mod marked;
mod unmarked;

use marked::marked;
pub(super) use marked::{gate, over_budget};
use unmarked::unmarked;
pub(super) use unmarked::unpublished;

/// An object of the marker tree and what it holds; the text says why that cannot be read.
pub type Read<T> = (Object, Result<T, String>);

/// The marker tree of one slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Markers {
    /// The current marker.
    pub current: Option<Read<Marker>>,
    /// Markers of superseded runs.
    pub superseded: Vec<Read<Marker>>,
    /// The declaration that nothing happened.
    pub declared: Option<Read<Declared>>,
    /// Readers' pins.
    pub pins: Vec<Read<RunPin>>,
    /// Lists of the loose keys that runs took in, as far as a marker names them.
    pub taken: Vec<Read<Took>>,
}

impl Markers {
    /// The current marker, where it can be read.
    pub fn marker(&self) -> Option<&Marker> {
        self.current
            .as_ref()
            .and_then(|(_, read)| read.as_ref().ok())
    }

    /// Markers of superseded runs that can be read.
    pub fn history(&self) -> impl Iterator<Item = (&Object, &Marker)> {
        let all = self.superseded.iter();
        all.filter_map(|(object, read)| Some((object, read.as_ref().ok()?)))
    }

    /// Runs that the current marker superseded, itself included, one by one back to the first. A run
    /// that was current twice is followed by both of its markers.
    pub fn chain(&self) -> BTreeSet<&str> {
        let mut chain = BTreeSet::new();
        let mut next: Vec<&str> = self
            .marker()
            .map(|m| m.run_id.as_str())
            .into_iter()
            .collect();
        while let Some(run) = next.pop() {
            if !chain.insert(run) {
                continue;
            }
            let markers = self
                .marker()
                .into_iter()
                .chain(self.history().map(|(_, m)| m));
            for marker in markers.filter(|marker| marker.run_id == run) {
                next.extend(marker.superseded());
            }
        }
        chain
    }
}

/// What the gate of domain completeness found in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completeness {
    /// Orders seen.
    pub orders: u64,
    /// Lines in the run.
    pub landed: u64,
    /// Lines among the dead letters alone.
    pub dead_lettered: u64,
    /// Lines in neither.
    pub missing: u64,
    /// Up to 100 of the orders that lack lines.
    pub examples: Vec<String>,
    /// Why the gate cannot say: dead letters that cannot be read. It fails then.
    pub unreadable: Option<String>,
    /// The [`fingerprint`](super::listing::fingerprint) of the dead letters that were there when it
    /// was asked, where a marker says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letters: Option<String>,
}

impl Completeness {
    /// Whether the gate lets the hour be published; `report` where dead letters do not block.
    pub fn passes(&self, report: bool) -> bool {
        self.unreadable.is_none() && self.missing == 0 && (report || self.dead_lettered == 0)
    }
}

/// Everything that is known of a slot.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The slot.
    pub slot: Slot,
    /// Its part of the marker tree.
    pub markers: &'a Markers,
    /// Its part of the data.
    pub objects: &'a SlotObjects,
    /// What the gate found in the run that the marker names; `None` where nobody knows.
    pub completeness: Option<&'a Completeness>,
    /// Now.
    pub now: Time,
}

/// How a slot stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The worst of the reasons' states.
    pub state: State,
    /// Worst first. The first one made the state.
    pub reasons: Vec<Reason>,
    /// Data objects of the published run; of the whole slot where there is none.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the median one.
    pub median_bytes: Option<u64>,
    /// When the newest data object of the whole slot was put.
    pub newest: Option<Time>,
    /// Bytes of each of the objects, smallest first.
    pub sizes: Vec<u64>,
}

/// Judges a slot of a dataset with our markers.
pub fn judge(dataset: &Dataset, evidence: Evidence<'_>) -> Verdict {
    let mut reasons = Vec::new();
    let mut counted: Vec<&Object> = Vec::new();
    match &evidence.markers.current {
        Some((object, read)) => marked(dataset, evidence, object, read, &mut counted, &mut reasons),
        None => unmarked(dataset, evidence, &mut counted, &mut reasons),
    }
    racing(dataset, evidence.markers, &mut reasons);
    conclude(evidence.objects, &counted, reasons)
}

/// Sorts the reasons and adds up.
pub(super) fn conclude(
    objects: &SlotObjects,
    counted: &[&Object],
    mut reasons: Vec<Reason>,
) -> Verdict {
    reasons.sort_by_key(|reason| reason.state);
    let mut sizes: Vec<u64> = counted.iter().map(|object| object.bytes).collect();
    sizes.sort_unstable();
    Verdict {
        state: reasons.first().map_or(State::Closed, |reason| reason.state),
        reasons,
        objects: sizes.len() as u64,
        bytes: sizes
            .iter()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        median_bytes: median(&sizes),
        sizes,
        newest: objects.data().map(|object| object.put).max(),
    }
}

/// The lower median of sorted sizes.
pub(super) fn median(sorted: &[u64]) -> Option<u64> {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

pub(super) fn about(state: State, message: String, object: &Object) -> Reason {
    Reason {
        state,
        message,
        key: Some(object.key.clone()),
        put: Some(object.put),
        bytes: Some(object.bytes),
    }
}

/// Milliseconds that a store's clock and ours may be apart.
pub(super) const SKEW: i64 = 10 * 60_000;

/// Whether an object was put before its slot had ended, by the clock that the store puts by: then it
/// says nothing of the slot, whenever that is asked. A slot that is far from its end by our clock has
/// not ended either, whatever time a store has.
pub(super) fn early(object: &Object, slot: Slot, now: Time) -> bool {
    object.put < slot.end() || slot.end().0 > now.0.saturating_add(SKEW)
}

/// What is said of a marker that was put early.
pub(super) fn early_words(slot: Slot) -> String {
    let what = match slot.hour {
        Some(_) => "hour",
        None => "day",
    };
    format!("put before the {what} ended, at {}", slot.end().minute())
}

/// `14 min 2 s`
pub(super) fn duration(millis: i64) -> String {
    let seconds = millis / 1000;
    match (
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    ) {
        (0, 0, 0, 0) => format!("{millis} ms"),
        (0, 0, 0, s) => format!("{s} s"),
        (0, 0, m, s) => format!("{m} min {s} s"),
        (0, h, m, _) => format!("{h} h {m} min"),
        (d, h, ..) => format!("{d} d {h} h"),
    }
}

/// A superseded marker that the chain from the current one does not reach: somebody put a marker
/// without looking at the one before.
fn racing(dataset: &Dataset, markers: &Markers, reasons: &mut Vec<Reason>) {
    let Some(current) = markers.marker() else {
        // Without a marker that can be read there is no chain.
        return;
    };
    let chain = markers.chain();
    let scan = current.scan(dataset);
    for (object, marker) in markers.history() {
        if marker.run_id == current.run_id && marker.scan(dataset) != scan {
            let message = format!(
                "two markers claim the hour: both are of run {}, and the current one names {}, this one {}",
                current.run_id, current.prefix, marker.prefix
            );
            reasons.push(about(State::Racing, message, object));
        }
        if !chain.contains(marker.run_id.as_str()) {
            let message = format!(
                "two markers claim the hour: the current one names run {} ({}), this one run {} ({}), and neither supersedes the other",
                current.run_id,
                figures::counted(current.object_count, "object"),
                marker.run_id,
                figures::counted(marker.object_count, "object")
            );
            reasons.push(about(State::Racing, message, object));
        }
    }
    for (object, read) in &markers.superseded {
        if let Err(why) = read {
            reasons.push(about(
                State::Closed,
                format!("a superseded marker: {why}"),
                object,
            ));
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
