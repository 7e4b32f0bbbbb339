//! When the events of a file were, by its column chunks' statistics.

use ::parquet::basic::Type as Physical;
use ::parquet::file::statistics::Statistics;
use arrow_schema::{DataType, TimeUnit};

use crate::hours::columns::find;
use crate::hours::day::Slot;
use crate::parquet::reader::ParquetFile;
use crate::table::Time;

/// When the events of a file were, as far as statistics prove it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Times {
    /// It has no events.
    #[default]
    None,
    /// The first and the last, in nanoseconds since 1970.
    Range(i128, i128),
    /// Nobody knows, and why.
    Unproven(String),
}

/// The times of a file.
pub(super) fn of(file: &ParquetFile, column: &str) -> Times {
    let fields = file.arrow().schema().fields();
    let root = find(file, column);
    let Some((root, field)) = root.and_then(|root| Some((root, fields.get(root)?))) else {
        return Times::Unproven("no such column".to_owned());
    };
    let nanos: i128 = match field.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => 1_000_000_000,
        DataType::Timestamp(TimeUnit::Millisecond, _) => 1_000_000,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 1_000,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 1,
        DataType::Date32 => 86_400_000_000_000,
        _ => return Times::Unproven("the column holds no times".to_owned()),
    };
    let metadata = file.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let leaf = (0..schema.num_columns()).find(|leaf| schema.get_column_root_idx(*leaf) == root);
    let mut range: Option<(i64, i64)> = None;
    for group in metadata.row_groups() {
        let chunk = leaf.and_then(|leaf| group.columns().get(leaf));
        let Some(chunk) = chunk.filter(|chunk| chunk.column_type() != Physical::INT96) else {
            return Times::Unproven("times of its type have no statistics".to_owned());
        };
        if group.num_rows() == 0 {
            continue;
        }
        let statistics = chunk.statistics();
        let nulls = statistics.and_then(Statistics::null_count_opt);
        if nulls.is_some_and(|nulls| Ok(nulls) == u64::try_from(group.num_rows())) {
            continue;
        }
        let bounds = match statistics {
            Some(Statistics::Int64(values)) => values.min_opt().zip(values.max_opt()),
            Some(Statistics::Int32(values)) => {
                let (min, max) = (values.min_opt(), values.max_opt());
                let own = min
                    .zip(max)
                    .map(|(min, max)| (i64::from(*min), i64::from(*max)));
                range = widened(range, own);
                if own.is_none() {
                    return Times::Unproven("it has no statistics".to_owned());
                }
                continue;
            }
            _ => None,
        };
        let Some((min, max)) = bounds else {
            return Times::Unproven("it has no statistics".to_owned());
        };
        if min > max {
            return Times::Unproven("its statistics contradict themselves".to_owned());
        }
        range = widened(range, Some((*min, *max)));
    }
    match range {
        None => Times::None,
        Some((min, max)) => Times::Range(i128::from(min) * nanos, i128::from(max) * nanos),
    }
}

fn widened(range: Option<(i64, i64)>, own: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (range, own) {
        (Some((least, most)), Some((min, max))) => Some((least.min(min), most.max(max))),
        (range, own) => range.or(own),
    }
}

/// Whether some event is of another slot.
pub(super) fn outside(slot: Slot, min: i128, max: i128) -> bool {
    min < nanos(slot.start()) || max >= nanos(slot.end())
}

fn nanos(time: Time) -> i128 {
    i128::from(time.0) * 1_000_000
}

/// The instant, down to its millisecond.
pub(super) fn millis(nanos: i128) -> Time {
    let millis = nanos.div_euclid(1_000_000);
    Time(i64::try_from(millis).unwrap_or(if millis < 0 { i64::MIN } else { i64::MAX }))
}

/// Both ranges, and what they mean.
pub(super) fn sentence(column: &str, slot: Slot, min: i128, max: i128) -> String {
    let all = max < nanos(slot.start()) || min >= nanos(slot.end());
    let means = match all {
        true => "the writer partitions by processing time, or by another clock than the event's",
        false => {
            "the writer partitions by processing time, or late events went to the wrong prefix"
        }
    };
    format!(
        "its `{column}` is from {} to {}, and the partition's is from {} to before {}: {means}",
        millis(min),
        millis(max),
        slot.start(),
        slot.end()
    )
}
