//! Which loose keys a run took in: said by name in its marker, or in an object beside the markers
//! that the marker names.
//!
//! The time of a key proves nothing: a store may date an upload by its beginning. A loose key is
//! consumed where it is named with the size and the tag that it still has, and late where a complete
//! list does not name it. Of a run that was published by hand nobody says what it took in, so a key
//! that is not newer than its marker is in doubt: it is neither packed nor deleted.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::dataset::Dataset;
use super::day::Slot;
use super::judge::Markers;
use super::listing::{Object, SlotObjects};
use super::marker::Marker;
use crate::table::Time;

/// Extra field of a marker: see [`Took`].
pub const TAKEN: &str = "loose_keys_taken";

/// Keys that a marker holds itself; more of them are in an object of their own.
pub const INLINE: usize = 64;

/// The loose keys whose rows a run has, or a run before it that it was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Took {
    /// The run that this is a complete list of. A marker of another run has it from the marker
    /// before it, and may have taken in more.
    pub run_id: String,
    /// Whether the run has the rows of these keys and no others.
    #[serde(default)]
    pub alone: bool,
    /// How many they are.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// They, where they are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Key>,
    /// The object that lists them, where they are many: its key in the zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// A loose key, as it was taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Below its slot.
    pub key: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its entity tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// When it was put, where it has no tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put: Option<Time>,
}

impl Key {
    fn is(&self, object: &Object) -> bool {
        self.bytes == object.bytes
            && match (&self.etag, &object.etag) {
                (Some(own), Some(its)) => own == its,
                _ => self.put == Some(object.put),
            }
    }
}

impl Took {
    /// A list of these keys of a slot.
    pub fn of<'a>(
        dataset: &Dataset,
        slot: Slot,
        run_id: &str,
        alone: bool,
        objects: impl IntoIterator<Item = &'a Object>,
    ) -> Self {
        let mut took = Self {
            run_id: run_id.to_owned(),
            alone,
            ..Self::default()
        };
        took.extend(dataset, slot, objects);
        took
    }

    /// Takes more keys in.
    pub(super) fn extend<'a>(
        &mut self,
        dataset: &Dataset,
        slot: Slot,
        objects: impl IntoIterator<Item = &'a Object>,
    ) {
        let folder = dataset.prefix_of(slot);
        self.keys.extend(objects.into_iter().map(|object| Key {
            key: below(&folder, object).to_owned(),
            bytes: object.bytes,
            etag: object.etag.clone(),
            put: object.etag.is_none().then_some(object.put),
        }));
        self.keys.sort_by(|a, b| a.key.cmp(&b.key));
        self.count = self.keys.len() as u64;
        let bytes = self.keys.iter().map(|key| key.bytes);
        self.bytes = bytes.fold(0, u64::saturating_add);
    }
}

/// The loose keys beside the run that a marker names.
#[derive(Clone, Debug, Default)]
pub(super) struct Loose<'a> {
    /// Taken in, and still what they were.
    pub(super) taken: Vec<&'a Object>,
    /// Taken in, and put again since with other bytes.
    pub(super) replaced: Vec<&'a Object>,
    /// In no run.
    pub(super) late: Vec<&'a Object>,
    /// In the run or not: nobody says.
    pub(super) doubted: Vec<&'a Object>,
    /// Keys that were taken in and are gone, below the slot.
    pub(super) gone: Vec<String>,
    /// Why what was taken in cannot be told.
    pub(super) unreadable: Option<String>,
}

impl Markers {
    /// What the current marker's run took in; `None` where nobody says.
    pub(super) fn took(&self) -> Result<Option<Cow<'_, Took>>, String> {
        let Some(field) = self.marker().and_then(|marker| marker.extra.get(TAKEN)) else {
            return Ok(None);
        };
        let took = Took::deserialize(field)
            .map_err(|e| format!("what the run took in cannot be read: `{TAKEN}`: {e}"))?;
        let Some(record) = &took.record else {
            return Ok(Some(Cow::Owned(took)));
        };
        let read = self.taken.iter().find(|(object, _)| object.key == *record);
        match read {
            None => Err(format!(
                "what the run took in cannot be read: {record} is gone"
            )),
            Some((_, Err(why))) => Err(format!("{record}: {why}")),
            Some((_, Ok(list))) if list.keys.len() as u64 != took.count => Err(format!(
                "{record} names {} keys, and the marker says {}",
                list.keys.len(),
                took.count
            )),
            Some((_, Ok(list))) => Ok(Some(Cow::Borrowed(list))),
        }
    }
}

impl Marker {
    /// Loose keys that are no newer, and that no list names, are in doubt; `None` where the list of
    /// what the run took in is complete. `put` is when the store got the marker.
    pub(super) fn doubted_until(&self, put: Time) -> Option<Time> {
        if let Some(until) = self.loose_until() {
            return Some(until);
        }
        let listed = self.extra.get(TAKEN).and_then(|took| took.get("run_id"));
        let own = listed.and_then(|run| run.as_str()) == Some(self.run_id.as_str());
        (!own).then_some(put)
    }

    /// The object beside the markers that lists what was taken in.
    #[cfg(feature = "write")]
    pub(super) fn record(&self) -> Option<&str> {
        self.extra.get(TAKEN)?.get("record")?.as_str()
    }
}

/// Sorts the loose keys of a slot by what became of them. `None` without a marker that can be used.
pub(super) fn loose<'a>(
    dataset: &Dataset,
    slot: Slot,
    markers: &Markers,
    objects: &'a SlotObjects,
) -> Option<Loose<'a>> {
    let (put, marker) = markers.current.as_ref()?;
    let marker = marker.as_ref().ok()?;
    let scan = marker.scan(dataset)?;
    let beside = || {
        let loose = objects.loose.iter();
        loose.filter(|object| !object.key.starts_with(&scan))
    };
    let mut sorted = Loose::default();
    if objects.loose.is_empty() {
        // The list is read only where there is something to look up in it.
        return Some(sorted);
    }
    let took = match markers.took() {
        Ok(took) => took.unwrap_or_default(),
        Err(why) => {
            sorted.doubted = beside().collect();
            sorted.unreadable = Some(why);
            return Some(sorted);
        }
    };
    let until = marker.doubted_until(put.put);
    let folder = dataset.prefix_of(slot);
    let named: HashMap<&str, &Key> = took.keys.iter().map(|k| (k.key.as_str(), k)).collect();
    let mut there = HashSet::new();
    for object in beside() {
        let key = below(&folder, object);
        match named.get(key) {
            Some(named) => {
                there.insert(key);
                match named.is(object) {
                    true => sorted.taken.push(object),
                    false => sorted.replaced.push(object),
                }
            }
            None if until.is_some_and(|until| object.put <= until) => sorted.doubted.push(object),
            None => sorted.late.push(object),
        }
    }
    let gone = took.keys.iter().map(|key| &key.key);
    sorted.gone = gone
        .filter(|key| !there.contains(key.as_str()))
        .cloned()
        .collect();
    Some(sorted)
}

fn below<'a>(folder: &str, object: &'a Object) -> &'a str {
    object.key.strip_prefix(folder).unwrap_or(&object.key)
}
