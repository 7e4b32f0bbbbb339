//! The files below a directory in the order of their keys, found one at a time.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::names::{Entry, Name, Names};
use super::tree::Tree;

/// A place in a directory tree, from which files come in the order of their keys.
pub(super) struct Walk {
    tree: Arc<Tree>,
    /// Keys up to and with this one are passed over.
    after: Option<String>,
    stack: Vec<Level>,
}

struct Level {
    names: Arc<Names>,
    next: usize,
    directory: PathBuf,
    /// Where the directory really lies; only known, and only needed, below a link.
    real: Option<PathBuf>,
    /// Key of the directory with a slash after it; empty for the root.
    key: String,
}

/// Something a listing shows.
pub(super) enum Found {
    /// A file: its key and where it lies.
    File(String, PathBuf),
    /// A directory's key without a slash after it; only where the walk stays on one level.
    Directory(String),
}

impl Walk {
    /// Starts below `prefix` (no slash at its ends; empty for everything).
    pub(super) fn start(tree: Arc<Tree>, prefix: &str, after: Option<String>) -> io::Result<Self> {
        let mut walk = Self {
            tree,
            after,
            stack: Vec::new(),
        };
        let Some(directory) = walk.tree.directory(prefix)? else {
            return Ok(walk);
        };
        let key = match prefix {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        };
        walk.enter(directory, None, key)?;
        Ok(walk)
    }

    fn enter(&mut self, directory: PathBuf, real: Option<PathBuf>, key: String) -> io::Result<()> {
        let names = self.tree.names(&directory)?;
        let next = match self.after.as_deref() {
            Some(after) => first_after(&names.names, &key, after),
            None => 0,
        };
        self.stack.push(Level {
            names,
            next,
            directory,
            real,
            key,
        });
        Ok(())
    }

    /// The next file below the start, however deep.
    pub(super) fn next_file(&mut self) -> io::Result<Option<(String, PathBuf)>> {
        loop {
            let Some(level) = self.stack.last_mut() else {
                return Ok(None);
            };
            let Some(name) = level.names.names.get(level.next) else {
                self.stack.pop();
                continue;
            };
            level.next += 1;
            let key = format!("{}{}", level.key, name.text);
            let path = level.directory.join(&*name.text);
            match (name.entry, name.nests) {
                (Entry::File, _) if is_staged(&name.text) => {}
                (Entry::File, _) => return Ok(Some((key, path))),
                (Entry::Directory, _) => self.enter(path, None, format!("{key}/"))?,
                (Entry::Link, nests) => {
                    let Some(real) = self.tree.inside(&path) else {
                        continue;
                    };
                    if !nests {
                        return Ok(Some((key, path)));
                    }
                    if !self.returns_to(&real)? {
                        self.enter(path, Some(real), format!("{key}/"))?;
                    }
                }
            }
        }
    }

    /// The next file or directory of the start itself.
    pub(super) fn next_here(&mut self) -> Option<Found> {
        let level = self.stack.last_mut()?;
        loop {
            let name = level.names.names.get(level.next)?;
            level.next += 1;
            let key = format!("{}{}", level.key, name.text);
            let path = level.directory.join(&*name.text);
            if name.entry == Entry::Link && self.tree.inside(&path).is_none() {
                continue;
            }
            if name.nests {
                // A directory continues after its own key with a slash, not inside it.
                if self.after.as_deref().is_some_and(|after| {
                    after
                        .strip_prefix(key.as_str())
                        .is_some_and(|rest| rest.starts_with('/'))
                }) {
                    continue;
                }
                return Some(Found::Directory(key));
            }
            if !is_staged(&name.text) {
                return Some(Found::File(key, path));
            }
        }
    }

    /// Whether a link leads back to a directory that the walk is in.
    fn returns_to(&self, real: &std::path::Path) -> io::Result<bool> {
        for level in &self.stack {
            let here = match &level.real {
                Some(real) => real.clone(),
                None => level.directory.canonicalize()?,
            };
            if here == real {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The store stages an upload as `name#1` beside its target; such a file is not an object.
pub(super) fn is_staged(name: &str) -> bool {
    name.split_once('#')
        .is_some_and(|(_, suffix)| !suffix.is_empty() && suffix.bytes().all(|b| b.is_ascii_digit()))
}

/// The first name whose key, or a key below it, comes after `after`.
fn first_after(names: &[Name], key: &str, after: &str) -> usize {
    let Some(rest) = after.strip_prefix(key) else {
        return if key > after { 0 } else { names.len() };
    };
    names.partition_point(|name| name.is_passed_by(rest))
}
