//! The plan: what is packed to which size, what is refused, and what a person is told.

mod search;

use std::sync::Arc;

use super::columns::Columns;
use super::digest::digest;
use super::size::size;
use super::{Bin, Memory, Optimize, Request};
use crate::Result;
use crate::answer::Root;
use crate::delta::log::{Head, Log};
use crate::delta::snapshot::{Snapshot, State};
use crate::delta::write::{check_partitions, exhausted, is_true, refusal};
use crate::figures;
use crate::host::SharedHost;
use crate::plan::{self, Act, OptimizeDetail, Plan};
use search::Search;

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
    let why = refusal(&state.protocol, &state.metadata, false);
    if let Some(why) = why.or(exhausted(state.version, 1)) {
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
