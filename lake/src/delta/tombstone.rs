//! Files that the log names without their being active: what was removed, and when. Read by acts
//! alone; a snapshot keeps no more of a remove than that there was one.

use std::borrow::Cow;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use serde::Deserialize;
use serde_json::Value;

use super::action::Sidecar;
use super::commit::lines;
use super::log::{Head, Log, read_optional};
use super::path::LogFile;
use super::segment::{Segment, Step, checkpoints};
use super::snapshot::Snapshot;
use super::vector::Descriptor;
use crate::host::{Progress, SharedHost};
use crate::table::{Time, Version};
use crate::{Error, Kind, Result};

/// Commits fetched at once.
const AHEAD: usize = 64;

/// A removed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    /// As the log spells it.
    pub(crate) path: String,
    /// When it was removed. Without a time it is as old as can be (PROTOCOL, "Add File and Remove
    /// File"); with one that nobody can read it never grows old.
    pub(crate) deleted: Time,
    /// The deletion vector that it had.
    pub(crate) vector: Option<Descriptor>,
}

/// The files that a line names. Everything else on it is passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Named<'a> {
    #[serde(borrow)]
    pub(crate) add: Option<NamedFile<'a>>,
    #[serde(borrow)]
    pub(crate) remove: Option<NamedFile<'a>>,
    #[serde(borrow)]
    pub(crate) cdc: Option<NamedFile<'a>>,
    pub(crate) sidecar: Option<Sidecar>,
}

/// A file as an action names it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamedFile<'a> {
    #[serde(borrow)]
    pub(crate) path: Cow<'a, str>,
    #[serde(default)]
    deletion_timestamp: Value,
    #[serde(default)]
    pub(crate) deletion_vector: Option<Descriptor>,
}

impl NamedFile<'_> {
    fn tombstone(self) -> Tombstone {
        let deleted = match &self.deletion_timestamp {
            Value::Null => 0,
            value => value.as_i64().unwrap_or(i64::MAX),
        };
        Tombstone {
            path: self.path.into_owned(),
            deleted: Time(deleted),
            vector: self.deletion_vector,
        }
    }
}

/// The files that one line names.
pub(crate) fn named(line: &[u8]) -> Result<Named<'_>> {
    serde_json::from_slice(line).map_err(|e| Error::damaged("not an action").because(e))
}

/// Takes the removes of a file of JSON, and the sidecars that it names.
pub(crate) fn take_removes(
    bytes: &[u8],
    found: &mut Vec<Tombstone>,
    sidecars: &mut Vec<String>,
) -> Result<()> {
    for (number, text) in lines(bytes) {
        let line = named(text).map_err(|e| e.at("line", number))?;
        found.extend(line.remove.map(NamedFile::tombstone));
        sidecars.extend(line.sidecar.map(|sidecar| sidecar.path));
    }
    Ok(())
}

impl Log {
    /// What was removed, as far as a snapshot's checkpoint and the commits after it say, and every
    /// older commit that was put at or after `since`: some writers leave removes out of checkpoints.
    /// A file that came back is among them, too.
    pub(crate) async fn tombstones(
        &self,
        head: &Head,
        snapshot: &Snapshot,
        since: Time,
        host: &SharedHost,
    ) -> Result<Vec<Tombstone>> {
        let version = snapshot.state.version;
        let base = snapshot.state.checkpoint;
        let mut found = Vec::new();
        if let Some(base) = base {
            self.tombstones_of_checkpoint(base, &mut found, host)
                .await?;
        }
        let segment = self.segment(head, version).await?;
        let mut steps = segment.steps(&self.root, base);
        if let Some(base) = base {
            let listed = self.list_range(head.first_listed(), base).await?;
            let recent = listed.into_iter().filter_map(|entry| match entry.file {
                LogFile::Commit(version)
                    if entry.meta.last_modified.timestamp_millis() >= since.0 =>
                {
                    Some(Step {
                        version,
                        low: version,
                        path: entry.meta.location,
                        bytes: entry.meta.size,
                    })
                }
                _ => None,
            });
            steps.extend(recent);
        }
        let of = steps.len() as u64;
        let mut read = stream::iter(steps)
            .map(|step| self.removes_of(step, base))
            .buffered(AHEAD);
        let mut done = 0;
        while let Some(more) = read.try_next().await? {
            found.extend(more);
            done += 1;
            host.progress(Progress {
                step: "reading what was removed".to_owned(),
                done,
                of: Some(of),
            });
            host.pause().await;
        }
        Ok(found)
    }

    async fn tombstones_of_checkpoint(
        &self,
        version: Version,
        found: &mut Vec<Tombstone>,
        host: &SharedHost,
    ) -> Result<()> {
        let entries = self.list_range(version, version).await?;
        let mut last = None;
        for checkpoint in checkpoints(&entries, version) {
            match self.checkpoint_removes(&checkpoint, host).await {
                Ok(removes) => {
                    found.extend(removes);
                    return Ok(());
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| {
            Error::damaged(format!("the checkpoint of version {version} is gone"))
        }))
    }

    /// The removes of one file that is replayed, or of the commits that it should have stood for.
    async fn removes_of(&self, step: Step, base: Option<Version>) -> Result<Vec<Tombstone>> {
        let gone = |path: &Path| Error::damaged("a commit is gone that was there").at("key", path);
        // A commit before the checkpoint may be cleaned up at any time, and be damaged.
        let needed = base.is_none_or(|base| step.version > base);
        match self.removes_at(&step.path).await {
            Ok(Some(found)) => return Ok(found),
            Ok(None) | Err(_) if step.low < step.version => {}
            Ok(None) if !needed => return Ok(Vec::new()),
            Ok(None) => return Err(gone(&step.path)),
            Err(error) if !needed && error.kind() == Kind::Damaged => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
        let mut found = Vec::new();
        for commit in Segment::commits_only(&self.root, step.low, step.version) {
            match self.removes_at(&commit.path).await? {
                Some(more) => found.extend(more),
                None => return Err(gone(&commit.path)),
            }
        }
        Ok(found)
    }
    async fn removes_at(&self, path: &Path) -> Result<Option<Vec<Tombstone>>> {
        let Some((_, bytes)) = read_optional(&self.store, path).await? else {
            return Ok(None);
        };
        let mut found = Vec::new();
        take_removes(&bytes, &mut found, &mut Vec::new()).map_err(|e| e.at("key", path))?;
        Ok(Some(found))
    }
}
