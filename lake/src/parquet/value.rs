//! One value of an Arrow array that is not nested, as text.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_schema::*;

use super::bind::Leaf;
use super::cell::CELL_LIMIT;
use super::scalar::{self, Unit};
use crate::{Error, Result};

/// A value's text, and whether JSON takes it without quotes.
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) bare: bool,
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

/// The text of the value at `row`, which must not be null.
pub(crate) fn text(array: &dyn Array, row: usize, leaf: Leaf) -> Result<Scalar> {
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
