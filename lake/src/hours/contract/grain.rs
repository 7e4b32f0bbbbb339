//! The grain: columns that together occur once. These alone are read, of every row.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use futures::StreamExt;
use hashbrown::{DefaultHashBuilder, HashTable};
use object_store::ObjectStore;

use crate::host::{Progress, SharedHost};
use crate::hours::columns::parts;
use crate::hours::dataset::Dataset;
use crate::hours::listing::Object;
use crate::{Error, Kind, Result};

/// Bytes of distinct rows' columns that are kept.
const LIMIT: usize = 1 << 30;

/// Rows that repeat the grain of a row before them: 0 where the grain holds, and where none is
/// declared.
///
/// Values are compared whatever type a file writes them in: whole numbers by value, times by
/// instant, texts and bytes by their bytes. Two nulls are the same, as they are to a `GROUP BY`.
/// Duplicates block a publish but in the zones `landing` and `raw`, where they are counted: there
/// the same event may be delivered twice.
pub async fn grain_duplicates(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    objects: &[Object],
    host: &SharedHost,
) -> Result<u64> {
    if dataset.grain.is_empty() {
        return Ok(0);
    }
    let names: Vec<&str> = dataset.grain.iter().map(String::as_str).collect();
    let mut seen = Seen::default();
    let (mut rows, mut done) = (0u64, 0u64);
    let mut encoded = Rows::default();
    let mut parts = std::pin::pin!(parts(store, objects, &names));
    while let Some(part) = parts.next().await {
        let part = part.map_err(|unread| unread.error.at("key", &unread.object.key))?;
        let object = part.object;
        for batch in part.batches {
            let count = batch.and_then(|batch| {
                encoded.clear(batch.num_rows());
                for place in &part.places {
                    let column = batch.columns().get(*place);
                    let column = column
                        .ok_or_else(|| Error::new(Kind::Internal, "a column that was not read"))?;
                    encoded.column(column)?;
                }
                for row in &encoded.rows {
                    seen.insert(row)?;
                }
                Ok(batch.num_rows() as u64)
            });
            rows += count.map_err(|e| e.at("key", &object.key))?;
            host.pause().await;
        }
        if part.last {
            done += 1;
            host.progress(Progress {
                step: "looking for duplicates".to_owned(),
                done,
                of: Some(objects.len() as u64),
            });
            if host.cancelled() {
                let stopped = "duplicates were not looked for to the end";
                return Err(Error::new(Kind::Cancelled, stopped));
            }
        }
    }
    Ok(rows - seen.places.len() as u64)
}

/// Whether duplicates forbid a publish of the dataset, and are not only counted.
pub fn grain_blocks(dataset: &Dataset) -> bool {
    !matches!(dataset.zone.as_str(), "landing" | "raw")
}

/// Rows that were seen, each once, by the bytes of their grain.
#[derive(Default)]
struct Seen {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    places: Vec<(usize, usize)>,
    arena: Vec<u8>,
}

impl Seen {
    fn insert(&mut self, row: &[u8]) -> Result<()> {
        let Self {
            hasher,
            table,
            places,
            arena,
        } = self;
        let at = |place: u32| {
            let (start, length) = places.get(place as usize).copied().unwrap_or_default();
            arena.get(start..start + length).unwrap_or_default()
        };
        let hash = hasher.hash_one(row);
        if table.find(hash, |place| at(*place) == row).is_some() {
            return Ok(());
        }
        let new = u32::try_from(places.len()).ok();
        let new = new.filter(|_| arena.len() + row.len() <= LIMIT);
        let Some(new) = new else {
            return Err(Error::new(
                Kind::TooLarge,
                "the grain of more rows than fit in memory",
            ));
        };
        table.insert_unique(hash, new, |place| hasher.hash_one(at(*place)));
        places.push((arena.len(), row.len()));
        arena.extend_from_slice(row);
        Ok(())
    }
}

/// Rows as bytes that are equal where their values are.
#[derive(Default)]
struct Rows {
    rows: Vec<Vec<u8>>,
}

impl Rows {
    fn clear(&mut self, rows: usize) {
        self.rows.resize_with(rows, Vec::new);
        for row in &mut self.rows {
            row.clear();
        }
    }

    fn column(&mut self, array: &ArrayRef) -> Result<()> {
        macro_rules! whole {
            ($type:ty) => {{
                let array = array.as_primitive::<$type>();
                self.each(array, |at| i128::from(array.value(at)).to_le_bytes())
            }};
            ($type:ty, $factor:expr) => {{
                let array = array.as_primitive::<$type>();
                self.each(array, |at| {
                    (i128::from(array.value(at)) * $factor).to_le_bytes()
                })
            }};
        }
        match array.data_type() {
            DataType::Int8 => whole!(Int8Type),
            DataType::Int16 => whole!(Int16Type),
            DataType::Int32 => whole!(Int32Type),
            DataType::Int64 => whole!(Int64Type),
            DataType::UInt8 => whole!(UInt8Type),
            DataType::UInt16 => whole!(UInt16Type),
            DataType::UInt32 => whole!(UInt32Type),
            DataType::UInt64 => whole!(UInt64Type),
            DataType::Date32 => whole!(Date32Type, 86_400_000_000_000),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                whole!(TimestampMillisecondType, 1_000_000)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                whole!(TimestampMicrosecondType, 1_000)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => whole!(TimestampNanosecondType),
            DataType::Decimal128(_, _) => whole!(Decimal128Type),
            DataType::Float32 => {
                let array = array.as_primitive::<Float32Type>();
                self.each(array, |at| f64::from(array.value(at)).to_le_bytes())
            }
            DataType::Float64 => {
                let array = array.as_primitive::<Float64Type>();
                self.each(array, |at| array.value(at).to_le_bytes())
            }
            DataType::Boolean => {
                let array = array.as_boolean();
                self.each(array, |at| [u8::from(array.value(at))])
            }
            DataType::Utf8View => {
                let array = array.as_string_view();
                self.each(array, |at| array.value(at).as_bytes())
            }
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                self.each(array, |at| array.value(at).as_bytes())
            }
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                self.each(array, |at| array.value(at))
            }
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary();
                self.each(array, |at| array.value(at))
            }
            other => Err(Error::unsupported(format!(
                "a column of the grain is {other}, whose values are not compared"
            ))),
        }
    }

    fn each<B: AsRef<[u8]>>(
        &mut self,
        array: &dyn Array,
        value: impl Fn(usize) -> B,
    ) -> Result<()> {
        for (at, row) in self.rows.iter_mut().enumerate().take(array.len()) {
            if array.is_null(at) {
                row.extend_from_slice(&u32::MAX.to_le_bytes());
                continue;
            }
            let value = value(at);
            let value = value.as_ref();
            let length = u32::try_from(value.len()).unwrap_or(u32::MAX - 1);
            row.extend_from_slice(&length.to_le_bytes());
            row.extend_from_slice(value);
        }
        Ok(())
    }
}
