//! One cell of an Arrow array as text a person reads, the way the table's type wants it.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::*;

use super::bind::{Leaf, Shape};
use super::scalar::{self, Unit};
use crate::{Error, Result};

/// Bytes of text one cell is cut at.
const CELL_LIMIT: usize = 256 * 1024;

/// Where a cell's text goes, up to the limit.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// Whether the limit was met and the rest left out.
    pub(crate) cut: bool,
}

impl Text {
    fn push(&mut self, text: &str) {
        let left = CELL_LIMIT.saturating_sub(self.text.len());
        if text.len() <= left {
            self.text.push_str(text);
            return;
        }
        self.text.push_str(&text[..text.floor_char_boundary(left)]);
        self.cut = true;
    }

    /// JSON's spelling of a text.
    fn quoted(&mut self, text: &str) {
        let shown = &text[..text.floor_char_boundary(CELL_LIMIT)];
        self.push(&serde_json::Value::from(shown).to_string());
        self.cut |= shown.len() < text.len();
    }
}

/// The text of a cell; `None` for null.
pub(crate) fn text(array: &dyn Array, row: usize, shape: &Shape) -> Result<Option<Text>> {
    if is_null(array, row) {
        return Ok(None);
    }
    let mut out = Text::default();
    match shape {
        Shape::Leaf(leaf) => out.push(&scalar_text(array, row, *leaf)?.text),
        _ => json(array, row, shape, &mut out)?,
    }
    if out.cut {
        out.text.push('…');
    }
    Ok(Some(out))
}

fn is_null(array: &dyn Array, row: usize) -> bool {
    array.data_type() == &DataType::Null || array.is_null(row)
}

/// A part of a nested value, as JSON.
fn json(array: &dyn Array, row: usize, shape: &Shape, out: &mut Text) -> Result<()> {
    if is_null(array, row) {
        out.push("null");
        return Ok(());
    }
    match shape {
        Shape::Leaf(leaf) => {
            let scalar = scalar_text(array, row, *leaf)?;
            match scalar.bare {
                true => out.push(&scalar.text),
                false => out.quoted(&scalar.text),
            }
        }
        Shape::Struct(fields) => {
            let array = array.as_struct_opt().ok_or_else(misfit)?;
            out.push("{");
            for (position, field) in fields.iter().enumerate() {
                if out.cut {
                    break;
                }
                out.push(if position > 0 { ", " } else { "" });
                out.quoted(&field.name);
                out.push(": ");
                match &field.source {
                    Some((child, shape)) => {
                        let child = array.columns().get(*child).ok_or_else(misfit)?;
                        json(child, row, shape, out)?;
                    }
                    None => out.push("null"),
                }
            }
            out.push("}");
        }
        Shape::List(shape) => {
            let items = items(array, row)?;
            out.push("[");
            for item in 0..items.len() {
                if out.cut {
                    break;
                }
                out.push(if item > 0 { ", " } else { "" });
                json(&items, item, shape, out)?;
            }
            out.push("]");
        }
        Shape::Map(key, value) => {
            let entries = array.as_map_opt().ok_or_else(misfit)?.value(row);
            let (keys, values) = match entries.columns() {
                [keys, values, ..] => (keys, values),
                _ => return Err(misfit()),
            };
            out.push("{");
            for entry in 0..entries.len() {
                if out.cut {
                    break;
                }
                out.push(if entry > 0 { ", " } else { "" });
                // JSON has no other keys than texts.
                match text(keys, entry, key)? {
                    Some(key) => out.quoted(&key.text),
                    None => out.push("null"),
                }
                out.push(": ");
                json(values, entry, value, out)?;
            }
            out.push("}");
        }
    }
    Ok(())
}

fn items(array: &dyn Array, row: usize) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::List(_) => Ok(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Ok(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(_, _) => Ok(array.as_fixed_size_list().value(row)),
        _ => Err(misfit()),
    }
}

fn misfit() -> Error {
    Error::damaged("the column's shape is not what its schema says")
}

/// A value's text, and whether JSON takes it without quotes.
struct Scalar {
    text: String,
    bare: bool,
}

impl Scalar {
    fn bare(text: String) -> Self {
        Self { text, bare: true }
    }

    fn quoted(text: String) -> Self {
        Self { text, bare: false }
    }

    fn number(text: String) -> Self {
        let bare = !matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity");
        Self { text, bare }
    }
}

macro_rules! value {
    ($array:expr, $row:expr, $kind:ty) => {
        $array.as_primitive::<$kind>().value($row)
    };
}

fn scalar_text(array: &dyn Array, row: usize, leaf: Leaf) -> Result<Scalar> {
    use DataType as D;
    Ok(match array.data_type() {
        D::Boolean => Scalar::bare(array.as_boolean().value(row).to_string()),
        D::Int8 => integer(value!(array, row, Int8Type).into(), leaf),
        D::Int16 => integer(value!(array, row, Int16Type).into(), leaf),
        D::Int32 => integer(value!(array, row, Int32Type).into(), leaf),
        D::Int64 => integer(value!(array, row, Int64Type).into(), leaf),
        D::UInt8 => integer(value!(array, row, UInt8Type).into(), leaf),
        D::UInt16 => integer(value!(array, row, UInt16Type).into(), leaf),
        D::UInt32 => integer(value!(array, row, UInt32Type).into(), leaf),
        D::UInt64 => integer(value!(array, row, UInt64Type).into(), leaf),
        D::Float16 => Scalar::number(scalar::float(value!(array, row, Float16Type).to_f32())),
        D::Float32 => {
            let value = value!(array, row, Float32Type);
            Scalar::number(match leaf {
                Leaf::Double => scalar::double(value.into()),
                _ => scalar::float(value),
            })
        }
        D::Float64 => Scalar::number(scalar::double(value!(array, row, Float64Type))),
        D::Decimal32(_, scale) => {
            let unscaled = value!(array, row, Decimal32Type).to_string();
            decimal(unscaled, *scale, leaf)
        }
        D::Decimal64(_, scale) => {
            let unscaled = value!(array, row, Decimal64Type).to_string();
            decimal(unscaled, *scale, leaf)
        }
        D::Decimal128(_, scale) => {
            let unscaled = value!(array, row, Decimal128Type).to_string();
            decimal(unscaled, *scale, leaf)
        }
        D::Decimal256(_, scale) => {
            let unscaled = value!(array, row, Decimal256Type).to_string();
            decimal(unscaled, *scale, leaf)
        }
        D::Date32 => {
            let mut text = scalar::date(value!(array, row, Date32Type).into());
            match leaf {
                Leaf::Timestamp => text.push_str("T00:00:00Z"),
                Leaf::TimestampNtz => text.push_str("T00:00:00"),
                _ => {}
            }
            Scalar::quoted(text)
        }
        D::Date64 => {
            let millis = value!(array, row, Date64Type);
            Scalar::quoted(scalar::timestamp(millis, Unit::Milli, false))
        }
        D::Timestamp(unit, zone) => {
            let (value, unit) = match unit {
                TimeUnit::Second => (value!(array, row, TimestampSecondType), Unit::Second),
                TimeUnit::Millisecond => {
                    (value!(array, row, TimestampMillisecondType), Unit::Milli)
                }
                TimeUnit::Microsecond => {
                    (value!(array, row, TimestampMicrosecondType), Unit::Micro)
                }
                TimeUnit::Nanosecond => (value!(array, row, TimestampNanosecondType), Unit::Nano),
            };
            let utc = match leaf {
                Leaf::Timestamp => true,
                Leaf::TimestampNtz => false,
                _ => zone.is_some(),
            };
            Scalar::quoted(scalar::timestamp(value, unit, utc))
        }
        D::Time32(TimeUnit::Second) => {
            let value = value!(array, row, Time32SecondType);
            Scalar::quoted(scalar::time(value.into(), Unit::Second))
        }
        D::Time32(_) => {
            let value = value!(array, row, Time32MillisecondType);
            Scalar::quoted(scalar::time(value.into(), Unit::Milli))
        }
        D::Time64(TimeUnit::Nanosecond) => {
            let value = value!(array, row, Time64NanosecondType);
            Scalar::quoted(scalar::time(value, Unit::Nano))
        }
        D::Time64(_) => {
            let value = value!(array, row, Time64MicrosecondType);
            Scalar::quoted(scalar::time(value, Unit::Micro))
        }
        D::Duration(unit) => {
            let (value, unit) = match unit {
                TimeUnit::Second => (value!(array, row, DurationSecondType), Unit::Second),
                TimeUnit::Millisecond => (value!(array, row, DurationMillisecondType), Unit::Milli),
                TimeUnit::Microsecond => (value!(array, row, DurationMicrosecondType), Unit::Micro),
                TimeUnit::Nanosecond => (value!(array, row, DurationNanosecondType), Unit::Nano),
            };
            Scalar::quoted(scalar::duration(value, unit))
        }
        D::Interval(IntervalUnit::YearMonth) => {
            let months = value!(array, row, IntervalYearMonthType);
            Scalar::quoted(format!("{months} months"))
        }
        D::Interval(IntervalUnit::DayTime) => {
            let value = value!(array, row, IntervalDayTimeType);
            Scalar::quoted(format!("{} days {} ms", value.days, value.milliseconds))
        }
        D::Interval(IntervalUnit::MonthDayNano) => {
            let value = value!(array, row, IntervalMonthDayNanoType);
            Scalar::quoted(format!(
                "{} months {} days {} ns",
                value.months, value.days, value.nanoseconds
            ))
        }
        D::Utf8 => string(array.as_string::<i32>().value(row), leaf),
        D::LargeUtf8 => string(array.as_string::<i64>().value(row), leaf),
        D::Utf8View => string(array.as_string_view().value(row), leaf),
        D::Binary => binary(array.as_binary::<i32>().value(row), leaf),
        D::LargeBinary => binary(array.as_binary::<i64>().value(row), leaf),
        D::BinaryView => binary(array.as_binary_view().value(row), leaf),
        D::FixedSizeBinary(_) => binary(array.as_fixed_size_binary().value(row), leaf),
        other => {
            return Err(Error::unsupported(format!(
                "values of the type {other} are not shown"
            )));
        }
    })
}

fn integer(value: i128, leaf: Leaf) -> Scalar {
    match leaf {
        Leaf::Double => Scalar::number(scalar::double(value as f64)),
        Leaf::Decimal(scale) => {
            let zeros = "0".repeat(usize::from(scale));
            Scalar::bare(scalar::decimal(&format!("{value}{zeros}"), scale.into()))
        }
        _ => Scalar::bare(value.to_string()),
    }
}

fn decimal(mut unscaled: String, scale: i8, leaf: Leaf) -> Scalar {
    let mut scale = i64::from(scale);
    // A widened type may show more digits; fewer would lose some.
    if let Leaf::Decimal(wanted) = leaf
        && scale >= 0
        && i64::from(wanted) > scale
    {
        let zeros = usize::try_from(i64::from(wanted) - scale).unwrap_or(0);
        unscaled.push_str(&"0".repeat(zeros));
        scale = wanted.into();
    }
    Scalar::bare(scalar::decimal(&unscaled, scale))
}

fn string(value: &str, leaf: Leaf) -> Scalar {
    match leaf {
        Leaf::Binary => binary(value.as_bytes(), leaf),
        _ => Scalar::quoted(value.to_owned()),
    }
}

fn binary(value: &[u8], leaf: Leaf) -> Scalar {
    match leaf {
        Leaf::Uuid => Scalar::quoted(scalar::uuid(value)),
        // Old writers do not mark their texts.
        Leaf::Text if std::str::from_utf8(value).is_ok() => {
            Scalar::quoted(String::from_utf8_lossy(value).into_owned())
        }
        // One byte too many, so that the cut is seen.
        _ => Scalar::quoted(scalar::hex(value, CELL_LIMIT / 2 + 1)),
    }
}
