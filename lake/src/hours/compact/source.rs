//! Which keys of an hour are packed, and the hours that are not.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::super::publish::look::Look;
use super::{Not, Request};
use crate::figures::counted;
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::judge::{Verdict, duration};
use crate::hours::key::partition;
use crate::hours::listing::{Object, SlotObjects};
use crate::hours::publish::{Over, Takes};
use crate::hours::state::State;
use crate::hours::taken::{Loose, Took, loose};
use crate::table::Time;

/// Milliseconds for which a store may give two keys one time: no key that is listed later can then
/// be as old as the newest that was listed.
const SETTLE: i64 = 2_000;

/// What is packed.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Files, by their keys.
    pub(super) inputs: Vec<Object>,
    /// Whether they are the loose keys of an hour without a marker.
    pub(super) first: bool,
    /// All loose keys, as they were listed.
    loose: Vec<Object>,
    /// The marker that is replaced.
    pub(super) over: Over,
    /// Loose keys that the new run takes in, or one that it is made of took in.
    took: Took,
    /// Others that are no newer are in doubt.
    until: Option<Time>,
    /// What the rows mean, where a marker says so.
    pub(super) definition_version: Option<String>,
    /// The newest event, where nothing but the marker says so.
    pub(super) max_event_time: Option<Time>,
    pub(super) warnings: Vec<String>,
}

impl Source {
    /// What the run says of the loose keys.
    pub(super) fn takes(&self, run: &str) -> Takes {
        let mut took = self.took.clone();
        run.clone_into(&mut took.run_id);
        Takes::These {
            took,
            until: self.until,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let bytes = self.inputs.iter().map(|object| object.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Why a listing that was taken later does not agree; keys that come late to an hour that has a
    /// marker are late data, and wait.
    pub(super) fn moved(&self, again: &SlotObjects) -> Option<String> {
        let same = |one: &Object, other: &Object| {
            one.key == other.key && one.bytes == other.bytes && one.etag == other.etag
        };
        let found: HashMap<&str, &Object> = again.data().map(|o| (o.key.as_str(), o)).collect();
        for input in &self.inputs {
            match found.get(input.key.as_str()) {
                None => return Some(format!("{} was listed, and is gone", input.key)),
                Some(now) if !same(input, now) => {
                    return Some(format!("{} was replaced while it was looked at", input.key));
                }
                Some(_) => {}
            }
        }
        let known: HashSet<&str> = self.loose.iter().map(|o| o.key.as_str()).collect();
        let mut new = again.loose.iter();
        let new = new.find(|object| self.first && !known.contains(object.key.as_str()))?;
        Some(format!(
            "the sink has not left the hour: {} was put at {}",
            new.key, new.put
        ))
    }
}

/// The keys that are packed.
pub(super) fn source(
    dataset: &Dataset,
    request: &Request,
    seen: &Look,
    verdict: &Verdict,
    now: Time,
) -> Result<Source, Not> {
    let why = || {
        let why = verdict.reasons.first().map(|reason| match &reason.key {
            Some(key) => format!("{} ({key})", reason.message),
            None => reason.message.clone(),
        });
        let state = verdict.state.words();
        format!("the hour is {state}: {}", why.unwrap_or_default())
    };
    match verdict.state {
        // Late keys may have the lines that are missing: the gate is asked again, with them.
        State::Incomplete if request.with_late && brings(dataset, request.slot, seen) => {}
        state if state < State::Late => return Err(Not::Refused(why())),
        // Whoever packs every hour is not held up by one in which nothing happened.
        State::Empty => return Err(Not::Needed(why())),
        _ => {}
    }
    let mut source = match &seen.markers.current {
        Some(_) => closed(dataset, request, seen, now)?,
        None => ended(dataset, request.slot, seen, now)?,
    };
    source.inputs.sort_by(|a, b| a.key.cmp(&b.key));
    let folder = dataset.prefix_of(request.slot);
    for input in &source.inputs {
        // A partition in a key is a column that is in no file.
        let below = input.key.strip_prefix(&folder).unwrap_or_default();
        let mut folders: Vec<&str> = below.split('/').collect();
        folders.pop();
        let lost = folders.into_iter().filter_map(partition);
        let mut lost = lost.filter(|(name, _)| name != crate::hours::key::RUN);
        if let Some((name, _)) = lost.next() {
            return Err(Not::Refused(format!(
                "{} lies below a partition that nobody declared: `{}` would be lost",
                input.key,
                name.escape_debug()
            )));
        }
    }
    Ok(source)
}

/// Whether there are loose keys whose rows the run does not have.
fn brings(dataset: &Dataset, slot: Slot, seen: &Look) -> bool {
    let found = loose(dataset, slot, &seen.markers, &seen.objects);
    found.is_some_and(|found| !found.late.is_empty() || !found.replaced.is_empty())
}

/// The loose keys of an hour without a marker.
fn ended(dataset: &Dataset, slot: Slot, seen: &Look, now: Time) -> Result<Source, Not> {
    let loose = &seen.objects.loose;
    let runs: Vec<&str> = seen.objects.runs.keys().map(String::as_str).collect();
    if loose.is_empty() {
        return Err(Not::Refused(match runs.last() {
            Some(run) => format!(
                "there are no loose keys; {run} is a run that nobody published, so publish it with its writer's count"
            ),
            None => "there is nothing to pack".to_owned(),
        }));
    }
    if let Some(why) = still_written(loose, dataset, now) {
        return Err(Not::Refused(why));
    }
    let mut warnings = Vec::new();
    if let Some(run) = runs.last() {
        warnings.push(format!(
            "{run} is a run that nobody published; it is not looked at"
        ));
    }
    Ok(Source {
        inputs: loose.clone(),
        first: true,
        loose: loose.clone(),
        over: Over::Nothing,
        took: Took::of(dataset, slot, "", true, loose),
        until: None,
        definition_version: None,
        max_event_time: None,
        warnings,
    })
}

/// Why keys are not all there will be: the newest is younger than the grace period.
pub(super) fn still_written<'a>(
    keys: impl IntoIterator<Item = &'a Object>,
    dataset: &Dataset,
    now: Time,
) -> Option<String> {
    let newest = keys.into_iter().max_by_key(|object| object.put)?;
    let quiet = dataset.grace.max(SETTLE);
    let age = now.0.saturating_sub(newest.put.0);
    (age < quiet).then(|| {
        format!(
            "the sink has not left the hour: {} was put {} ago, and it counts as gone after {} without a key",
            newest.key,
            duration(age.max(0)),
            duration(quiet)
        )
    })
}

/// The run that a marker names, and late keys where they are asked for.
fn closed(dataset: &Dataset, request: &Request, seen: &Look, now: Time) -> Result<Source, Not> {
    let Some((object, Ok(marker))) = &seen.markers.current else {
        return Err(Not::Refused(
            "the hour has no marker that can be used".to_owned(),
        ));
    };
    let Some(scan) = marker.scan(dataset) else {
        let why = "the marker's prefix lies outside the dataset";
        return Err(Not::Refused(why.to_owned()));
    };
    let Some(etag) = object.etag.clone() else {
        let why = "the store gives the marker no entity tag, so it cannot be replaced";
        return Err(Not::Refused(why.to_owned()));
    };
    let Some(found) = loose(dataset, request.slot, &seen.markers, &seen.objects) else {
        let why = "the hour has no marker that can be used";
        return Err(Not::Refused(why.to_owned()));
    };
    let took = seen.markers.took().map_err(Not::Refused)?;
    let mut took = took.map(Cow::into_owned).unwrap_or_default();
    let mut until = marker.doubted_until(object.put);
    // Whether the run has the rows of the keys that it names, and no others.
    took.alone &= took.run_id == marker.run_id && until.is_none();
    let mut inputs: Vec<Object> = seen.objects.below(&scan).cloned().collect();
    let mut warnings = Vec::new();
    if let Some(first) = found.doubted.first() {
        let (are, their) = match found.doubted.len() {
            1 => ("is", "its"),
            _ => ("are", "their"),
        };
        warnings.push(format!(
            "{} {are} left out, {} first: nobody says whether the run has {their} rows",
            counted(found.doubted.len() as u64, "loose key"),
            first.key,
        ));
    }
    let fresh: Vec<&Object> = found.late.iter().chain(&found.replaced).copied().collect();
    let takes = request.with_late && !fresh.is_empty();
    match (fresh.first(), found.replaced.first()) {
        (Some(first), _) if !request.with_late => {
            let (are, them) = match fresh.len() {
                1 => ("is", "it"),
                _ => ("are", "them"),
            };
            warnings.push(format!(
                "{} {are} left out, {} first; --with-late takes {them} in",
                counted(fresh.len() as u64, "late key"),
                first.key,
            ));
        }
        (Some(_), None) => {
            settled(&fresh, now)?;
            inputs.extend(found.late.iter().map(|object| (*object).clone()));
            took.extend(dataset, request.slot, found.late.iter().copied());
        }
        (Some(_), Some(replaced)) => {
            settled(&fresh, now)?;
            rebuilt(&marker.run_id, &took, &found, replaced)?;
            inputs = found
                .taken
                .iter()
                .copied()
                .chain(fresh.iter().copied())
                .cloned()
                .collect();
            took = Took::of(dataset, request.slot, "", true, &inputs);
            until = None;
            warnings.push(format!(
                "run {} took in {} of which another object stands under the same key now, {} first: the hour is written again from its {} as they are now",
                marker.run_id,
                counted(found.replaced.len() as u64, "loose key"),
                replaced.key,
                counted(inputs.len() as u64, "loose key")
            ));
        }
        (None, _) => {}
    }
    let bytes: u64 = inputs.iter().map(|object| object.bytes).sum();
    let least = bytes.div_ceil(request.target).max(1);
    if inputs.len() as u64 <= least && !takes {
        return Err(Not::Needed(format!(
            "run {} has no more objects than it needs: {}",
            marker.run_id,
            inputs.len()
        )));
    }
    Ok(Source {
        inputs,
        first: false,
        loose: seen.objects.loose.clone(),
        over: Over::Marker(etag),
        took,
        until,
        definition_version: Some(marker.definition_version.clone()),
        max_event_time: (!takes).then_some(marker.max_event_time),
        warnings,
    })
}

/// Refuses keys of which the store may still be putting others in the same moment.
fn settled(fresh: &[&Object], now: Time) -> Result<(), Not> {
    let mut fresh = fresh.iter();
    match fresh.find(|object| now.0.saturating_sub(object.put.0) < SETTLE) {
        None => Ok(()),
        Some(object) => Err(Not::Refused(format!(
            "{} was put this very moment: try again in a few seconds",
            object.key
        ))),
    }
}

/// Whether an hour can be written again from its loose keys: a key that was taken in has other rows
/// now, and those that it had are in the run beside all others.
fn rebuilt(run: &str, took: &Took, found: &Loose<'_>, replaced: &Object) -> Result<(), Not> {
    let why = match (found.gone.first(), took.alone) {
        (None, true) => return Ok(()),
        (Some(gone), _) => format!("{gone}, which it took in too, is gone"),
        (None, false) => "it has other rows than those of its loose keys".to_owned(),
    };
    Err(Not::Refused(format!(
        "{} was replaced after run {run} took it in, and the run cannot be written again from its loose keys: {why}; to take both in would double rows. Put what is new under a key of its own, or publish a run that was made from the source",
        replaced.key
    )))
}
