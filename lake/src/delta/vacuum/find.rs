//! Everything below the root, sorted into what may go, what waits and what is left alone.

use futures::TryStreamExt;
use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;
use object_store::path::Path;

use super::references::{Need, References};
use super::retention::Retention;
use super::rules::{Rules, Verdict};
use crate::Result;
use crate::answer::Root;
use crate::delta::write::duration_in_words;
use crate::host::{Progress, SharedHost};
use crate::plan::Spared;
use crate::store::survey::Surveyed;
use crate::table::Time;

/// Objects between two pauses.
const PAUSE: u64 = 1_000;

/// An object that no version needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// Relative to the root.
    pub(super) key: String,
    pub(super) bytes: u64,
    pub(super) modified: Time,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Old enough to go, by key.
    pub(super) old: Vec<Object>,
    /// Too young, by key.
    pub(super) young: Vec<Object>,
    pub(super) spared: Vec<Spared>,
    /// Objects that nothing needs and that are left alone.
    pub(super) left: Vec<Path>,
    /// Folders of the table's own objects, the root among them.
    pub(super) folders: u64,
}

/// Places that links join: nobody can tell by the keys which objects are the same.
struct Joined<'a>(HashMap<&'a str, &'static str>);

impl<'a> Joined<'a> {
    fn new(surveyed: &'a Surveyed) -> Self {
        let links = surveyed.links.iter().map(|key| (key, THROUGH));
        let targets = surveyed.targets.iter().map(|key| (key, TARGET));
        let all = targets.chain(links).map(|(key, why)| (key.as_str(), why));
        Self(all.collect())
    }

    /// Why an object of this key is left alone.
    fn why(&self, key: &Path) -> Option<&'static str> {
        if self.0.is_empty() {
            return None;
        }
        let key = key.as_ref();
        let above = key.match_indices('/').filter_map(|(at, _)| key.get(..at));
        let mut places = above.chain([key, ""]);
        places.find_map(|place| self.0.get(place).copied())
    }
}

const THROUGH: &str = "reached through a link";

const TARGET: &str = "a link leads here, and the log may name it by the link";

const UNFINISHED: &str = "an unfinished upload, which cannot be moved aside";

/// Objects left alone, by reason.
#[derive(Debug, Default)]
pub(super) struct Tally(IndexMap<String, Spared>);

impl Tally {
    pub(super) fn add(&mut self, why: String, key: &str, bytes: u64) {
        let entry = self.0.entry(why);
        let spared = entry.or_insert_with_key(|why| Spared {
            until: None,
            why: why.clone(),
            objects: 0,
            bytes: 0,
            example: key.to_owned(),
        });
        spared.objects += 1;
        spared.bytes = spared.bytes.saturating_add(bytes);
    }

    pub(super) fn finish(self) -> Vec<Spared> {
        self.0.into_values().collect()
    }
}

/// Lists the table once. `before` is the instant from which on objects are too young.
pub(super) async fn find(
    root: &Root,
    references: &mut References,
    rules: &mut Rules,
    (retention, before): (Retention, Time),
    (surveyed, quarantine): (&Surveyed, bool),
    host: &SharedHost,
) -> Result<Found> {
    let joined = Joined::new(surveyed);
    let mut found = Found::default();
    let mut tally = Tally::default();
    let mut folders: HashSet<Box<str>> = HashSet::new();
    let kept = duration_in_words(retention.millis);
    let prefix = (!root.path.as_ref().is_empty()).then_some(&root.path);
    let mut listed = root.store.list(prefix);
    let mut done = 0u64;
    while let Some(meta) = listed.try_next().await? {
        done += 1;
        if done.is_multiple_of(PAUSE) {
            host.progress(Progress {
                step: "listing objects".to_owned(),
                done,
                of: None,
            });
            host.pause().await;
        }
        // A store that lists more than it was asked for is not followed.
        let Some(key) = relative(&root.path, &meta.location) else {
            continue;
        };
        let (key, bytes) = (key.to_owned(), meta.size);
        let modified = Time(meta.last_modified.timestamp_millis());
        let verdict = rules.look(&key);
        if verdict == Verdict::Log {
            continue;
        }
        let old = modified < before;
        let need = references.seen(&meta.location);
        if verdict == Verdict::Ours || need.is_some() {
            add_folders(&mut folders, &key);
        }
        match (need, verdict) {
            (Some(Need::Active), _) => {}
            (Some(Need::Removed), _) => {
                tally.add(format!("removed less than {kept} ago"), &key, bytes);
            }
            (Some(Need::Pinned), _) => {
                tally.add("needed by a pinned version".to_owned(), &key, bytes)
            }
            (None, Verdict::Spared(why)) => {
                tally.add(why, &key, bytes);
                found.left.push(meta.location);
            }
            (None, _) if joined.why(&meta.location).is_some() => {
                let why = joined.why(&meta.location).unwrap_or_default();
                tally.add(why.to_owned(), &key, bytes);
                found.left.push(meta.location);
            }
            (None, _) if references.may_mean(&meta.location) => {
                let why = "an absolute path of the log ends with this name";
                tally.add(why.to_owned(), &key, bytes);
                found.left.push(meta.location);
            }
            (None, _) => {
                let object = Object {
                    key,
                    bytes,
                    modified,
                };
                match old {
                    true => found.old.push(object),
                    false => found.young.push(object),
                }
            }
        }
    }
    for upload in &surveyed.unfinished {
        let Some(key) = relative(&root.path, &upload.key) else {
            continue;
        };
        let ours = match (rules.look(key), joined.why(&upload.key)) {
            (Verdict::Log, _) => continue,
            (Verdict::Spared(why), _) => Err(why),
            (Verdict::Ours, Some(why)) => Err(why.to_owned()),
            // Its copy would be an unfinished upload too, which nobody would find again.
            (Verdict::Ours, None) if quarantine => Err(UNFINISHED.to_owned()),
            (Verdict::Ours, None) => Ok(upload.modified < before),
        };
        let object = |key: &str| Object {
            key: key.to_owned(),
            bytes: upload.bytes,
            modified: upload.modified,
        };
        match ours {
            Err(why) => tally.add(why, key, upload.bytes),
            Ok(true) => found.old.push(object(key)),
            Ok(false) => found.young.push(object(key)),
        }
    }
    for thing in &surveyed.nameless {
        tally.add(thing.why.to_owned(), &thing.name, thing.bytes);
    }
    found.folders = folders.len() as u64;
    for objects in [&mut found.old, &mut found.young] {
        objects.retain(|object| {
            let why = rules.foreign(&object.key).or_else(|| {
                let is_folder = object.bytes == 0 && folders.contains(object.key.as_str());
                is_folder.then(|| "an empty object that stands for a folder".to_owned())
            });
            match why {
                Some(why) => {
                    tally.add(why, &object.key, object.bytes);
                    false
                }
                None => true,
            }
        });
        objects.sort_by(|a, b| a.key.cmp(&b.key));
    }
    found.spared = tally.finish();
    Ok(found)
}

/// A key below the root; `None` where it is not below it.
pub(super) fn relative<'a>(root: &Path, key: &'a Path) -> Option<&'a str> {
    let key = key.as_ref();
    let below = match root.as_ref() {
        "" => key,
        root => key.strip_prefix(root)?.strip_prefix('/')?,
    };
    (!below.is_empty()).then_some(below)
}

/// The root and every folder on the way to an object.
fn add_folders(folders: &mut HashSet<Box<str>>, key: &str) {
    if folders.is_empty() {
        folders.insert("".into());
    }
    let ends = key.rmatch_indices('/').map(|(at, _)| at);
    for folder in ends.filter_map(|at| key.get(..at)) {
        if folders.contains(folder) {
            break;
        }
        folders.insert(folder.into());
    }
}
