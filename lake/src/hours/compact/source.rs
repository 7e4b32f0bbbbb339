//! Which keys of an hour are packed, and the hours that are not.

use std::collections::{HashMap, HashSet};

use super::super::publish::look::Look;
use super::{Not, Request};
use crate::hours::Dataset;
use crate::hours::judge::{Verdict, duration};
use crate::hours::key::partition;
use crate::hours::listing::{Object, SlotObjects};
use crate::hours::publish::Over;
use crate::hours::state::State;
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
    /// Loose keys up to this one are in the new run, or were in one before.
    pub(super) loose_until: Option<Time>,
    /// What the rows mean, where a marker says so.
    pub(super) definition_version: Option<String>,
    /// The newest event, where nothing but the marker says so.
    pub(super) max_event_time: Option<Time>,
    pub(super) warnings: Vec<String>,
}

impl Source {
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
        state if state < State::Late => return Err(Not::Refused(why())),
        // Whoever packs every hour is not held up by one in which nothing happened.
        State::Empty => return Err(Not::Needed(why())),
        _ => {}
    }
    let mut source = match &seen.markers.current {
        Some(_) => closed(dataset, request, seen, now)?,
        None => ended(dataset, seen, now)?,
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

/// The loose keys of an hour without a marker.
fn ended(dataset: &Dataset, seen: &Look, now: Time) -> Result<Source, Not> {
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
        loose_until: loose.iter().map(|object| object.put).max(),
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
    let taken = marker.loose_until().unwrap_or(object.put);
    let mut inputs: Vec<Object> = seen.objects.below(&scan).cloned().collect();
    let late = seen.objects.loose.iter();
    let late: Vec<&Object> = late
        .filter(|object| object.put > taken && !object.key.starts_with(&scan))
        .collect();
    let mut warnings = Vec::new();
    let mut loose_until = taken;
    if request.with_late {
        for object in &late {
            if now.0.saturating_sub(object.put.0) < SETTLE {
                return Err(Not::Refused(format!(
                    "{} was put this very moment: try again in a few seconds",
                    object.key
                )));
            }
            loose_until = loose_until.max(object.put);
        }
        inputs.extend(late.iter().map(|object| (*object).clone()));
    } else if let Some(first) = late.first() {
        warnings.push(format!(
            "{} left out, {} first; --with-late takes {} in",
            match late.len() {
                1 => "1 late key is".to_owned(),
                n => format!("{n} late keys are"),
            },
            first.key,
            if late.len() == 1 { "it" } else { "them" }
        ));
    }
    let bytes: u64 = inputs.iter().map(|object| object.bytes).sum();
    let least = bytes.div_ceil(request.target).max(1);
    if inputs.len() as u64 <= least && (late.is_empty() || !request.with_late) {
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
        loose_until: Some(loose_until),
        definition_version: Some(marker.definition_version.clone()),
        max_event_time: (late.is_empty() || !request.with_late).then_some(marker.max_event_time),
        warnings,
    })
}
