//! The bins of a plan written as new files, which no version names yet.

mod job;
mod step;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use roaring::RoaringTreemap;

use super::binding::{Binding, Conversion};
use super::columns::Columns;
use super::input::{Input, masked};
use super::output::Encoder;
use super::stats::Stats;
use super::{Bin, Optimize};
use crate::host::{Progress, SharedHost};
use crate::parquet::output::Upload;
use crate::parquet::reader::ParquetFile;
use crate::parquet::slices::{batch_rows, slices};
use crate::{Error, Kind, Result};
use job::{Job, taken};
use step::step;

/// Bins written at once.
const LANES: usize = 2;

/// New files that wait for their commit.
#[derive(Debug)]
pub struct Rewritten {
    /// For each bin, its new file; `None` where every row was masked.
    pub(super) files: Vec<Option<Written>>,
}

/// A new file.
#[derive(Debug)]
pub(super) struct Written {
    /// The path as the log will spell it.
    pub(super) raw_path: String,
    pub(super) path: Path,
    pub(super) bytes: u64,
    pub(super) rows: u64,
    pub(super) stats: String,
}

/// Writes the new files of a plan. `names` gives random names, which no file ever had.
///
/// Either all of them are there afterwards, or, with an error, none: also where a person stops it
/// between bins.
pub async fn rewrite(
    optimize: &Optimize,
    engine: &str,
    names: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Result<Rewritten> {
    if let Some(why) = &optimize.plan.refused {
        return Err(Error::invalid(why.clone()));
    }
    let Some(columns) = &optimize.columns else {
        return Err(Error::new(Kind::Internal, "a plan without columns"));
    };
    let jobs: Vec<Job<'_>> = optimize
        .bins
        .iter()
        .map(|bin| Job::new(optimize, bin, &names()))
        .collect::<Result<_>>()?;
    if taken(&jobs, &optimize.base) {
        return Err(Error::new(
            Kind::Internal,
            "the name of a new file is taken",
        ));
    }
    let rewriting = Rewriting {
        optimize,
        columns,
        engine,
        host,
        stop: AtomicBool::new(false),
        failed: Mutex::new(None),
        started: Mutex::new(Vec::new()),
        files: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    };
    rewriting.tell();
    // In order, so that each file is that of its bin.
    let files: Vec<Option<Written>> = stream::iter(jobs)
        .map(|job| rewriting.guarded(job))
        .buffered(LANES)
        .collect()
        .await;
    let failed = rewriting
        .failed
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    match failed {
        None => Ok(Rewritten { files }),
        Some(error) => {
            let started = rewriting
                .started
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            Err(cleaned(&optimize.log.store, started, error).await)
        }
    }
}

impl Rewritten {
    /// Where the new files lie.
    pub(super) fn keys(&self) -> BTreeSet<Path> {
        let files = self.files.iter().flatten();
        files.map(|file| file.path.clone()).collect()
    }

    /// Deletes the new files, which no version names, and says so where it cannot.
    pub(super) async fn discard(self, store: &Arc<dyn ObjectStore>, why: Error) -> Error {
        let paths = self.files.into_iter().flatten().map(|file| file.path);
        cleaned(store, paths.collect(), why).await
    }
}

/// Deletes files that this attempt put, or may have put.
async fn cleaned(store: &Arc<dyn ObjectStore>, paths: Vec<Path>, error: Error) -> Error {
    let mut left = 0u64;
    for path in paths {
        match store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(_) => left += 1,
        }
    }
    match left {
        0 => error,
        n => error.within(format!(
            "{n} new files could not be deleted and wait for a vacuum"
        )),
    }
}

struct Rewriting<'a> {
    optimize: &'a Optimize,
    columns: &'a Arc<Columns>,
    engine: &'a str,
    host: &'a SharedHost,
    /// Set once nothing more should be begun.
    stop: AtomicBool,
    /// Why, by whoever set it first.
    failed: Mutex<Option<Error>>,
    /// Keys that were or may have been put.
    started: Mutex<Vec<Path>>,
    files: AtomicU64,
    bytes: AtomicU64,
}

impl Rewriting<'_> {
    /// Writes a bin's file. After a failure the others end what they are at, so that nothing is left
    /// half put.
    async fn guarded(&self, job: Job<'_>) -> Option<Written> {
        if self.host.cancelled() {
            let stopped = "stopped before anything was committed: the table is as it was";
            self.fail(Error::new(Kind::Cancelled, stopped));
        }
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        match self.bin(job).await {
            Ok(written) => written,
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    fn fail(&self, error: Error) {
        self.stop.store(true, Ordering::Relaxed);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert(error);
    }

    async fn bin(&self, job: Job<'_>) -> Result<Option<Written>> {
        let log = &self.optimize.log;
        let Job {
            bin,
            raw_path,
            path,
        } = job;
        let encoder = Encoder::new(
            &self.columns.arrow,
            Stats::new(&self.optimize.base.state, self.columns),
            bin.compression(),
            &self.optimize.memory,
            self.engine,
        )?;
        let mut upload = Upload::new(Arc::clone(&log.store), path.clone());
        let started = &self.started;
        started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(path.clone());
        let (rows, stats) = match self.pour(bin, encoder, &mut upload).await {
            Ok((0, _)) => return Ok(None),
            Ok(put) => put,
            Err(error) => {
                upload.abort().await;
                return Err(error);
            }
        };
        let bytes = upload.bytes;
        let put = ParquetFile::open(&log.store, &path).await?;
        let found = put.metadata().file_metadata().num_rows();
        if put.size() != bytes || u64::try_from(found) != Ok(rows) {
            return Err(
                Error::damaged("the store holds another file than was put").at("key", &path)
            );
        }
        Ok(Some(Written {
            raw_path,
            path,
            bytes,
            rows,
            stats: stats.finish()?,
        }))
    }

    /// Pours all rows of a bin into one file; how many they are.
    async fn pour(
        &self,
        bin: &Bin,
        mut encoder: Encoder,
        upload: &mut Upload,
    ) -> Result<(u64, Stats)> {
        for input in &bin.inputs {
            let read = self.input(input, &mut encoder, upload).await;
            read.map_err(|e| e.at("key", &input.path))?;
            self.files.fetch_add(1, Ordering::Relaxed);
            self.tell();
        }
        let (parts, rows, stats) = encoder.finish()?;
        if rows != bin.rows() || stats.rows() != rows {
            return Err(Error::damaged(format!(
                "{rows} rows were written where {} should be: nothing is committed",
                bin.rows()
            )));
        }
        if rows > 0 {
            upload.finish(parts).await?;
        }
        Ok((rows, stats))
    }

    async fn input(&self, input: &Input, encoder: &mut Encoder, upload: &mut Upload) -> Result<()> {
        let log = &self.optimize.log;
        let file = ParquetFile::open(&log.store, &input.path).await?;
        if file.size() != input.bytes {
            return Err(Error::damaged("the file changed since it was planned with"));
        }
        let masked = match &input.vector {
            Some(vector) => masked(&log.store, &log.root, vector, input.records).await?,
            None => RoaringTreemap::new(),
        };
        let conversion = Conversion {
            binding: Binding::of(&file, self.columns)?,
            columns: Arc::clone(self.columns),
            masked,
            ids: input.ids,
        };
        let roots = &conversion.binding.roots;
        let (mut first, mut told) = (0u64, 0u64);
        for group in 0..file.metadata().num_row_groups() {
            let cut = slices(&file, group, roots.clone(), self.optimize.memory.slice).await?;
            let batch_rows = batch_rows(&file, group)?;
            for range in &cut.rows {
                let mut slice = cut.read(&file, range.clone(), batch_rows).await?;
                loop {
                    // Here and on no other thread: allocators keep what each thread gave back, and
                    // row groups passed from thread to thread would be kept many times.
                    let Some(rows) = step(&mut slice, encoder, &conversion, first)? else {
                        break;
                    };
                    first += rows;
                    upload.send(encoder.parts()).await?;
                    told = self.moved(input, first, told);
                    self.host.pause().await;
                    if self.stop.load(Ordering::Relaxed) {
                        return Err(Error::new(Kind::Cancelled, "another file failed"));
                    }
                }
            }
        }
        match first == input.records {
            true => Ok(()),
            false => Err(Error::damaged(format!(
                "{first} rows were read of a file of {}",
                input.records
            ))),
        }
    }

    /// Counts the bytes of the rows that were read of a file.
    fn moved(&self, input: &Input, rows: u64, told: u64) -> u64 {
        let share = u128::from(input.bytes) * u128::from(rows) / u128::from(input.records.max(1));
        let now = u64::try_from(share).unwrap_or(input.bytes).min(input.bytes);
        let more = now.saturating_sub(told);
        let done = self.bytes.fetch_add(more, Ordering::Relaxed) + more;
        self.host.bytes(done, self.optimize.plan.bytes_to_rewrite);
        now
    }

    fn tell(&self) {
        self.host.progress(Progress {
            step: "packing files".to_owned(),
            done: self.files.load(Ordering::Relaxed),
            of: Some(self.optimize.plan.files_to_rewrite),
        });
    }
}
