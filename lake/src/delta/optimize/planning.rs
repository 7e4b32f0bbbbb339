//! Which files are packed with which, and why others are not.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, stream};
use hashbrown::HashMap;
use indexmap::IndexMap;

use super::bins::{Candidate, masked_much, pack, remains};
use super::columns::Columns;
use super::digest::digest;
use super::input::{Input, look, masked};
use super::size::size;
use super::typed::typed;
use super::{Bin, Memory, Optimize, Request};
use crate::answer::Root;
use crate::delta::files::FileRef;
use crate::delta::log::{Head, Log};
use crate::delta::path::{Location, locate, shown};
use crate::delta::schema::partition_names;
use crate::delta::snapshot::{Snapshot, State};
use crate::delta::verbatim::{Fields, raw};
use crate::delta::write::{
    BASE_ROW_ID, SINCE_VERSION, as_remove, check_partitions, is_true, refusal, selected,
};
use crate::figures;
use crate::host::{Progress, SharedHost};
use crate::parquet::reader::ParquetFile;
use crate::plan::{self, Act, OptimizeDetail, Passed, Plan};
use crate::{Error, Kind, Result};

/// Footers read at once.
const LOOKING: usize = 16;

/// Where the table says how large files should be.
const TARGET: &str = "delta.targetFileSize";

pub(super) async fn plan(
    root: &Root,
    request: &Request,
    log: Log,
    head: &Head,
    base: Snapshot,
    host: &SharedHost,
) -> Result<Optimize> {
    let state = &base.state;
    check_partitions(&state.metadata.partition_columns, &request.partitions)?;
    let mut plan = Plan::new(
        Act::Optimize,
        root.location.clone(),
        request.as_of,
        state.version,
    );
    let target = target(state, request, &mut plan.warnings);
    let min = request.min.min(target);
    let columns = match refused(state) {
        None => Columns::of(state).map_err(|e| e.message().to_owned()),
        Some(why) => Err(why),
    };
    let mut detail = OptimizeDetail {
        min_bytes: min,
        target_bytes: target,
        table_bytes: base
            .files
            .iter()
            .fold(0, |sum, f| sum.saturating_add(f.bytes())),
        bins: Vec::new(),
        passed: Vec::new(),
    };
    let mut bins = Vec::new();
    let columns = match columns {
        Err(why) => {
            plan.refused = Some(why);
            None
        }
        Ok(columns) => {
            let columns = Arc::new(columns);
            let mut search = Search::new(&base, request, target, min);
            search.settle(root, &log, head, &columns, host).await?;
            detail.passed = search.passed();
            plan.missing_files = std::mem::take(&mut search.missing);
            (bins, detail.bins) = search.bins()?;
            Some(columns)
        }
    };
    count(&mut plan, &bins, &detail);
    if plan.refused.is_none() && bins.is_empty() {
        plan.refused = Some(format!(
            "nothing to do: of {} files, no two below {} go together, and none has many masked rows",
            base.files.len(),
            figures::size(min)
        ));
    }
    if state.domains.contains_key("delta.clustering") && !bins.is_empty() {
        plan.warnings.push(
            "the table is clustered, and packed files are not until an engine clusters them again"
                .to_owned(),
        );
    }
    plan.warnings.extend(state.warnings.iter().cloned());
    plan.optimize = Some(detail);
    let mut optimize = Optimize {
        plan,
        memory: Memory::default(),
        log,
        columns,
        bins,
        partitions: request.partitions.clone(),
        base,
    };
    optimize.plan.id = digest(&optimize, request)?;
    Ok(optimize)
}

/// Why nothing of this table can be packed, whatever its files.
fn refused(state: &State) -> Option<String> {
    if let Some(why) = refusal(&state.protocol, &state.metadata, false) {
        return Some(why);
    }
    // Their files hold partition columns and ids of nested fields.
    for (version, property) in [
        ("icebergCompatV1", "delta.enableIcebergCompatV1"),
        ("icebergCompatV2", "delta.enableIcebergCompatV2"),
    ] {
        if is_true(&state.metadata, property) {
            return Some(format!(
                "files of a table with {version} must be as Iceberg wants them, which this build does not write"
            ));
        }
    }
    is_true(&state.metadata, "delta.rowTrackingSuspended").then(|| {
        "row tracking is suspended (delta.rowTrackingSuspended): no rows may be moved".to_owned()
    })
}

fn target(state: &State, request: &Request, warnings: &mut Vec<String>) -> u64 {
    if let Some(target) = request.target {
        return target;
    }
    let Some(text) = state.metadata.configuration.get(TARGET) else {
        return request.default_target;
    };
    size(text).unwrap_or_else(|| {
        warnings.push(format!(
            "{TARGET} is `{}`, which is no size: files are packed to {} bytes",
            text.escape_default(),
            request.default_target
        ));
        request.default_target
    })
}

fn count(plan: &mut Plan, bins: &[Bin], detail: &OptimizeDetail) {
    let sum = |of: &dyn Fn(&plan::Bin) -> u64| detail.bins.iter().map(of).sum::<u64>();
    plan.files_to_rewrite = sum(&|bin| bin.paths.len() as u64);
    plan.bytes_to_rewrite = sum(&|bin| bin.bytes);
    plan.files_to_write = bins.iter().filter(|bin| bin.rows() > 0).count() as u64;
    plan.files_to_remove = plan.files_to_rewrite;
    plan.bytes_to_remove = plan.bytes_to_rewrite;
    plan.files_to_add = plan.files_to_write;
    plan.bytes_to_add = sum(&|bin| bin.predicted_bytes);
}

/// Candidates by partition, and what is known of each.
struct Search<'a> {
    base: &'a Snapshot,
    target: u64,
    /// All files, in order of path and deletion vector.
    files: Vec<FileRef<'a>>,
    /// By the partition's typed values: the number of its first spelling, and the candidates.
    groups: BTreeMap<Vec<Option<String>>, (usize, Vec<Candidate>)>,
    looked: HashMap<usize, Input>,
    missing: Vec<String>,
    passed: IndexMap<String, Passed>,
}

impl<'a> Search<'a> {
    fn new(base: &'a Snapshot, request: &Request, target: u64, min: u64) -> Self {
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

    /// Packs, and looks at what is packed, until every file in a bin was found fit.
    async fn settle(
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
                .flat_map(|(_, candidates)| pack(candidates.clone(), self.target).0)
                .flatten()
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
    fn passed(&self) -> Vec<Passed> {
        let mut passed = self.passed.clone();
        for (_, candidates) in self.groups.values() {
            for lone in pack(candidates.clone(), self.target).1 {
                if let Some(file) = self.files.get(lone.at) {
                    let why = "there is nothing to pack it with in its partition".to_owned();
                    note(&mut passed, why, *file);
                }
            }
        }
        passed.into_values().collect()
    }

    /// The bins, to be carried out and to be read.
    fn bins(&mut self) -> Result<(Vec<Bin>, Vec<plan::Bin>)> {
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

/// Looks at a file that is to be packed; an error where it cannot be packed exactly.
async fn input(root: &Root, columns: &Columns, file: FileRef<'_>, add: Fields) -> Result<Input> {
    let Location::Inside(path) = locate(&root.path, file.raw_path())? else {
        return Err(Error::unsupported("it lies outside the table"));
    };
    let vector = file.vector();
    if !file.vector_is_sound() {
        return Err(Error::damaged("its deletion vector cannot be what it says"));
    }
    let number = |name: &str| add.get(name).and_then(|n| n.get().parse::<i64>().ok());
    let ids = match columns.tracked {
        None => None,
        Some(_) => match (number(BASE_ROW_ID), number(SINCE_VERSION)) {
            (Some(id), Some(since)) => Some((id, since)),
            _ => return Err(Error::unsupported("its rows have no ids to keep")),
        },
    };
    let opened = ParquetFile::open(&root.store, &path).await?;
    let limit = Memory::default().slice;
    let looked = look(&opened, columns, limit, file.records(), file.bytes());
    let (records, dense) = looked.await?;
    if let Some(vector) = &vector {
        masked(&root.store, &root.path, vector, records).await?;
    }
    let mut remove = add;
    as_remove(&mut remove, false)?;
    Ok(Input {
        key: file.key(),
        raw_path: file.raw_path().to_owned(),
        path,
        bytes: file.bytes(),
        records,
        vector,
        dense,
        ids,
        remove,
    })
}
