//! A checkpoint's rows, of every kind: classic, multi-part, V2 as Parquet or JSON, with sidecars
//! (PROTOCOL, "Checkpoints"). Only the columns that are needed are read.

mod columns;
#[cfg(feature = "write")]
mod conform;
mod mask;
mod read;
#[cfg(feature = "write")]
mod removes;
#[cfg(feature = "write")]
pub(crate) mod rows;
mod small;
#[cfg(feature = "write")]
mod whole;

use ::parquet::arrow::ProjectionMask;
use arrow_array::builder::UInt32Builder;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, BooleanArray, Int64Array, MapArray, RecordBatch, StructArray, UInt32Array,
};

use self::columns::{as_text, long, present, structure, text};
use self::small::read_small;
use super::action::{Metadata, Protocol, Transaction};
use super::files::{Chunk, Interner, Source, Vectors};
use super::replay::{Seen, unseen};
use super::stats::num_records;
use crate::parquet::reader::ParquetFile;
use crate::{Error, Result};
#[cfg(feature = "write")]
pub(crate) use whole::whole_adds;

/// Rows decoded at once: what fits in a processor's cache, and in the time between two pauses.
const BATCH: usize = 8 * 1024;

/// Actions of a checkpoint that are not files.
#[derive(Debug, Default)]
pub(crate) struct Small {
    pub(crate) metadata: Option<Metadata>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) domains: Vec<(String, Option<String>, bool)>,
    pub(crate) sidecars: Vec<String>,
}

impl Small {
    /// Adds what stands after it in the same checkpoint.
    pub(crate) fn append(&mut self, mut later: Self) {
        self.metadata = later.metadata.or(self.metadata.take());
        self.protocol = later.protocol.or(self.protocol.take());
        self.transactions.append(&mut later.transactions);
        self.domains.append(&mut later.domains);
        self.sidecars.append(&mut later.sidecars);
    }
}

/// What a caller wants of the file rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Files, and everything else.
    Files,
    /// Everything else.
    Small,
}

/// What some rows of a checkpoint hold.
#[derive(Default)]
pub(crate) struct Piece {
    /// Their files, less those that are not active any more.
    pub(crate) chunk: Option<Chunk>,
    /// The partitions that the chunk's numbers mean.
    pub(crate) partitions: Interner,
    /// Everything else.
    pub(crate) small: Small,
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

/// The sidecars that a checkpoint's upper file names.
#[cfg(feature = "write")]
pub(crate) async fn sidecars(file: &ParquetFile) -> Result<Vec<String>> {
    let schema = file.metadata().file_metadata().schema_descr();
    let leaf = |c: &::parquet::schema::types::ColumnDescPtr| c.path().string() == "sidecar.path";
    let Some(leaf) = schema.columns().iter().position(leaf) else {
        return Ok(Vec::new());
    };
    let mask = ProjectionMask::leaves(schema, [leaf]);
    let mut small = Small::default();
    for group in 0..file.metadata().num_row_groups() {
        for batch in file.row_group(group, &mask, BATCH).await? {
            read_small(&batch?, &mut small)?;
        }
    }
    Ok(small.sidecars)
}

fn read_batch(batch: &RecordBatch, source: Source, seen: &Seen) -> Result<Piece> {
    let mut piece = Piece::default();
    read_small(batch, &mut piece.small)?;
    if let Some(chunk) = read_files(batch, source, &mut piece.partitions)? {
        piece.chunk = Some(unseen(seen, chunk)?);
    }
    Ok(piece)
}

fn read_files(
    batch: &RecordBatch,
    source: Source,
    interner: &mut Interner,
) -> Result<Option<Chunk>> {
    let Some(add) = structure(batch, "add") else {
        return Ok(None);
    };
    let Some(path) = text(add, "path")? else {
        return Ok(None);
    };
    // The struct's own nulls are in its text columns already.
    let valid = BooleanArray::from_iter((0..path.len()).map(|row| Some(path.is_valid(row))));
    if valid.true_count() == 0 {
        return Ok(None);
    }
    let rows = path.len();
    let records = records(add)?.unwrap_or_else(|| Int64Array::new_null(rows));
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

/// `numRecords`: typed where a row has it so, else from the text.
fn records(add: &StructArray) -> Result<Option<Int64Array>> {
    let parsed = add
        .column_by_name("stats_parsed")
        .and_then(|c| c.as_struct_opt());
    let parsed = match parsed {
        Some(parsed) => long(parsed, "numRecords")?,
        None => None,
    };
    let Some(stats) = add.column_by_name("stats") else {
        return Ok(parsed);
    };
    let parsed = parsed.as_ref();
    Ok(Some(match stats.as_string_view_opt() {
        Some(views) => counts(parsed, views.iter()),
        None => counts(parsed, as_text(stats)?.iter()),
    }))
}

fn counts<'a>(
    parsed: Option<&Int64Array>,
    stats: impl Iterator<Item = Option<&'a str>>,
) -> Int64Array {
    let typed = |row: usize| {
        let parsed = parsed.filter(|p| p.is_valid(row))?;
        Some(parsed.value(row))
    };
    stats
        .enumerate()
        .map(|(row, stats)| typed(row).or_else(|| stats.and_then(num_records)))
        .collect()
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
