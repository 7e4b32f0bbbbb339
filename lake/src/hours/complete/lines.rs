//! Keys and sequences of a batch, whatever types they are written in.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, ArrayRef, FixedSizeBinaryArray};
use arrow_schema::DataType;

use super::orders::{Key, Orders, Side};
use crate::{Error, Result};

/// Takes the lines of a batch in; `bad` is told the position of each that has no key or no sequence.
pub(super) fn lines(
    keys: &ArrayRef,
    sequences: &ArrayRef,
    orders: &mut Orders,
    side: Side,
    bad: impl FnMut(u64),
) -> Result<()> {
    let sequences = self::sequences(sequences)?;
    let mut taking = Taking {
        sequences: &sequences,
        orders,
        side,
        bad,
    };
    match keys.data_type() {
        DataType::Utf8View => taking.bytes(keys.as_string_view()),
        DataType::Utf8 => taking.bytes(keys.as_string::<i32>()),
        DataType::Binary => taking.bytes(keys.as_binary::<i32>()),
        // What a file has as 16 bytes, a dead letter has as text.
        DataType::FixedSizeBinary(16) => taking.uuids(keys.as_fixed_size_binary()),
        DataType::FixedSizeBinary(_) => taking.bytes(keys.as_fixed_size_binary()),
        DataType::Int8 => taking.whole::<Int8Type>(keys),
        DataType::Int16 => taking.whole::<Int16Type>(keys),
        DataType::Int32 => taking.whole::<Int32Type>(keys),
        DataType::Int64 => taking.whole::<Int64Type>(keys),
        DataType::UInt8 => taking.whole::<UInt8Type>(keys),
        DataType::UInt16 => taking.whole::<UInt16Type>(keys),
        DataType::UInt32 => taking.whole::<UInt32Type>(keys),
        DataType::UInt64 => taking.whole::<UInt64Type>(keys),
        DataType::Decimal128(_, 0) => taking.whole::<Decimal128Type>(keys),
        other => Err(Error::unsupported(format!(
            "its column of keys is {other}: a key is text, bytes or a whole number"
        ))),
    }
}

struct Taking<'a, F> {
    sequences: &'a [u64],
    orders: &'a mut Orders,
    side: Side,
    bad: F,
}

impl<F: FnMut(u64)> Taking<'_, F> {
    fn bytes(&mut self, keys: impl ArrayAccessor<Item: AsRef<[u8]>>) -> Result<()> {
        for (at, sequence) in self.sequences.iter().enumerate() {
            if *sequence == 0 || at >= keys.len() || keys.is_null(at) {
                (self.bad)(at as u64);
                continue;
            }
            let key = keys.value(at);
            let key = Key::of(key.as_ref());
            self.orders.take(key, *sequence, self.side)?;
        }
        Ok(())
    }

    fn uuids(&mut self, keys: &FixedSizeBinaryArray) -> Result<()> {
        for (at, sequence) in self.sequences.iter().enumerate() {
            let key = (at < keys.len() && keys.is_valid(at)).then(|| keys.value(at));
            let key = key.and_then(Key::of_uuid).filter(|_| *sequence > 0);
            match key {
                Some(key) => self.orders.take(key, *sequence, self.side)?,
                None => (self.bad)(at as u64),
            }
        }
        Ok(())
    }

    fn whole<T: ArrowPrimitiveType>(&mut self, keys: &ArrayRef) -> Result<()>
    where
        i128: TryFrom<T::Native>,
    {
        let keys = keys.as_primitive::<T>();
        for (at, sequence) in self.sequences.iter().enumerate() {
            let key = (at < keys.len() && keys.is_valid(at)).then(|| keys.value(at));
            let key = key.and_then(|key| i128::try_from(key).ok());
            let Some(key) = key.filter(|_| *sequence > 0) else {
                (self.bad)(at as u64);
                continue;
            };
            match i64::try_from(key) {
                Ok(key) => self.orders.take(Key::Number(key), *sequence, self.side)?,
                Err(_) => {
                    let text = key.to_string();
                    let key = Key::of(text.as_bytes());
                    self.orders.take(key, *sequence, self.side)?;
                }
            }
        }
        Ok(())
    }
}

/// The sequences, 0 where there is none from 1 on.
fn sequences(array: &ArrayRef) -> Result<Vec<u64>> {
    match array.data_type() {
        DataType::Int8 => Ok(whole::<Int8Type>(array)),
        DataType::Int16 => Ok(whole::<Int16Type>(array)),
        DataType::Int32 => Ok(whole::<Int32Type>(array)),
        DataType::Int64 => Ok(whole::<Int64Type>(array)),
        DataType::UInt8 => Ok(whole::<UInt8Type>(array)),
        DataType::UInt16 => Ok(whole::<UInt16Type>(array)),
        DataType::UInt32 => Ok(whole::<UInt32Type>(array)),
        DataType::UInt64 => Ok(whole::<UInt64Type>(array)),
        DataType::Decimal128(_, 0) => Ok(whole::<Decimal128Type>(array)),
        DataType::Utf8View => Ok(written(array.as_string_view())),
        DataType::Utf8 => Ok(written(array.as_string::<i32>())),
        other => Err(Error::unsupported(format!(
            "its column of sequences is {other}: a sequence is a whole number"
        ))),
    }
}

fn whole<T: ArrowPrimitiveType>(array: &ArrayRef) -> Vec<u64>
where
    u64: TryFrom<T::Native>,
{
    let array = array.as_primitive::<T>();
    let value = |value: &T::Native| u64::try_from(*value).ok().and_then(sane).unwrap_or(0);
    let mut values: Vec<u64> = array.values().iter().map(value).collect();
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        for (value, valid) in values.iter_mut().zip(nulls) {
            if !valid {
                *value = 0;
            }
        }
    }
    values
}

fn written<'a>(array: impl ArrayAccessor<Item = &'a str>) -> Vec<u64> {
    (0..array.len())
        .map(|at| match array.is_valid(at) {
            true => digits(array.value(at)).unwrap_or(0),
            false => 0,
        })
        .collect()
}

/// The sequence that digits write.
pub(super) fn digits(text: &str) -> Option<u64> {
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse::<u64>().ok())
        .flatten()
        .and_then(sane)
}

/// A sequence: from 1 on, and no more than signed numbers hold.
pub(super) fn sane(sequence: u64) -> Option<u64> {
    (1..=i64::MAX as u64)
        .contains(&sequence)
        .then_some(sequence)
}
