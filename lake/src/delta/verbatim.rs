//! Adds as the log spells them, for commits that repeat them: statistics, tags and row ids to the
//! letter. Read only for the files asked for, from where each came.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt, stream};
use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;
use object_store::path::Path;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::checkpoint::whole_adds;
use super::commit::{lines, parse_line};
use super::files::{FileRef, Source};
use super::key::{Key, key};
use super::log::{Head, Log, read_optional};
use super::snapshot::Snapshot;
use crate::host::{Progress, SharedHost};
use crate::parquet::reader::ParquetFile;
use crate::{Error, Kind, Result};

/// The fields of an action, each with its text. What the log spells as null is not there.
pub(crate) type Fields = IndexMap<String, Box<RawValue>>;

/// Commits fetched at once.
const AHEAD: usize = 64;

/// Row groups read at once.
const GROUPS: usize = 4;

impl Log {
    /// The adds of these files of a snapshot.
    pub(crate) async fn adds(
        &self,
        head: &Head,
        snapshot: &Snapshot,
        files: &[FileRef<'_>],
        host: &SharedHost,
    ) -> Result<HashMap<Key, Fields>> {
        let mut commits: HashSet<Key> = HashSet::new();
        let mut checkpoints: BTreeMap<Path, HashSet<Key>> = BTreeMap::new();
        let mut groups: BTreeMap<(Path, usize), HashSet<Key>> = BTreeMap::new();
        for file in files {
            let wanted = match file.source() {
                Source::Parquet { path, row_group } => {
                    groups.entry((path.clone(), *row_group)).or_default()
                }
                Source::Json(path) if path.as_ref().ends_with(".json") => {
                    checkpoints.entry(path.clone()).or_default()
                }
                Source::Json(_) => &mut commits,
            };
            wanted.insert(file.key());
        }
        let mut found = HashMap::with_capacity(files.len());
        if !commits.is_empty() {
            self.adds_of_commits(head, snapshot, &commits, &mut found, host)
                .await?;
        }
        for (path, wanted) in &checkpoints {
            let (_, bytes) = read_optional(&self.store, path)
                .await?
                .ok_or_else(|| Error::not_found("the checkpoint is gone").at("key", path))?;
            take_lines(&bytes, wanted, &mut found).map_err(|e| e.at("key", path))?;
        }
        let of = groups.len() as u64;
        let mut read = stream::iter(groups)
            .map(|((path, row_group), wanted)| async move {
                let file = ParquetFile::open(&self.store, &path).await?;
                whole_adds(&file, row_group, &wanted)
                    .await
                    .map_err(|e| e.at("key", &path))
            })
            .buffered(GROUPS);
        let mut done = 0;
        while let Some(adds) = read.try_next().await? {
            found.extend(adds);
            done += 1;
            host.progress(Progress {
                step: "reading the checkpoint".to_owned(),
                done,
                of: Some(of),
            });
            host.pause().await;
        }
        let lacking = files.iter().find(|f| !found.contains_key(&f.key()));
        match lacking {
            None => Ok(found),
            Some(file) => Err(Error::new(
                Kind::Internal,
                format!(
                    "the add of `{}` is not where its version was read from",
                    file.raw_path()
                ),
            )),
        }
    }

    /// The newest adds of these files in the commits that a snapshot was replayed from.
    async fn adds_of_commits(
        &self,
        head: &Head,
        snapshot: &Snapshot,
        wanted: &HashSet<Key>,
        found: &mut HashMap<Key, Fields>,
        host: &SharedHost,
    ) -> Result<()> {
        let segment = self.segment(head, snapshot.state.version).await?;
        let steps = segment.steps(&self.root, snapshot.state.checkpoint);
        let of = steps.len() as u64;
        let mut read = stream::iter(steps)
            .map(|step| async move {
                let read = read_optional(&self.store, &step.path).await?;
                Ok::<_, Error>((step, read))
            })
            .buffered(AHEAD);
        let mut done = 0;
        while let Some((step, read)) = read.try_next().await? {
            let Some((_, bytes)) = read else {
                return Err(
                    Error::damaged("a commit is gone that was there a moment ago")
                        .at("key", &step.path),
                );
            };
            take_lines(&bytes, wanted, found).map_err(|e| e.at("key", &step.path))?;
            if found.len() == wanted.len() {
                break;
            }
            done += 1;
            host.progress(Progress {
                step: "reading commits".to_owned(),
                done,
                of: Some(of),
            });
            host.pause().await;
        }
        Ok(())
    }
}

/// Takes the adds of wanted files that were not found in anything newer.
fn take_lines(bytes: &[u8], wanted: &HashSet<Key>, found: &mut HashMap<Key, Fields>) -> Result<()> {
    if memchr::memmem::find(bytes, b"\"add\"").is_none() {
        return Ok(());
    }
    for (number, text) in lines(bytes) {
        let Some(add) = parse_line(text).map_err(|e| e.at("line", number))?.add else {
            continue;
        };
        let key = key(&add.path, add.deletion_vector.as_ref());
        if wanted.contains(&key) && !found.contains_key(&key) {
            let fields = add_fields(text).map_err(|e| e.at("line", number))?;
            found.insert(key, fields);
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct AddLine {
    add: Fields,
}

/// The fields of an add, from its line.
pub(crate) fn add_fields(line: &[u8]) -> Result<Fields> {
    let AddLine { mut add } =
        serde_json::from_slice(line).map_err(|e| Error::damaged("not an add").because(e))?;
    add.retain(|_, value| value.get() != "null");
    Ok(add)
}

/// A value as the text of a field.
pub(crate) fn raw(value: &impl serde::Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(value)
        .map_err(|e| Error::new(Kind::Internal, "a value that JSON cannot hold").because(e))
}
