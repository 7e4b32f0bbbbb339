//! `_started_<id>` and `_committed_<id>`, as Databricks' committer puts them: only files that a
//! commit names count.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Foreign, SHOWN, finish, too_early, whole_day};
use crate::hours::dataset::Dataset;
use crate::hours::judge::{about, duration};
use crate::hours::listing::Object;
use crate::hours::state::{Reason, State};

const COMMITTED: &str = "_committed_";
const STARTED: &str = "_started_";

/// What a commit says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Commit {
    /// Names of files it made readable, relative to its own folder.
    #[serde(default)]
    pub added: Vec<String>,
    /// Names of files that it took away.
    #[serde(default)]
    pub removed: Vec<String>,
}

impl Commit {
    /// Reads a commit, or says why that cannot be done.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        // A list would be read as the fields in their order.
        let object: Map<String, Value> =
            serde_json::from_slice(bytes).map_err(|e| format!("the commit cannot be read: {e}"))?;
        Self::deserialize(Value::Object(object))
            .map_err(|e| format!("the commit cannot be read: {e}"))
    }
}

/// Whether a key is that of a commit.
pub fn is_commit(key: &str) -> bool {
    name(key).starts_with(COMMITTED)
}

fn name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// The newest commit of a slot.
pub(super) fn newest<'a>(dataset: &Dataset, evidence: Foreign<'a>) -> Option<&'a Object> {
    let folder = evidence.folder(dataset);
    let hidden = evidence.hidden(dataset).iter();
    let commits = hidden.filter(|object| {
        let below = object.key.strip_prefix(&folder);
        below.is_some_and(|below| below.starts_with(COMMITTED))
    });
    commits.max_by_key(|commit| commit.put)
}

/// Judges a slot by its commits. Whether there is one.
pub(super) fn judge<'a>(
    dataset: &Dataset,
    evidence: Foreign<'a>,
    counted: &mut Vec<&'a Object>,
    reasons: &mut Vec<Reason>,
) -> bool {
    let folder = evidence.folder(dataset);
    let level = || {
        let hidden = evidence.hidden(dataset).iter();
        hidden.filter_map(|object| Some((object.key.strip_prefix(&folder)?, object)))
    };
    let mut commits: Vec<&Object> = level()
        .filter(|(below, _)| below.starts_with(COMMITTED))
        .map(|(_, object)| object)
        .collect();
    // In the order they were put; of one tick of the store's clock, by their numbers.
    commits.sort_by_key(|commit| {
        let id = name(&commit.key).trim_start_matches(COMMITTED);
        (commit.put, id.len(), id)
    });
    let started =
        level().filter_map(|(below, object)| Some((below.strip_prefix(STARTED)?, object)));
    let unfinished: Vec<&Object> = started
        .filter(|(id, _)| {
            !commits
                .iter()
                .any(|c| name(&c.key) == format!("{COMMITTED}{id}"))
        })
        .map(|(_, object)| object)
        .collect();
    let begun = |object: &Object, state| {
        about(
            state,
            "in progress: begun and not committed".to_owned(),
            object,
        )
    };
    let Some(newest) = commits.iter().copied().max_by_key(|commit| commit.put) else {
        counted.extend(evidence.objects.data());
        // The state itself comes from the clock; this says why.
        let state = super::unpublished(dataset, evidence.slot, 1, evidence.now).state;
        reasons.extend(
            unfinished
                .iter()
                .take(SHOWN)
                .map(|object| begun(object, state)),
        );
        return false;
    };
    if too_early(dataset, evidence, newest, reasons) {
        counted.extend(evidence.objects.data());
        return !whole_day(dataset, evidence.slot);
    }
    reasons.extend(
        unfinished
            .iter()
            .take(SHOWN)
            .map(|object| begun(object, State::Closed)),
    );
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut removed: BTreeSet<&str> = BTreeSet::new();
    for commit in &commits {
        match evidence.commits.get(&commit.key).map(|(_, read)| read) {
            Some(Ok(read)) => {
                for name in &read.removed {
                    names.remove(name.as_str());
                    removed.insert(name.as_str());
                }
                let own = read
                    .added
                    .iter()
                    .filter(|name| !read.removed.contains(name));
                names.extend(own.map(String::as_str));
            }
            Some(Err(why)) => reasons.push(about(State::Invalid, why.clone(), commit)),
            None => reasons.push(about(
                State::Invalid,
                "the commit was not read".to_owned(),
                commit,
            )),
        }
    }
    let slot = dataset.prefix_of(evidence.slot);
    let named: BTreeSet<String> = names
        .iter()
        .map(|name| format!("{folder}{name}"))
        .filter(|key| folder == slot || key.starts_with(&slot))
        .collect();
    let (data, extra): (Vec<&Object>, Vec<&Object>) = evidence
        .objects
        .data()
        .partition(|object| named.contains(&object.key));
    counted.extend(data);
    missing(&named, counted, newest, reasons);
    overwritten(counted, newest, reasons);
    for object in extra.iter().take(SHOWN) {
        let message = format!("not named by any commit, so not read; {} such", extra.len());
        reasons.push(about(State::Closed, message, object));
    }
    let forgotten = extra.iter().find(|object| {
        let below = object.key.strip_prefix(&folder);
        !below.is_some_and(|below| removed.contains(below))
    });
    if let Some(object) = forgotten.filter(|_| named.is_empty()) {
        let data = extra.len() as u64;
        let state = super::unpublished(dataset, evidence.slot, data, evidence.now).state;
        let message = "there is data, and no commit names any of it".to_owned();
        reasons.push(about(state, message, object));
        return true;
    }
    if named.is_empty() && reasons.iter().all(|reason| reason.state == State::Closed) {
        // What is closed is worse than what is empty, and nothing here is closed.
        reasons.clear();
        let message = "the commits name no file".to_owned();
        reasons.push(about(State::Empty, message, newest));
        return true;
    }
    finish(dataset, counted, reasons);
    true
}

/// Files that are named and are not there.
fn missing(
    named: &BTreeSet<String>,
    listed: &[&Object],
    newest: &Object,
    reasons: &mut Vec<Reason>,
) {
    let there: BTreeSet<&str> = listed.iter().map(|object| object.key.as_str()).collect();
    let gone: Vec<&String> = named
        .iter()
        .filter(|key| !there.contains(key.as_str()))
        .collect();
    if gone.is_empty() {
        return;
    }
    if there.is_empty() {
        let message = format!(
            "nothing is left of {} files that the commits name",
            gone.len()
        );
        return reasons.push(about(State::Lost, message, newest));
    }
    for key in gone.iter().take(SHOWN) {
        reasons.push(Reason {
            key: Some((*key).clone()),
            ..Reason::new(
                State::Mutated,
                format!(
                    "a commit names this key and it is not there; {} such of {}",
                    gone.len(),
                    named.len()
                ),
            )
        });
    }
}

/// Files put again after the last commit.
fn overwritten(listed: &[&Object], newest: &Object, reasons: &mut Vec<Reason>) {
    let after = listed.iter().filter(|object| object.put > newest.put);
    for object in after.take(SHOWN) {
        let behind = duration(object.put.0 - newest.put.0);
        let message = format!("this key was put {behind} after the last commit");
        reasons.push(about(State::Mutated, message, object));
    }
}
