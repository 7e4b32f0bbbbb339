//! A bin and where its file comes to lie.

use ::parquet::basic::{Compression, ZstdLevel};
use hashbrown::HashSet;
use object_store::path::Path;

use super::super::{Bin, Optimize, place};
use crate::delta::path::{Location, canonical, locate};
use crate::delta::snapshot::Snapshot;
use crate::{Error, Kind, Result};

/// A bin and the file that it becomes.
pub(super) struct Job<'a> {
    pub(super) bin: &'a Bin,
    pub(super) raw_path: String,
    pub(super) path: Path,
}

impl<'a> Job<'a> {
    pub(super) fn new(optimize: &Optimize, bin: &'a Bin, name: &str) -> Result<Self> {
        let suffix = match bin.compression() {
            Compression::SNAPPY => "snappy",
            _ => "zstd",
        };
        let name = format!("part-00000-{name}-c000.{suffix}.parquet");
        let partition = bin.partition.iter();
        let raw_path = place::path(partition.map(|(k, v)| (k.as_str(), v.as_deref())), &name);
        match locate(&optimize.log.root, &raw_path)? {
            Location::Inside(path) => Ok(Self {
                bin,
                raw_path,
                path,
            }),
            Location::Outside(_) => Err(Error::new(Kind::Internal, "a new file outside the table")),
        }
    }
}

impl Bin {
    /// As dense as what is replaced, so that packing does not make the table larger; else the codec
    /// that every reader has and that costs least.
    pub(super) fn compression(&self) -> Compression {
        match self.inputs.iter().any(|input| input.dense) {
            true => Compression::ZSTD(ZstdLevel::default()),
            false => Compression::SNAPPY,
        }
    }
}

/// Whether a name is that of another new file, or of a file that the table has. Random names never
/// meet; should they, no file may be put over, or deleted after a failure.
pub(super) fn taken(jobs: &[Job<'_>], base: &Snapshot) -> bool {
    let new: HashSet<_> = jobs.iter().map(|job| canonical(&job.raw_path)).collect();
    new.len() < jobs.len()
        || base
            .files
            .iter()
            .any(|f| new.contains(&canonical(f.raw_path())))
}
