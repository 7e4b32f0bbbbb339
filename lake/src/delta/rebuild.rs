//! A version rebuilt: its commits fetched and replayed, its checkpoint read, and what to do where
//! one of them is damaged or gone.

use futures::{StreamExt, stream};
use object_store::ObjectMeta;
use object_store::path::Path;

use super::checkpoint::{Small, Want, read_parquet};
use super::commit::commit_times;
use super::files::{Chunk, ChunkBuilder, Source};
use super::log::{Head, Log, read_optional};
use super::path::{LOG, Location, commit_key, locate};
use super::replay::{Replayed, unseen};
use super::segment::{Checkpoint, Segment, Step, check_one_history, checkpoints};
use crate::host::{Progress, SharedHost};
use crate::parquet::reader::ParquetFile;
use crate::table::Version;
use crate::{Error, Kind, Result};

/// Commits fetched at once.
const AHEAD: usize = 64;

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
                let steps = Segment {
                    version: top,
                    ..segment.clone()
                }
                .steps(&self.root, base.as_ref().map(|c| c.version));
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
        let mut fetched = stream::iter(steps)
            .map(|step| async move {
                let read = read_optional(&self.store, &step.path).await;
                (step, read)
            })
            .buffered(AHEAD);
        while let Some((step, read)) = fetched.next().await {
            self.replay_step(state, &mut builder, &step, read).await?;
            done += 1;
            if done.is_multiple_of(256) {
                host.progress(Progress {
                    step: "reading commits".to_owned(),
                    done,
                    of: Some(all),
                });
                host.pause().await;
            }
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

    async fn read_checkpoint(
        &self,
        state: &mut Replayed,
        checkpoint: &Checkpoint,
        want: Want,
        host: &SharedHost,
    ) -> Result<()> {
        let mut small = Small::default();
        let mut chunks = Vec::new();
        for (index, meta) in checkpoint.files.iter().enumerate() {
            if checkpoint.json {
                let (_, bytes) = read_optional(&self.store, &meta.location)
                    .await?
                    .ok_or_else(|| {
                        Error::not_found("the checkpoint is gone").at("key", &meta.location)
                    })?;
                state
                    .take_json_checkpoint(&bytes, &meta.location, &mut small, &mut chunks)
                    .map_err(|e| e.at("key", &meta.location))?;
            } else {
                let of = (checkpoint.files.len() > 1).then_some((index, checkpoint.files.len()));
                self.read_checkpoint_file(
                    state,
                    &meta.location,
                    want,
                    &mut small,
                    &mut chunks,
                    host,
                    of,
                )
                .await?;
            }
        }
        let sidecars = std::mem::take(&mut small.sidecars);
        if want == Want::Files {
            for (index, sidecar) in sidecars.iter().enumerate() {
                let path = self.sidecar_path(sidecar)?;
                let of = Some((index, sidecars.len()));
                self.read_checkpoint_file(state, &path, want, &mut small, &mut chunks, host, of)
                    .await?;
            }
        }
        if small.protocol.is_none() && state.protocol.is_none() {
            return Err(Error::damaged("the checkpoint has no protocol"));
        }
        if small.metadata.is_none() && state.metadata.is_none() {
            return Err(Error::damaged("the checkpoint has no metaData"));
        }
        state.chunks.append(&mut chunks);
        state.take_small(small);
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one place calls it, for three kinds of file"
    )]
    async fn read_checkpoint_file(
        &self,
        state: &mut Replayed,
        path: &Path,
        want: Want,
        small: &mut Small,
        chunks: &mut Vec<Chunk>,
        host: &SharedHost,
        part: Option<(usize, usize)>,
    ) -> Result<()> {
        let file = ParquetFile::open(&self.store, path).await?;
        let Replayed { seen, interner, .. } = state;
        let take = |chunk: Chunk| {
            let kept = unseen(seen, chunk)?;
            chunks.push(kept);
            Ok(())
        };
        let pause = async |group: usize, groups: usize| {
            let (done, of) = match part {
                Some((part, parts)) => (part * groups + group, parts * groups),
                None => (group, groups),
            };
            let step = "reading the checkpoint".to_owned();
            host.progress(Progress {
                step,
                done: done as u64,
                of: Some(of as u64),
            });
            host.pause().await;
        };
        read_parquet(&file, path, want, interner, small, take, pause).await
    }

    /// A sidecar is named relative to `_delta_log/_sidecars` or by a full path, which must lead
    /// there too (PROTOCOL, "Sidecar File Information").
    fn sidecar_path(&self, raw: &str) -> Result<Path> {
        let folder = self.root.clone().join(LOG).join("_sidecars");
        match locate(&folder, raw)? {
            Location::Inside(path) => Ok(path),
            Location::Outside(url) => match url.rsplit_once("/_delta_log/_sidecars/") {
                Some((_, name)) if !name.contains('/') => Ok(folder.join(name)),
                _ => Err(Error::damaged(format!(
                    "the sidecar `{url}` lies outside the table"
                ))),
            },
        }
    }
}
