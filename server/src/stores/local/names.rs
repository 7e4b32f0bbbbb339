//! The sorted names of a directory, kept while its modification time says that they still hold.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A change within one tick of the file system's clock does not move the modification time, so a
/// directory that changed this recently is read again.
const SETTLED: Duration = Duration::from_millis(1200);

/// Names kept over all directories; beyond it the cache starts again from nothing.
const MAX_NAMES: usize = 2_000_000;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File,
    Directory,
    /// Leads somewhere else, which is looked at when the name is reached.
    Link,
}

/// One name of a directory.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) text: Box<str>,
    pub(super) entry: Entry,
    /// Sorts with a slash after it, as the keys below it do.
    pub(super) nests: bool,
}

impl Name {
    /// The order of the keys that a listing gives: a directory sorts by its name and a slash.
    fn order(&self, other: &Self) -> Ordering {
        let (ours, theirs) = (self.text.as_bytes(), other.text.as_bytes());
        let shared = ours.len().min(theirs.len());
        let start = ours.get(..shared).cmp(&theirs.get(..shared));
        // Where one is the beginning of the other, the shorter goes on with its slash or ends.
        start.then_with(|| self.byte(shared).cmp(&other.byte(shared)))
    }

    fn byte(&self, at: usize) -> Option<u8> {
        let slash = self.nests.then_some(b'/');
        self.text.as_bytes().get(at).copied().or(slash)
    }

    /// Whether this name's key, and every key below it, comes no later than `key`.
    pub(super) fn is_passed_by(&self, key: &str) -> bool {
        let name = self.text.as_bytes();
        let key = key.as_bytes();
        match key.strip_prefix(name) {
            // The same name, or one that begins like it.
            Some(_) if !self.nests => true,
            // Keys below a directory that `key` is in, or at whose door it stands, may follow.
            Some(rest) => rest.first().is_some_and(|next| *next > b'/'),
            None => name < key,
        }
    }
}

/// The names of one directory in the order of their keys.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) names: Vec<Name>,
    modified: Option<SystemTime>,
    keep: bool,
}

/// Directories read so far.
#[derive(Debug, Default)]
pub(super) struct NameCache {
    inner: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    directories: HashMap<PathBuf, Arc<Names>>,
    names: usize,
}

impl NameCache {
    /// The names of `directory`; empty where there is none. Costs one `stat` while nothing changed.
    pub(super) fn read(&self, directory: &Path) -> io::Result<Arc<Names>> {
        let modified = match fs::metadata(directory) {
            Ok(meta) if meta.is_dir() => meta.modified().ok(),
            Ok(_) => return Ok(Arc::new(Names::none())),
            Err(e) if absent(&e) => return Ok(Arc::new(Names::none())),
            Err(e) => return Err(e),
        };
        if let Some(known) = self.lock().directories.get(directory)
            && known.modified == modified
        {
            return Ok(Arc::clone(known));
        }
        let names = Arc::new(Names::read(directory, modified)?);
        if names.keep {
            self.remember(directory, &names);
        }
        Ok(names)
    }

    fn remember(&self, directory: &Path, names: &Arc<Names>) {
        let mut kept = self.lock();
        if kept.names.saturating_add(names.names.len()) > MAX_NAMES {
            *kept = Kept::default();
        }
        kept.names += names.names.len();
        let before = kept
            .directories
            .insert(directory.to_owned(), Arc::clone(names));
        if let Some(before) = before {
            kept.names = kept.names.saturating_sub(before.names.len());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    fn none() -> Self {
        Self {
            names: Vec::new(),
            modified: None,
            keep: false,
        }
    }

    /// Reads and sorts a directory. Names that cannot be keys are left out.
    fn read(directory: &Path, modified: Option<SystemTime>) -> io::Result<Self> {
        let mut names = Vec::new();
        let mut links = false;
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(e) if absent(&e) => return Ok(Self::none()),
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            let Ok(text) = entry.file_name().into_string() else {
                continue;
            };
            if object_store::path::PathPart::parse(&text).is_err() {
                continue;
            }
            let kind = entry.file_type()?;
            let (entry, nests) = if kind.is_dir() {
                (Entry::Directory, true)
            } else if kind.is_symlink() {
                links = true;
                (Entry::Link, entry.path().is_dir())
            } else if kind.is_file() {
                (Entry::File, false)
            } else {
                continue;
            };
            names.push(Name {
                text: text.into(),
                entry,
                nests,
            });
        }
        names.sort_unstable_by(Name::order);
        let settled = modified
            .and_then(|modified| SystemTime::now().duration_since(modified).ok())
            .is_some_and(|age| age > SETTLED);
        Ok(Self {
            names,
            modified,
            // Where a link leads can change without the directory that holds it.
            keep: settled && !links,
        })
    }
}

fn absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
