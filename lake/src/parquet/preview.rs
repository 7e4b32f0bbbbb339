//! Rows of a data file as a reader of the table gets them.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt};

use super::bind;
use super::file::TableFile;
use super::group::{self, Cells, Part};
use super::positions::positions;
use super::reader::ParquetFile;
use crate::wire::file::{RowColumn, RowsReport};
use crate::{Error, Result};

/// Rows in one answer.
const ROWS: usize = 10_000;

/// Cells in one answer; at least one row is given.
const CELLS: usize = 1_000_000;

/// Row groups read for one answer.
const GROUPS: usize = 64;

/// Row groups read at once.
const AT_ONCE: usize = 4;

/// Bytes of text in one answer; at least one row is given.
const TEXT: usize = 16 * 1024 * 1024;

/// Where a column's values come from.
enum Source {
    Partition(Option<String>),
    /// The root column of the file at this place.
    File(usize),
    /// Nowhere: the file is older than the column.
    Missing,
}

pub(crate) async fn rows(
    file: &TableFile,
    parquet: &ParquetFile,
    offset: u64,
    limit: u32,
) -> Result<RowsReport> {
    let most = (CELLS / file.schema.fields.len().max(1)).clamp(1, ROWS);
    let limit = usize::try_from(limit).unwrap_or(most).min(most);
    let total = super::footer::rows(parquet);
    let mut found = positions(file.masked.as_deref(), total, offset, limit);
    let (parts, kept) = parts(parquet, &found.shown);
    if let Some(dropped) = found.shown.get(kept) {
        found.next = Some(*dropped);
        found.shown.truncate(kept);
    }
    let mut warnings = Vec::new();
    let sources = sources(file, parquet, &mut warnings);
    let columns = read(file, parquet, parts, &sources).await?;
    let mut report = assemble(file, sources, columns, found.shown.len(), &mut warnings)?;
    let fitting = fitting(&report.rows);
    if fitting < report.rows.len() {
        report.rows.truncate(fitting);
        found.next = found.shown.get(fitting).copied();
        found.shown.truncate(fitting);
    }
    let passed = found.next.unwrap_or(total.max(offset)) - offset;
    report.masked = passed - found.shown.len() as u64;
    report.positions = found.shown;
    report.next = found.next;
    report.bytes_read = parquet.bytes_read();
    report.warnings = warnings;
    Ok(report)
}

/// The rows at `positions` by row group, and how many positions that covers.
fn parts(parquet: &ParquetFile, positions: &[u64]) -> (Vec<Part>, usize) {
    let mut parts = Vec::new();
    let (mut start, mut taken) = (0u64, 0);
    for (index, group) in parquet.metadata().row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        let end = start.saturating_add(rows);
        let left = positions.get(taken..).unwrap_or_default();
        let own = left.partition_point(|position| *position < end);
        if own > 0 {
            if parts.len() == GROUPS {
                break;
            }
            let own = left.get(..own).unwrap_or_default();
            parts.push(Part::new(
                index,
                own.iter().map(|position| position - start),
            ));
            taken += own.len();
        }
        if taken == positions.len() {
            break;
        }
        start = end;
    }
    (parts, taken)
}

fn sources(file: &TableFile, parquet: &ParquetFile, warnings: &mut Vec<String>) -> Vec<Source> {
    let schema = parquet.arrow().parquet_schema();
    let root = schema.root_schema();
    let without_ids = root
        .get_fields()
        .iter()
        .all(|f| !f.get_basic_info().has_id());
    if file.by_id && without_ids {
        warnings.push("the file has no field ids, by which the table finds its columns".to_owned());
    }
    let source = |field: &crate::schema::Field| {
        if file.partition_columns.contains(&field.name) {
            let value = file.file.partition.get(&field.name);
            return Source::Partition(value.cloned().flatten());
        }
        match bind::child(root, field, file.by_id) {
            Some(root) => Source::File(root),
            None => Source::Missing,
        }
    };
    file.schema.fields.iter().map(source).collect()
}

/// The cells of each root column, whole or with the first error met.
type Columns = BTreeMap<usize, Result<Cells>>;

async fn read(
    file: &TableFile,
    parquet: &ParquetFile,
    parts: Vec<Part>,
    sources: &[Source],
) -> Result<Columns> {
    let fields = &file.schema.fields;
    let roots: Vec<(usize, &crate::schema::Field)> = sources
        .iter()
        .zip(fields)
        .filter_map(|(source, field)| match source {
            Source::File(root) => Some((*root, field)),
            _ => None,
        })
        .collect();
    let mut columns: Columns = roots
        .iter()
        .map(|(root, _)| (*root, Ok(Cells::default())))
        .collect();
    let reads = parts
        .iter()
        .map(|part| group::read(parquet, part, &roots, file.by_id));
    let mut groups = futures::stream::iter(reads).buffered(AT_ONCE);
    while let Some(group) = groups.try_next().await? {
        for ((root, _), cells) in roots.iter().zip(group) {
            let Some(column) = columns.get_mut(root) else {
                continue;
            };
            match (column.as_mut(), cells) {
                (Ok(all), Ok(cells)) => all.append(cells),
                (Ok(_), Err(error)) => *column = Err(error),
                (Err(_), _) => {}
            }
        }
    }
    Ok(columns)
}

fn assemble(
    file: &TableFile,
    sources: Vec<Source>,
    mut columns: Columns,
    count: usize,
    warnings: &mut Vec<String>,
) -> Result<RowsReport> {
    let mut rows: Vec<Vec<Option<String>>> = vec![Vec::new(); count];
    let (mut shown, mut failed, mut read) = (Vec::new(), None::<Error>, 0);
    for (source, field) in sources.into_iter().zip(&file.schema.fields) {
        let is_partition = matches!(source, Source::Partition(_));
        match source {
            Source::Partition(value) => rows.iter_mut().for_each(|row| row.push(value.clone())),
            Source::Missing => rows.iter_mut().for_each(|row| row.push(None)),
            Source::File(root) => match columns.remove(&root) {
                Some(Ok(cells)) => {
                    read += 1;
                    for note in cells.notes {
                        warnings.push(format!("column `{}`: {note}", field.name));
                    }
                    let texts = cells.texts.into_iter().chain(std::iter::repeat(None));
                    rows.iter_mut()
                        .zip(texts)
                        .for_each(|(row, text)| row.push(text));
                }
                Some(Err(error)) => {
                    warnings.push(format!("column `{}`: {}", field.name, error.sentence()));
                    failed = failed.or(Some(error));
                    continue;
                }
                // Two fields that claim the same column: the first one has it.
                None => {
                    warnings.push(format!(
                        "column `{}`: its column in the file belongs to another one too",
                        field.name
                    ));
                    continue;
                }
            },
        }
        shown.push(RowColumn {
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            partition: is_partition,
            numeric: bind::is_numeric(&field.data_type),
        });
    }
    if let Some(error) = failed
        && read == 0
    {
        return Err(error);
    }
    Ok(RowsReport {
        columns: shown,
        rows,
        positions: Vec::new(),
        next: None,
        masked: 0,
        bytes_read: 0,
        warnings: Vec::new(),
    })
}

/// How many rows fit into one answer.
fn fitting(rows: &[Vec<Option<String>>]) -> usize {
    let mut left = TEXT;
    for (count, row) in rows.iter().enumerate() {
        let bytes: usize = row.iter().flatten().map(String::len).sum();
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => return count.max(1),
        }
    }
    rows.len()
}
