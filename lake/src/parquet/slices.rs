//! A row group read in slices that fit in memory, however large it is.

use std::ops::Range;

use ::parquet::arrow::ProjectionMask;
use arrow_array::{Array, ArrayRef};
use arrow_select::concat::concat;

use super::batches::Batches;
use super::fetch::{self, Plan};
use super::group::{self, Part};
use super::reader::ParquetFile;
use crate::{Error, Kind, Result};

/// Most rows of a batch, and the bytes that one should not have more of.
const BATCH_ROWS: u64 = 8192;
const BATCH_BYTES: u64 = 4 << 20;

/// How a row group's columns are read.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    group: usize,
    /// Root columns of the file, in its order.
    roots: Vec<usize>,
    /// How each of them lies; `None` where the row group is read whole.
    plans: Option<Vec<Plan>>,
    /// The rows of each slice, from the row group's first on.
    pub(crate) rows: Vec<Range<u64>>,
}

/// Divides a row group into slices of about `limit` bytes; one where it is not larger.
///
/// [`Kind::TooLarge`] where it cannot be divided: where nothing says which rows its pages hold.
pub(crate) async fn slices(
    file: &ParquetFile,
    group: usize,
    mut roots: Vec<usize>,
    limit: u64,
) -> Result<Slices> {
    roots.sort_unstable();
    let rows = rows(file, group)?;
    if bytes(file, group, &roots)? <= limit {
        return Ok(Slices {
            group,
            roots,
            plans: None,
            rows: std::iter::once(0..rows).collect(),
        });
    }
    let plans = fetch::layout(file, group, &roots).await?;
    let cost = |rows: Range<u64>| -> u64 {
        let part = Part::run(group, rows);
        plans.iter().map(|plan| plan.of(&part).bytes()).sum()
    };
    // What every slice needs: dictionaries, and columns whose pages nobody knows.
    let fixed = cost(0..0);
    let mut done = Vec::new();
    let mut open: Vec<Range<u64>> = std::iter::once(0..rows).collect();
    while let Some(rows) = open.pop() {
        let (bytes, middle) = (cost(rows.clone()), rows.start + (rows.end - rows.start) / 2);
        if bytes.saturating_sub(fixed) <= limit / 2 || middle == rows.start {
            if bytes > limit.saturating_mul(2) {
                return Err(Error::new(
                    Kind::TooLarge,
                    format!("a row group that cannot be read in less than {bytes} bytes at once"),
                ));
            }
            done.push(rows);
            continue;
        }
        open.push(middle..rows.end);
        open.push(rows.start..middle);
    }
    Ok(Slices {
        group,
        roots,
        plans: Some(plans),
        rows: done,
    })
}

/// Whether a row group can be divided, as far as the footer tells.
pub(crate) fn divisible(file: &ParquetFile, group: usize, roots: &[usize]) -> bool {
    let metadata = file.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let chunks = metadata.row_groups().get(group).map(|g| g.columns());
    let mut own = chunks.unwrap_or_default().iter().enumerate();
    own.all(|(leaf, chunk)| {
        !roots.contains(&schema.get_column_root_idx(leaf))
            || chunk.offset_index_offset().is_some()
            || chunk.column_descr().max_rep_level() == 0
    })
}

/// Bytes of these root columns of a row group.
pub(crate) fn bytes(file: &ParquetFile, group: usize, roots: &[usize]) -> Result<u64> {
    let schema = file.metadata().file_metadata().schema_descr();
    let mut bytes = 0u64;
    for leaf in 0..schema.num_columns() {
        if roots.contains(&schema.get_column_root_idx(leaf)) {
            let range = file.chunk_range(group, leaf)?;
            bytes = bytes.saturating_add(range.end - range.start);
        }
    }
    Ok(bytes)
}

/// Rows of a row group.
pub(crate) fn rows(file: &ParquetFile, group: usize) -> Result<u64> {
    let found = file.metadata().row_groups().get(group);
    let rows = found.and_then(|group| u64::try_from(group.num_rows()).ok());
    rows.ok_or_else(|| Error::not_found(format!("no row group {group}")))
}

/// Rows of a batch that are not too many bytes, as far as the footer tells.
pub(crate) fn batch_rows(file: &ParquetFile, group: usize) -> Result<usize> {
    let own = file.metadata().row_groups().get(group);
    let chunks = own.map(|group| group.columns()).unwrap_or_default();
    let sizes = chunks
        .iter()
        .map(|chunk| u64::try_from(chunk.uncompressed_size()).unwrap_or(0));
    let bytes = sizes.fold(0u64, u64::saturating_add);
    let rows = rows(file, group)?;
    let fit = u128::from(rows) * u128::from(BATCH_BYTES) / u128::from(bytes.max(1));
    let fit = u64::try_from(fit)
        .unwrap_or(BATCH_ROWS)
        .clamp(1, BATCH_ROWS);
    Ok(usize::try_from(fit).unwrap_or(1))
}

impl Slices {
    /// Fetches a slice, at once. Decoding it happens while it is driven and touches no store.
    pub(crate) async fn read(
        &self,
        file: &ParquetFile,
        rows: Range<u64>,
        batch_rows: usize,
    ) -> Result<Slice> {
        let left = usize::try_from(rows.end - rows.start);
        let left =
            left.map_err(|_| Error::new(Kind::TooLarge, "a row group with too many rows"))?;
        let Some(plans) = &self.plans else {
            let schema = file.metadata().file_metadata().schema_descr();
            let mask = ProjectionMask::roots(schema, self.roots.iter().copied());
            let whole = file.row_group(self.group, &mask, batch_rows).await?;
            return Ok(Slice {
                left,
                batch_rows,
                reading: Reading::Whole(whole),
            });
        };
        let part = Part::run(self.group, rows.clone());
        let plans: Vec<Plan> = plans.iter().map(|plan| plan.of(&part)).collect();
        let fetched = fetch::gather(file, &plans).await?;
        let mut columns = Vec::with_capacity(plans.len());
        for (plan, root) in plans.iter().zip(&self.roots) {
            // Some columns start earlier, at a row that starts a page in each of their leaves.
            let first = plan.rows.runs.first().map_or(rows.start, |run| run.start);
            columns.push(Column {
                batches: group::planned(file, &fetched, plan, *root, batch_rows)?,
                skip: usize::try_from(rows.start.saturating_sub(first)).unwrap_or(usize::MAX),
                held: None,
            });
        }
        Ok(Slice {
            left,
            batch_rows,
            reading: Reading::Columns(columns),
        })
    }
}

/// Rows that were fetched.
pub(crate) struct Slice {
    left: usize,
    batch_rows: usize,
    reading: Reading,
}

enum Reading {
    Whole(Batches),
    Columns(Vec<Column>),
}

impl Slice {
    /// The next rows, an array for each root column in the file's order; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<ArrayRef>>> {
        let arrays = match &mut self.reading {
            Reading::Whole(batches) => match batches.next() {
                Some(batch) => batch?.columns().to_vec(),
                None => Vec::new(),
            },
            Reading::Columns(_) if self.left == 0 => Vec::new(),
            Reading::Columns(columns) => {
                let rows = self.left.min(self.batch_rows);
                columns
                    .iter_mut()
                    .map(|column| column.take(rows))
                    .collect::<Result<_>>()?
            }
        };
        let rows = arrays.first().map_or(0, |array| array.len());
        if rows == 0 && self.left > 0 || rows > self.left {
            return Err(Error::damaged(
                "a row group has another number of rows than it says",
            ));
        }
        self.left -= rows;
        Ok((rows > 0).then_some(arrays))
    }
}

/// One root column, read in step with the others.
struct Column {
    batches: Batches,
    /// Rows that come before the slice.
    skip: usize,
    /// What came and was not taken.
    held: Option<ArrayRef>,
}

impl Column {
    fn take(&mut self, rows: usize) -> Result<ArrayRef> {
        let mut pieces: Vec<ArrayRef> = Vec::new();
        let mut lacking = rows;
        while lacking > 0 {
            let array = match self.held.take() {
                Some(array) => array,
                None => self.fetch()?,
            };
            let skipped = self.skip.min(array.len());
            self.skip -= skipped;
            let taken = lacking.min(array.len() - skipped);
            if taken > 0 {
                pieces.push(array.slice(skipped, taken));
                lacking -= taken;
            }
            let used = skipped + taken;
            self.held = (used < array.len()).then(|| array.slice(used, array.len() - used));
        }
        match pieces.as_slice() {
            [one] => Ok(ArrayRef::clone(one)),
            many => {
                let many: Vec<&dyn Array> = many.iter().map(|piece| piece.as_ref()).collect();
                Ok(concat(&many)?)
            }
        }
    }

    fn fetch(&mut self) -> Result<ArrayRef> {
        let batch = self.batches.next().transpose()?;
        let array = batch.and_then(|batch| batch.columns().first().cloned());
        let array = array.filter(|array| !array.is_empty());
        array.ok_or_else(|| Error::damaged("a column ends before its row group does"))
    }
}
