//! Which files come and which go: those that only one of two versions has.

use hashbrown::HashMap;

use super::Request;
use crate::delta::files::FileRef;
use crate::delta::key::Key;
use crate::delta::snapshot::Snapshot;
use crate::delta::write::selected;

/// The files that only `back` has, then those that only `base` has, each in order of path and
/// deletion vector; those of partitions that are not asked for left out.
pub(super) fn differing<'a>(
    back: &'a Snapshot,
    base: &'a Snapshot,
    request: &Request,
) -> (Vec<FileRef<'a>>, Vec<FileRef<'a>>) {
    let (then, now) = (by_key(back, request), by_key(base, request));
    (only(&then, &now), only(&now, &then))
}

fn only<'a>(
    these: &HashMap<Key, FileRef<'a>>,
    those: &HashMap<Key, FileRef<'a>>,
) -> Vec<FileRef<'a>> {
    let lone = these.iter().filter(|(key, _)| !those.contains_key(*key));
    let mut files: Vec<FileRef<'a>> = lone.map(|(_, file)| *file).collect();
    files.sort_by(|a, b| {
        let id = |f: &FileRef<'_>| f.vector().map(|v| v.unique_id());
        (a.raw_path(), id(a)).cmp(&(b.raw_path(), id(b)))
    });
    files
}

/// Files by what they are known by, those of other partitions left out.
fn by_key<'a>(snapshot: &'a Snapshot, request: &Request) -> HashMap<Key, FileRef<'a>> {
    let partitions = snapshot.files.partitions();
    let mine: Vec<bool> = partitions
        .iter()
        .map(|p| selected(p, &request.partitions))
        .collect();
    let files = snapshot.files.iter();
    files
        .filter(|f| mine.get(f.partition()).copied().unwrap_or(true))
        .map(|f| (f.key(), f))
        .collect()
}
