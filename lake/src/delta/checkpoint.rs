//! A checkpoint's rows, of every kind: classic, multi-part, V2 as Parquet or JSON, with sidecars
//! (PROTOCOL, "Checkpoints"). Only the columns that are needed are read.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::file::metadata::RowGroupMetaData;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, MapArray, RecordBatch, StringArray,
    StructArray, UInt32Builder,
};
use arrow::compute::{cast, is_not_null};
use arrow::datatypes::{DataType, Int32Type};
use object_store::path::Path;

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

const SMALL_ROOTS: [&str; 5] = ["metaData", "protocol", "txn", "domainMetadata", "sidecar"];

fn wanted(path: &str, want: Want) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    if SMALL_ROOTS.contains(&root) {
        return true;
    }
    want == Want::Files
        && (matches!(
            path,
            "add.path"
                | "add.size"
                | "add.modificationTime"
                | "add.stats"
                | "add.stats_parsed.numRecords"
        ) || path.starts_with("add.partitionValues.")
            || path.starts_with("add.deletionVector."))
}

/// Leaves to read of one row group. A column that its statistics say is all null is left out, with
/// its whole root where the root's key column is.
fn mask(file: &ParquetFile, group: &RowGroupMetaData, want: Want) -> ProjectionMask {
    let schema = file.metadata().file_metadata().schema_descr();
    let all_null = |leaf: usize| {
        let column = group.column(leaf);
        let nulls = column.statistics().and_then(|s| s.null_count_opt());
        nulls.is_some_and(|n| i64::try_from(n).is_ok_and(|n| n == column.num_values()))
    };
    let paths: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
    let absent = |root: &str| {
        let key = match root {
            "metaData" => "metaData.id",
            "protocol" => "protocol.minReaderVersion",
            "txn" => "txn.appId",
            "domainMetadata" => "domainMetadata.domain",
            "sidecar" => "sidecar.path",
            "add" => "add.path",
            _ => return false,
        };
        paths.iter().position(|p| p == key).is_some_and(all_null)
    };
    let has_stats = paths
        .iter()
        .position(|p| p == "add.stats")
        .is_some_and(|at| !all_null(at));
    let parsed = paths
        .iter()
        .position(|p| p == "add.stats_parsed.numRecords");
    // The typed count is a fraction of the text's size; it is used alone where it is never null.
    let parsed_is_whole = parsed.is_some_and(|at| {
        let key = paths.iter().position(|p| p == "add.path");
        let nulls = |leaf: usize| {
            group
                .column(leaf)
                .statistics()
                .and_then(|s| s.null_count_opt())
        };
        key.is_some_and(|key| nulls(at).is_some() && nulls(at) == nulls(key))
    });
    let leaves = (0..paths.len()).filter(|leaf| {
        let path = &paths[*leaf];
        let root = path.split('.').next().unwrap_or(path);
        if !wanted(path, want) || absent(root) {
            return false;
        }
        match path.as_str() {
            "add.stats" => has_stats && !parsed_is_whole,
            _ if path.starts_with("add.deletionVector.") => !all_null(*leaf),
            _ => true,
        }
    });
    ProjectionMask::leaves(schema, leaves.collect::<Vec<_>>())
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
) -> Result<arrow::array::UInt32Array> {
    let mut numbers = UInt32Builder::with_capacity(add.len());
    let Some(values) = add.column_by_name("partitionValues") else {
        let none = interner.intern(std::iter::empty());
        return Ok(arrow::array::UInt32Array::from_value(none, add.len()));
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

fn read_small(batch: &RecordBatch, small: &mut Small) -> Result<()> {
    if let Some(txn) = structure(batch, "txn")
        && let (Some(app), Some(version)) = (text(txn, "appId")?, long(txn, "version")?)
    {
        for row in present(&app) {
            small
                .transactions
                .push((app.value(row).to_owned(), version.value(row)));
        }
    }
    if let Some(domain) = structure(batch, "domainMetadata")
        && let Some(name) = text(domain, "domain")?
    {
        let configuration = text(domain, "configuration")?;
        let removed = domain
            .column_by_name("removed")
            .and_then(|c| c.as_boolean_opt().cloned());
        for row in present(&name) {
            let text = configuration
                .as_ref()
                .filter(|c| c.is_valid(row))
                .map(|c| c.value(row).to_owned());
            let gone = removed
                .as_ref()
                .is_some_and(|r| r.is_valid(row) && r.value(row));
            small.domains.push((name.value(row).to_owned(), text, gone));
        }
    }
    if let Some(sidecar) = structure(batch, "sidecar")
        && let Some(path) = text(sidecar, "path")?
    {
        small
            .sidecars
            .extend(present(&path).map(|row| path.value(row).to_owned()));
    }
    if let Some(protocol) = structure(batch, "protocol")
        && let (Some(reader), Some(writer)) = (
            long(protocol, "minReaderVersion")?,
            long(protocol, "minWriterVersion")?,
        )
        && let Some(row) =
            (0..reader.len()).find(|row| reader.is_valid(*row) && writer.is_valid(*row))
    {
        small.protocol = Some(Protocol {
            min_reader_version: reader.value(row),
            min_writer_version: writer.value(row),
            reader_features: strings(protocol, "readerFeatures", row)?,
            writer_features: strings(protocol, "writerFeatures", row)?,
        });
    }
    read_metadata(batch, small)
}

fn read_metadata(batch: &RecordBatch, small: &mut Small) -> Result<()> {
    let Some(metadata) = structure(batch, "metaData") else {
        return Ok(());
    };
    let Some(id) = text(metadata, "id")? else {
        return Ok(());
    };
    let Some(row) = present(&id).next() else {
        return Ok(());
    };
    let one = |name| -> Result<Option<String>> {
        Ok(text(metadata, name)?
            .filter(|t| t.is_valid(row))
            .map(|t| t.value(row).to_owned()))
    };
    let created = long(metadata, "createdTime")?
        .filter(|t| t.is_valid(row))
        .map(|t| t.value(row));
    small.metadata = Some(Metadata {
        id: id.value(row).to_owned(),
        name: one("name")?,
        description: one("description")?,
        schema_string: one("schemaString")?.unwrap_or_default(),
        partition_columns: strings(metadata, "partitionColumns", row)?,
        configuration: map_of(metadata, "configuration", row)?
            .into_iter()
            .collect(),
        created_time: created,
    });
    Ok(())
}

fn present(array: &StringArray) -> impl Iterator<Item = usize> + '_ {
    (0..array.len()).filter(|row| array.is_valid(*row))
}

fn structure<'a>(batch: &'a RecordBatch, name: &str) -> Option<&'a StructArray> {
    batch.column_by_name(name).and_then(|c| c.as_struct_opt())
}

fn as_text(column: &ArrayRef) -> Result<StringArray> {
    if let Some(text) = column.as_string_opt::<i32>() {
        return Ok(text.clone());
    }
    let text = cast(column, &DataType::Utf8)?;
    text.as_string_opt::<i32>()
        .cloned()
        .ok_or_else(|| Error::damaged("a text column holds something else"))
}

/// A text column of a struct with the struct's own nulls applied.
fn text(parent: &StructArray, name: &str) -> Result<Option<StringArray>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(None);
    };
    let text = as_text(column)?;
    let nulls = arrow::buffer::NullBuffer::union(text.nulls(), parent.nulls());
    let (offsets, values, _) = text.into_parts();
    Ok(Some(StringArray::try_new(offsets, values, nulls)?))
}

/// A number column of a struct as 64 bits, with the struct's own nulls applied.
fn long(parent: &StructArray, name: &str) -> Result<Option<Int64Array>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(None);
    };
    let numbers = match column.data_type() {
        DataType::Int64 => column.as_primitive_opt().cloned(),
        DataType::Int32 => {
            let small = column.as_primitive_opt::<Int32Type>();
            small.map(|a| Int64Array::from_iter(a.iter().map(|v| v.map(i64::from))))
        }
        _ => cast(column, &DataType::Int64)?.as_primitive_opt().cloned(),
    };
    let Some(numbers): Option<Int64Array> = numbers else {
        return Err(Error::damaged(format!("`{name}` is no number")));
    };
    let nulls = arrow::buffer::NullBuffer::union(numbers.nulls(), parent.nulls());
    let (_, values, _) = numbers.into_parts();
    Ok(Some(Int64Array::try_new(values, nulls)?))
}

fn strings(parent: &StructArray, name: &str, row: usize) -> Result<Vec<String>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(Vec::new());
    };
    let Some(list) = column.as_list_opt::<i32>() else {
        return Err(Error::damaged(format!("`{name}` is no list")));
    };
    if list.is_null(row) {
        return Ok(Vec::new());
    }
    let mut values = list.value(row);
    // Some writers wrap each element in a group of its own.
    if let Some(group) = values.as_struct_opt()
        && let [only] = group.columns()
    {
        values = Arc::clone(only);
    }
    let values = as_text(&values)?;
    Ok(present(&values)
        .map(|at| values.value(at).to_owned())
        .collect())
}

fn map_of(parent: &StructArray, name: &str, row: usize) -> Result<Vec<(String, String)>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(Vec::new());
    };
    let Some(map) = column.as_map_opt() else {
        return Err(Error::damaged(format!("`{name}` is no map")));
    };
    if map.is_null(row) {
        return Ok(Vec::new());
    }
    let entries = map.value(row);
    let (keys, values) = (as_text(entries.column(0))?, as_text(entries.column(1))?);
    let pair = |at: usize| {
        (
            keys.value(at).to_owned(),
            if values.is_valid(at) {
                values.value(at).to_owned()
            } else {
                String::new()
            },
        )
    };
    Ok((0..entries.len()).map(pair).collect())
}
