//! Objects moved aside instead of deleted: below the table's root, in a folder that every engine
//! takes for hidden, under the key that each had.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::find::{Tally, relative};
use super::full_key;
use super::planning::pinned;
use super::references::References;
use crate::Result;
use crate::answer::Root;
use crate::delta::log::Log;
use crate::delta::path::OWN;
use crate::delta::pins;
use crate::delta::write::TRIES;
use crate::host::{Progress, SharedHost};
use crate::plan::{Emptied, Failed, Leftover, PutBack, Quarantined};
use crate::store::erase::{Eraser, Gone, passes};
use crate::table::Time;

/// Copies in flight at once.
const PARALLEL: usize = 8;

/// Keys deleted between two looks at whether a person wants it to stop.
const BATCH: usize = 1_000;

fn folder(root: &Path) -> Path {
    root.clone().join(OWN).join("quarantine")
}

/// Where one vacuum puts what it moves aside.
pub(super) fn place(root: &Path, name: &str) -> Path {
    folder(root).join(name)
}

/// When an object was moved aside: as its folder's name says, because a copy on a disk may keep the
/// time of what it is a copy of; later, where the store says so.
fn moved(folder: &Path, meta: &ObjectMeta) -> Time {
    let named = relative(folder, &meta.location)
        .and_then(|key| key.split_once('-')?.0.parse::<i64>().ok())
        .unwrap_or(i64::MIN);
    Time(named.max(meta.last_modified.timestamp_millis()))
}

/// What was moved aside and not deleted yet, by folder.
pub async fn list_quarantine(root: &Root) -> Result<Vec<Quarantined>> {
    let folder = folder(&root.path);
    let mut found: BTreeMap<String, Quarantined> = BTreeMap::new();
    let mut listed = root.store.list(Some(&folder));
    while let Some(meta) = listed.try_next().await? {
        let below = relative(&folder, &meta.location).and_then(|key| key.split_once('/'));
        let Some((name, _)) = below else {
            continue;
        };
        let moved = moved(&folder, &meta);
        let entry = found.entry(name.to_owned()).or_insert_with(|| Quarantined {
            name: name.to_owned(),
            objects: 0,
            bytes: 0,
            moved,
        });
        entry.objects += 1;
        entry.bytes = entry.bytes.saturating_add(meta.size);
        entry.moved = entry.moved.max(moved);
    }
    Ok(found.into_values().collect())
}

/// Deletes what was moved aside more than `older_than` milliseconds ago, by the store's clock, which
/// says that it is `now`.
pub async fn empty_quarantine(
    root: &Root,
    older_than: i64,
    now: Time,
    host: &SharedHost,
) -> Result<Emptied> {
    let before = Time(now.0.saturating_sub(older_than.max(0)));
    let folder = folder(&root.path);
    let listed: Vec<ObjectMeta> = root.store.list(Some(&folder)).try_collect().await?;
    let old = listed
        .into_iter()
        .filter(|meta| moved(&folder, meta) < before);
    let mut listed: Vec<(Path, u64)> = old.map(|meta| (meta.location, meta.size)).collect();
    let pinned = needed_by_pins(root, host).await?;
    let mut spared = Tally::default();
    let mut emptied = Emptied::default();
    listed.retain(|(key, bytes)| {
        let needed = origin(root, &folder, key).is_some_and(|from| pinned.get(&from).is_some());
        if needed {
            let key = relative(&root.path, key).unwrap_or(key.as_ref());
            spared.add("needed by a pinned version".to_owned(), key, *bytes);
        }
        !needed
    });
    emptied.spared = spared.finish();
    let mut eraser = Eraser::new(&root.store, host);
    let (of, mut done) = (listed.len() as u64, 0u64);
    for batch in listed.chunks(BATCH) {
        if host.cancelled() {
            break;
        }
        let keys: Vec<Path> = batch.iter().map(|(key, _)| key.clone()).collect();
        let outcome = eraser.erase(&keys).await;
        for ((key, bytes), gone) in batch.iter().zip(outcome) {
            match gone {
                Gone::Deleted => {
                    emptied.deleted += 1;
                    emptied.bytes = emptied.bytes.saturating_add(*bytes);
                }
                Gone::Absent => {}
                Gone::Failed(why) => emptied.failed.push(Failed {
                    key: relative(&root.path, key).unwrap_or(key.as_ref()).to_owned(),
                    why,
                }),
            }
        }
        done += batch.len() as u64;
        host.progress(Progress {
            step: "emptying the quarantine".to_owned(),
            done,
            of: Some(of),
        });
    }
    Ok(emptied)
}

/// What the pinned versions need. An error where that of one is not known.
async fn needed_by_pins(root: &Root, host: &SharedHost) -> Result<References> {
    let mut references = References::new(&root.path);
    let pins = pins::list(root).await?;
    if pins.is_empty() {
        return Ok(references);
    }
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    for pin in pins {
        let taken = pinned(&log, &head, pin.version, &mut references, host).await;
        taken.map_err(|e| {
            e.within(format!(
                "the pin `{}` keeps version {}, whose files are not known any more",
                pin.name, pin.version
            ))
        })?;
    }
    Ok(references)
}

/// Where an object was before it was moved aside.
fn origin(root: &Root, folder: &Path, key: &Path) -> Option<Path> {
    let (_, below) = relative(folder, key)?.split_once('/')?;
    full_key(&root.path, below).ok()
}

/// How many of these keys, relative to the root, were moved aside. A store that does not tell knows
/// of none.
pub(crate) async fn aside(root: &Root, keys: &BTreeSet<String>) -> u64 {
    let folder = folder(&root.path);
    let listed: Vec<ObjectMeta> = match root.store.list(Some(&folder)).try_collect().await {
        Ok(listed) => listed,
        Err(_) => return 0,
    };
    let aside = listed.iter().filter_map(|meta| {
        let (_, below) = relative(&folder, &meta.location)?.split_once('/')?;
        keys.contains(below).then_some(below)
    });
    aside.collect::<BTreeSet<_>>().len() as u64
}

/// Moves what was moved aside back to where it was, unless something is there now.
pub async fn put_back(root: &Root, host: &SharedHost) -> Result<PutBack> {
    let folder = folder(&root.path);
    let mut listed: Vec<ObjectMeta> = root.store.list(Some(&folder)).try_collect().await?;
    // What was moved aside last is what was there last.
    listed.sort_by(|a, b| b.location.cmp(&a.location));
    let mut told = PutBack::default();
    let of = listed.len() as u64;
    for (done, meta) in (0u64..).zip(&listed) {
        if host.cancelled() {
            break;
        }
        host.progress(Progress {
            step: "moving objects back".to_owned(),
            done,
            of: Some(of),
        });
        let Some(to) = origin(root, &folder, &meta.location) else {
            continue;
        };
        let moved = move_back(&root.store, meta, &to, host).await;
        match moved {
            Ok(()) => {
                told.objects += 1;
                told.bytes = told.bytes.saturating_add(meta.size);
            }
            Err(why) => told.failed.push(Failed {
                key: relative(&root.path, &to).unwrap_or(to.as_ref()).to_owned(),
                why,
            }),
        }
        host.pause().await;
    }
    Ok(told)
}

/// Moves one object back; why not.
async fn move_back(
    store: &Arc<dyn ObjectStore>,
    meta: &ObjectMeta,
    to: &Path,
    host: &SharedHost,
) -> std::result::Result<(), String> {
    match store.head(to).await {
        Err(StoreError::NotFound { .. }) => {}
        Ok(_) => return Err("something is there now".to_owned()),
        Err(error) => return Err(error.to_string()),
    }
    match copy(store, &meta.location, to, meta.size, host).await {
        None => {}
        Some(Gone::Failed(why)) => return Err(why.replace("moved aside", "moved back")),
        Some(_) => return Err("it is not aside any more".to_owned()),
    }
    // Left behind it is a copy, which the quarantine's emptying takes.
    let mut eraser = Eraser::new(store, host);
    let erased = eraser.erase(std::slice::from_ref(&meta.location)).await;
    match erased.first() {
        Some(Gone::Failed(why)) => Err(format!("it is back, and its copy stays aside: {why}")),
        _ => Ok(()),
    }
}

/// Copies objects aside, and says of each whether it may be deleted now: `None` where its copy is
/// proven to be there.
pub(super) async fn copy_aside(
    store: &Arc<dyn ObjectStore>,
    root: &Path,
    place: &Path,
    objects: &[&Leftover],
    host: &SharedHost,
) -> Vec<Option<Gone>> {
    let copies = objects.iter().map(|object| {
        let (store, host) = (Arc::clone(store), Arc::clone(host));
        let keys =
            full_key(root, &object.key).and_then(|from| Ok((from, full_key(place, &object.key)?)));
        let bytes = object.bytes;
        async move {
            match keys {
                Ok((from, to)) => copy(&store, &from, &to, bytes, &host).await,
                Err(error) => Some(Gone::Failed(error.to_string())),
            }
        }
    });
    stream::iter(copies).buffered(PARALLEL).collect().await
}

async fn copy(
    store: &Arc<dyn ObjectStore>,
    from: &Path,
    to: &Path,
    bytes: u64,
    host: &SharedHost,
) -> Option<Gone> {
    let mut why = String::new();
    for attempt in 0..=TRIES {
        if attempt > 0 {
            host.wait(100 << attempt).await;
        }
        let error = store.copy(from, to).await.err();
        // Whatever the answer was: what counts is that the copy is there, whole.
        match store.head(to).await {
            Ok(meta) if meta.size == bytes => return None,
            Ok(meta) => why = format!("its copy has {} of {bytes} bytes", meta.size),
            Err(unseen) => why = unseen.to_string(),
        }
        match error {
            Some(StoreError::NotFound { .. }) => {
                if let Err(StoreError::NotFound { .. }) = store.head(from).await {
                    return Some(Gone::Absent);
                }
            }
            Some(error) => {
                why = error.to_string();
                if !passes(&error) {
                    break;
                }
            }
            None => {}
        }
    }
    Some(Gone::Failed(format!("it was not moved aside: {why}")))
}
