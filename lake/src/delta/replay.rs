//! The log replayed, newest to oldest: the first sighting of a file decides whether it is active,
//! the first metaData, protocol, transaction and domain are the current ones (PROTOCOL, "Action
//! Reconciliation"). Rows of a checkpoint need not be remembered, because nothing older exists.

use std::borrow::Cow;

use arrow::array::{Array, BooleanArray};
use futures::{StreamExt, stream};
use hashbrown::HashSet;
use indexmap::IndexMap;
use object_store::ObjectMeta;
use object_store::path::Path;

use super::action::{Add, Line, Metadata, Protocol, Remove};
use super::checkpoint::{Small, Want, read_parquet};
use super::commit::{lines, parse_line, value_pairs};
use super::files::{Chunk, ChunkBuilder, Interner, Source};
use super::log::{Head, Log, read_optional};
use super::path::{LOG, Location, canonical, commit_key, locate};
use super::segment::{Checkpoint, Segment, Step, check_one_history, checkpoints};
use super::vector::Descriptor;
use crate::host::{Progress, SharedHost};
use crate::parquet::reader::ParquetFile;
use crate::table::{Time, Version};
use crate::{Error, Kind, Result};

/// Commits fetched at once.
const AHEAD: usize = 64;

/// Files collected before they become a chunk.
const CHUNK: usize = 64 * 1024;

/// A version's state as the log spells it.
#[derive(Default)]
pub(crate) struct Replayed {
    want_files: bool,
    seen: HashSet<Box<[u8]>>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) interner: Interner,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) transactions: IndexMap<String, i64>,
    /// `None` for a domain that was removed.
    pub(crate) domains: IndexMap<String, Option<String>>,
    pub(crate) checkpoint: Option<Version>,
    pub(crate) commits_read: u64,
    /// When the newest commit was put, and its in-commit timestamp, where it was read.
    pub(crate) committed: Option<(Time, Option<Time>)>,
    pub(crate) warnings: Vec<String>,
}

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

/// When a commit was put, and the in-commit timestamp it carries.
pub(crate) fn commit_times(meta: &ObjectMeta, bytes: &[u8]) -> (Time, Option<Time>) {
    let put = Time(meta.last_modified.timestamp_millis());
    (put, in_commit_timestamp(bytes))
}

/// The in-commit timestamp, which stands in the first action (PROTOCOL, "In-Commit Timestamps").
pub(crate) fn in_commit_timestamp(bytes: &[u8]) -> Option<Time> {
    let (_, first) = lines(bytes).next()?;
    let info = parse_line(first).ok()?.commit_info?;
    let info: serde_json::Value = serde_json::from_str(info.get()).ok()?;
    info.get("inCommitTimestamp")?.as_i64().map(Time)
}

/// What a file is known by: its path and its deletion vector's id.
pub(crate) fn key(path: &str, vector: Option<&Descriptor>) -> Box<[u8]> {
    let mut key = canonical(path).into_owned().into_bytes();
    if let Some(vector) = vector {
        key.push(0);
        key.extend_from_slice(vector.unique_id().as_bytes());
    }
    key.into_boxed_slice()
}

/// Drops the files of a checkpoint that a later commit added again or removed.
fn unseen(seen: &HashSet<Box<[u8]>>, chunk: Chunk) -> Result<Chunk> {
    if seen.is_empty() {
        return Ok(chunk);
    }
    let mut dropped = false;
    let mut scratch = Vec::new();
    let keep = BooleanArray::from_iter((0..chunk.path.len()).map(|row| {
        scratch.clear();
        let path: Cow<'_, str> = canonical(chunk.path.value(row));
        scratch.extend_from_slice(path.as_bytes());
        if let Some(v) = &chunk.vectors
            && v.path.is_valid(row)
        {
            scratch.push(0);
            let descriptor = Descriptor {
                storage_type: v.storage.value(row).to_owned(),
                path_or_inline_dv: v.path.value(row).to_owned(),
                offset: v.offset.is_valid(row).then(|| v.offset.value(row)),
                size_in_bytes: 0,
                cardinality: 0,
            };
            scratch.extend_from_slice(descriptor.unique_id().as_bytes());
        }
        let keep = !seen.contains(scratch.as_slice());
        dropped |= !keep;
        Some(keep)
    }));
    if dropped {
        chunk.filter(&keep)
    } else {
        Ok(chunk)
    }
}

impl Replayed {
    /// Takes a commit or a compaction file.
    ///
    /// A commit holds one action for a file; where a writer put both, its remove counts. In a
    /// compaction file the newest action on a file stands first.
    fn take_json(&mut self, bytes: &[u8], builder: &mut ChunkBuilder, step: &Step) -> Result<()> {
        let mut parsed: Vec<Line<'_>> = Vec::new();
        for (number, text) in lines(bytes) {
            parsed.push(parse_line(text).map_err(|e| e.at("line", number))?);
        }
        if parsed.is_empty() {
            return Err(Error::damaged("the commit is empty"));
        }
        if step.low == step.version {
            for remove in parsed.iter().filter_map(|line| line.remove.as_ref()) {
                self.take_remove(remove);
            }
        }
        for line in parsed {
            if let Some(add) = &line.add {
                self.take_add(add, builder, &step.path)?;
            }
            if let Some(remove) = &line.remove {
                self.take_remove(remove);
            }
            self.take_other(line);
        }
        Ok(())
    }

    fn take_remove(&mut self, remove: &Remove<'_>) {
        if self.want_files {
            self.seen
                .insert(key(&remove.path, remove.deletion_vector.as_ref()));
        }
    }

    fn take_add(&mut self, add: &Add<'_>, builder: &mut ChunkBuilder, path: &Path) -> Result<()> {
        if add.size < 0 {
            return Err(Error::damaged(format!(
                "the file `{}` has a negative size",
                add.path
            )));
        }
        if self.want_files
            && self
                .seen
                .insert(key(&add.path, add.deletion_vector.as_ref()))
        {
            let partition = self.intern(add);
            builder.push(add, partition);
            if builder.len() >= CHUNK {
                self.chunks.push(builder.finish(Source::Json(path.clone())));
            }
        }
        Ok(())
    }

    fn intern(&mut self, add: &Add<'_>) -> u32 {
        let pairs: Vec<_> = value_pairs(&add.partition_values).collect();
        self.interner.intern(pairs.iter().copied())
    }

    fn take_other(&mut self, line: Line<'_>) {
        if self.metadata.is_none() {
            self.metadata = line.meta_data;
        }
        if self.protocol.is_none() {
            self.protocol = line.protocol;
        }
        if let Some(txn) = line.txn {
            self.transactions.entry(txn.app_id).or_insert(txn.version);
        }
        if let Some(domain) = line.domain_metadata {
            let text = if domain.removed {
                None
            } else {
                Some(domain.configuration.unwrap_or_default())
            };
            self.domains.entry(domain.domain).or_insert(text);
        }
    }

    fn take_json_checkpoint(
        &mut self,
        bytes: &[u8],
        path: &Path,
        small: &mut Small,
        chunks: &mut Vec<Chunk>,
    ) -> Result<()> {
        let mut builder = ChunkBuilder::default();
        for (number, text) in lines(bytes) {
            let line = parse_line(text).map_err(|e| e.at("line", number))?;
            if let Some(add) = line.add.as_ref().filter(|_| self.want_files) {
                let partition = self.intern(add);
                builder.push(add, partition);
            }
            small.sidecars.extend(line.sidecar.map(|s| s.path));
            small
                .transactions
                .extend(line.txn.map(|t| (t.app_id, t.version)));
            small.domains.extend(
                line.domain_metadata
                    .map(|d| (d.domain, d.configuration, d.removed)),
            );
            small.metadata = small.metadata.take().or(line.meta_data);
            small.protocol = small.protocol.take().or(line.protocol);
        }
        if !builder.is_empty() {
            chunks.push(unseen(
                &self.seen,
                builder.finish(Source::Json(path.clone())),
            )?);
        }
        Ok(())
    }

    fn take_small(&mut self, small: Small) {
        self.metadata = self.metadata.take().or(small.metadata);
        self.protocol = self.protocol.take().or(small.protocol);
        for (app, version) in small.transactions {
            self.transactions.entry(app).or_insert(version);
        }
        for (domain, text, removed) in small.domains {
            let text = if removed {
                None
            } else {
                Some(text.unwrap_or_default())
            };
            self.domains.entry(domain).or_insert(text);
        }
    }
}
