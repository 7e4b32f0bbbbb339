//! A slot with a marker: whether its run is what the marker says, and what lies beside it.

use super::{Completeness, Evidence, about, duration, early, early_words, median};
use crate::figures::{self, size};
use crate::hours::dataset::Dataset;
use crate::hours::key::{RUN, partition};
use crate::hours::listing::Object;
use crate::hours::marker::Marker;
use crate::hours::state::{LATE_DATA, Reason, State};
use crate::hours::taken::loose;

/// Keys of one kind that are named as evidence.
const SHOWN: usize = 20;

/// A slot with a current marker.
pub(super) fn marked<'a>(
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
    let stated = marker.stated();
    gate(dataset, evidence.completeness, stated.as_ref(), reasons);
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
                "the run has {} bytes, the marker says {}",
                figures::grouped(bytes),
                figures::grouped(marker.bytes)
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

/// The completeness gate. Where its answer is not known, that is said; `stated` is what the marker
/// says that it was once: lines that were dead letters then are no rows of the run, whatever became
/// of the letters.
pub(in crate::hours) fn gate(
    dataset: &Dataset,
    found: Option<&Completeness>,
    stated: Option<&Completeness>,
    reasons: &mut Vec<Reason>,
) {
    let Some(rule) = &dataset.complete else {
        return;
    };
    let Some(found) = found else {
        let message = match stated.is_some() {
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
    let then = stated.map_or(0, |stated| stated.dead_lettered);
    let dead = found.dead_lettered.max(then);
    if dead > 0 {
        let state = if rule.report {
            State::Closed
        } else {
            State::Incomplete
        };
        let gone = match dead > found.dead_lettered {
            true => " when the hour was published, and some of these are gone",
            false => "",
        };
        let lines = figures::counted(dead, "line");
        let message = format!("{lines} only among the dead letters{gone}");
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
pub(in crate::hours) fn over_budget(dataset: &Dataset, run: &[&Object], reasons: &mut Vec<Reason>) {
    let count = run.len() as u64;
    if let Some(most) = dataset.budget.objects.filter(|most| count > *most) {
        let unit = if dataset.hourly() { "an hour" } else { "a day" };
        let message = format!("{count} objects; the budget is {most} {unit}");
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
