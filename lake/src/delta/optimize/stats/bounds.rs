//! The least and the greatest value of a column, as the JSON of statistics has them.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use chrono::{DateTime, Datelike, Days, NaiveDate, SecondsFormat, Timelike, Utc};

/// Characters of a text that a bound keeps.
const LENGTH: usize = 32;

/// Bounds of a column; of no value yet.
#[derive(Clone, Debug)]
pub(super) enum Bounds {
    Int(Option<(i64, i64)>),
    Date(Option<(i64, i64)>),
    /// Microseconds, and whether in UTC.
    Micros(Option<(i64, i64)>, bool),
    /// Digits, and how many of them stand after the point.
    Decimal(Option<(i128, i128)>, i8),
    /// Numbers, and whether one was none.
    Float(Option<(f64, f64)>, bool, Width),
    Text(Option<(String, String)>),
}

/// How a number is printed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Width {
    Single,
    Double,
}

impl Bounds {
    /// Bounds of columns of this type; `None` where such columns have none.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Self::Int(None),
            DataType::Date32 => Self::Date(None),
            DataType::Timestamp(_, zone) => Self::Micros(None, zone.is_some()),
            DataType::Decimal128(_, scale) => Self::Decimal(None, *scale),
            DataType::Float32 => Self::Float(None, false, Width::Single),
            DataType::Float64 => Self::Float(None, false, Width::Double),
            DataType::Utf8 => Self::Text(None),
            _ => return None,
        })
    }

    /// Takes the values that are not null.
    pub(super) fn take(&mut self, array: &dyn Array, nulls: Option<&NullBuffer>) {
        match self {
            Self::Int(bounds) => match array.data_type() {
                DataType::Int8 => whole::<Int8Type>(bounds, array, nulls),
                DataType::Int16 => whole::<Int16Type>(bounds, array, nulls),
                DataType::Int32 => whole::<Int32Type>(bounds, array, nulls),
                _ => whole::<Int64Type>(bounds, array, nulls),
            },
            Self::Date(bounds) => whole::<Date32Type>(bounds, array, nulls),
            Self::Micros(bounds, _) => whole::<TimestampMicrosecondType>(bounds, array, nulls),
            Self::Decimal(bounds, _) => {
                each::<Decimal128Type>(array, nulls, |v| widen(bounds, v));
            }
            Self::Float(bounds, nan, width) => {
                let mut take = |v: f64| match v.is_nan() {
                    true => *nan = true,
                    false => widen_float(bounds, v),
                };
                match width {
                    Width::Single => each::<Float32Type>(array, nulls, |v| take(f64::from(v))),
                    Width::Double => each::<Float64Type>(array, nulls, take),
                }
            }
            Self::Text(bounds) => {
                let Some(texts) = array.as_string_opt::<i32>() else {
                    return;
                };
                for at in (0..texts.len()).filter(|at| nulls.is_none_or(|n| n.is_valid(*at))) {
                    text(bounds, texts.value(at));
                }
            }
        }
    }

    /// The least value, or a bound below it.
    pub(super) fn min(&self) -> Option<String> {
        match self {
            Self::Int(bounds) => Some((*bounds)?.0.to_string()),
            Self::Date(bounds) => date((*bounds)?.0),
            Self::Micros(bounds, utc) => time((*bounds)?.0.div_euclid(1_000), *utc),
            Self::Decimal(bounds, scale) => Some(decimal((*bounds)?.0, *scale)),
            Self::Float(bounds, _, width) => float((*bounds)?.0, *width),
            Self::Text(bounds) => {
                let least = &bounds.as_ref()?.0;
                Some(json(least.chars().take(LENGTH).collect()))
            }
        }
    }

    /// The greatest value, or a bound above it.
    pub(super) fn max(&self) -> Option<String> {
        match self {
            Self::Int(bounds) => Some((*bounds)?.1.to_string()),
            Self::Date(bounds) => date((*bounds)?.1),
            Self::Micros(bounds, utc) => {
                let micros = (*bounds)?.1;
                let millis = micros.div_euclid(1_000);
                let up = i64::from(micros.rem_euclid(1_000) > 0);
                time(millis.saturating_add(up), *utc)
            }
            Self::Decimal(bounds, scale) => Some(decimal((*bounds)?.1, *scale)),
            // To Delta, what is no number is greater than every number, and JSON cannot say it.
            Self::Float(_, true, _) => None,
            Self::Float(bounds, false, width) => float((*bounds)?.1, *width),
            Self::Text(bounds) => Some(json(above(&bounds.as_ref()?.1))),
        }
    }
}

fn each<T: ArrowPrimitiveType>(
    array: &dyn Array,
    nulls: Option<&NullBuffer>,
    mut take: impl FnMut(T::Native),
) {
    let Some(values) = array.as_primitive_opt::<T>() else {
        return;
    };
    match nulls.filter(|n| n.null_count() > 0) {
        None => values.values().iter().for_each(|v| take(*v)),
        Some(nulls) => nulls.valid_indices().for_each(|at| take(values.value(at))),
    }
}

fn whole<T: ArrowPrimitiveType>(
    bounds: &mut Option<(i64, i64)>,
    array: &dyn Array,
    nulls: Option<&NullBuffer>,
) where
    T::Native: Into<i64>,
{
    each::<T>(array, nulls, |v| widen(bounds, v.into()));
}

fn widen<T: Copy + Ord>(bounds: &mut Option<(T, T)>, value: T) {
    *bounds = Some(match *bounds {
        None => (value, value),
        Some((min, max)) => (min.min(value), max.max(value)),
    });
}

/// As [`widen`]; a zero may be either zero to a reader, so the bounds are the outer ones.
fn widen_float(bounds: &mut Option<(f64, f64)>, value: f64) {
    let (low, high) = match value == 0.0 {
        true => (-0.0, 0.0),
        false => (value, value),
    };
    *bounds = Some(match *bounds {
        None => (low, high),
        Some((min, max)) => (
            if low < min { low } else { min },
            if high > max { high } else { max },
        ),
    });
}

fn text(bounds: &mut Option<(String, String)>, value: &str) {
    match bounds {
        None => *bounds = Some((value.to_owned(), value.to_owned())),
        Some((min, max)) => {
            if value < min.as_str() {
                value.clone_into(min);
            } else if value > max.as_str() {
                value.clone_into(max);
            }
        }
    }
}

/// A short text that is not less than this one.
fn above(text: &str) -> String {
    let mut bound: String = text.chars().take(LENGTH).collect();
    for c in text.chars().skip(LENGTH) {
        bound.push(char::MAX);
        // The greatest character is only above those that are less.
        if c < char::MAX {
            return bound;
        }
    }
    bound
}

fn json(text: String) -> String {
    serde_json::Value::String(text).to_string()
}

fn decimal(digits: i128, scale: i8) -> String {
    let scale = usize::try_from(scale).unwrap_or(0);
    let sign = if digits < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
    match digits.split_at_checked(digits.len() - scale) {
        Some((whole, part)) if !part.is_empty() => format!("{sign}{whole}.{part}"),
        _ => format!("{sign}{digits}"),
    }
}

fn float(value: f64, width: Width) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    let text = match width {
        // The cast goes back to what the column has.
        Width::Single => serde_json::to_string(&(value as f32)),
        Width::Double => serde_json::to_string(&value),
    };
    text.ok()
}

/// Years that every reader can read.
fn plain(year: i32) -> bool {
    (1..=9999).contains(&year)
}

fn date(days: i64) -> Option<String> {
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1)?;
    let span = Days::new(days.unsigned_abs());
    let date = match days < 0 {
        true => epoch.checked_sub_days(span)?,
        false => epoch.checked_add_days(span)?,
    };
    plain(date.year()).then(|| format!("\"{}\"", date.format("%Y-%m-%d")))
}

fn time(millis: i64, utc: bool) -> Option<String> {
    let time = DateTime::<Utc>::from_timestamp_millis(millis)?;
    if !plain(time.year()) || time.nanosecond() >= 1_000_000_000 {
        return None;
    }
    let text = time.to_rfc3339_opts(SecondsFormat::Millis, true);
    Some(match utc {
        true => format!("\"{text}\""),
        false => format!("\"{}\"", text.trim_end_matches('Z')),
    })
}
