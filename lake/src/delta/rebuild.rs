//! A version rebuilt: its commits fetched and replayed, its checkpoint read, and what to do where
//! one of them is damaged or gone.

use futures::{StreamExt, future, stream};
use object_store::ObjectMeta;

use super::checkpoint::Want;
use super::commit::commit_times;
use super::files::{ChunkBuilder, Source};
use super::log::{Head, Log, read_optional};
use super::path::{LOG, commit_key};
use super::replay::Replayed;
use super::segment::{Segment, Step, check_one_history, checkpoints};
use crate::host::{Progress, SharedHost};
use crate::table::Version;
use crate::{Error, Kind, Result};

/// Commits fetched at once. A batch is asked for when the one before the last is done, so that
/// whoever answers gets many questions together.
const BATCH: usize = 128;

/// Bytes that a batch of several commits holds at most.
const BATCH_BYTES: u64 = 8 * 1024 * 1024;

/// Bytes replayed in the time between two pauses.
const WORK_BYTES: u64 = 256 * 1024;

/// Batches that are being fetched or replayed.
const AHEAD: usize = 2;

impl Log {
    /// Replays what makes `version`.
    pub(crate) async fn replay(
        &self,
        head: &Head,
        version: Version,
        want: Want,
        host: &SharedHost,
    ) -> Result<Replayed> {
        let mut segment = self.segment(head, version).await?;
        let mut state = Replayed {
            want_files: want == Want::Files,
            ..Default::default()
        };
        let mut high = Some(version);
        let mut tried = 0;
        loop {
            let base = segment.checkpoints.get(tried).cloned();
            if base.is_none() && high.is_some() {
                self.check_start(
                    head,
                    &mut segment,
                    &mut tried,
                    high.unwrap_or(version),
                    &state,
                )
                .await?;
                if segment.checkpoints.len() > tried {
                    continue;
                }
            }
            if let Some(top) = high {
                let upto = Segment {
                    version: top,
                    ..segment.clone()
                };
                let after = base.as_ref().map(|c| c.version);
                if let Some(missing) = upto.first_missing(after)
                    && read_optional(&self.store, &commit_key(&self.root, missing))
                        .await?
                        .is_none()
                {
                    return Err(self.gap(&state, missing));
                }
                let steps = upto.steps(&self.root, after);
                self.replay_steps(&mut state, steps, host).await?;
            }
            let Some(checkpoint) = base else { break };
            tried += 1;
            high = Some(checkpoint.version);
            match self
                .read_checkpoint(&mut state, &checkpoint, want, host)
                .await
            {
                Ok(()) => {
                    state.checkpoint = Some(checkpoint.version);
                    break;
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        Kind::Damaged | Kind::NotFound | Kind::Unsupported
                    ) =>
                {
                    state.warnings.push(format!(
                        "the checkpoint of version {} cannot be read and was passed over: {error}",
                        checkpoint.version
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        if segment.dangling
            && let Some(hint) = &head.hint
        {
            state.warnings.push(format!(
                "_last_checkpoint names version {}, which has no complete checkpoint; the log was listed instead",
                hint.version
            ));
        }
        if state.committed.is_none()
            && let Some((meta, bytes)) = self.read_commit(version).await?
        {
            state.committed = Some(commit_times(&meta, &bytes));
        }
        Ok(state)
    }

    /// Before commits are replayed from 0: is there a version 0, and is it of the same table?
    async fn check_start(
        &self,
        head: &Head,
        segment: &mut Segment,
        tried: &mut usize,
        high: Version,
        state: &Replayed,
    ) -> Result<()> {
        let listed_from_start = head.first.end
            || segment
                .entries
                .first()
                .is_some_and(|e| e.meta.location == commit_key(&self.root, Version(0)));
        if !listed_from_start {
            // Only the newest checkpoint's surroundings were listed.
            segment.entries = self.list_range(Version(0), high).await?;
            segment.checkpoints = checkpoints(&segment.entries, high)
                .into_iter()
                .filter(|c| c.version < high)
                .collect();
            *tried = 0;
            if !segment.checkpoints.is_empty() {
                return Ok(());
            }
        }
        let first = segment.entries.iter().find_map(|e| match e.file {
            super::path::LogFile::Commit(version) => Some(version),
            _ => None,
        });
        if let Some(first) = first.filter(|v| v.0 > 0) {
            let why = state
                .warnings
                .last()
                .map(|w| format!(" ({w})"))
                .unwrap_or_default();
            return Err(Error::damaged(format!(
                "version {} cannot be rebuilt: the log starts at version {first} and no checkpoint before it can be used{why}",
                segment.version
            ))
            .at("key", commit_key(&self.root, Version(0))));
        }
        if segment.dangling {
            check_one_history(&segment.entries, &self.root)?;
        }
        Ok(())
    }

    async fn replay_steps(
        &self,
        state: &mut Replayed,
        steps: Vec<Step>,
        host: &SharedHost,
    ) -> Result<()> {
        let all = steps.len() as u64;
        let mut done = 0u64;
        let mut builder = ChunkBuilder::default();
        let mut fetched = stream::iter(batches(steps))
            .map(|steps| async move {
                let reads = steps.iter().map(|s| read_optional(&self.store, &s.path));
                let reads = future::join_all(reads).await;
                steps.into_iter().zip(reads)
            })
            .buffered(AHEAD);
        while let Some(batch) = fetched.next().await {
            let mut worked = 0;
            for (step, read) in batch {
                self.replay_step(state, &mut builder, &step, read).await?;
                done += 1;
                worked += step.bytes;
                if worked > WORK_BYTES {
                    worked = 0;
                    host.pause().await;
                }
            }
            host.progress(Progress {
                step: "reading commits".to_owned(),
                done,
                of: Some(all),
            });
            host.pause().await;
        }
        if !builder.is_empty() {
            // Commits are many and small: what they hold apart is found again by reading them.
            state
                .chunks
                .push(builder.finish(Source::Json(self.root.clone().join(LOG))));
        }
        Ok(())
    }

    async fn replay_step(
        &self,
        state: &mut Replayed,
        builder: &mut ChunkBuilder,
        step: &Step,
        read: Result<Option<(ObjectMeta, bytes::Bytes)>>,
    ) -> Result<()> {
        let commit = step.low == step.version;
        let read = read.map(|found| found.map(|(meta, bytes)| (meta, bytes, step.clone())));
        let (meta, bytes, step) = match read {
            Ok(Some(found)) => found,
            Ok(None) if commit => return Err(self.gap(state, step.version)),
            Err(error) if commit => return Err(error),
            Ok(None) | Err(_) => return self.replay_commits_of(state, builder, step).await,
        };
        let result = state.take_json(&bytes, builder, &step);
        match result {
            Ok(()) => {}
            Err(error) if commit => return Err(error.at("key", &step.path)),
            Err(error) => {
                state.warnings.push(format!(
                    "a compaction file cannot be read and its commits were: {error}"
                ));
                return self.replay_commits_of(state, builder, &step).await;
            }
        }
        state.commits_read += step.version.0 - step.low.0 + 1;
        if commit && state.committed.is_none() {
            state.committed = Some(commit_times(&meta, &bytes));
        }
        Ok(())
    }

    /// Replays the commits that a compaction file should have stood for.
    async fn replay_commits_of(
        &self,
        state: &mut Replayed,
        builder: &mut ChunkBuilder,
        step: &Step,
    ) -> Result<()> {
        for commit in Segment::commits_only(&self.root, step.low, step.version) {
            let Some((_, bytes)) = read_optional(&self.store, &commit.path).await? else {
                return Err(self.gap(state, commit.version));
            };
            state
                .take_json(&bytes, builder, &commit)
                .map_err(|e| e.at("key", &commit.path))?;
            state.commits_read += 1;
        }
        Ok(())
    }

    fn gap(&self, state: &Replayed, version: Version) -> Error {
        let why = state
            .warnings
            .last()
            .map(|w| format!(" ({w})"))
            .unwrap_or_default();
        Error::damaged(format!(
            "version {version} is missing from the log, so nothing after it can be rebuilt{why}"
        ))
        .at("key", commit_key(&self.root, version))
    }
}

/// Steps that are fetched together.
fn batches(steps: Vec<Step>) -> Vec<Vec<Step>> {
    let mut batches: Vec<Vec<Step>> = Vec::new();
    let mut bytes = 0u64;
    for step in steps {
        bytes = bytes.saturating_add(step.bytes);
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH && bytes <= BATCH_BYTES => batch.push(step),
            _ => {
                bytes = step.bytes;
                batches.push(vec![step]);
            }
        }
    }
    batches
}
