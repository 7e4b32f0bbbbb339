//! The checkpoint that a snapshot was replayed from, taken over into the next one.

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use hashbrown::HashSet;
use object_store::path::Path;

use super::commits::Waiting;
use super::files::Files;
use crate::delta::checkpoint::rows::{adds, file_rows, removes};
use crate::delta::checkpoint::sidecars;
use crate::delta::commit::{lines, parse_line};
use crate::delta::files::Source;
use crate::delta::log::{Head, Log, read_optional};
use crate::delta::segment::Checkpoint;
use crate::delta::snapshot::Snapshot;
use crate::host::{Progress, SharedHost};
use crate::parquet::reader::ParquetFile;
use crate::{Error, Result};

/// Row groups fetched at once.
const AHEAD: usize = 2;

/// What a checkpoint consists of.
#[derive(Default)]
struct Base {
    json: Vec<(Path, Bytes)>,
    parquet: Vec<Path>,
}

/// Takes what the checkpoint below a snapshot holds and no commit after it replaced.
pub(super) async fn take_base(
    log: &Log,
    head: &Head,
    snapshot: &Snapshot,
    files: &mut Files<'_>,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Result<()> {
    let base = find(log, head, snapshot).await?;
    for (path, bytes) in &base.json {
        let mut waiting = Waiting::new(files);
        for (number, text) in lines(bytes) {
            let line = parse_line(text).map_err(|e| e.at("line", number).at("key", path))?;
            waiting.take(files, &line, text, false);
            waiting.flush(files, ids, false).await?;
        }
        waiting.flush(files, ids, true).await?;
    }
    let of = base.parquet.len() as u64;
    for (path, done) in base.parquet.iter().zip(1..) {
        take_file(log, path, files, ids, host)
            .await
            .map_err(|e| e.at("key", path))?;
        host.progress(Progress {
            step: "writing the checkpoint".to_owned(),
            done,
            of: Some(of),
        });
    }
    Ok(())
}

async fn take_file(
    log: &Log,
    path: &Path,
    files: &mut Files<'_>,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Result<()> {
    let file = ParquetFile::open(&log.store, path).await?;
    let groups = file.metadata().num_row_groups();
    let mut read = stream::iter(0..groups)
        .map(|group| file_rows(&file, group))
        .buffered(AHEAD);
    while let Some(batches) = read.try_next().await? {
        for batch in batches {
            let batch = batch?;
            let (seen, tally, hasher) = (&files.seen, &mut files.tally, files.hasher);
            let active = adds(&batch, &files.add_fields, |key, bytes| {
                let active = !seen.contains(key);
                if active {
                    tally.take(hasher, key, bytes);
                }
                active
            })?;
            let forgotten = files.forgotten;
            let removed = removes(&batch, &files.remove_fields, |key, at| {
                at > forgotten && !seen.contains(key)
            })?;
            if let Some(active) = active {
                files.adds(active, ids).await?;
            }
            if let Some(removed) = removed {
                files.removes(removed, ids).await?;
            }
            host.pause().await;
        }
    }
    Ok(())
}

/// The checkpoint that was read: of several of one version, the one that files came from.
async fn find(log: &Log, head: &Head, snapshot: &Snapshot) -> Result<Base> {
    let Some(version) = snapshot.state.checkpoint else {
        return Ok(Base::default());
    };
    let mut sources: HashSet<&Path> = HashSet::new();
    let mut before: Option<&Source> = None;
    for file in snapshot.files.iter() {
        // Files of one source stand together.
        let source = file.source();
        if before.replace(source) == Some(source) {
            continue;
        }
        match source {
            Source::Parquet { path, .. } => sources.insert(path),
            Source::Json(path) if path.as_ref().ends_with(".json") => sources.insert(path),
            Source::Json(_) => false,
        };
    }
    let segment = log.segment(head, snapshot.state.version).await?;
    let twins = segment.checkpoints.iter().filter(|c| c.version == version);
    let mut last = Error::not_found("the checkpoint is gone that was there a moment ago");
    for twin in twins {
        match resolve(log, twin).await {
            Ok(base) => {
                let json = |path| base.json.iter().any(|(p, _)| p == path);
                if sources.iter().all(|p| base.parquet.contains(p) || json(*p)) {
                    return Ok(base);
                }
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn resolve(log: &Log, checkpoint: &Checkpoint) -> Result<Base> {
    let mut base = Base::default();
    let mut named = Vec::new();
    for meta in &checkpoint.files {
        let path = &meta.location;
        if checkpoint.json {
            let gone = || Error::not_found("the checkpoint is gone").at("key", path);
            let (_, bytes) = read_optional(&log.store, path).await?.ok_or_else(gone)?;
            for (number, text) in lines(&bytes) {
                let line = parse_line(text).map_err(|e| e.at("line", number).at("key", path))?;
                named.extend(line.sidecar.map(|s| s.path));
            }
            base.json.push((path.clone(), bytes));
        } else {
            let file = ParquetFile::open(&log.store, path).await?;
            named.extend(sidecars(&file).await?);
            base.parquet.push(path.clone());
        }
    }
    for raw in &named {
        base.parquet.push(log.sidecar_path(raw)?);
    }
    Ok(base)
}
