//! The rule: what an hour's markers and its listing say together.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::dataset::Dataset;
use super::day::Slot;
use super::key::{RUN, partition};
use super::listing::{Object, SlotObjects};
use super::marker::{Declared, Marker, RunPin};
use super::state::{LATE_DATA, Reason, State};
use super::taken::{Took, loose};
use crate::figures::{self, size};
use crate::table::Time;

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
    format!("put before the {what} ended, at {}", slot.end())
}

/// A slot with a current marker.
fn marked<'a>(
    dataset: &Dataset,
    evidence: Evidence<'a>,
    object: &Object,
    read: &Result<Marker, String>,
    counted: &mut Vec<&'a Object>,
    reasons: &mut Vec<Reason>,
) {
    if early(object, evidence.slot, evidence.now) {
        counted.extend(evidence.objects.data());
        let why = early_words(evidence.slot);
        return reasons.push(about(State::Invalid, why, object));
    }
    let (marker, scan) = match read {
        Err(why) => {
            counted.extend(evidence.objects.data());
            return reasons.push(about(State::Invalid, why.clone(), object));
        }
        Ok(marker) => match marker.scan(dataset) {
            Some(scan) => (marker, scan),
            None => {
                let why = "the marker's prefix lies outside the dataset".to_owned();
                return reasons.push(about(State::Invalid, why, object));
            }
        },
    };
    counted.extend(
        evidence
            .objects
            .data()
            .filter(|data| data.key.starts_with(&scan)),
    );
    matches(marker, &scan, object, counted, reasons);
    misnamed(marker, &scan, object, reasons);
    let stated = marker.stated().is_some();
    gate(dataset, evidence.completeness, stated, reasons);
    late_data(dataset, evidence, object, reasons);
    let agrees = reasons.iter().all(|reason| reason.state >= State::Closed);
    if agrees {
        over_budget(dataset, counted, reasons);
    }
}

/// Whether the run is what the marker says.
fn matches(
    marker: &Marker,
    scan: &str,
    put_marker: &Object,
    run: &[&Object],
    reasons: &mut Vec<Reason>,
) {
    if run.is_empty() {
        let message = format!(
            "nothing is left below {scan}, where the marker names {} and {}",
            figures::counted(marker.object_count, "object"),
            size(marker.bytes)
        );
        return reasons.push(about(State::Lost, message, put_marker));
    }
    let count = run.len() as u64;
    let bytes = run
        .iter()
        .fold(0u64, |sum, object| sum.saturating_add(object.bytes));
    if count != marker.object_count {
        let (more, word) = match count.checked_sub(marker.object_count) {
            Some(more) => (more, "more"),
            None => (marker.object_count - count, "fewer"),
        };
        reasons.push(about(
            State::Mutated,
            format!(
                "{} {word} than the marker says: {count} listed, the marker says {}",
                figures::counted(more, "object"),
                marker.object_count
            ),
            put_marker,
        ));
    }
    if bytes != marker.bytes {
        reasons.push(about(
            State::Mutated,
            format!(
                "the run has {bytes} bytes, the marker says {}",
                marker.bytes
            ),
            put_marker,
        ));
    }
    let mut after: Vec<&&Object> = run
        .iter()
        .filter(|object| object.put > put_marker.put)
        .collect();
    after.sort_by_key(|object| object.put);
    if after.is_empty() && count > marker.object_count {
        // A store's clock may tick in seconds.
        let same = run.iter().filter(|object| object.put == put_marker.put);
        for object in same.take(SHOWN) {
            let message = "this key was put at the same time as the marker".to_owned();
            reasons.push(about(State::Mutated, message, object));
        }
    }
    for object in after.into_iter().take(SHOWN) {
        let behind = object.put.0 - put_marker.put.0;
        reasons.push(about(
            State::Mutated,
            format!("this key was put {} after the marker", duration(behind)),
            object,
        ));
    }
}

/// A marker that calls a run by another name than its folder: nobody finds the one by the other.
fn misnamed(marker: &Marker, scan: &str, put_marker: &Object, reasons: &mut Vec<Reason>) {
    let folder = scan.trim_end_matches('/').rsplit('/').next();
    let Some((name, Some(run))) = folder.and_then(partition) else {
        return;
    };
    if name == RUN && run != marker.run_id {
        let message = format!(
            "the marker's run_id is {}, and its prefix is that of run {run}",
            marker.run_id
        );
        reasons.push(about(State::Closed, message, put_marker));
    }
}

/// Keys of one kind that are named as evidence.
const SHOWN: usize = 20;

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

/// The completeness gate. Where its answer is not known, that is said; `stated` where the marker says
/// what it was once.
pub(super) fn gate(
    dataset: &Dataset,
    found: Option<&Completeness>,
    stated: bool,
    reasons: &mut Vec<Reason>,
) {
    let Some(rule) = &dataset.complete else {
        return;
    };
    let Some(found) = found else {
        let message = match stated {
            true => {
                "completeness not checked: the dead letters are not those that were there when its publisher's gate was asked"
            }
            false => "completeness not checked: its marker does not say what a gate found",
        };
        return reasons.push(Reason::new(State::Closed, message));
    };
    if let Some(why) = &found.unreadable {
        reasons.push(Reason::new(State::Incomplete, why.clone()));
    }
    if found.missing > 0 {
        reasons.push(Reason::new(
            State::Incomplete,
            format!(
                "{} of {} orders are neither in the files nor among the dead letters",
                figures::counted(found.missing, "line"),
                found.orders
            ),
        ));
    }
    if found.dead_lettered > 0 {
        let state = if rule.report {
            State::Closed
        } else {
            State::Incomplete
        };
        let message = format!(
            "{} only among the dead letters",
            figures::counted(found.dead_lettered, "line")
        );
        reasons.push(Reason::new(state, message));
    }
}

/// Loose keys of a closed hour, outside its run, whose rows nobody says are in it: they do not break
/// the marker.
fn late_data(
    dataset: &Dataset,
    evidence: Evidence<'_>,
    put_marker: &Object,
    reasons: &mut Vec<Reason>,
) {
    let Some(found) = loose(dataset, evidence.slot, evidence.markers, evidence.objects) else {
        return;
    };
    for object in found.replaced.into_iter().take(SHOWN) {
        let message = format!(
            "{LATE_DATA}this key was replaced after the run took it in; a new run takes it in as it is now"
        );
        reasons.push(about(State::Closed, message, object));
    }
    for object in found.late.into_iter().take(SHOWN) {
        let message = match object.put > put_marker.put {
            true => format!(
                "{LATE_DATA}this key was put {} after the marker, outside the run; a new run takes it in",
                duration(object.put.0 - put_marker.put.0)
            ),
            false => {
                format!(
                    "{LATE_DATA}this key is none of those that the run took in; a new run takes it in"
                )
            }
        };
        reasons.push(about(State::Closed, message, object));
    }
    if let Some(first) = found.doubted.first() {
        let of = figures::counted(found.doubted.len() as u64, "loose key");
        let why = found.unreadable.map(|why| format!(": {why}"));
        let message = format!(
            "nobody says whether the run has the rows of {of}, so they stay and are not taken in{}",
            why.unwrap_or_default()
        );
        reasons.push(about(State::Closed, message, first));
    }
}

/// More or smaller objects than the dataset's budget. One object alone cannot be packed further.
pub(super) fn over_budget(dataset: &Dataset, run: &[&Object], reasons: &mut Vec<Reason>) {
    let count = run.len() as u64;
    if let Some(most) = dataset.budget.objects.filter(|most| count > *most) {
        let message = format!("{count} objects; the budget is {most} an hour");
        reasons.push(Reason::new(State::OverBudget, message));
    }
    let mut sizes: Vec<u64> = run.iter().map(|object| object.bytes).collect();
    sizes.sort_unstable();
    let budget = dataset.budget.median_bytes.filter(|_| count > 1);
    if let (Some(least), Some(median)) = (budget, median(&sizes))
        && median < least
    {
        let message = format!(
            "the median object has {}; the budget is {}",
            size(median),
            size(least)
        );
        reasons.push(Reason::new(State::OverBudget, message));
    }
}

/// A slot without a current marker.
fn unmarked<'a>(
    dataset: &Dataset,
    evidence: Evidence<'a>,
    counted: &mut Vec<&'a Object>,
    reasons: &mut Vec<Reason>,
) {
    counted.extend(evidence.objects.data());
    let Evidence { slot, now, .. } = evidence;
    let deadline = dataset.deadline(slot);
    if let Some((object, read)) = &evidence.markers.declared {
        match read {
            _ if early(object, slot, now) => {
                let state = unpublished(dataset, slot, counted.len() as u64, now).state;
                let message = format!(
                    "a declaration that it is empty, {}: it does not count",
                    early_words(slot)
                );
                reasons.push(about(state, message, object));
            }
            Err(why) => reasons.push(about(State::Invalid, why.clone(), object)),
            Ok(declared) if counted.is_empty() => {
                let by = declared
                    .by
                    .as_ref()
                    .map(|by| format!(", says {by}"))
                    .unwrap_or_default();
                let message = format!("declared empty{by}: {}", declared.reason);
                reasons.push(about(State::Empty, message, object));
                return;
            }
            Ok(_) => {
                let message = format!(
                    "declared empty, and yet there are {}",
                    figures::counted(counted.len() as u64, "object")
                );
                reasons.push(about(
                    if now >= deadline {
                        State::Late
                    } else {
                        State::Open
                    },
                    message,
                    object,
                ));
            }
        }
    }
    reasons.push(unpublished(dataset, slot, counted.len() as u64, now));
}

/// The state of a slot that nothing closes.
pub(super) fn unpublished(dataset: &Dataset, slot: Slot, data: u64, now: Time) -> Reason {
    let deadline = dataset.deadline(slot);
    if now < slot.start() {
        let message = match data {
            0 => "it has not begun".to_owned(),
            n => format!(
                "it has not begun, and yet there are {}: does the writer's clock run ahead?",
                figures::counted(n, "object")
            ),
        };
        return Reason::new(State::Future, message);
    }
    if now < deadline {
        let ends = match now < slot.end() {
            true => format!(
                "it ends at {} and should be closed by {deadline}",
                slot.end()
            ),
            false => format!("it has ended and should be closed by {deadline}"),
        };
        return Reason::new(State::Open, ends);
    }
    let since = duration(now.0.saturating_sub(deadline.0));
    match (data, dataset.expects(slot)) {
        (0, true) => Reason::new(
            State::Late,
            format!("no object and no marker, {since} after its deadline"),
        ),
        (0, false) => Reason::new(State::Empty, "no objects, and none were expected"),
        (n, _) => Reason::new(
            State::Late,
            format!(
                "{} without a marker, {since} after its deadline",
                figures::counted(n, "object")
            ),
        ),
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
