//! The search for files that go together and can be packed exactly.

use std::collections::BTreeMap;

use futures::{StreamExt, stream};
use hashbrown::HashMap;
use indexmap::IndexMap;

use super::super::bins::{Candidate, masked_much, pack, remains};
use super::super::columns::Columns;
use super::super::input::{Input, input};
use super::super::typed::typed;
use super::super::{Bin, Request};
use crate::answer::Root;
use crate::delta::files::FileRef;
use crate::delta::log::{Head, Log};
use crate::delta::path::shown;
use crate::delta::schema::partition_names;
use crate::delta::snapshot::Snapshot;
use crate::delta::verbatim::{Fields, raw};
use crate::delta::write::selected;
use crate::host::{Progress, SharedHost};
use crate::plan::{self, Passed};
use crate::{Error, Kind, Result};

/// Footers read at once.
const LOOKING: usize = 16;

/// Candidates by partition, and what is known of each.
pub(super) struct Search<'a> {
    base: &'a Snapshot,
    target: u64,
    /// All files, in order of path and deletion vector.
    files: Vec<FileRef<'a>>,
    /// By the partition's typed values: the number of its first spelling, and the candidates.
    groups: BTreeMap<Vec<Option<String>>, (usize, Vec<Candidate>)>,
    looked: HashMap<usize, Input>,
    pub(super) missing: Vec<String>,
    passed: IndexMap<String, Passed>,
}

impl<'a> Search<'a> {
    pub(super) fn new(base: &'a Snapshot, request: &Request, target: u64, min: u64) -> Self {
        let mut files: Vec<FileRef<'_>> = base.files.iter().collect();
        files.sort_by_cached_key(|f| (f.raw_path().to_owned(), f.vector().map(|v| v.unique_id())));
        let partitions = base.files.partitions();
        let types: Vec<(&str, &str)> = base
            .state
            .schema
            .fields
            .iter()
            .map(|f| (f.name.as_str(), f.data_type.as_str()))
            .collect();
        let keys: Vec<Option<Vec<Option<String>>>> = partitions
            .iter()
            .map(|partition| {
                let type_of = |name: &String| types.iter().find(|(n, _)| n == name);
                let meaning = |(name, value): (&String, &Option<String>)| {
                    typed(value.as_deref(), type_of(name).map_or("string", |(_, t)| t))
                };
                selected(partition, &request.partitions)
                    .then(|| partition.iter().map(meaning).collect())
            })
            .collect();
        let mut search = Self {
            base,
            target,
            files: Vec::new(),
            groups: BTreeMap::new(),
            looked: HashMap::new(),
            missing: Vec::new(),
            passed: IndexMap::new(),
        };
        for (at, file) in files.iter().enumerate() {
            let alone = masked_much(file.records(), file.deleted_rows());
            let key = match keys.get(file.partition()) {
                Some(Some(key)) if alone || file.bytes() < min => key,
                _ => continue,
            };
            let group = search.groups.entry(key.clone());
            let (_, candidates) = group.or_insert_with(|| (file.partition(), Vec::new()));
            candidates.push(Candidate {
                at,
                remains: remains(file.bytes(), file.records(), file.deleted_rows()),
                alone,
            });
        }
        search.files = files;
        search
    }

    /// Looks at every file that might go into a bin, and leaves out what cannot be packed. What
    /// remains of a file is known only then: of a small one the footer may be most, and counted as
    /// if it stayed it would keep files apart that go together the next time.
    pub(super) async fn settle(
        &mut self,
        root: &Root,
        log: &Log,
        head: &Head,
        columns: &Columns,
        host: &SharedHost,
    ) -> Result<()> {
        loop {
            let unknown: Vec<usize> = self
                .groups
                .values()
                .filter(|(_, all)| all.len() > 1 || all.iter().any(|c| c.alone))
                .flat_map(|(_, candidates)| candidates)
                .map(|candidate| candidate.at)
                .filter(|at| !self.looked.contains_key(at))
                .collect();
            if unknown.is_empty() {
                return Ok(());
            }
            let files: Vec<FileRef<'_>> = unknown
                .iter()
                .filter_map(|at| self.files.get(*at).copied())
                .collect();
            let mut adds = log.adds(head, self.base, &files, host).await?;
            let of = files.len() as u64;
            let pairs: Vec<(usize, FileRef<'_>, Fields)> = unknown
                .into_iter()
                .zip(files)
                .map(|(at, file)| (at, file, adds.remove(&file.key()).unwrap_or_default()))
                .collect();
            let mut looks =
                stream::iter(pairs)
                    .map(|(at, file, add)| async move {
                        (at, file, input(root, columns, file, add).await)
                    })
                    .buffer_unordered(LOOKING);
            let mut found = Vec::new();
            while let Some(look) = looks.next().await {
                found.push(look);
                host.progress(Progress {
                    step: "reading footers".to_owned(),
                    done: found.len() as u64,
                    of: Some(of),
                });
                host.pause().await;
            }
            drop(looks);
            found.sort_by_key(|(at, _, _)| *at);
            for (at, file, look) in found {
                match look {
                    Ok(input) => {
                        let left = remains(input.data, Some(input.records), input.masked());
                        let all = self.groups.values_mut().flat_map(|(_, all)| all);
                        for candidate in all.filter(|candidate| candidate.at == at) {
                            candidate.remains = left;
                        }
                        self.looked.insert(at, input);
                    }
                    Err(error) => self.pass(at, file, error)?,
                }
            }
        }
    }

    /// Leaves a file alone that cannot be packed; an error where nobody knows whether it can.
    fn pass(&mut self, at: usize, file: FileRef<'_>, error: Error) -> Result<()> {
        let why = match error.kind() {
            Kind::NotFound => {
                self.missing.push(shown(file.raw_path()));
                "it is not in the store".to_owned()
            }
            Kind::Damaged | Kind::Unsupported | Kind::TooLarge => error.message().to_owned(),
            _ => return Err(error.at("file", shown(file.raw_path()))),
        };
        for (_, candidates) in self.groups.values_mut() {
            candidates.retain(|candidate| candidate.at != at);
        }
        note(&mut self.passed, why, file);
        Ok(())
    }

    /// Candidates that stay as they are, by reason.
    pub(super) fn passed(&self) -> Vec<Passed> {
        let mut passed = self.passed.clone();
        for (_, candidates) in self.groups.values() {
            let why = match candidates.len() {
                1 => "there is nothing to pack it with in its partition",
                _ => "with what else is small in its partition it would be larger than the target",
            };
            for lone in pack(candidates.clone(), self.target).1 {
                if let Some(file) = self.files.get(lone.at) {
                    note(&mut passed, why.to_owned(), *file);
                }
            }
        }
        passed.into_values().collect()
    }

    /// The bins, to be carried out and to be read.
    pub(super) fn bins(&mut self) -> Result<(Vec<Bin>, Vec<plan::Bin>)> {
        let names = partition_names(&self.base.state.metadata, &self.base.state.schema);
        let (mut bins, mut told) = (Vec::new(), Vec::new());
        for (number, candidates) in self.groups.values() {
            let partitions = self.base.files.partitions();
            let logical = partitions.get(*number).cloned().unwrap_or_default();
            let physical: IndexMap<String, Option<String>> = names
                .iter()
                .map(|(name, physical)| {
                    let value = logical.get(name).cloned().flatten();
                    (physical.clone(), value)
                })
                .collect();
            for packed in pack(candidates.clone(), self.target).0 {
                let predicted_bytes = packed.iter().map(|c| c.remains).sum();
                let inputs: Vec<Input> = packed
                    .iter()
                    .filter_map(|c| self.looked.remove(&c.at))
                    .collect();
                let bin = Bin {
                    partition: physical.clone(),
                    values: raw(&physical)?,
                    inputs,
                };
                told.push(plan::Bin {
                    partition: logical.clone(),
                    paths: bin.inputs.iter().map(|i| shown(&i.raw_path)).collect(),
                    bytes: bin.inputs.iter().map(|i| i.bytes).sum(),
                    predicted_bytes,
                    rows: Some(bin.rows()),
                    deleted_rows: bin.inputs.iter().map(Input::masked).sum(),
                });
                bins.push(bin);
            }
        }
        Ok((bins, told))
    }
}

fn note(passed: &mut IndexMap<String, Passed>, why: String, file: FileRef<'_>) {
    let known = passed.entry(why.clone()).or_insert_with(|| Passed {
        why,
        files: 0,
        example: shown(file.raw_path()),
    });
    known.files += 1;
}
