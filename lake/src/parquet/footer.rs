//! The report about a file's footer, beside what the log says of the file.

use ::parquet::basic::Encoding;
use ::parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use ::parquet::schema::types::SchemaDescriptor;
use indexmap::IndexMap;

use super::file::TableFile;
use super::reader::ParquetFile;
use super::{bind, codec, logical, statistics};
use crate::wire::file::{ChunkReport, ColumnReport, FileReport, RowGroupReport};

/// Bytes of JSON that the parts of a report may take: columns first, then row groups, then chunks.
const COLUMNS_BYTES: usize = 400_000;
const GROUPS_BYTES: usize = 300_000;
const CHUNKS_BYTES: usize = 1_000_000;

/// Columns listed, so that the chunks of at least one row group can be.
const COLUMNS: usize = 2_000;

/// Bytes of key-value metadata shown of one value, and keys shown.
const VALUE_BYTES: usize = 2_000;
const KEYS: usize = 50;

/// A part's share of the report, used up item by item.
struct Budget(usize);

impl Budget {
    fn takes(&mut self, bytes: usize) -> bool {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => {
                self.0 = 0;
                false
            }
        }
    }
}

pub(crate) fn report(file: &TableFile, parquet: &ParquetFile) -> FileReport {
    let metadata = parquet.metadata();
    let about = metadata.file_metadata();
    let schema = about.schema_descr();
    let mut warnings = mismatches(file, parquet);
    let columns = columns(file, schema, &mut warnings);
    let row_groups = row_groups(metadata.row_groups(), schema, columns.len(), &mut warnings);
    let key_values = about.key_value_metadata().map(Vec::as_slice);
    let key_values: IndexMap<String, String> = key_values
        .unwrap_or_default()
        .iter()
        .take(KEYS)
        .map(|pair| {
            let value = pair.value.as_deref().unwrap_or_default();
            (cut(&pair.key, VALUE_BYTES), cut(value, VALUE_BYTES))
        })
        .collect();
    FileReport {
        file: file.file.clone(),
        log_stats: file.log_stats.as_deref().map(|stats| cut(stats, 100_000)),
        object_bytes: parquet.size(),
        format_version: about.version(),
        created_by: about.created_by().map(|text| cut(text, VALUE_BYTES)),
        footer_bytes: parquet.footer_bytes(),
        rows: rows(parquet),
        key_values,
        columns,
        row_groups,
        warnings,
    }
}

/// Rows in the file: the row groups' sum, which readers go by.
pub(crate) fn rows(parquet: &ParquetFile) -> u64 {
    let groups = parquet.metadata().row_groups();
    groups.iter().map(|g| unsigned(g.num_rows())).sum()
}

/// What the log and the file say differently.
fn mismatches(file: &TableFile, parquet: &ParquetFile) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut differ = |what: &str, log: u64, found: u64| {
        if log != found {
            warnings.push(format!("the log says {log} {what}, the file has {found}"));
        }
    };
    if let Some(bytes) = file.file.bytes {
        differ("bytes", bytes, parquet.size());
    }
    let rows = rows(parquet);
    let stats = file.log_stats.as_deref().unwrap_or_default();
    let stats: Option<serde_json::Value> = serde_json::from_str(stats).ok();
    match stats.as_ref().map(|stats| &stats["numRecords"]) {
        Some(records) if records.is_u64() => {
            differ("records", records.as_u64().unwrap_or_default(), rows);
        }
        _ => {}
    }
    let stated = unsigned(parquet.metadata().file_metadata().num_rows());
    if stated != rows {
        warnings.push(format!(
            "the footer says {stated} rows, its row groups have {rows}"
        ));
    }
    if file.file.deleted_rows > rows {
        warnings.push(format!(
            "{} rows are masked, the file has {rows}",
            file.file.deleted_rows
        ));
    }
    if file.log_stats.is_some() && stats.is_none() {
        warnings.push("the log's statistics of the file are not JSON".to_owned());
    }
    warnings
}

fn columns(
    file: &TableFile,
    schema: &SchemaDescriptor,
    warnings: &mut Vec<String>,
) -> Vec<ColumnReport> {
    let fields = &file.schema.fields;
    let logical = bind::logical_paths(schema.root_schema(), fields, file.by_id);
    let mut logical = logical.into_iter();
    let mut budget = Budget(COLUMNS_BYTES);
    let mut columns = Vec::new();
    for column in schema.columns() {
        let info = column.self_type().get_basic_info();
        let report = ColumnReport {
            path: column.path().string(),
            logical: logical.next().flatten(),
            field_id: info.has_id().then(|| info.id()),
            physical_type: column.physical_type().to_string(),
            logical_type: logical::name(column),
            // Whatever is optional or repeated on the way adds a level.
            required: column.max_def_level() == 0 && column.max_rep_level() == 0,
        };
        let logical = report.logical.as_deref().unwrap_or_default();
        let bytes = json_bytes(&report.path) + json_bytes(logical);
        if columns.len() == COLUMNS || !budget.takes(bytes + 120) {
            warnings.push(format!(
                "the file has {} columns; the first {} are listed",
                schema.num_columns(),
                columns.len()
            ));
            break;
        }
        columns.push(report);
    }
    columns
}

fn row_groups(
    groups: &[RowGroupMetaData],
    schema: &SchemaDescriptor,
    columns: usize,
    warnings: &mut Vec<String>,
) -> Vec<RowGroupReport> {
    let (mut own, mut below) = (Budget(GROUPS_BYTES), Budget(CHUNKS_BYTES));
    let mut reports = Vec::new();
    let mut without_chunks = false;
    for group in groups {
        let sorted_by: Vec<String> = group
            .sorting_columns()
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .take(32)
            .map(|by| {
                let column = usize::try_from(by.column_idx).ok();
                let column = column.and_then(|leaf| schema.columns().get(leaf));
                let name = column.map_or_else(
                    || format!("column {}", by.column_idx),
                    |column| column.path().string(),
                );
                let order = if by.descending { "desc" } else { "asc" };
                let nulls = if by.nulls_first { "first" } else { "last" };
                format!("{name} {order} nulls {nulls}")
            })
            .collect();
        let text: usize = sorted_by.iter().map(|by| json_bytes(by)).sum();
        if !own.takes(100 + text) {
            warnings.push(format!(
                "the file has {} row groups; the first {} are listed",
                groups.len(),
                reports.len()
            ));
            break;
        }
        let mut chunks = Vec::new();
        for chunk in group.columns().iter().take(columns) {
            let report = chunk_report(chunk);
            let text = [&report.min, &report.max].into_iter().flatten();
            let text: usize = text.map(|bound| json_bytes(bound)).sum();
            if !below.takes(320 + text) {
                chunks.clear();
                without_chunks = true;
                break;
            }
            chunks.push(report);
        }
        reports.push(RowGroupReport {
            rows: unsigned(group.num_rows()),
            compressed_bytes: group.columns().iter().fold(0, |sum: u64, c| {
                sum.saturating_add(unsigned(c.compressed_size()))
            }),
            uncompressed_bytes: unsigned(group.total_byte_size()),
            chunks,
            sorted_by,
        });
    }
    if without_chunks {
        let shown = reports.iter().filter(|group| !group.chunks.is_empty());
        warnings.push(format!(
            "column chunks are listed for {} of {} row groups",
            shown.count(),
            groups.len()
        ));
    }
    reports
}

fn chunk_report(chunk: &ColumnChunkMetaData) -> ChunkReport {
    let column = chunk.column_descr();
    let known = chunk.statistics();
    let bounds = known.map(|known| statistics::bounds(known, column));
    let bounds = bounds.unwrap_or_default();
    let offset = match chunk.dictionary_page_offset() {
        Some(dictionary) => dictionary,
        None => chunk.data_page_offset(),
    };
    ChunkReport {
        codec: codec::name(chunk.compression()).to_owned(),
        encodings: chunk.encodings().map(|e| e.to_string()).collect(),
        values: unsigned(chunk.num_values()),
        nulls: known.and_then(|known| known.null_count_opt()),
        min: bounds.min,
        max: bounds.max,
        exact: bounds.exact,
        distinct: known.and_then(|known| known.distinct_count_opt()),
        offset: unsigned(offset),
        compressed_bytes: unsigned(chunk.compressed_size()),
        uncompressed_bytes: unsigned(chunk.uncompressed_size()),
        dictionary: has_dictionary(chunk),
        bloom_filter_bytes: chunk.bloom_filter_offset().map(|_| {
            let length = chunk.bloom_filter_length().unwrap_or(0);
            u64::try_from(length).unwrap_or(0)
        }),
        page_index: chunk.offset_index_offset().is_some(),
    }
}

/// Some writers leave the dictionary's place out; its encoding gives it away.
fn has_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    let mut encodings = chunk.encodings();
    chunk.dictionary_page_offset().is_some()
        || encodings.any(|e| matches!(e, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY))
}

/// Bytes of a text in JSON, roughly: control characters take six.
fn json_bytes(text: &str) -> usize {
    text.len() + 5 * text.bytes().filter(|b| *b < 0x20 || *b == b'"').count()
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    format!("{}…", text.get(..end).unwrap_or_default())
}
