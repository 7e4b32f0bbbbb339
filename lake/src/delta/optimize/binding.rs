//! How the columns of a file become the columns of a new one, and its rows that one's rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, new_null_array};
use arrow_schema::{DataType, FieldRef};
use arrow_select::filter::filter_record_batch;
use roaring::RoaringTreemap;

use super::cast::{cast, castable};
use super::columns::Columns;
use super::fit::{Fit, convert, find, fit};
use crate::parquet::reader::ParquetFile;
use crate::{Error, Kind, Result};

/// How the columns of a file become the table's.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// Root columns of the file that are read, in its order.
    pub(super) roots: Vec<usize>,
    /// For each column of a new file, the place among `roots`, and what is done to it.
    columns: Vec<Option<(usize, Fit)>>,
    /// The same for row ids and the versions of rows.
    ids: [Option<usize>; 2],
}

impl Binding {
    /// Binds a file's columns to the table's; an error where one does not fit.
    pub(super) fn of(file: &ParquetFile, columns: &Columns) -> Result<Self> {
        let own = file.arrow().schema().fields();
        let by_id = columns.by_id;
        let mut found: Vec<Option<(usize, Fit)>> = Vec::with_capacity(columns.fields.len());
        for (field, to) in columns.fields.iter().zip(columns.arrow.fields()) {
            let at = find(own, field, by_id)?;
            found.push(match at.and_then(|at| Some((at, own.get(at)?))) {
                Some((at, from)) => {
                    Some((at, fit(from.data_type(), field, to.data_type(), by_id)?))
                }
                None => None,
            });
        }
        if found.iter().all(Option::is_none) {
            return Err(Error::unsupported("none of its columns is the table's"));
        }
        let mut ids = [None, None];
        if let Some((id, since)) = &columns.tracked {
            for (slot, name) in ids.iter_mut().zip([id, since]) {
                let at = own.iter().position(|f: &FieldRef| f.name() == name);
                if let Some(from) = at.and_then(|at| own.get(at))
                    && castable(from.data_type(), &DataType::Int64).is_none()
                {
                    return Err(Error::unsupported("its column of row ids holds no numbers"));
                }
                *slot = at;
            }
        }
        let mut roots: Vec<usize> = found.iter().flatten().map(|(at, _)| *at).collect();
        roots.extend(ids.iter().flatten());
        roots.sort_unstable();
        roots.dedup();
        let place = |at: usize| roots.binary_search(&at).unwrap_or(usize::MAX);
        Ok(Self {
            columns: found
                .into_iter()
                .map(|own| own.map(|(at, fit)| (place(at), fit)))
                .collect(),
            ids: ids.map(|at| at.map(place)),
            roots,
        })
    }
}

/// What makes rows of one file rows of the table.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    pub(super) binding: Binding,
    pub(super) columns: Arc<Columns>,
    pub(super) masked: RoaringTreemap,
    pub(super) ids: Option<(i64, i64)>,
}

impl Conversion {
    /// The rows as the table has them, without those that are masked; `first` is the position of the
    /// first of them in the file.
    pub(super) fn convert(&self, arrays: &[ArrayRef], first: u64) -> Result<RecordBatch> {
        let rows = arrays.first().map_or(0, |array| array.len());
        let missing = || Error::new(Kind::Internal, "a column that was not read");
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.columns.arrow.fields().len());
        for (own, to) in self.binding.columns.iter().zip(self.columns.arrow.fields()) {
            columns.push(match own {
                Some((at, fit)) => {
                    convert(arrays.get(*at).ok_or_else(missing)?, fit, to.data_type())?
                }
                None => new_null_array(to.data_type(), rows),
            });
        }
        if let Some((base, since)) = self.ids {
            let [id_at, since_at] = self.binding.ids;
            let start = i64::try_from(first)
                .unwrap_or(i64::MAX)
                .saturating_add(base);
            let own =
                |at: Option<usize>| at.map(|at| arrays.get(at).ok_or_else(missing)).transpose();
            columns.push(kept(own(id_at)?, (start..).take(rows))?);
            columns.push(kept(own(since_at)?, std::iter::repeat_n(since, rows))?);
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.columns.arrow), columns)?;
        if self.masked.is_empty() {
            return Ok(batch);
        }
        let keep = (first..).take(rows).map(|row| !self.masked.contains(row));
        let keep = BooleanArray::from(keep.collect::<Vec<bool>>());
        Ok(filter_record_batch(&batch, &keep)?)
    }
}

/// Values that were written down, else those that follow from the file's add.
fn kept(own: Option<&ArrayRef>, else_: impl Iterator<Item = i64>) -> Result<ArrayRef> {
    let Some(own) = own else {
        return Ok(Arc::new(Int64Array::from_iter_values(else_)));
    };
    let how = castable(own.data_type(), &DataType::Int64);
    let how = how.ok_or_else(|| Error::new(Kind::Internal, "row ids that are no numbers"))?;
    let own = cast(own, how, &DataType::Int64)?;
    let own = own.as_any().downcast_ref::<Int64Array>();
    let own = own.ok_or_else(|| Error::new(Kind::Internal, "row ids that are no numbers"))?;
    let values = own
        .iter()
        .zip(else_)
        .map(|(own, else_)| own.unwrap_or(else_));
    Ok(Arc::new(Int64Array::from_iter_values(values)))
}
