//! A new file of the table, with the statistics that its add has.

use ::parquet::basic::Compression;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;

use super::Memory;
use super::stats::Stats;
use crate::Result;
use crate::parquet::output;

/// What encodes a file and sums its columns up. It touches no store.
pub(super) struct Encoder {
    inner: output::Encoder,
    stats: Stats,
}

impl Encoder {
    pub(super) fn new(
        schema: &SchemaRef,
        stats: Stats,
        compression: Compression,
        memory: &Memory,
        created_by: &str,
    ) -> Result<Self> {
        Ok(Self {
            inner: output::Encoder::new(schema, compression, memory, created_by)?,
            stats,
        })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.stats.take(batch);
        self.inner.write(batch)
    }

    /// Whole parts that are encoded.
    pub(super) fn parts(&mut self) -> Vec<Bytes> {
        self.inner.parts()
    }

    /// All that is left, and the rows that the footer has.
    pub(super) fn finish(self) -> Result<(Vec<Bytes>, u64, Stats)> {
        let (parts, rows) = self.inner.finish()?;
        Ok((parts, rows, self.stats))
    }
}
