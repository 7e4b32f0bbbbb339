//! Objects of a dataset as a listing gives them, put where they belong.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use object_store::ObjectMeta;
use object_store::path::Path;

use super::dataset::Dataset;
use super::day::Slot;
use super::key::{Role, place};
use crate::table::Time;
use crate::{Error, Result};

/// One object, by its listing. `put` is the store's clock and says nothing of publication.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Key in the zone.
    pub key: String,
    /// Its bytes.
    pub bytes: u64,
    /// When the store says it was put.
    pub put: Time,
    /// Its entity tag.
    pub etag: Option<String>,
}

/// A key of the zone as the store takes it: nothing in it is encoded again.
pub(crate) fn path(key: &str) -> Result<Path> {
    Path::parse(key).map_err(|e| {
        Error::invalid("not a key of an object")
            .because(e)
            .at("key", key)
    })
}

/// A prefix as the store takes it; `None` for the whole zone.
pub(crate) fn prefix_path(prefix: &str) -> Result<Option<Path>> {
    let path = Path::parse(prefix).map_err(|e| {
        Error::invalid("not a prefix of keys")
            .because(e)
            .at("prefix", prefix)
    })?;
    Ok(Some(path).filter(|path| !path.as_ref().is_empty()))
}

impl From<ObjectMeta> for Object {
    fn from(meta: ObjectMeta) -> Self {
        Self {
            key: meta.location.into(),
            bytes: meta.size,
            put: Time(meta.last_modified.timestamp_millis()),
            etag: meta.e_tag,
        }
    }
}

/// What tells a listing from another one of the same place, whoever lists and whenever: how many
/// objects there are, and a hash of their keys, sizes and tags; of their times where the store gives
/// no tags.
pub fn fingerprint(objects: &[Object]) -> String {
    let mut lines: Vec<String> = objects
        .iter()
        .map(|object| {
            let tag = object.etag.as_deref().map(|tag| tag.trim_matches('"'));
            let tag = match tag {
                Some(tag) => tag.to_owned(),
                None => object.put.0.div_euclid(1000).to_string(),
            };
            format!("{}\0{}\0{tag}\n", object.key, object.bytes)
        })
        .collect();
    lines.sort_unstable();
    // FNV-1a: the same everywhere and always, which the standard library's hashes do not promise.
    let bytes = lines.iter().flat_map(|line| line.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{}-{hash:016x}", objects.len())
}

/// The objects of one slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotObjects {
    /// Data put straight under the slot, or in folders that are no run's.
    pub loose: Vec<Object>,
    /// Data of each run, by the run's key prefix, which ends with a slash.
    pub runs: BTreeMap<String, Vec<Object>>,
    /// What is hidden by its name: foreign markers, leftovers of committers.
    pub hidden: Vec<Object>,
}

impl SlotObjects {
    /// All data objects, loose ones first.
    pub fn data(&self) -> impl Iterator<Item = &Object> {
        self.loose.iter().chain(self.runs.values().flatten())
    }

    /// Data objects below a key prefix that ends with a slash.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Object> {
        self.data()
            .filter(move |object| object.key.starts_with(prefix))
    }

    /// Whether there is no data.
    pub fn is_empty(&self) -> bool {
        self.data().next().is_none()
    }

    /// The same for the same objects: what was verified of one listing holds for another.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for object in self.data().chain(&self.hidden) {
            object.hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Objects of a dataset by slot, and those that lie in none.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// By slot.
    pub slots: BTreeMap<Slot, SlotObjects>,
    /// Data in no slot of the declared partitions: keys that no marker can close.
    pub stray: Vec<Object>,
    /// What is hidden by its name and lies in no slot: markers of whole days.
    pub hidden: Vec<Object>,
}

impl Listing {
    /// Puts an object where it belongs. Objects of the marker tree are not for here.
    pub fn add(&mut self, dataset: &Dataset, object: Object) {
        let start = match dataset.prefix.len() {
            0 => 0,
            length => length + 1,
        };
        let Some(below) = object.key.get(start..) else {
            return;
        };
        let placed = place(dataset, below, object.bytes);
        let slot = match (placed.slot, placed.role) {
            (_, Role::Folder) => return,
            (None, Role::Hidden) => return self.hidden.push(object),
            (None, Role::Data) => return self.stray.push(object),
            (Some(slot), _) => self.slots.entry(slot).or_default(),
        };
        if placed.role == Role::Hidden {
            return slot.hidden.push(object);
        }
        match placed.run.and_then(|end| object.key.get(..start + end)) {
            Some(run) => {
                let run = run.to_owned();
                slot.runs.entry(run).or_default().push(object);
            }
            None => slot.loose.push(object),
        }
    }
}
