//! OPTIMIZE: small files of a partition, and files with many masked rows, written again as few. No
//! row changes.

mod apply;
mod binding;
mod bins;
mod body;
mod cast;
mod columns;
mod conflict;
mod digest;
mod fit;
mod input;
mod output;
mod place;
mod planning;
mod rewrite;
mod size;
mod stats;
mod typed;

use std::sync::Arc;

use serde_json::value::RawValue;

use super::log::Log;
use super::snapshot::Snapshot;
use super::write::{Partitions, arrived};
use crate::answer::Root;
use crate::host::SharedHost;
pub use crate::parquet::output::Memory;
use crate::plan::Plan;
use crate::table::{Partition, Time, Version};
use crate::{Error, Kind, Result};
pub use apply::{Committed, apply, commit};
use columns::Columns;
use input::Input;
pub use rewrite::{Rewritten, rewrite};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Bytes that a packed file should have; else what the table says, else `default_target`.
    pub target: Option<u64>,
    /// Bytes below which a file is a candidate. The target, where that is less.
    pub min: u64,
    /// The target where neither the request nor the table has one.
    pub default_target: u64,
    /// Only files of these partitions.
    pub partitions: Partitions,
    /// The instant taken as now.
    pub as_of: Time,
    /// The version to plan at, where a plan of before is to be carried out: the newest unless one is
    /// given. Commits after it that do not fit are [`crate::Kind::Conflict`].
    pub expect: Option<Version>,
}

/// A plan with all that is needed to carry it out.
#[derive(Debug)]
pub struct Optimize {
    /// What a person reads.
    pub plan: Plan,
    /// What carrying it out may hold in memory.
    pub memory: Memory,
    log: Log,
    base: Snapshot,
    /// The columns of the new files; `None` where nothing can be written.
    columns: Option<Arc<Columns>>,
    bins: Vec<Bin>,
    partitions: Partitions,
}

/// Files that become one.
#[derive(Debug)]
struct Bin {
    /// Physical names and values, as a file's folder has them.
    partition: Partition,
    /// The same as an add has them.
    values: Box<RawValue>,
    inputs: Vec<Input>,
}

impl Bin {
    /// Rows that the new file has.
    fn rows(&self) -> u64 {
        let rows = |input: &Input| input.records.saturating_sub(input.masked());
        self.inputs.iter().map(rows).fold(0, u64::saturating_add)
    }
}

/// Plans an optimize. A refusal is a plan that says why; an error means that there is no plan.
///
/// The footer of every file that would be packed is read, so that a file that cannot be packed
/// exactly is left alone and said so.
pub async fn plan(root: &Root, request: &Request, host: &SharedHost) -> Result<Optimize> {
    if request.target == Some(0) || request.default_target == 0 {
        return Err(Error::invalid("files of 0 bytes cannot be made"));
    }
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    let version = request.expect.unwrap_or(head.latest);
    if version > head.latest {
        return Err(arrived(&log, &head, version, host).await);
    }
    let base = match log.snapshot(&head, version, host).await {
        Ok(base) => base,
        // It was cleaned away since.
        Err(error) if version < head.latest && error.kind() != Kind::Unreachable => {
            return Err(arrived(&log, &head, version, host).await.because(error));
        }
        Err(error) => return Err(error),
    };
    let optimize = planning::plan(root, request, log, &head, base, host).await?;
    if version < head.latest {
        // Nothing is written for a commit that would be refused.
        conflict::rebase(&optimize, host).await?;
    }
    Ok(optimize)
}
