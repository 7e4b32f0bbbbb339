//! Adds of a checkpoint with everything that it holds of them, as JSON spells them.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray, UInt32Array};
use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use arrow_schema::{DataType, Fields as Children, TimeUnit};
use arrow_select::take::take_record_batch;
use hashbrown::HashSet;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::columns::{structure, text};
use super::{BATCH, vectors};
use crate::delta::key::{Key, key};
use crate::delta::verbatim::{Fields, add_fields, raw};
use crate::parquet::reader::ParquetFile;
use crate::{Error, Kind, Result};

/// The adds of wanted files in a row group.
///
/// A checkpoint may hold statistics as columns only (`delta.checkpoint.writeStatsAsJson`); commits
/// have them as text, so they are written as such.
pub(crate) async fn whole_adds(
    file: &ParquetFile,
    row_group: usize,
    wanted: &HashSet<Key>,
) -> Result<Vec<(Key, Fields)>> {
    let schema = file.metadata().file_metadata().schema_descr();
    let columns = schema.columns();
    let as_text = columns.iter().any(|c| c.path().string() == "add.stats");
    let of_add = columns.iter().enumerate().filter(|(_, column)| {
        let parts = column.path().parts();
        let name = |at: usize| parts.get(at).map(String::as_str).unwrap_or_default();
        name(0) == "add"
            && match name(1) {
                "partitionValues_parsed" => false,
                "stats_parsed" => !as_text,
                _ => true,
            }
    });
    let leaves: Vec<usize> = of_add.map(|(leaf, _)| leaf).collect();
    let mask = ProjectionMask::leaves(schema, leaves);
    let mut adds = Vec::new();
    for batch in file.row_group(row_group, &mask, BATCH).await? {
        take_batch(&batch?, wanted, &mut adds)?;
    }
    Ok(adds)
}

fn take_batch(
    batch: &RecordBatch,
    wanted: &HashSet<Key>,
    adds: &mut Vec<(Key, Fields)>,
) -> Result<()> {
    let Some(add) = structure(batch, "add") else {
        return Ok(());
    };
    let Some(paths) = text(add, "path")? else {
        return Ok(());
    };
    let vectors = vectors(add)?;
    let mut rows = Vec::new();
    let mut keys = Vec::new();
    for row in (0..paths.len()).filter(|row| paths.is_valid(*row)) {
        let vector = vectors.as_ref().and_then(|v| v.descriptor(row));
        let key = key(paths.value(row), vector.as_ref());
        if wanted.contains(&key) {
            rows.push(row as u32);
            keys.push(key);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let taken = take_record_batch(batch, &UInt32Array::from(rows))?;
    // What columns alone say becomes text, what is unknown left out.
    let parsed = structure(&taken, "add").and_then(|add| add.column_by_name("stats_parsed"));
    let parsed = parsed.and_then(|parsed| parsed.as_struct_opt());
    let stats = parsed.map(texts_of).transpose()?;
    let columns: Vec<ArrayRef> = taken.columns().iter().map(with_offset).collect();
    let taken = RecordBatch::try_from_iter(
        taken
            .schema()
            .fields()
            .iter()
            .map(|f| f.name())
            .zip(columns),
    )?;
    // Nulls are written, because a partition value that is null is a value.
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .build::<_, LineDelimited>(Vec::new());
    writer.write(&taken)?;
    writer.finish()?;
    let lines = writer.into_inner();
    let lines = lines.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    for (row, (key, line)) in keys.into_iter().zip(lines).enumerate() {
        let mut fields = add_fields(line)?;
        fields.shift_remove("stats_parsed");
        if let Some(stats) = stats.as_ref().filter(|s| s.is_valid(row)) {
            fields.insert("stats".to_owned(), raw(&stats.value(row))?);
        }
        adds.push((key, fields));
    }
    Ok(())
}

/// Statistics in columns as texts, null where a row has none.
pub(super) fn texts_of(parsed: &StructArray) -> Result<StringArray> {
    let column = with_offset(&(Arc::new(parsed.clone()) as ArrayRef));
    let batch = RecordBatch::try_from_iter([("stats", column)])?;
    let mut writer = WriterBuilder::new().build::<_, LineDelimited>(Vec::new());
    writer.write(&batch)?;
    writer.finish()?;
    let lines = writer.into_inner();
    let lines = lines.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let text = |line| -> Result<Option<String>> {
        let line: StatsLine<'_> = serde_json::from_slice(line)
            .map_err(|e| Error::damaged("statistics that are not JSON").because(e))?;
        // Where a writer has no statistics, it may have a struct of nulls.
        Ok(line
            .stats
            .map(RawValue::get)
            .filter(|t| *t != "{}")
            .map(str::to_owned))
    };
    let texts = lines.map(text).collect::<Result<Vec<_>>>()?;
    if texts.len() != parsed.len() {
        return Err(Error::new(Kind::Internal, "a row was written as no line"));
    }
    Ok(StringArray::from(texts))
}

#[derive(Deserialize)]
struct StatsLine<'a> {
    #[serde(borrow, default)]
    stats: Option<&'a RawValue>,
}

/// The same with every zone as an offset: arrow prints no instant in a zone that it would have to
/// look up, and a checkpoint knows no zone but UTC.
fn with_offset(array: &ArrayRef) -> ArrayRef {
    const UTC: &str = "+00:00";
    match array.data_type() {
        DataType::Struct(fields) => {
            let Some(parent) = array.as_struct_opt() else {
                return Arc::clone(array);
            };
            let children: Vec<ArrayRef> = parent.columns().iter().map(with_offset).collect();
            let fields = fields.iter().zip(&children).map(|(field, child)| {
                let field = field.as_ref().clone();
                field.with_data_type(child.data_type().clone())
            });
            let fields = Children::from_iter(fields);
            match StructArray::try_new(fields, children, parent.nulls().cloned()) {
                Ok(changed) => Arc::new(changed),
                Err(_) => Arc::clone(array),
            }
        }
        DataType::Timestamp(unit, Some(_)) => match unit {
            TimeUnit::Millisecond => offset::<TimestampMillisecondType>(array, UTC),
            TimeUnit::Microsecond => offset::<TimestampMicrosecondType>(array, UTC),
            TimeUnit::Nanosecond => offset::<TimestampNanosecondType>(array, UTC),
            TimeUnit::Second => Arc::clone(array),
        },
        _ => Arc::clone(array),
    }
}

fn offset<T: ArrowTimestampType>(array: &ArrayRef, zone: &str) -> ArrayRef {
    match array.as_primitive_opt::<T>() {
        Some(instants) => Arc::new(instants.clone().with_timezone(zone)),
        None => Arc::clone(array),
    }
}
