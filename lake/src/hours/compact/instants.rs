//! Instants, and whether a new file holds each exactly.
//!
//! INT96, the default of old Spark, has nanoseconds and all years; what is written again has
//! microseconds. Spark itself never had more. Nanoseconds in 64 bits hold the years 1677 to 2262.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::basic::Type as Physical;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::statistics::Statistics;
use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_schema::{DataType, Fields, TimeUnit};

use crate::parquet::reader::ParquetFile;
use crate::parquet::schema::retyped_fields;
use crate::parquet::slices::batch_rows;
use crate::{Error, Kind, Result};

/// The columns of a file as they are written again: old instants, which have no zone of their own,
/// are instants.
pub(super) fn fields(file: &ParquetFile) -> Fields {
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let schema = file.metadata().file_metadata().schema_descr();
    retyped_fields(file.arrow().schema().fields(), schema, |leaf, _| {
        (leaf.physical_type() == Physical::INT96).then(|| utc.clone())
    })
}

/// The same values with the zone that `to` has.
pub(super) fn zoned(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), to) {
        (
            DataType::Timestamp(TimeUnit::Microsecond, _),
            DataType::Timestamp(TimeUnit::Microsecond, zone),
        ) => {
            let times = array.as_primitive::<TimestampMicrosecondType>();
            Ok(Arc::new(times.clone().with_timezone_opt(zone.clone())))
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let from = array.as_struct();
            let columns = from.columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| zoned(column, field.data_type()));
            let columns = columns.collect::<Result<_>>()?;
            let nulls = from.nulls().cloned();
            Ok(Arc::new(StructArray::try_new(
                fields.clone(),
                columns,
                nulls,
            )?))
        }
        (DataType::List(_), DataType::List(field)) => {
            let from = array.as_list::<i32>();
            let values = zoned(from.values(), field.data_type())?;
            let (offsets, nulls) = (from.offsets().clone(), from.nulls().cloned());
            let field = Arc::clone(field);
            Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls)?))
        }
        (DataType::Map(..), DataType::Map(field, sorted)) => {
            let from = array.as_map();
            let entries: ArrayRef = Arc::new(from.entries().clone());
            let entries = zoned(&entries, field.data_type())?.as_struct().clone();
            let (offsets, nulls) = (from.offsets().clone(), from.nulls().cloned());
            let field = Arc::clone(field);
            let map = MapArray::try_new(field, offsets, entries, nulls, *sorted)?;
            Ok(Arc::new(map))
        }
        (from, _) => {
            let what = format!("old instants in {from} are not written again");
            Err(Error::unsupported(what))
        }
    }
}

/// Refuses a file that has INT96 instants finer than a microsecond. All of them are read, unless
/// Spark wrote the file.
pub(super) async fn whole_microseconds(file: &ParquetFile) -> Result<()> {
    let metadata = file.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let old: Vec<usize> = (0..schema.num_columns())
        .filter(|leaf| schema.column(*leaf).physical_type() == Physical::INT96)
        .collect();
    if old.is_empty() || by_spark(metadata) {
        return Ok(());
    }
    let exact = file.clone().nanoseconds()?;
    for leaf in old {
        let mask = ProjectionMask::leaves(schema, [leaf]);
        for group in 0..metadata.num_row_groups() {
            let rows = batch_rows(file, group)?;
            let coarse = file.row_group(group, &mask, rows).await?;
            let fine = exact.row_group(group, &mask, rows).await?;
            for (coarse, fine) in coarse.zip(fine) {
                let (coarse, fine) = (coarse?, fine?);
                let columns = coarse.columns().iter().zip(fine.columns());
                for (coarse, fine) in columns {
                    if !same(coarse, fine) {
                        return Err(Error::unsupported(format!(
                            "its column `{}` has INT96 instants finer than a microsecond, which a new file would not hold",
                            schema.column(leaf).path().string().escape_debug()
                        )));
                    }
                }
            }
        }
    }
    Ok(())
}

fn by_spark(metadata: &ParquetMetaData) -> bool {
    let noted = metadata.file_metadata().key_value_metadata();
    let mut keys = noted.into_iter().flatten().map(|pair| pair.key.as_str());
    keys.any(|key| key.starts_with("org.apache.spark."))
}

/// Whether instants in microseconds are those in nanoseconds, both of which wrap.
fn same(coarse: &ArrayRef, fine: &ArrayRef) -> bool {
    let (Some(coarse), Some(fine)) = (instants(coarse), instants(fine)) else {
        return false;
    };
    let micros = coarse.as_primitive_opt::<TimestampMicrosecondType>();
    let nanos = fine.as_primitive_opt::<TimestampNanosecondType>();
    let (Some(micros), Some(nanos)) = (micros, nanos) else {
        return false;
    };
    let mut pairs = micros.iter().zip(nanos.iter());
    micros.len() == nanos.len()
        && pairs.all(|pair| match pair {
            (Some(micros), Some(nanos)) => micros.wrapping_mul(1000) == nanos,
            (None, None) => true,
            _ => false,
        })
}

/// The only leaf of a column.
fn instants(array: &ArrayRef) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::Struct(_) => instants(array.as_struct().columns().first()?),
        DataType::List(_) => instants(array.as_list::<i32>().values()),
        DataType::Map(..) => instants(array.as_map().entries().columns().first()?),
        _ => Some(Arc::clone(array)),
    }
}

/// The units of instants that files have, by the path of the leaf.
#[derive(Debug, Default)]
pub(super) struct Units(BTreeMap<String, Seen>);

#[derive(Debug, Default)]
struct Seen {
    nanoseconds: Option<String>,
    /// The first file whose coarser instants nanoseconds may not hold.
    wide: Option<String>,
}

impl Units {
    /// Takes the instants of a file in.
    pub(super) fn take(&mut self, key: &str, file: &ParquetFile) {
        let metadata = file.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let mut leaf = 0;
        retyped_fields(file.arrow().schema().fields(), schema, |column, kind| {
            if let &DataType::Timestamp(unit, _) = kind {
                let path = column.path().string().to_lowercase();
                let seen = self.0.entry(path).or_default();
                if unit == TimeUnit::Nanosecond {
                    seen.nanoseconds.get_or_insert_with(|| key.to_owned());
                } else if !fits(metadata, leaf, unit) {
                    seen.wide.get_or_insert_with(|| key.to_owned());
                }
            }
            leaf += 1;
            None
        });
    }

    /// The first file whose instants are not shown to fit what another file makes of the column.
    pub(super) fn unfit(&self) -> Option<String> {
        self.0.iter().find_map(|(path, seen)| {
            let (fine, wide) = (seen.nanoseconds.as_ref()?, seen.wide.as_ref()?);
            Some(format!(
                "{wide} cannot be packed: its column `{}` is in nanoseconds in {fine}, which hold the years 1677 to 2262, and nothing shows that its instants are of those",
                path.escape_debug()
            ))
        })
    }
}

/// Whether the statistics of a leaf show that nanoseconds hold all of its instants.
fn fits(metadata: &ParquetMetaData, leaf: usize, unit: TimeUnit) -> bool {
    let each = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    let holds = |value: &i64| value.checked_mul(each).is_some();
    metadata.row_groups().iter().all(|group| {
        let chunk = group.columns().get(leaf);
        chunk.is_some_and(|chunk| {
            let nulls = chunk.statistics().and_then(Statistics::null_count_opt);
            if u64::try_from(chunk.num_values()).is_ok_and(|all| nulls == Some(all)) {
                return true;
            }
            match chunk.statistics() {
                Some(Statistics::Int64(own)) => {
                    own.min_opt().is_some_and(holds) && own.max_opt().is_some_and(holds)
                }
                _ => false,
            }
        })
    })
}

/// A value that does not fit, or a type that cannot become another: of the file, and not of the
/// table that it may belong to.
pub(super) fn unconvertible(name: &str, error: arrow_schema::ArrowError) -> Error {
    let what = format!(
        "its column `{}` cannot be written again",
        name.escape_debug()
    );
    Error::new(Kind::Unsupported, what).because(error)
}
