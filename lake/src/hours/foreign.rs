//! Markers that others put: `_SUCCESS`, `_committed_<id>`, or any object of a name. They are read
//! and never written. What they say is less than ours, and so is what follows from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;

use super::dataset::{Dataset, MarkerKind};
use super::day::Slot;
use super::find::ListedDay;
use super::judge::{Evidence, Markers, Verdict, conclude, duration, over_budget, unpublished};
use super::listing::{Listing, Object};
use super::state::{Reason, State};

const SUCCESS: &str = "_SUCCESS";
pub(super) const COMMITTED: &str = "/_committed_";
const STARTED: &str = "/_started_";
/// Folders of committers that are still at it.
const BUSY: &[&str] = &["/_temporary/", "/.spark-staging"];

/// The transaction of a `_committed_<id>` key.
pub(super) fn committed_id(key: &str) -> Option<&str> {
    let (_, id) = key.rsplit_once(COMMITTED)?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}

/// What a commit of Databricks' committer says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Committed {
    /// Names of files that the commit added.
    #[serde(default)]
    pub added: Vec<String>,
    /// Names of files that it removed.
    #[serde(default)]
    pub removed: Vec<String>,
}

/// The commits of each slot, in the order in which they were put.
pub(super) fn committed<'a>(
    dataset: &Dataset,
    days: impl Iterator<Item = &'a Arc<ListedDay>>,
    body: &dyn Fn(&Object) -> Option<Bytes>,
) -> BTreeMap<Slot, Arc<Markers>> {
    let mut all = BTreeMap::new();
    for day in days {
        for slot in dataset.slots(day.day) {
            let beside = beside(dataset, slot, &day.listing);
            let mut commits: Vec<(Object, Result<Committed, String>)> = beside
                .into_iter()
                .filter(|object| committed_id(&object.key).is_some())
                .filter_map(|object| {
                    let bytes = body(object)?;
                    let read = serde_json::from_slice(&bytes);
                    let read = read.map_err(|e| format!("the commit cannot be read: {e}"));
                    Some((object.clone(), read))
                })
                .collect();
            if commits.is_empty() {
                continue;
            }
            commits.sort_by(|a, b| (a.0.put, &a.0.key).cmp(&(b.0.put, &b.0.key)));
            let markers = Markers {
                commits,
                ..Markers::default()
            };
            all.insert(slot, Arc::new(markers));
        }
    }
    all
}

/// Hidden objects in the folder that the slot's marker closes, and below it.
fn beside<'a>(dataset: &Dataset, slot: Slot, listing: &'a Listing) -> Vec<&'a Object> {
    if !dataset.marker.whole_day {
        let own = listing.slots.get(&slot);
        return own
            .map(|own| own.hidden.iter().collect())
            .unwrap_or_default();
    }
    listing.hidden.iter().collect()
}

/// Judges a slot of a dataset whose markers are others'.
pub fn judge(dataset: &Dataset, evidence: Evidence<'_>, listing: Option<&Listing>) -> Verdict {
    let empty = Listing::default();
    let beside = beside(dataset, evidence.slot, listing.unwrap_or(&empty));
    let mut reasons = Vec::new();
    let mut counted: Vec<&Object> = evidence.objects.data().collect();
    match dataset.marker.kind {
        MarkerKind::Committed => commits(dataset, evidence, &beside, &mut counted, &mut reasons),
        MarkerKind::Custom => {
            let marker = evidence.markers.plain.as_ref();
            closes(dataset, evidence, marker, &counted, &mut reasons);
        }
        MarkerKind::Success | MarkerKind::Tidemark => {
            success(dataset, evidence, &beside, &mut counted, &mut reasons);
        }
    }
    let closed = reasons.iter().all(|reason| reason.state >= State::Closed)
        && reasons
            .iter()
            .all(|reason| !matches!(reason.state, State::Open | State::Future | State::Empty));
    if closed && !counted.is_empty() {
        over_budget(dataset, &counted, &mut reasons);
    }
    conclude(evidence.objects, &counted, reasons)
}

fn of(state: State, message: String, object: &Object) -> Reason {
    Reason {
        state,
        message,
        key: Some(object.key.clone()),
        put: Some(object.put),
        bytes: Some(object.bytes),
    }
}

/// `_SUCCESS` closes the files of its own folder and below.
fn success<'a>(
    dataset: &Dataset,
    evidence: Evidence<'a>,
    beside: &[&'a Object],
    counted: &mut Vec<&'a Object>,
    reasons: &mut Vec<Reason>,
) {
    let named = |object: &&&Object| object.key.rsplit('/').next() == Some(SUCCESS);
    let markers: Vec<&Object> = beside.iter().filter(named).copied().collect();
    let own = match dataset.marker.whole_day {
        true => {
            let day = Slot::day(evidence.slot.day);
            let folder = super::dataset::join(
                &dataset.prefix,
                &format!("{}={}/", dataset.date_column(), day.day),
            );
            markers
                .iter()
                .find(|m| m.key.strip_prefix(&folder) == Some(SUCCESS))
                .copied()
        }
        false => {
            let folder = dataset.prefix_of(evidence.slot);
            let outer = markers
                .iter()
                .find(|m| m.key.strip_prefix(&folder) == Some(SUCCESS))
                .copied();
            let inner: Vec<&Object> = markers
                .iter()
                .filter(|m| Some(**m) != outer)
                .copied()
                .collect();
            if let (None, [first, rest @ ..]) = (outer, inner.as_slice()) {
                // Each run has a marker of its own.
                for other in rest {
                    reasons.push(of(
                        State::Racing,
                        format!("two runs claim the hour: {} has a marker too", first.key),
                        other,
                    ));
                }
                let folder = first
                    .key
                    .strip_suffix(SUCCESS)
                    .unwrap_or_default()
                    .to_owned();
                if rest.is_empty() {
                    counted.retain(|object| object.key.starts_with(&folder));
                }
                Some(*first)
            } else {
                outer
            }
        }
    };
    busy(beside, own.is_some(), reasons);
    closes(dataset, evidence, own, counted, reasons);
}

/// A committer's folder of work.
fn busy(beside: &[&Object], closed: bool, reasons: &mut Vec<Reason>) {
    let found = beside
        .iter()
        .find(|object| BUSY.iter().any(|folder| object.key.contains(folder)));
    if let (Some(object), false) = (found, closed) {
        // The state is the clock's; this is why.
        reasons.push(of(
            State::Empty,
            "in progress: a writer's temporary files are there".to_owned(),
            object,
        ));
    }
}

/// What an object that says nothing but that it is there closes: data that is not newer than it.
fn closes(
    dataset: &Dataset,
    evidence: Evidence<'_>,
    marker: Option<&Object>,
    data: &[&Object],
    reasons: &mut Vec<Reason>,
) {
    let Some(marker) = marker else {
        return reasons.push(unpublished(
            dataset,
            evidence.slot,
            data.len() as u64,
            evidence.now,
        ));
    };
    if data.is_empty() {
        let message =
            "a marker without data: the job wrote nothing, or the data is gone".to_owned();
        return reasons.push(of(State::Empty, message, marker));
    }
    for object in data
        .iter()
        .filter(|object| object.put > marker.put)
        .take(20)
    {
        let after = duration(object.put.0 - marker.put.0);
        let message = format!("stale marker: this key was put {after} after it");
        reasons.push(of(State::Mutated, message, object));
    }
}

/// `_committed_<id>` names the files that count.
fn commits<'a>(
    dataset: &Dataset,
    evidence: Evidence<'a>,
    beside: &[&Object],
    counted: &mut Vec<&'a Object>,
    reasons: &mut Vec<Reason>,
) {
    let commits = &evidence.markers.commits;
    let ended: Vec<&str> = commits
        .iter()
        .filter_map(|(object, _)| committed_id(&object.key))
        .collect();
    for object in beside {
        let started = object.key.rsplit_once(STARTED).map(|(_, id)| id);
        if let Some(id) = started.filter(|id| !ended.contains(id)) {
            let message = format!("in progress: transaction {id} has started and not committed");
            reasons.push(of(
                if commits.is_empty() {
                    State::Empty
                } else {
                    State::Closed
                },
                message,
                object,
            ));
        }
    }
    if commits.is_empty() {
        return reasons.push(unpublished(
            dataset,
            evidence.slot,
            counted.len() as u64,
            evidence.now,
        ));
    }
    let mut named: BTreeMap<&str, &Object> = BTreeMap::new();
    for (object, read) in commits {
        match read {
            Err(why) => reasons.push(of(State::Invalid, why.clone(), object)),
            Ok(commit) => {
                for name in &commit.removed {
                    named.remove(name.as_str());
                }
                named.extend(commit.added.iter().map(|name| (name.as_str(), object)));
            }
        }
    }
    let name = |object: &Object| object.key.rsplit('/').next().unwrap_or_default().to_owned();
    let there: Vec<String> = counted.iter().map(|object| name(object)).collect();
    let whole_day = dataset.marker.whole_day;
    let missing: Vec<(&&str, &&Object)> = match whole_day {
        // A commit of the day names files of all its hours.
        true => Vec::new(),
        false => named
            .iter()
            .filter(|(name, _)| !there.iter().any(|t| t == *name))
            .collect(),
    };
    if !missing.is_empty() && missing.len() == named.len() {
        if let Some((name, commit)) = missing.first() {
            reasons.push(of(
                State::Lost,
                format!("no file of the commits is left; {name} was the first"),
                commit,
            ));
        }
    } else {
        for (name, commit) in missing.into_iter().take(20) {
            reasons.push(of(
                State::Mutated,
                format!("{name} was committed and is not there"),
                commit,
            ));
        }
    }
    let before = counted.len();
    counted.retain(|object| named.contains_key(name(object).as_str()));
    let extra = before - counted.len();
    if extra > 0 {
        let message = format!("{extra} files are named by no commit and do not count");
        reasons.push(Reason::new(State::Closed, message));
    }
    if counted.is_empty() && named.is_empty() && reasons.iter().all(|r| r.state >= State::Closed) {
        reasons.push(Reason::new(State::Empty, "the commits leave no file"));
    }
}

#[cfg(test)]
mod tests;
