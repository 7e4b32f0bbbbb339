//! A checkpoint's files: read ahead and decoded at once, as far as there are threads, and their
//! pieces taken in order.

use std::sync::Arc;

use futures::lock::Mutex;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;

use super::mask::mask;
use super::{BATCH, Piece, Small, Want, read_batch};
use crate::delta::files::{Chunk, Source};
use crate::delta::log::{Log, read_optional};
use crate::delta::path::{LOG, Location, locate};
use crate::delta::replay::{Replayed, Seen};
use crate::delta::segment::Checkpoint;
use crate::host::{Progress, SharedHost, run};
use crate::parquet::reader::ParquetFile;
use crate::{Error, Result};

/// How a checkpoint is read: what of it, less what, and where.
struct Reading<'a> {
    want: Want,
    seen: Arc<Seen>,
    host: &'a SharedHost,
    /// One for each piece of work that can run at once, so that what came first is decoded first
    /// and the rest is being fetched meanwhile.
    lanes: Vec<Mutex<()>>,
}

/// What was read of a checkpoint so far.
#[derive(Default)]
struct Taken {
    small: Small,
    chunks: Vec<Chunk>,
}

impl Taken {
    fn take(&mut self, state: &mut Replayed, piece: Piece) {
        self.small.append(piece.small);
        if let Some(mut chunk) = piece.chunk {
            chunk.renumber(&piece.partitions, &mut state.interner);
            self.chunks.push(chunk);
        }
    }
}

impl Log {
    /// Takes a checkpoint: all of it, or nothing where a part cannot be read.
    pub(crate) async fn read_checkpoint(
        &self,
        state: &mut Replayed,
        checkpoint: &Checkpoint,
        want: Want,
        host: &SharedHost,
    ) -> Result<()> {
        let mut taken = Taken::default();
        let files: Vec<Path> = checkpoint
            .files
            .iter()
            .map(|m| m.location.clone())
            .collect();
        if checkpoint.json {
            for path in &files {
                let (_, bytes) = read_optional(&self.store, path)
                    .await?
                    .ok_or_else(|| Error::not_found("the checkpoint is gone").at("key", path))?;
                let Taken { small, chunks } = &mut taken;
                state
                    .take_json_checkpoint(&bytes, path, small, chunks)
                    .map_err(|e| e.at("key", path))?;
            }
        } else {
            self.take_files(state, files, want, &mut taken, host)
                .await?;
        }
        let sidecars = std::mem::take(&mut taken.small.sidecars);
        if want == Want::Files {
            let paths = sidecars.iter().map(|raw| self.sidecar_path(raw));
            let paths = paths.collect::<Result<Vec<Path>>>()?;
            self.take_files(state, paths, want, &mut taken, host)
                .await?;
        }
        let Taken { small, mut chunks } = taken;
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

    async fn take_files(
        &self,
        state: &mut Replayed,
        paths: Vec<Path>,
        want: Want,
        taken: &mut Taken,
        host: &SharedHost,
    ) -> Result<()> {
        let reading = Reading {
            want,
            seen: Arc::clone(&state.seen),
            host,
            lanes: (0..host.lanes().max(1)).map(|_| Mutex::new(())).collect(),
        };
        // One more than can be decoded is being fetched: a single file's row groups, or files.
        let ahead = reading.lanes.len() + 1;
        let all = paths.len();
        let (files, groups) = match all {
            1 => (1, ahead),
            _ => (ahead, 1),
        };
        let mut read = stream::iter(paths.into_iter().enumerate())
            .map(|(index, path)| self.read_file(&reading, index, path, groups))
            .buffered(files);
        let mut done = 0;
        while let Some(pieces) = read.try_next().await? {
            pieces
                .into_iter()
                .for_each(|piece| taken.take(state, piece));
            done += 1;
            if all > 1 {
                show(host, done, all);
            }
        }
        Ok(())
    }

    /// The pieces of the file at `index`, `ahead` row groups at once.
    async fn read_file(
        &self,
        reading: &Reading<'_>,
        index: usize,
        path: Path,
        ahead: usize,
    ) -> Result<Vec<Piece>> {
        let file = ParquetFile::open(&self.store, &path).await?;
        // Most of a checkpoint is statistics, of which one number is kept.
        let file = file.viewing("add.stats")?;
        let groups = file.metadata().num_row_groups();
        let mut read = stream::iter(0..groups)
            .map(|group| reading.group(&file, &path, group, index + group))
            .buffered(ahead);
        let mut pieces = Vec::new();
        let mut done = 0;
        while let Some(mut more) = read.try_next().await? {
            pieces.append(&mut more);
            done += 1;
            if ahead > 1 {
                show(reading.host, done, groups);
            }
        }
        Ok(pieces)
    }

    /// A sidecar is named relative to `_delta_log/_sidecars` or by a full path, which must lead
    /// there too (PROTOCOL, "Sidecar File Information").
    pub(crate) fn sidecar_path(&self, raw: &str) -> Result<Path> {
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

fn show(host: &SharedHost, done: usize, of: usize) {
    host.progress(Progress {
        step: "reading the checkpoint".to_owned(),
        done: done as u64,
        of: Some(of as u64),
    });
}

impl Reading<'_> {
    /// One row group: fetched at once, decoded batch by batch when its lane is free.
    async fn group(
        &self,
        file: &ParquetFile,
        path: &Path,
        row_group: usize,
        turn: usize,
    ) -> Result<Vec<Piece>> {
        let mask = mask(file, file.metadata().row_group(row_group), self.want);
        let mut rows = file.row_group(row_group, &mask, BATCH).await?;
        let lane = self.lanes.get(turn % self.lanes.len());
        let _lane = match lane {
            Some(lane) => Some(lane.lock().await),
            None => None,
        };
        let source = Source::Parquet {
            path: path.clone(),
            row_group,
        };
        let mut pieces = Vec::new();
        loop {
            let (seen, source) = (Arc::clone(&self.seen), source.clone());
            let decode = move || {
                let batch = rows.next();
                let piece = batch.map(|batch| read_batch(&batch?, source, &seen));
                (rows, piece)
            };
            let (back, piece) = run(self.host, decode).await?;
            rows = back;
            let Some(piece) = piece else {
                return Ok(pieces);
            };
            pieces.push(piece.map_err(|e| e.at("key", path))?);
            self.host.pause().await;
        }
    }
}
