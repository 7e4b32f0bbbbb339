//! Statistics and partition values as typed columns, which tables ask for by
//! `delta.checkpoint.writeStatsAsStruct` (PROTOCOL, "Checkpoint Format").

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, MapArray, StringArray, StructArray, new_null_array};
use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field as ArrowField, Fields, Schema as ArrowSchema, TimeUnit};
use serde::de::IgnoredAny;

use crate::delta::action::Metadata;
use crate::delta::schema::partition_names;
use crate::schema::{Field, Schema};
use crate::{Error, Kind, Result};

/// Leaves that a table keeps statistics of where it does not say.
const INDEXED: i64 = 32;

/// The columns of `stats_parsed`.
pub(super) fn stats_fields(metadata: &Metadata, schema: &Schema) -> Fields {
    let property = |name: &str| metadata.configuration.get(name);
    let indexed = property("delta.dataSkippingNumIndexedCols");
    let mut left = match property("delta.dataSkippingStatsColumns") {
        Some(_) => i64::MAX,
        None => match indexed.map_or(Ok(INDEXED), |text| text.parse()) {
            Ok(-1) => i64::MAX,
            Ok(indexed) => indexed,
            Err(_) => INDEXED,
        },
    };
    let data = schema.fields.iter();
    let data = data.filter(|f| !metadata.partition_columns.contains(&f.name));
    let (bounds, counts) = bounds_and_counts(data, &mut left);
    let mut fields = vec![ArrowField::new("numRecords", DataType::Int64, true)];
    if !bounds.is_empty() {
        let bounds = DataType::Struct(Fields::from(bounds));
        fields.push(ArrowField::new("minValues", bounds.clone(), true));
        fields.push(ArrowField::new("maxValues", bounds, true));
    }
    if !counts.is_empty() {
        let counts = DataType::Struct(Fields::from(counts));
        fields.push(ArrowField::new("nullCount", counts, true));
    }
    fields.push(ArrowField::new("tightBounds", DataType::Boolean, true));
    Fields::from(fields)
}

fn bounds_and_counts<'a>(
    fields: impl Iterator<Item = &'a Field>,
    left: &mut i64,
) -> (Vec<ArrowField>, Vec<ArrowField>) {
    let (mut bounds, mut counts) = (Vec::new(), Vec::new());
    for field in fields {
        let name = field.physical_name();
        if field.data_type == "struct" {
            let (inner_bounds, inner_counts) = bounds_and_counts(field.fields.iter(), left);
            for (inner, of) in [(inner_bounds, &mut bounds), (inner_counts, &mut counts)] {
                if !inner.is_empty() {
                    let inner = DataType::Struct(Fields::from(inner));
                    of.push(ArrowField::new(name, inner, true));
                }
            }
            continue;
        }
        if *left <= 0 {
            continue;
        }
        *left -= 1;
        counts.push(ArrowField::new(name, DataType::Int64, true));
        if let Some(kind) = kind(&field.data_type).filter(|k| *k != DataType::Boolean) {
            bounds.push(ArrowField::new(name, kind, true));
        }
    }
    (bounds, counts)
}

/// The type of a column that values of this build's typed columns have.
fn kind(name: &str) -> Option<DataType> {
    let utc = Some("+00:00".into());
    Some(match name {
        "byte" => DataType::Int8,
        "short" => DataType::Int16,
        "integer" => DataType::Int32,
        "long" => DataType::Int64,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "boolean" => DataType::Boolean,
        "date" => DataType::Date32,
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, utc),
        "timestamp_ntz" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "string" => DataType::Utf8,
        _ => {
            let digits = name.strip_prefix("decimal(")?.strip_suffix(')')?;
            let (precision, scale) = digits.split_once(',')?;
            let precision = precision.trim().parse().ok().filter(|p| *p <= 38)?;
            DataType::Decimal128(precision, scale.trim().parse().ok()?)
        }
    })
}

/// The columns of `partitionValues_parsed`; `None` where there are no partitions, or where the text
/// of a value does not tell the value: a timestamp may be in the zone of whoever wrote it.
pub(super) fn partition_fields(metadata: &Metadata, schema: &Schema) -> Option<Fields> {
    let names = partition_names(metadata, schema);
    let field = |(logical, physical): &(String, String)| {
        let field = schema.fields.iter().find(|f| f.name == *logical)?;
        let kind = kind(&field.data_type)?;
        let told = !matches!(
            kind,
            DataType::Timestamp(..) | DataType::Float32 | DataType::Float64
        );
        told.then(|| ArrowField::new(physical, kind, true))
    };
    let fields: Option<Vec<ArrowField>> = names.iter().map(field).collect();
    fields.filter(|f| !f.is_empty()).map(Fields::from)
}

/// Statistics in typed columns. Where they stand alone nothing may be lost: a text that does not
/// fit is an error. Beside the text, what does not fit is null.
pub(super) fn stats(texts: &StringArray, fields: &Fields, alone: bool) -> Result<StructArray> {
    let mut lines = Vec::new();
    for text in texts {
        let text = text.filter(|text| !text.trim().is_empty());
        // One object and nothing after it, or it would be taken for several rows.
        let sound = |text: &str| {
            text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
        };
        match text {
            Some(text) if sound(text) => push(&mut lines, text),
            Some(_) if alone => return Err(Error::damaged("statistics that are not JSON")),
            _ => push(&mut lines, "null"),
        }
    }
    match decode(&lines, texts.len(), fields, alone) {
        Err(_) if !alone => nothing(fields, texts.len()),
        decoded => decoded,
    }
}

/// Partition values in typed columns; a text that is none of its type is an error.
pub(super) fn partition(values: &MapArray, fields: &Fields) -> Result<StructArray> {
    let mut lines = Vec::new();
    for row in 0..values.len() {
        let entries = values.value(row);
        let (keys, texts) = (entries.column(0), entries.column(1));
        let (keys, texts) = (keys.as_string::<i32>(), texts.as_string::<i32>());
        let mut object = serde_json::Map::new();
        for field in fields {
            let at = (0..keys.len()).find(|at| keys.value(*at) == field.name());
            let text = at
                .filter(|at| texts.is_valid(*at))
                .map(|at| texts.value(at));
            let value = match (text, field.data_type()) {
                (None | Some(""), _) => serde_json::Value::Null,
                (Some("true"), DataType::Boolean) => true.into(),
                (Some("false"), DataType::Boolean) => false.into(),
                (Some(text), _) => text.into(),
            };
            object.insert(field.name().clone(), value);
        }
        push(&mut lines, &serde_json::Value::Object(object).to_string());
    }
    decode(&lines, values.len(), fields, true)
}

fn push(lines: &mut Vec<u8>, object: &str) {
    lines.extend_from_slice(b"{\"v\":");
    lines.extend_from_slice(object.as_bytes());
    lines.extend_from_slice(b"}\n");
}

fn decode(lines: &[u8], rows: usize, fields: &Fields, strict: bool) -> Result<StructArray> {
    if rows == 0 {
        return nothing(fields, 0);
    }
    let field = ArrowField::new("v", DataType::Struct(fields.clone()), true);
    let mut decoder = ReaderBuilder::new(Arc::new(ArrowSchema::new(vec![field])))
        .with_batch_size(rows)
        .with_strict_mode(strict)
        .with_ignore_type_conflicts(!strict)
        .build_decoder()?;
    let odd = || Error::new(Kind::Internal, "values that were not all decoded");
    if decoder.decode(lines)? != lines.len() {
        return Err(odd());
    }
    let batch = decoder.flush()?.filter(|b| b.num_rows() == rows);
    let decoded = batch.and_then(|b| b.column(0).as_struct_opt().cloned());
    decoded.ok_or_else(odd)
}

fn nothing(fields: &Fields, rows: usize) -> Result<StructArray> {
    let columns = fields.iter().map(|f| new_null_array(f.data_type(), rows));
    let nulls = arrow_buffer::NullBuffer::new_null(rows);
    Ok(StructArray::try_new(
        fields.clone(),
        columns.collect(),
        Some(nulls),
    )?)
}
