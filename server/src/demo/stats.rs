//! `add.stats` as Spark writes it (PROTOCOL, "Per-file Statistics").

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, TimeUnit};
use chrono::DateTime;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Number, Value};

/// The statistics of a file that holds `batch`, as JSON text. `tight_bounds` is stated where the
/// table can have deletion vectors.
pub(crate) fn stats_json(batch: &RecordBatch, tight_bounds: Option<bool>) -> String {
    let columns = collect(&StructArray::from(batch.clone()));
    let stats = Stats {
        num_records: batch.num_rows(),
        columns,
        tight_bounds,
    };
    serde_json::to_string(&stats).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    num_records: usize,
    #[serde(flatten)]
    columns: Columns,
    #[serde(skip_serializing_if = "Option::is_none")]
    tight_bounds: Option<bool>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Columns {
    min_values: IndexMap<String, Value>,
    max_values: IndexMap<String, Value>,
    null_count: IndexMap<String, Value>,
}

fn collect(columns: &StructArray) -> Columns {
    let mut all = Columns::default();
    for (field, column) in columns.fields().iter().zip(columns.columns()) {
        let name = field.name().clone();
        if let Some(nested) = column.as_struct_opt() {
            let inner = collect(nested);
            all.min_values
                .insert(name.clone(), object(inner.min_values));
            all.max_values
                .insert(name.clone(), object(inner.max_values));
            all.null_count.insert(name, object(inner.null_count));
            continue;
        }
        if let Some((smallest, largest)) = bounds(column) {
            all.min_values.insert(name.clone(), smallest);
            all.max_values.insert(name.clone(), largest);
        }
        all.null_count.insert(name, column.null_count().into());
    }
    all
}

fn object(entries: IndexMap<String, Value>) -> Value {
    entries.into_iter().collect()
}

/// Smallest and largest value; `None` for types that Spark keeps no bounds of.
fn bounds(column: &ArrayRef) -> Option<(Value, Value)> {
    match column.data_type() {
        DataType::Int32 => values(column.as_primitive::<Int32Type>(), Value::from),
        DataType::Int64 => values(column.as_primitive::<Int64Type>(), Value::from),
        DataType::Float64 => values(column.as_primitive::<Float64Type>(), Value::from),
        DataType::Utf8 => values(column.as_string::<i32>(), Value::from),
        DataType::Date32 => values(column.as_primitive::<Date32Type>(), |d| date_text(d).into()),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            values(column.as_primitive::<TimestampMicrosecondType>(), instant)
        }
        DataType::Decimal128(_, 2) => values(column.as_primitive::<Decimal128Type>(), cents),
        _ => None,
    }
}

/// The ends of a column, as `text` writes them.
fn values<T: PartialOrd + Copy>(
    column: impl IntoIterator<Item = Option<T>>,
    text: impl Fn(T) -> Value,
) -> Option<(Value, Value)> {
    let mut present = column.into_iter().flatten();
    let first = present.next()?;
    let (least, most) = present.fold((first, first), |(least, most), value| {
        let least = if value < least { value } else { least };
        (least, if value > most { value } else { most })
    });
    Some((text(least), text(most)))
}

/// Days since 1970 as `2026-11-29`.
pub(crate) fn date_text(days: i32) -> String {
    let date = DateTime::from_timestamp_secs(i64::from(days) * 86_400);
    date.map(|d| d.format("%Y-%m-%d").to_string())
        .unwrap_or_default()
}

/// Microseconds since 1970, cut to milliseconds as Spark does.
fn instant(micros: i64) -> Value {
    let time = DateTime::from_timestamp_micros(micros);
    time.map(|t| t.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
        .into()
}

/// A decimal of scale 2 as a JSON number with its two digits.
fn cents(value: i128) -> Value {
    let sign = if value < 0 { "-" } else { "" };
    let value = value.unsigned_abs();
    let text = format!("{sign}{}.{:02}", value / 100, value % 100);
    text.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map_or(Value::Null, Value::Number)
}
