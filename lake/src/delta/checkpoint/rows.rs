//! The file actions of a checkpoint column by column, for a checkpoint that repeats them.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::file::metadata::RowGroupMetaData;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray, UInt32Array};
use arrow_schema::{Field, Fields};
use arrow_select::take::take;
use arrow_select::zip::zip;

use super::columns::{as_text, long, structure, text};
use super::conform::conform;
use super::whole::texts_of;
use super::{BATCH, vectors};
use crate::delta::key::{Key, key};
use crate::parquet::batches::Batches;
use crate::parquet::reader::ParquetFile;
use crate::{Error, Kind, Result};

/// A row group's file actions, batch by batch, with everything that is kept of them.
pub(crate) async fn file_rows(file: &ParquetFile, row_group: usize) -> Result<Batches> {
    let schema = file.metadata().file_metadata().schema_descr();
    let group = file.metadata().row_group(row_group);
    let columns = schema.columns();
    let leaf = |path: &str| columns.iter().position(|c| c.path().string() == path);
    let as_text = leaf("add.stats").is_some_and(|stats| {
        let nulls = |leaf| nulls(group, leaf);
        let (Some(path), stats) = (leaf("add.path"), nulls(stats)) else {
            return false;
        };
        stats.is_some() && stats == nulls(path)
    });
    let wanted = columns.iter().enumerate().filter(|(_, column)| {
        let parts = column.path().parts();
        let part = |at: usize| parts.get(at).map(String::as_str).unwrap_or_default();
        match (part(0), part(1)) {
            ("add", "partitionValues_parsed") => false,
            ("add", "stats_parsed") => !as_text,
            ("remove", "stats" | "stats_parsed" | "partitionValues_parsed" | "tags") => false,
            ("add" | "remove", _) => true,
            _ => false,
        }
    });
    let leaves: Vec<usize> = wanted.map(|(leaf, _)| leaf).collect();
    let mask = ProjectionMask::leaves(schema, leaves);
    file.row_group(row_group, &mask, BATCH).await
}

fn nulls(group: &RowGroupMetaData, leaf: usize) -> Option<u64> {
    let column = group.columns().get(leaf)?;
    column.statistics()?.null_count_opt()
}

/// The adds of a batch that `keep` wants, by what each is known by and its bytes.
pub(crate) fn adds(
    batch: &RecordBatch,
    fields: &Fields,
    mut keep: impl FnMut(&Key, u64) -> bool,
) -> Result<Option<StructArray>> {
    let Some(add) = structure(batch, "add") else {
        return Ok(None);
    };
    let size = long(add, "size")?;
    let size = |row| {
        let size = size.as_ref().filter(|s| s.is_valid(row));
        size.map_or(0, |s| u64::try_from(s.value(row)).unwrap_or(0))
    };
    let Some(kept) = rows(add, |key, row| keep(key, size(row)))? else {
        return Ok(None);
    };
    let kept = match kept.column_by_name("stats_parsed") {
        Some(parsed) => with_texts(&kept, parsed)?,
        None => kept,
    };
    conform(&kept, fields).map(Some)
}

/// The removes of a batch that `keep` wants, by what each is known by and when it was.
pub(crate) fn removes(
    batch: &RecordBatch,
    fields: &Fields,
    mut keep: impl FnMut(&Key, i64) -> bool,
) -> Result<Option<StructArray>> {
    let Some(remove) = structure(batch, "remove") else {
        return Ok(None);
    };
    let deleted = long(remove, "deletionTimestamp")?;
    let deleted = |row| {
        let deleted = deleted.as_ref().filter(|d| d.is_valid(row));
        deleted.map_or(0, |d| d.value(row))
    };
    match rows(remove, |key, row| keep(key, deleted(row)))? {
        Some(kept) => conform(&kept, fields).map(Some),
        None => Ok(None),
    }
}

/// The rows of a file action that are wanted; `None` where none is.
fn rows(
    action: &StructArray,
    mut keep: impl FnMut(&Key, usize) -> bool,
) -> Result<Option<StructArray>> {
    let Some(paths) = text(action, "path")? else {
        return Ok(None);
    };
    let vectors = vectors(action)?;
    let present = (0..paths.len()).filter(|row| paths.is_valid(*row));
    let kept = present.filter(|row| {
        let vector = vectors.as_ref().and_then(|v| v.descriptor(*row));
        keep(&key(paths.value(*row), vector.as_ref()), *row)
    });
    let kept: Vec<u32> = kept.map(|row| row as u32).collect();
    if kept.is_empty() {
        return Ok(None);
    }
    if kept.len() == action.len() {
        return Ok(Some(action.clone()));
    }
    let taken = take(action, &UInt32Array::from(kept), None)?;
    let taken = taken.as_struct_opt().cloned();
    let odd = || Error::new(Kind::Internal, "taking rows changed their type");
    taken.map(Some).ok_or_else(odd)
}

/// The same adds with statistics as text where they have them as columns only.
fn with_texts(add: &StructArray, parsed: &ArrayRef) -> Result<StructArray> {
    let Some(parsed) = parsed.as_struct_opt() else {
        return Err(Error::damaged("`stats_parsed` is not a struct"));
    };
    let derived: ArrayRef = Arc::new(texts_of(parsed)?);
    let stats: ArrayRef = match add.column_by_name("stats") {
        Some(stats) => {
            let stats: StringArray = as_text(stats)?;
            let stated = arrow_array::BooleanArray::from_iter(
                (0..stats.len()).map(|row| Some(stats.is_valid(row))),
            );
            zip(&stated, &stats, &derived)?
        }
        None => derived,
    };
    let others = add.fields().iter().zip(add.columns());
    let others = others.filter(|(f, _)| !matches!(f.name().as_str(), "stats" | "stats_parsed"));
    let (mut fields, mut columns): (Vec<_>, Vec<_>) = others
        .map(|(field, column)| (Arc::clone(field), Arc::clone(column)))
        .unzip();
    fields.push(Arc::new(Field::new(
        "stats",
        stats.data_type().clone(),
        true,
    )));
    columns.push(stats);
    let fields = Fields::from(fields);
    Ok(StructArray::try_new(fields, columns, add.nulls().cloned())?)
}
