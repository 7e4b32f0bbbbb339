//! Chosen rows of one row group, column by column, from as few bytes as that takes.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReaderBuilder, RowSelection, RowSelectionPolicy,
};
use ::parquet::file::metadata::page_index::PageIndexBuilder;
use ::parquet::file::metadata::{OffsetIndexBuilder, ParquetMetaData};

use super::batches::{Batches, caught};
use super::fetch::{self, Plan};
use super::ranges::Fetched;
use super::reader::ParquetFile;
use super::schema::arrow_metadata;
use super::{bind, cell};
use crate::schema::Field;
use crate::{Error, Result};

/// Rows wanted of one row group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) group: usize,
    /// Runs of rows, counted from the row group's first, in order.
    pub(crate) runs: Vec<Range<u64>>,
    pub(crate) count: usize,
}

impl Part {
    pub(crate) fn new(group: usize, rows: impl Iterator<Item = u64>) -> Self {
        let (mut runs, mut count): (Vec<Range<u64>>, _) = (Vec::new(), 0);
        for row in rows {
            count += 1;
            match runs.last_mut() {
                Some(run) if run.end == row => run.end += 1,
                _ => runs.push(row..row + 1),
            }
        }
        Self { group, runs, count }
    }

    /// One run of rows.
    pub(crate) fn run(group: usize, rows: Range<u64>) -> Self {
        Self {
            group,
            count: usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX),
            runs: vec![rows],
        }
    }

    /// Whether a row is wanted.
    fn wants(&self, row: u64) -> bool {
        self.touches(&(row..row + 1))
    }

    /// The rows one after another.
    fn rows(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().cloned().flatten()
    }

    /// Whether a page that holds these rows is needed.
    pub(crate) fn touches(&self, rows: &Range<u64>) -> bool {
        let first = self.runs.partition_point(|run| run.end <= rows.start);
        self.runs.get(first).is_some_and(|run| run.start < rows.end)
    }
}

/// Texts of one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    pub(crate) texts: Vec<Option<String>>,
    /// What a person should know of them.
    pub(crate) notes: Vec<String>,
}

impl Cells {
    pub(crate) fn append(&mut self, mut other: Self) {
        self.texts.append(&mut other.texts);
        for note in other.notes {
            self.note(note);
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// The cells of `roots` (root columns and the table's fields they hold) at the rows of `part`.
/// A column that cannot be read is an error of its own; what stops them all is one of the whole.
pub(crate) async fn read(
    file: &ParquetFile,
    part: &Part,
    roots: &[(usize, &Field)],
    by_id: bool,
) -> Result<Vec<Result<Cells>>> {
    let wanted: Vec<usize> = roots.iter().map(|(root, _)| *root).collect();
    let (fetched, plans) = fetch::fetch(file, part, &wanted).await?;
    let metadata = one_group(file, part.group, plans.iter().flatten())?;
    let cells = roots.iter().zip(plans).map(|((root, field), plan)| {
        let rows = plan?.rows;
        let chosen = Chosen {
            wanted: part,
            decoded: &rows,
            selection: selection(file, &rows)?,
        };
        let mut cells = decode(&fetched, &metadata, chosen, *root, field, by_id)?;
        if cells.texts.len() != part.count {
            return Err(Error::damaged(format!(
                "{} values came for {} rows",
                cells.texts.len(),
                part.count
            )));
        }
        cells.texts.shrink_to_fit();
        Ok(cells)
    });
    Ok(cells.collect())
}

/// The footer of a file with this row group alone, and with the places of the pages fetched.
fn one_group<'a>(
    file: &ParquetFile,
    group: usize,
    plans: impl Iterator<Item = &'a Plan>,
) -> Result<ArrowReaderMetadata> {
    let metadata = file.metadata();
    let found = metadata.row_groups().get(group);
    let own = found.ok_or_else(|| Error::not_found(format!("no row group {group}")))?;
    let leaves = own.num_columns();
    let alone = ParquetMetaData::new(metadata.file_metadata().clone(), vec![own.clone()]);
    let mut index = PageIndexBuilder::new(1, leaves);
    let mut any = false;
    for leaf in plans.flat_map(|plan| &plan.leaves) {
        let Some(pages) = &leaf.pages else {
            continue;
        };
        any = true;
        let mut builder = OffsetIndexBuilder::new();
        for (page, rows) in pages {
            let rows = i64::try_from(rows.end - rows.start).unwrap_or(i64::MAX);
            let offset = i64::try_from(page.start).unwrap_or(i64::MAX);
            let size = i32::try_from(page.end - page.start);
            let size = size.map_err(|_| Error::damaged("a page larger than a page can be"))?;
            builder.append_row_count(rows);
            builder.append_offset_and_size(offset, size);
        }
        index.put_offset_index(builder.build(), 0, leaf.leaf);
    }
    let alone = match any {
        true => alone
            .into_builder()
            .set_page_index(Some(Arc::new(index.build())))
            .build(),
        false => alone,
    };
    arrow_metadata(Arc::new(alone))
}

fn selection(file: &ParquetFile, part: &Part) -> Result<RowSelection> {
    let group = file.metadata().row_groups().get(part.group);
    let rows = group.map_or(0, |group| group.num_rows());
    // Where an address has 32 bits, so do the decoder's row numbers.
    let too_many = |_| Error::new(crate::Kind::TooLarge, format!("a row group of {rows} rows"));
    let rows = usize::try_from(rows).map_err(too_many)?;
    let runs = part
        .runs
        .iter()
        .map(|run| usize::try_from(run.start).unwrap_or(0)..usize::try_from(run.end).unwrap_or(0));
    Ok(RowSelection::from_consecutive_ranges(runs, rows))
}

/// The rows that a decoder is asked for, and which of them are kept.
struct Chosen<'a> {
    wanted: &'a Part,
    decoded: &'a Part,
    selection: RowSelection,
}

fn decode(
    fetched: &Fetched,
    metadata: &ArrowReaderMetadata,
    chosen: Chosen<'_>,
    root: usize,
    field: &Field,
    by_id: bool,
) -> Result<Cells> {
    const BATCH: usize = 1024;
    let reader = batches(fetched, metadata, chosen.selection, root, BATCH)?;
    let mut cells = Cells::default();
    let mut numbers = chosen.decoded.rows();
    for batch in reader {
        let batch = batch?;
        let Some(array) = batch.columns().first() else {
            return Err(Error::unsupported("the column has no values of any type"));
        };
        let fits = bind::fits(array.data_type(), field);
        if !fits {
            cells.note(format!(
                "shown as the file has it, not as {}",
                field.data_type
            ));
        }
        let shape = bind::shape(array.data_type(), fits.then_some(field), by_id);
        for (row, number) in (0..array.len()).zip(numbers.by_ref()) {
            if !chosen.wanted.wants(number) {
                continue;
            }
            let text = cell::text(array.as_ref(), row, &shape)?;
            if text.as_ref().is_some_and(|text| text.cut) {
                cells.note("long values are cut".to_owned());
            }
            cells.texts.push(text.map(|text| text.text));
        }
    }
    Ok(cells)
}

/// Decodes the rows selected of one root column.
fn batches(
    fetched: &Fetched,
    metadata: &ArrowReaderMetadata,
    selection: RowSelection,
    root: usize,
    batch_rows: usize,
) -> Result<Batches> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), [root]);
    let builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(fetched.clone(), metadata.clone())
            .with_projection(mask)
            .with_row_selection(selection)
            // Pages between the rows chosen were not fetched, so they must be skipped, not masked.
            .with_row_selection_policy(RowSelectionPolicy::Selectors)
            .with_batch_size(batch_rows);
    Ok(Batches::new(caught(|| builder.build())??))
}

/// Decodes the rows of a plan that was gathered.
#[cfg(feature = "write")]
pub(crate) fn planned(
    file: &ParquetFile,
    fetched: &Fetched,
    plan: &Plan,
    root: usize,
    batch_rows: usize,
) -> Result<Batches> {
    let metadata = one_group(file, plan.rows.group, std::iter::once(plan))?;
    let selection = selection(file, &plan.rows)?;
    batches(fetched, &metadata, selection, root, batch_rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_join_into_runs() {
        let part = Part::new(0, [1, 2, 3, 7, 9, 10].into_iter());
        assert_eq!(part.runs, [1..4, 7..8, 9..11]);
        assert_eq!(part.count, 6);
        for (page, needed) in [
            (0..1, false),
            (0..2, true),
            (4..7, false),
            (4..8, true),
            (11..20, false),
        ] {
            assert_eq!(part.touches(&page), needed, "{page:?}");
        }
    }
}
