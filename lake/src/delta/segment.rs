//! Which files of the log make a version: the newest usable checkpoint and what came after it.

use std::cmp::Reverse;

use hashbrown::HashMap;
use object_store::ObjectMeta;
use object_store::path::Path;

use super::log::{Entry, Head, Log, PAGE};
use super::path::{LogFile, commit_key};
use crate::table::Version;
use crate::{Error, Result};

/// A complete checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    pub(crate) version: Version,
    /// One file, or every part of a multi-part checkpoint in order.
    pub(crate) files: Vec<ObjectMeta>,
    /// Whether it is JSON and not Parquet.
    pub(crate) json: bool,
}

/// A JSON file to replay.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Last version inside.
    pub(crate) version: Version,
    /// First version inside; equal to `version` for a commit.
    pub(crate) low: Version,
    pub(crate) path: Path,
    /// Bytes of the file as it was listed; 0 where it was not.
    pub(crate) bytes: u64,
}

/// The files that make a version.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) version: Version,
    /// Usable checkpoints at or before the version, newest first. The first is tried first.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Every listed file between the oldest of them, or 0, and the version.
    pub(crate) entries: Vec<Entry>,
    /// Whether a hint names a checkpoint that is not there.
    pub(crate) dangling: bool,
}

impl Segment {
    /// The lowest version that the listing lacks between `base` and this one, compaction files
    /// taken for what they stand for. Read before [`Segment::steps`]: a version can be named that
    /// is further away than there is memory to count to it.
    pub(crate) fn first_missing(&self, base: Option<Version>) -> Option<Version> {
        let mut next = base.map_or(0, |v| v.0.saturating_add(1));
        for entry in &self.entries {
            let (low, high) = match entry.file {
                LogFile::Commit(version) => (version, version),
                LogFile::Compacted { low, high } if high <= self.version => (low, high),
                _ => continue,
            };
            if low.0 > next {
                break;
            }
            next = next.max(high.0.saturating_add(1));
        }
        (next <= self.version.0).then_some(Version(next))
    }

    /// The files to replay on top of `base`, newest first; commits that the listing lacks are
    /// named too, so that reading them decides whether there is a gap.
    pub(crate) fn steps(&self, root: &Path, base: Option<Version>) -> Vec<Step> {
        let first = base.map_or(0, |v| v.0.saturating_add(1));
        // By the last version inside, the one that reaches back furthest.
        let mut compacted: HashMap<u64, (Version, &ObjectMeta)> = HashMap::new();
        let mut sizes: HashMap<u64, u64> = HashMap::new();
        for entry in &self.entries {
            match entry.file {
                LogFile::Commit(version) => {
                    sizes.insert(version.0, entry.meta.size);
                }
                LogFile::Compacted { low, high }
                    if low.0 >= first && high <= self.version && low < high =>
                {
                    let known = compacted.get(&high.0);
                    if known.is_none_or(|(furthest, _)| low < *furthest) {
                        compacted.insert(high.0, (low, &entry.meta));
                    }
                }
                _ => {}
            }
        }
        let mut steps = Vec::new();
        let mut at = self.version.0;
        while at >= first {
            let step = match compacted.get(&at) {
                Some((low, meta)) => Step {
                    version: Version(at),
                    low: *low,
                    path: meta.location.clone(),
                    bytes: meta.size,
                },
                None => Step {
                    bytes: sizes.get(&at).copied().unwrap_or(0),
                    ..Step::commit(root, Version(at))
                },
            };
            let low = step.low.0;
            steps.push(step);
            match low.checked_sub(1) {
                Some(next) => at = next,
                None => break,
            }
        }
        steps
    }

    /// The same range as commits only, for when a compaction file cannot be read.
    pub(crate) fn commits_only(root: &Path, low: Version, high: Version) -> Vec<Step> {
        let step = |v| Step::commit(root, Version(v));
        (low.0..=high.0).rev().map(step).collect()
    }
}

impl Step {
    fn commit(root: &Path, version: Version) -> Self {
        Self {
            version,
            low: version,
            path: commit_key(root, version),
            bytes: 0,
        }
    }
}

/// A checkpoint of many parts: its version, how many there should be, those that are there.
type Parts = (Version, u32, Vec<(u32, ObjectMeta)>);

/// Complete checkpoints among files, newest first. Several of one version are all kept: one that
/// cannot be read is replaced by its twin.
pub(crate) fn checkpoints(entries: &[Entry], upto: Version) -> Vec<Checkpoint> {
    let mut found: Vec<Checkpoint> = Vec::new();
    let mut parts: Vec<Parts> = Vec::new();
    for entry in entries {
        let single = |version, json| Checkpoint {
            version,
            files: vec![entry.meta.clone()],
            json,
        };
        match entry.file {
            LogFile::Checkpoint(version) if version <= upto => found.push(single(version, false)),
            LogFile::Uuid { version, json } if version <= upto => found.push(single(version, json)),
            LogFile::Part { version, part, of } if version <= upto => {
                match parts.iter_mut().find(|(v, n, _)| *v == version && *n == of) {
                    Some((_, _, files)) => files.push((part, entry.meta.clone())),
                    None => parts.push((version, of, vec![(part, entry.meta.clone())])),
                }
            }
            _ => {}
        }
    }
    for (version, of, mut files) in parts {
        files.sort_by_key(|(part, _)| *part);
        files.dedup_by_key(|(part, _)| *part);
        if files.len() as u64 == u64::from(of) {
            let files = files.into_iter().map(|(_, meta)| meta).collect();
            found.push(Checkpoint {
                version,
                files,
                json: false,
            });
        }
    }
    found.sort_by_key(|checkpoint| Reverse(checkpoint.version));
    found
}

impl Log {
    /// Finds the files that make `version`, which is not beyond the newest.
    pub(crate) async fn segment(&self, head: &Head, version: Version) -> Result<Segment> {
        let (entries, checkpoints) = self.checkpoint_before(head, version).await?;
        let hint = head.hint.as_ref().map(|h| Version(h.version));
        let dangling = hint.is_some_and(|hint| {
            hint <= version && hint <= head.latest && !checkpoints.iter().any(|c| c.version >= hint)
        });
        Ok(Segment {
            version,
            checkpoints,
            entries,
            dangling,
        })
    }

    /// Lists backwards from `version` in growing steps until a complete checkpoint turns up.
    async fn checkpoint_before(
        &self,
        head: &Head,
        version: Version,
    ) -> Result<(Vec<Entry>, Vec<Checkpoint>)> {
        if head.first.end {
            let found = checkpoints(&head.first.entries, version);
            return Ok((head.first.entries.clone(), found));
        }
        // The page of the head starts at the hint's checkpoint in a healthy log.
        let found = checkpoints(&head.last.entries, version);
        if !found.is_empty() && head.last.end {
            return Ok((head.last.entries.clone(), found));
        }
        let mut entries: Vec<Entry> = Vec::new();
        let mut high = version.0;
        let mut span = PAGE as u64 / 2;
        loop {
            let low = high.saturating_sub(span - 1);
            let mut listed = self.list_range(Version(low), Version(high)).await?;
            listed.append(&mut entries);
            entries = listed;
            let found = checkpoints(&entries, version);
            if !found.is_empty() || low == 0 {
                return Ok((entries, found));
            }
            high = low - 1;
            span = span.saturating_mul(4);
        }
    }
}

/// Refuses a contiguous mix of two histories: where a checkpoint that the hint names is gone, a
/// commit written before its predecessor belongs to a table that was dropped and made again.
pub(crate) fn check_one_history(entries: &[Entry], root: &Path) -> Result<()> {
    let mut before: Option<(Version, chrono::DateTime<chrono::Utc>)> = None;
    for entry in entries {
        let LogFile::Commit(version) = entry.file else {
            continue;
        };
        if let Some((earlier, written)) = before
            && entry.meta.last_modified < written
        {
            return Err(Error::damaged(format!(
                "the log mixes two tables: version {version} was written before version {earlier}, \
                 and the checkpoint that _last_checkpoint names is gone"
            ))
            .at("key", commit_key(root, version)));
        }
        before = Some((version, entry.meta.last_modified));
    }
    Ok(())
}
