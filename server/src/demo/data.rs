//! Data files as a writer leaves them and as compaction does.

use arrow_array::RecordBatch;
use lake::Result;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

/// How a data file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// As a writer leaves it: Snappy, small row groups, a bloom filter on the column named.
    Written(&'static str),
    /// As compaction leaves it: zstd.
    Packed,
}

/// A record batch as a Parquet file.
pub(super) fn parquet_bytes(batch: &RecordBatch, packing: Packing) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(1_000);
    let properties = match packing {
        Packing::Written(key) => properties
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(5_000))
            .set_column_bloom_filter_enabled(ColumnPath::from(key), batch.num_rows() >= 1_000)
            .set_column_bloom_filter_max_ndv(ColumnPath::from(key), 5_000),
        Packing::Packed => properties
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(50_000)),
    };
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(true)
        .with_schema_root("spark_schema".to_owned());
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options)?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}
