//! The file actions of commits, for a checkpoint: the newest of each file, as the log spells it.

use std::sync::Arc;

use arrow_array::StructArray;
use arrow_array::cast::AsArray;
use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use futures::{StreamExt, TryStreamExt, stream};

use super::files::Files;
use crate::delta::action::{Add, Line, Remove};
use crate::delta::commit::{lines, parse_line};
use crate::delta::key::key;
use crate::delta::log::{Head, Log, read_optional};
use crate::delta::snapshot::State;
use crate::host::{Progress, SharedHost};
use crate::{Error, Kind, Result};

/// Commits fetched at once.
const AHEAD: usize = 64;

/// Actions, and bytes of them, that are decoded together.
const ROWS: usize = 8 * 1024;
const BYTES: usize = 8 * 1024 * 1024;

/// Lines that wait to be decoded, by kind.
pub(super) struct Waiting {
    adds: Lines,
    removes: Lines,
}

impl Waiting {
    pub(super) fn new(files: &Files<'_>) -> Self {
        Self {
            adds: Lines::new("add", &files.add_fields),
            removes: Lines::new("remove", &files.remove_fields),
        }
    }

    /// Takes the file actions of a line that are the newest of their files; `mark` where older
    /// ones may follow.
    pub(super) fn take(&mut self, files: &mut Files<'_>, line: &Line<'_>, text: &[u8], mark: bool) {
        if let Some(add) = &line.add {
            self.take_add(files, add, text, mark);
        }
        if let Some(remove) = &line.remove {
            self.take_remove(files, remove, text, mark);
        }
    }

    fn take_add(&mut self, files: &mut Files<'_>, add: &Add<'_>, text: &[u8], mark: bool) {
        let key = key(&add.path, add.deletion_vector.as_ref());
        if files.seen.contains(&key) {
            return;
        }
        let bytes = u64::try_from(add.size).unwrap_or(0);
        files.tally.take(files.hasher, &key, bytes);
        if mark {
            files.seen.insert(key);
        }
        self.adds.push(text);
    }

    fn take_remove(&mut self, files: &mut Files<'_>, remove: &Remove<'_>, text: &[u8], mark: bool) {
        let key = key(&remove.path, remove.deletion_vector.as_ref());
        if files.seen.contains(&key) {
            return;
        }
        if mark {
            files.seen.insert(key);
        }
        if remove.deletion_timestamp.unwrap_or(0) > files.forgotten {
            self.removes.push(text);
        }
    }

    /// Hands over what waits, where it is much or `all` is asked for.
    pub(super) async fn flush(
        &mut self,
        files: &mut Files<'_>,
        ids: &mut (dyn FnMut() -> String + Send),
        all: bool,
    ) -> Result<()> {
        if let Some(adds) = self.adds.decode(all)? {
            files.adds(adds, ids).await?;
        }
        if let Some(removes) = self.removes.decode(all)? {
            files.removes(removes, ids).await?;
        }
        Ok(())
    }
}

/// Takes the commits after the checkpoint that a snapshot was replayed from.
pub(super) async fn take_commits(
    log: &Log,
    head: &Head,
    state: &State,
    files: &mut Files<'_>,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Result<()> {
    let segment = log.segment(head, state.version).await?;
    let steps = segment.steps(&log.root, state.checkpoint);
    let of = steps.len() as u64;
    let mut waiting = Waiting::new(files);
    let mut read = stream::iter(steps)
        .map(|step| async move {
            let read = read_optional(&log.store, &step.path).await?;
            Ok::<_, Error>((step, read))
        })
        .buffered(AHEAD);
    let mut done = 0;
    while let Some((step, read)) = read.try_next().await? {
        let Some((_, bytes)) = read else {
            let gone = "a commit is gone that was there a moment ago";
            return Err(Error::damaged(gone).at("key", &step.path));
        };
        let parse = |(number, text)| {
            let line = parse_line(text).map_err(|e: Error| e.at("line", number))?;
            Ok((line, text))
        };
        let parsed = lines(&bytes).map(parse).collect::<Result<Vec<_>>>();
        let parsed = parsed.map_err(|e| e.at("key", &step.path))?;
        // Where a commit holds both for a file, its remove counts.
        if step.low == step.version {
            for (line, text) in &parsed {
                if let Some(remove) = &line.remove {
                    waiting.take_remove(files, remove, text, true);
                }
            }
        }
        for (line, text) in &parsed {
            waiting.take(files, line, text, true);
            waiting.flush(files, ids, false).await?;
        }
        done += 1;
        host.progress(Progress {
            step: "writing the checkpoint".to_owned(),
            done,
            of: Some(of),
        });
        host.pause().await;
    }
    waiting.flush(files, ids, true).await
}

/// Lines of one kind of action.
struct Lines {
    schema: SchemaRef,
    text: Vec<u8>,
    rows: usize,
}

impl Lines {
    fn new(kind: &str, fields: &Fields) -> Self {
        let field = Field::new(kind, DataType::Struct(fields.clone()), true);
        Self {
            schema: Arc::new(Schema::new(vec![field])),
            text: Vec::new(),
            rows: 0,
        }
    }

    fn push(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        self.rows += 1;
    }

    fn decode(&mut self, all: bool) -> Result<Option<StructArray>> {
        let much = self.rows >= ROWS || self.text.len() >= BYTES;
        if self.rows == 0 || !(much || all) {
            return Ok(None);
        }
        let mut decoder = ReaderBuilder::new(Arc::clone(&self.schema))
            .with_batch_size(self.rows)
            .build_decoder()?;
        let read = decoder.decode(&self.text)?;
        let batch = decoder.flush()?.filter(|b| b.num_rows() == self.rows);
        let decoded = batch.and_then(|b| b.column(0).as_struct_opt().cloned());
        let odd = || Error::new(Kind::Internal, "actions that were not all decoded");
        // Only white space follows the last row.
        if read + 1 < self.text.len() {
            return Err(odd());
        }
        self.text.clear();
        self.rows = 0;
        decoded.map(Some).ok_or_else(odd)
    }
}
