//! Which objects are needed, and by what.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use object_store::path::Path;

use crate::Result;
use crate::delta::path::{Location, decode, locate};
use crate::delta::snapshot::Snapshot;
use crate::delta::vector::{self, Descriptor};

/// What needs an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// The newest version.
    Active,
    /// A file that was removed less than the retention ago.
    Removed,
    /// A pinned version, and nothing else.
    Pinned,
}

/// Objects that are needed. One that was never listed is not there.
#[derive(Debug, Default)]
pub(super) struct References {
    root: Path,
    keys: HashMap<Path, (Need, bool)>,
    /// Names of files that absolute paths end with. Such a path may mean an object of this table
    /// under another spelling of its URL, so it keeps every object of that name.
    names: HashSet<String>,
}

impl References {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.clone(),
            ..Self::default()
        }
    }

    /// Takes every file of a version. An error means that nobody can tell what it needs.
    pub(super) fn take_snapshot(&mut self, snapshot: &Snapshot, need: Need) -> Result<()> {
        for file in snapshot.files.iter() {
            self.take(file.raw_path(), file.vector().as_ref(), need)?;
        }
        Ok(())
    }

    /// Takes a file and its deletion vector.
    pub(super) fn take(
        &mut self,
        raw: &str,
        descriptor: Option<&Descriptor>,
        need: Need,
    ) -> Result<()> {
        match locate(&self.root, raw)? {
            Location::Inside(path) => self.put(path, need),
            Location::Outside(url) => {
                self.name(&url);
                self.name(raw);
            }
        }
        if raw.contains('%') {
            // Writers that forgot to encode a path meant what it says.
            let verbatim = Path::parse(format!("{}/{raw}", self.root));
            if let Ok(path) = verbatim {
                self.put(path, need);
            }
        }
        let Some(descriptor) = descriptor else {
            return Ok(());
        };
        match descriptor.storage_type.as_str() {
            "p" => {
                let text = &descriptor.path_or_inline_dv;
                self.name(&decode(text)?);
                self.name(text);
            }
            _ => {
                if let Some(path) = vector::location(&self.root, descriptor)? {
                    self.put(path, need);
                }
            }
        }
        Ok(())
    }

    /// What needs the object of this key; remembers that there is one.
    pub(super) fn seen(&mut self, key: &Path) -> Option<Need> {
        let (need, seen) = self.keys.get_mut(key)?;
        *seen = true;
        Some(*need)
    }

    /// What needs the object of this key, and whether it is there.
    pub(super) fn get(&self, key: &Path) -> Option<(Need, bool)> {
        self.keys.get(key).copied()
    }

    /// Some of a version's files that were there when they were looked for, spread over all of it.
    pub(super) fn sample(&self, snapshot: &Snapshot, most: usize) -> Vec<Path> {
        let step = snapshot.files.len().div_ceil(most.max(1)).max(1);
        let files = snapshot.files.iter().step_by(step);
        let keys = files.filter_map(|file| match locate(&self.root, file.raw_path()) {
            Ok(Location::Inside(key)) => Some(key),
            _ => None,
        });
        keys.filter(|key| self.get(key) == Some((Need::Active, true)))
            .collect()
    }

    /// Whether an absolute path may mean the object of this key.
    pub(super) fn may_mean(&self, key: &Path) -> bool {
        !self.names.is_empty() && key.filename().is_some_and(|name| self.names.contains(name))
    }

    fn put(&mut self, key: Path, need: Need) {
        match self.keys.entry(key) {
            Entry::Occupied(_) => {}
            Entry::Vacant(entry) => {
                entry.insert((need, false));
            }
        }
    }

    fn name(&mut self, url: &str) {
        let name = url.trim_end_matches('/').rsplit('/').next();
        self.names.extend(name.map(str::to_owned));
    }
}
