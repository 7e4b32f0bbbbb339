//! The answers about one data file: footer, pages, rows.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::table::DataFile;

/// A Parquet file's footer beside what the log says of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileReport {
    /// What the log says.
    pub file: DataFile,
    /// `add.stats` as it stands in the log; `None` where the log has none.
    pub log_stats: Option<String>,
    /// Size in bytes as the store says.
    pub object_bytes: u64,
    /// Parquet format version of the footer.
    pub format_version: i32,
    /// Who wrote the file.
    pub created_by: Option<String>,
    /// Bytes of the footer.
    pub footer_bytes: u64,
    /// Rows in the file, masked ones included.
    pub rows: u64,
    /// Key-value metadata; long values cut.
    pub key_values: IndexMap<String, String>,
    /// Leaf columns in the file's order.
    pub columns: Vec<ColumnReport>,
    /// Row groups in the file's order.
    pub row_groups: Vec<RowGroupReport>,
    /// What does not fit together: log against footer.
    pub warnings: Vec<String>,
}

/// One leaf column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnReport {
    /// Dotted path as the file names it (the physical name).
    pub path: String,
    /// Dotted path as the table names it, where it has the column.
    pub logical: Option<String>,
    /// Parquet field id.
    pub field_id: Option<i32>,
    /// Physical type: `INT64`, `BYTE_ARRAY`…
    pub physical_type: String,
    /// Logical type: `STRING`, `TIMESTAMP(MICROS, UTC)`, `DECIMAL(10,2)`; empty if none.
    pub logical_type: String,
    /// Whether every level above and the leaf itself is required.
    pub required: bool,
}

/// One row group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowGroupReport {
    /// Rows in it.
    pub rows: u64,
    /// Bytes in the file.
    pub compressed_bytes: u64,
    /// Bytes after decompression.
    pub uncompressed_bytes: u64,
    /// Column chunks, in the order of [`FileReport::columns`]. Empty in all but the first few row
    /// groups of a very wide file.
    pub chunks: Vec<ChunkReport>,
    /// Columns the file says the rows are sorted by: `name asc nulls first`.
    pub sorted_by: Vec<String>,
}

/// One column chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkReport {
    /// `SNAPPY`, `ZSTD`…
    pub codec: String,
    /// Encodings of its pages.
    pub encodings: Vec<String>,
    /// Values, nulls included.
    pub values: u64,
    /// Nulls, where the statistics say.
    pub nulls: Option<u64>,
    /// Smallest value as text, where the statistics say.
    pub min: Option<String>,
    /// Largest value as text, where the statistics say.
    pub max: Option<String>,
    /// Whether `min` and `max` are the values themselves and not bounds of them.
    pub exact: Option<bool>,
    /// Distinct values, where the statistics say.
    pub distinct: Option<u64>,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes in the file.
    pub compressed_bytes: u64,
    /// Bytes after decompression.
    pub uncompressed_bytes: u64,
    /// Whether it has a dictionary page.
    pub dictionary: bool,
    /// Bytes of the bloom filter, where there is one (0 where its length is not stated).
    pub bloom_filter_bytes: Option<u64>,
    /// Whether the file has an offset index for it.
    pub page_index: bool,
}

/// The pages of one column chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagesReport {
    /// Pages in the file's order, at most a few thousand.
    pub pages: Vec<PageReport>,
    /// Pages in all.
    pub total: u64,
    /// `offset index` or `page headers`.
    pub source: String,
    /// Bytes read from the store to answer.
    pub bytes_read: u64,
    /// What is not shown, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageReport {
    /// `DICTIONARY`, `DATA`, `DATA_V2`.
    pub kind: String,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes in the file, header included.
    pub compressed_bytes: u64,
    /// Bytes after decompression, where the header was read.
    pub uncompressed_bytes: Option<u64>,
    /// First row of the row group in it, where known.
    pub first_row: Option<u64>,
    /// Values, nulls included, where known.
    pub values: Option<u64>,
    /// Encoding, where the header was read.
    pub encoding: Option<String>,
    /// Nulls, where the column index or the header says.
    pub nulls: Option<u64>,
    /// Smallest value as text, where the column index says.
    pub min: Option<String>,
    /// Largest value as text, where the column index says.
    pub max: Option<String>,
}

/// Rows of a data file as a reader of the table gets them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsReport {
    /// The table's columns, partition columns included, logical names.
    pub columns: Vec<RowColumn>,
    /// Rows: one text a column, `None` for null.
    pub rows: Vec<Vec<Option<String>>>,
    /// Position of each row in the file, from 0, masked rows counted.
    pub positions: Vec<u64>,
    /// Position to ask for next; `None` at the end.
    pub next: Option<u64>,
    /// Rows masked by the deletion vector among the positions passed.
    pub masked: u64,
    /// Bytes read from the store to answer.
    pub bytes_read: u64,
    /// Columns that could not be shown, each with its reason.
    pub warnings: Vec<String>,
}

/// A column of [`RowsReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowColumn {
    /// Logical name.
    pub name: String,
    /// The table's type.
    #[serde(rename = "type")]
    pub data_type: String,
    /// Whether the value comes from the partition and not from the file.
    pub partition: bool,
    /// Whether values are numbers, which are set to the right.
    pub numeric: bool,
}
