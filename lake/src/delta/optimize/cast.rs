//! Values of a file as values of the table: the same, or widened without loss as the protocol lets
//! columns widen (PROTOCOL, "Type Widening").

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use crate::{Error, Kind, Result};

/// What is done to the values of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cast {
    /// Nothing.
    Same,
    /// To a type that holds every value.
    Widen,
    /// To microseconds, in the table's zone.
    Micros(TimeUnit),
}

/// What makes values of `from` values of `to`; `None` where some would not fit.
pub(super) fn castable(from: &DataType, to: &DataType) -> Option<Cast> {
    use DataType as D;
    if from == to {
        return (!from.is_nested()).then_some(Cast::Same);
    }
    let widens = match (from, to) {
        (D::Timestamp(unit, _), D::Timestamp(TimeUnit::Microsecond, _)) => {
            return (*unit != TimeUnit::Second).then_some(Cast::Micros(*unit));
        }
        (D::Int8, D::Int16 | D::Int32 | D::Int64)
        | (D::Int16, D::Int32 | D::Int64)
        | (D::Int32, D::Int64)
        | (D::Int8 | D::Int16 | D::Int32, D::Float64)
        | (D::Float32, D::Float64)
        | (D::Date32, D::Timestamp(TimeUnit::Microsecond, None)) => true,
        (D::Int8 | D::Int16 | D::Int32, D::Decimal128(p, s)) => whole(*p, *s) >= 10,
        (D::Int64, D::Decimal128(p, s)) => whole(*p, *s) >= 20,
        (D::Decimal128(p, s), D::Decimal128(to_p, to_s)) => {
            to_s >= s && whole(*to_p, *to_s) >= whole(*p, *s)
        }
        _ => false,
    };
    widens.then_some(Cast::Widen)
}

/// Digits before the point.
fn whole(precision: u8, scale: i8) -> i16 {
    i16::from(precision) - i16::from(scale)
}

/// The values as `to` has them.
pub(super) fn cast(array: &ArrayRef, how: Cast, to: &DataType) -> Result<ArrayRef> {
    match how {
        Cast::Same => Ok(Arc::clone(array)),
        Cast::Widen => {
            // A value that does not fit is an error, and no null.
            let strict = CastOptions {
                safe: false,
                ..Default::default()
            };
            Ok(cast_with_options(array, to, &strict)?)
        }
        Cast::Micros(unit) => micros(array, unit, to),
    }
}

fn micros(array: &ArrayRef, unit: TimeUnit, to: &DataType) -> Result<ArrayRef> {
    let DataType::Timestamp(_, zone) = to else {
        return Err(other());
    };
    let values: PrimitiveArray<TimestampMicrosecondType> = match unit {
        TimeUnit::Microsecond => array
            .as_primitive_opt::<TimestampMicrosecondType>()
            .ok_or_else(other)?
            .clone(),
        TimeUnit::Millisecond => {
            let millis = array.as_primitive_opt::<TimestampMillisecondType>();
            millis.ok_or_else(other)?.try_unary(|v| {
                let beyond = || ArrowError::ComputeError("a time that no table holds".to_owned());
                i64::checked_mul(v, 1_000).ok_or_else(beyond)
            })?
        }
        // The table's own precision is that of a microsecond, and readers cut to it, too.
        TimeUnit::Nanosecond => array
            .as_primitive_opt::<TimestampNanosecondType>()
            .ok_or_else(other)?
            .unary(|v| i64::div_euclid(v, 1_000)),
        TimeUnit::Second => return Err(other()),
    };
    Ok(Arc::new(values.with_timezone_opt(zone.clone())))
}

fn other() -> Error {
    Error::new(
        Kind::Internal,
        "an array came of another type than the file has",
    )
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, Decimal128Array, Int32Array, TimestampNanosecondArray};

    use super::*;

    #[test]
    fn only_what_loses_nothing_is_cast() {
        use DataType as D;
        let utc = D::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let cases = [
            (D::Int32, D::Int64, Some(Cast::Widen)),
            (D::Int64, D::Int32, None),
            (D::Int64, D::Float64, None),
            (D::Int32, D::Decimal128(10, 0), Some(Cast::Widen)),
            (D::Int32, D::Decimal128(10, 1), None),
            (D::Decimal128(5, 2), D::Decimal128(6, 3), Some(Cast::Widen)),
            (D::Decimal128(5, 2), D::Decimal128(6, 4), None),
            (D::Decimal128(5, 2), D::Decimal128(7, 1), None),
            (D::Utf8, D::Binary, None),
            (D::UInt8, D::Int64, None),
            (
                D::Timestamp(TimeUnit::Nanosecond, None),
                utc.clone(),
                Some(Cast::Micros(TimeUnit::Nanosecond)),
            ),
            (D::Date32, utc, None),
        ];
        for (from, to, right) in cases {
            assert_eq!(castable(&from, &to), right, "{from} as {to}");
        }
    }

    #[test]
    fn values_stay_what_they_are() {
        let array: ArrayRef = Arc::new(Int32Array::from(vec![Some(-7), None, Some(i32::MAX)]));
        let cast = |array: &ArrayRef, to: DataType| {
            let how = castable(array.data_type(), &to).unwrap();
            super::cast(array, how, &to).unwrap()
        };
        let decimals = cast(&array, DataType::Decimal128(12, 2));
        let right = Decimal128Array::from(vec![Some(-700), None, Some(214_748_364_700)]);
        let right = right.with_precision_and_scale(12, 2).unwrap();
        assert_eq!(decimals.as_ref(), &right as &dyn Array);
        let nanos: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![-1, 1_999]));
        let to = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let micros = cast(&nanos, to.clone());
        assert_eq!(micros.data_type(), &to);
        let micros = micros.as_primitive::<TimestampMicrosecondType>();
        assert_eq!(micros.values().as_ref(), [-1, 1]);
    }
}
