//! A checkpoint's rows, of every kind: classic, multi-part, V2 as Parquet or JSON, with sidecars
//! (PROTOCOL, "Checkpoints"). Only the columns that are needed are read.

mod columns;
mod mask;
mod small;

use ::parquet::arrow::ProjectionMask;
use arrow::array::{
    Array, AsArray, BooleanArray, Int64Array, MapArray, RecordBatch, StructArray, UInt32Array,
    UInt32Builder,
};
use arrow::compute::is_not_null;
use object_store::path::Path;

use self::columns::{as_text, long, present, structure, text};
use self::mask::mask;
use self::small::read_small;
use super::action::{Metadata, Protocol};
use super::files::{Chunk, Interner, Source, Vectors};
use super::stats::num_records;
use crate::parquet::reader::ParquetFile;
use crate::{Error, Result};

/// Rows decoded at once.
const BATCH: usize = 64 * 1024;

/// Actions of a checkpoint that are not files.
#[derive(Debug, Default)]
pub(crate) struct Small {
    pub(crate) metadata: Option<Metadata>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) transactions: Vec<(String, i64)>,
    pub(crate) domains: Vec<(String, Option<String>, bool)>,
    pub(crate) sidecars: Vec<String>,
}

/// What a caller wants of the file rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Files, and everything else.
    Files,
    /// Everything else.
    Small,
}

/// Reads one Parquet file of a checkpoint, row group by row group. `take` is given each chunk of
/// files; partition values are interned on the way.
pub(crate) async fn read_parquet(
    file: &ParquetFile,
    path: &Path,
    want: Want,
    interner: &mut Interner,
    small: &mut Small,
    mut take: impl FnMut(Chunk) -> Result<()>,
    mut pause: impl AsyncFnMut(usize, usize),
) -> Result<()> {
    let groups = file.metadata().num_row_groups();
    for index in 0..groups {
        let mask = mask(file, file.metadata().row_group(index), want);
        let mut reader = file.row_group(index, &mask, BATCH).await?;
        loop {
            let Some(batch) = reader.next() else { break };
            let batch = batch.map_err(|e| e.at("key", path))?;
            let source = Source::Parquet {
                path: path.clone(),
                row_group: index,
            };
            let read =
                read_batch(&batch, source, interner, small).map_err(|e| e.at("key", path))?;
            if let Some(chunk) = read {
                take(chunk)?;
            }
            pause(index, groups).await;
        }
    }
    Ok(())
}

/// `add.stats` of one file, from the row group that holds its add.
pub(crate) async fn statistics(
    file: &ParquetFile,
    row_group: usize,
    raw: &str,
) -> Result<Option<String>> {
    let schema = file.metadata().file_metadata().schema_descr();
    let leaf = |path: &str| {
        schema
            .columns()
            .iter()
            .position(|c| c.path().string() == path)
    };
    let (Some(path), Some(stats)) = (leaf("add.path"), leaf("add.stats")) else {
        return Ok(None);
    };
    let mask = ProjectionMask::leaves(schema, [path, stats]);
    for batch in file.row_group(row_group, &mask, BATCH).await? {
        let batch = batch?;
        let Some(add) = structure(&batch, "add") else {
            return Ok(None);
        };
        let (Some(paths), Some(stats)) = (text(add, "path")?, text(add, "stats")?) else {
            return Ok(None);
        };
        if let Some(row) = present(&paths).find(|row| paths.value(*row) == raw) {
            return Ok(stats.is_valid(row).then(|| stats.value(row).to_owned()));
        }
    }
    Ok(None)
}

fn read_batch(
    batch: &RecordBatch,
    source: Source,
    interner: &mut Interner,
    small: &mut Small,
) -> Result<Option<Chunk>> {
    read_small(batch, small)?;
    let Some(add) = structure(batch, "add") else {
        return Ok(None);
    };
    let Some(path) = text(add, "path")? else {
        return Ok(None);
    };
    let valid = is_not_null(&path)?;
    let valid = match add.nulls() {
        Some(nulls) => BooleanArray::from_iter(
            (0..valid.len()).map(|i| Some(valid.value(i) && nulls.is_valid(i))),
        ),
        None => valid,
    };
    if valid.true_count() == 0 {
        return Ok(None);
    }
    let rows = path.len();
    let records = match (text(add, "stats")?, parsed_records(add)?) {
        (Some(stats), parsed) => {
            let parsed = parsed.as_ref();
            let one = |row: usize| {
                let typed = parsed.filter(|p| p.is_valid(row)).map(|p| p.value(row));
                typed.or_else(|| {
                    if stats.is_valid(row) {
                        num_records(stats.value(row))
                    } else {
                        None
                    }
                })
            };
            Int64Array::from_iter((0..rows).map(one))
        }
        (None, Some(parsed)) => parsed,
        (None, None) => Int64Array::new_null(rows),
    };
    let chunk = Chunk {
        size: long(add, "size")?.unwrap_or_else(|| Int64Array::from_value(0, rows)),
        modified: long(add, "modificationTime")?.unwrap_or_else(|| Int64Array::new_null(rows)),
        partition: partitions(add, &valid, interner)?,
        vectors: vectors(add)?,
        path,
        records,
        source,
    };
    if valid.true_count() == rows {
        Ok(Some(chunk))
    } else {
        chunk.filter(&valid).map(Some)
    }
}

fn parsed_records(add: &StructArray) -> Result<Option<Int64Array>> {
    match add
        .column_by_name("stats_parsed")
        .and_then(|c| c.as_struct_opt())
    {
        Some(parsed) => long(parsed, "numRecords"),
        None => Ok(None),
    }
}

fn vectors(add: &StructArray) -> Result<Option<Vectors>> {
    let Some(vector) = add
        .column_by_name("deletionVector")
        .and_then(|c| c.as_struct_opt())
    else {
        return Ok(None);
    };
    let rows = vector.len();
    let (Some(storage), Some(path)) = (
        text(vector, "storageType")?,
        text(vector, "pathOrInlineDv")?,
    ) else {
        return Ok(None);
    };
    if storage.null_count() == rows {
        return Ok(None);
    }
    let number = |name| -> Result<Int64Array> {
        Ok(long(vector, name)?.unwrap_or_else(|| Int64Array::new_null(rows)))
    };
    Ok(Some(Vectors {
        storage,
        path,
        offset: number("offset")?,
        size: number("sizeInBytes")?,
        cardinality: number("cardinality")?,
    }))
}

fn partitions(
    add: &StructArray,
    valid: &BooleanArray,
    interner: &mut Interner,
) -> Result<UInt32Array> {
    let mut numbers = UInt32Builder::with_capacity(add.len());
    let Some(values) = add.column_by_name("partitionValues") else {
        let none = interner.intern(std::iter::empty());
        return Ok(UInt32Array::from_value(none, add.len()));
    };
    let map: &MapArray = values
        .as_map_opt()
        .ok_or_else(|| Error::damaged("add.partitionValues is not a map"))?;
    let entries = map.entries();
    let keys = as_text(entries.column(0))?;
    let texts = as_text(entries.column(1))?;
    let offsets = map.value_offsets();
    for row in 0..add.len() {
        if !valid.value(row) {
            numbers.append_value(0);
            continue;
        }
        let (from, to) = match (offsets.get(row), offsets.get(row + 1)) {
            (Some(from), Some(to)) if map.is_valid(row) => (*from as usize, *to as usize),
            _ => (0, 0),
        };
        let pairs = (from..to).map(|at| {
            let value = texts
                .is_valid(at)
                .then(|| texts.value(at))
                .filter(|v| !v.is_empty());
            (keys.value(at), value)
        });
        numbers.append_value(interner.intern(pairs));
    }
    Ok(numbers.finish())
}
