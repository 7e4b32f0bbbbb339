//! The log replayed, newest to oldest: the first sighting of a file decides whether it is active,
//! the first metaData, protocol, transaction and domain are the current ones (PROTOCOL, "Action
//! Reconciliation"). Rows of a checkpoint need not be remembered, because nothing older exists.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{Array, BooleanArray};
use hashbrown::HashSet;
use indexmap::IndexMap;
use object_store::path::Path;

use super::action::{Add, Line, Metadata, Protocol, Remove, Transaction};
use super::checkpoint::Small;
use super::commit::{lines, parse_line, value_pairs};
use super::files::{Chunk, ChunkBuilder, Interner, Source};
use super::key::{Key, key};
use super::path::canonical;
use super::segment::Step;
use crate::table::{Time, Version};
use crate::{Error, Result};

/// Files collected before they become a chunk.
const CHUNK: usize = 64 * 1024;

/// Files of which a newer action was seen, by [`key`].
pub(crate) type Seen = HashSet<Key>;

/// A version's state as the log spells it.
#[derive(Default)]
pub(crate) struct Replayed {
    pub(crate) want_files: bool,
    /// Shared with the threads that decode a checkpoint, which nothing is added under.
    pub(crate) seen: Arc<Seen>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) interner: Interner,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) transactions: IndexMap<String, Transaction>,
    /// `None` for a domain that was removed.
    pub(crate) domains: IndexMap<String, Option<String>>,
    pub(crate) checkpoint: Option<Version>,
    pub(crate) commits_read: u64,
    /// When the newest commit was put, and its in-commit timestamp, where it was read.
    pub(crate) committed: Option<(Time, Option<Time>)>,
    pub(crate) warnings: Vec<String>,
}

impl Replayed {
    /// Takes a commit or a compaction file.
    ///
    /// A commit holds one action for a file; where a writer put both, its remove counts. In a
    /// compaction file the newest action on a file stands first.
    pub(crate) fn take_json(
        &mut self,
        bytes: &[u8],
        builder: &mut ChunkBuilder,
        step: &Step,
    ) -> Result<()> {
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
            Arc::make_mut(&mut self.seen)
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
            && Arc::make_mut(&mut self.seen).insert(key(&add.path, add.deletion_vector.as_ref()))
        {
            let partition = self.intern(add);
            builder.push(add, partition);
            if builder.len() >= CHUNK {
                // Those of several commits may stand in it: they are found again by reading commits.
                self.chunks.push(builder.finish(Source::Json(folder(path))));
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
            self.take_transaction(txn);
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

    fn take_transaction(&mut self, transaction: Transaction) {
        self.transactions
            .entry(transaction.app_id.clone())
            .or_insert(transaction);
    }

    pub(crate) fn take_json_checkpoint(
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
            small.transactions.extend(line.txn);
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

    pub(crate) fn take_small(&mut self, small: Small) {
        self.metadata = self.metadata.take().or(small.metadata);
        self.protocol = self.protocol.take().or(small.protocol);
        for transaction in small.transactions {
            self.take_transaction(transaction);
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

/// Drops the files of a checkpoint that a later commit added again or removed.
pub(crate) fn unseen(seen: &Seen, chunk: Chunk) -> Result<Chunk> {
    if seen.is_empty() {
        return Ok(chunk);
    }
    let mut dropped = false;
    let mut scratch = Vec::new();
    let keep = BooleanArray::from_iter((0..chunk.path.len()).map(|row| {
        scratch.clear();
        let path: Cow<'_, str> = canonical(chunk.path.value(row));
        scratch.extend_from_slice(path.as_bytes());
        let vectors = chunk.vectors.as_ref();
        if let Some(vector) = vectors.and_then(|v| v.descriptor(row)) {
            scratch.push(0);
            scratch.extend_from_slice(vector.unique_id().as_bytes());
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

/// The folder that a file of the log lies in.
fn folder(path: &Path) -> Path {
    let mut parts: Vec<_> = path.parts().collect();
    parts.pop();
    parts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::path::commit_key;

    #[test]
    fn files_of_several_commits_in_one_chunk_name_none_of_them() {
        let step = |version: u64| Step {
            version: Version(version),
            low: Version(version),
            path: commit_key(&Path::from("t"), Version(version)),
            bytes: 0,
        };
        let line = |n: usize| {
            format!("{{\"add\":{{\"path\":\"{n}\",\"partitionValues\":{{}},\"size\":1}}}}\n")
        };
        let mut state = Replayed {
            want_files: true,
            ..Default::default()
        };
        let mut builder = ChunkBuilder::default();
        let newest: String = (0..CHUNK - 1).map(line).collect();
        state
            .take_json(newest.as_bytes(), &mut builder, &step(1))
            .unwrap();
        state
            .take_json(line(CHUNK).as_bytes(), &mut builder, &step(0))
            .unwrap();
        let sources: Vec<&Source> = state.chunks.iter().map(|c| &c.source).collect();
        assert_eq!(sources, [&Source::Json(Path::from("t/_delta_log"))]);
    }
}
