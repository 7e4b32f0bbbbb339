//! The rows of the inputs written as the files of a run, which no marker names yet.

use std::sync::Arc;

use ::parquet::basic::{Compression, ZstdLevel};
use arrow_schema::SchemaRef;
use futures::StreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use super::columns::Binding;
use super::{Input, Planned, Work};
use crate::host::{Progress, SharedHost};
use crate::hours::Dataset;
use crate::hours::columns::opened;
use crate::hours::contract::Checker;
use crate::hours::key::RUN;
use crate::hours::listing::{Object, path};
use crate::parquet::output::{Encoder, Upload};
use crate::parquet::reader::ParquetFile;
use crate::parquet::slices::{batch_rows, slices};
use crate::table::Time;
use crate::{Error, Kind, Result};

/// A run that was written and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) objects: u64,
    pub(super) bytes: u64,
    pub(super) rows: u64,
    /// The newest event by the new files' statistics.
    pub(super) newest: Option<Time>,
}

/// Writes the run. An error leaves files behind that no marker names, and no upload.
pub(super) async fn write(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    planned: &Planned,
    work: &Work,
    (run, engine): (&str, &str),
    host: &SharedHost,
) -> Result<Written> {
    let mut writing = Writing {
        store,
        planned,
        work,
        host,
        prefix: format!("{}{RUN}={run}/", dataset.prefix_of(planned.slot)),
        engine,
        schema: work.columns.schema(),
        open: None,
        checker: Checker::new(dataset, planned.slot),
        written: Written {
            objects: 0,
            bytes: 0,
            rows: 0,
            newest: None,
        },
        bytes: 0,
    };
    match writing.all().await {
        Ok(()) => Ok(Written {
            newest: writing.checker.finish().max_event_time,
            ..writing.written
        }),
        Err(error) => {
            if let Some((_, upload, _)) = writing.open.take() {
                upload.abort().await;
            }
            Err(error)
        }
    }
}

struct Writing<'a> {
    store: &'a Arc<dyn ObjectStore>,
    planned: &'a Planned,
    work: &'a Work,
    host: &'a SharedHost,
    prefix: String,
    engine: &'a str,
    schema: SchemaRef,
    open: Option<(Encoder, Upload, Path)>,
    checker: Checker<'a>,
    written: Written,
    /// Bytes of the inputs that were read.
    bytes: u64,
}

impl Writing<'_> {
    async fn all(&mut self) -> Result<()> {
        let objects: Vec<Object> = self.work.inputs.iter().map(|i| i.object.clone()).collect();
        let store = Arc::clone(self.store);
        let mut files = std::pin::pin!(opened(&store, &objects));
        let mut inputs = self.work.inputs.iter().zip(1..);
        while let Some((object, file)) = files.next().await {
            if self.host.cancelled() {
                let stopped = "stopped before anything was published: the hour is as it was";
                return Err(Error::new(Kind::Cancelled, stopped));
            }
            let Some((input, done)) = inputs.next() else {
                break;
            };
            let read = async { self.input(input, &file?).await };
            read.await.map_err(|e| e.at("key", &object.key))?;
            self.host.progress(Progress {
                step: "packing objects".to_owned(),
                done,
                of: Some(objects.len() as u64),
            });
        }
        // A run has at least one file, be there rows or not.
        if self.open.is_none() && self.written.objects == 0 {
            self.begin()?;
        }
        self.end().await?;
        let read: u64 = self.work.inputs.iter().map(|input| input.rows).sum();
        match self.written.rows == read {
            true => Ok(()),
            false => Err(Error::damaged(format!(
                "{} rows were written of {read} that were read: nothing is published",
                self.written.rows
            ))),
        }
    }

    async fn input(&mut self, input: &Input, file: &ParquetFile) -> Result<()> {
        let same = file.size() == input.object.bytes
            && (input.object.etag.is_none() || file.etag() == input.object.etag.as_deref());
        if !same {
            return Err(Error::damaged(
                "the object was replaced since it was planned with",
            ));
        }
        let binding = Binding::of(file, &self.schema);
        let roots: Vec<usize> = (0..file.arrow().schema().fields().len()).collect();
        let before = self.bytes;
        let mut rows = 0u64;
        for group in 0..file.metadata().num_row_groups() {
            let cut = slices(file, group, roots.clone(), self.planned.memory.slice).await?;
            let batch_rows = batch_rows(file, group)?;
            for range in &cut.rows {
                let mut slice = cut.read(file, range.clone(), batch_rows).await?;
                while let Some(arrays) = slice.next()? {
                    rows += arrays.first().map_or(0, |array| array.len() as u64);
                    self.batch(&binding.convert(&arrays)?).await?;
                    let share = u128::from(input.object.bytes) * u128::from(rows);
                    let share = share / u128::from(input.rows.max(1));
                    let share = u64::try_from(share).unwrap_or(u64::MAX);
                    self.tell(before.saturating_add(share.min(input.object.bytes)));
                    self.host.pause().await;
                }
            }
        }
        self.tell(before.saturating_add(input.object.bytes));
        match rows == input.rows {
            true => Ok(()),
            false => Err(Error::damaged(format!(
                "{rows} rows were read of a file of {}",
                input.rows
            ))),
        }
    }

    fn tell(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.host.bytes(bytes, self.planned.plan.bytes_to_rewrite);
    }

    /// Writes rows, and ends a file that is large enough.
    async fn batch(&mut self, batch: &arrow_array::RecordBatch) -> Result<()> {
        if self.open.is_none() {
            self.begin()?;
        }
        let Some((encoder, upload, _)) = &mut self.open else {
            return Err(Error::new(Kind::Internal, "a file that was not begun"));
        };
        encoder.write(batch)?;
        upload.send(encoder.parts()).await?;
        match encoder.bytes() >= self.planned.target {
            true => self.end().await,
            false => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<()> {
        let (compression, name) = match self.work.dense {
            true => (Compression::ZSTD(ZstdLevel::default()), "zstd"),
            // The codec that every reader has and that costs least.
            false => (Compression::SNAPPY, "snappy"),
        };
        let encoder = Encoder::new(&self.schema, compression, &self.planned.memory, self.engine)?;
        let number = self.written.objects;
        let key = path(&format!("{}part-{number:05}.{name}.parquet", self.prefix))?;
        let upload = Upload::new(Arc::clone(self.store), key.clone());
        self.open = Some((encoder, upload, key));
        Ok(())
    }

    /// Ends the file that is open, and looks whether the store has it.
    async fn end(&mut self) -> Result<()> {
        let Some((encoder, mut upload, key)) = self.open.take() else {
            return Ok(());
        };
        let put = async {
            let (parts, rows) = encoder.finish()?;
            upload.finish(parts).await?;
            Ok(rows)
        };
        let rows = match put.await {
            Ok(rows) => rows,
            Err(error) => {
                upload.abort().await;
                return Err(error);
            }
        };
        let file = ParquetFile::open(self.store, &key).await?;
        let found = u64::try_from(file.metadata().file_metadata().num_rows());
        if file.size() != upload.bytes || found != Ok(rows) {
            let other = "the store holds another file than was put";
            return Err(Error::damaged(other).at("key", &key));
        }
        let object = Object {
            key: key.to_string(),
            bytes: upload.bytes,
            put: self.planned.store_time,
            etag: None,
        };
        self.checker.take(&object, &file)?;
        self.written.objects += 1;
        self.written.bytes += upload.bytes;
        self.written.rows += rows;
        Ok(())
    }
}
