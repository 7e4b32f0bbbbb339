//! The files that are packed, looked at before anything is planned.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::parquet::basic::Compression;
use object_store::ObjectStore;
use object_store::path::Path;
use roaring::RoaringTreemap;

use super::Memory;
use super::binding::Binding;
use super::columns::Columns;
use crate::answer::Root;
use crate::delta::files::FileRef;
use crate::delta::key::Key;
use crate::delta::path::{Location, locate};
use crate::delta::vector::{self, Descriptor};
use crate::delta::verbatim::Fields;
use crate::delta::write::{BASE_ROW_ID, SINCE_VERSION, as_remove};
use crate::parquet::reader::ParquetFile;
use crate::parquet::slices::{bytes, divisible, rows};
use crate::{Error, Kind, Result};

/// A file that is packed.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) key: Key,
    /// The path as the log spells it.
    pub(super) raw_path: String,
    pub(super) path: Path,
    pub(super) bytes: u64,
    /// Bytes of its columns: without the footer and the indexes, which its rows do not take along.
    pub(super) data: u64,
    /// Rows in the file, masked ones included.
    pub(super) records: u64,
    pub(super) vector: Option<Descriptor>,
    /// Whether its pages are compressed well, and slowly.
    pub(super) dense: bool,
    /// Id of its first row and the version its rows came in, where rows keep theirs.
    pub(super) ids: Option<(i64, i64)>,
    /// Its remove.
    pub(super) remove: Fields,
}

impl Input {
    /// Rows that deletion vectors mask.
    pub(super) fn masked(&self) -> u64 {
        let masked = self.vector.as_ref().map_or(0, |v| v.cardinality);
        u64::try_from(masked).unwrap_or(0)
    }
}

/// Looks at a file that is to be packed; an error where it cannot be packed exactly.
pub(super) async fn input(
    root: &Root,
    columns: &Columns,
    file: FileRef<'_>,
    add: Fields,
) -> Result<Input> {
    let Location::Inside(path) = locate(&root.path, file.raw_path())? else {
        return Err(Error::unsupported("it lies outside the table"));
    };
    if has_empty_text(&add) {
        // The protocol reads it as null, and not every engine does: written either way, some reader
        // would find another value than before.
        return Err(Error::unsupported(
            "a partition value is empty text, which some engines read as null and others as text",
        ));
    }
    let vector = file.vector();
    if !file.vector_is_sound() {
        return Err(Error::damaged("its deletion vector cannot be what it says"));
    }
    let number = |name: &str| add.get(name).and_then(|n| n.get().parse::<i64>().ok());
    let ids = match columns.tracked {
        None => None,
        Some(_) => match (number(BASE_ROW_ID), number(SINCE_VERSION)) {
            (Some(id), Some(since)) => Some((id, since)),
            _ => return Err(Error::unsupported("its rows have no ids to keep")),
        },
    };
    let opened = ParquetFile::open(&root.store, &path).await?;
    let limit = Memory::default().slice;
    let looked = look(&opened, columns, limit, file.records(), file.bytes());
    let Looked {
        records,
        data,
        dense,
    } = looked.await?;
    if let Some(vector) = &vector {
        masked(&root.store, &root.path, vector, records).await?;
    }
    let mut remove = add;
    as_remove(&mut remove, false)?;
    Ok(Input {
        key: file.key(),
        raw_path: file.raw_path().to_owned(),
        path,
        bytes: file.bytes(),
        data: data.min(file.bytes()),
        records,
        vector,
        dense,
        ids,
        remove,
    })
}

/// Whether one of an add's partition values is text without characters.
fn has_empty_text(add: &Fields) -> bool {
    let values = add.get("partitionValues");
    let values: Option<BTreeMap<String, Option<String>>> =
        values.and_then(|values| serde_json::from_str(values.get()).ok());
    let mut values = values.iter().flat_map(BTreeMap::values);
    values.any(|value| value.as_deref() == Some(""))
}

/// What a footer tells.
struct Looked {
    records: u64,
    data: u64,
    /// Whether pages are compressed densely.
    dense: bool,
}

/// Looks at a file: whether all of it can be read as the table has it.
async fn look(
    file: &ParquetFile,
    columns: &Columns,
    limit: u64,
    stated: Option<u64>,
    bytes_stated: u64,
) -> Result<Looked> {
    if file.size() != bytes_stated {
        return Err(Error::damaged("it has another size than the log says"));
    }
    let binding = Binding::of(file, columns)?;
    let metadata = file.metadata();
    let (mut records, mut data, mut dense) = (0u64, 0u64, false);
    for (group, own) in metadata.row_groups().iter().enumerate() {
        records = records.saturating_add(rows(file, group)?);
        let columns = own.columns().iter();
        let sizes = columns.filter_map(|chunk| u64::try_from(chunk.compressed_size()).ok());
        data = sizes.fold(data, u64::saturating_add);
        dense |= own.columns().iter().any(|chunk| {
            matches!(
                chunk.compression(),
                Compression::ZSTD(_) | Compression::GZIP(_) | Compression::BROTLI(_)
            )
        });
        file.check_codecs(group, &binding.roots)?;
        if bytes(file, group, &binding.roots)? > limit && !divisible(file, group, &binding.roots) {
            return Err(Error::new(
                Kind::TooLarge,
                "it has a row group that is too large to be read at once and cannot be divided",
            ));
        }
    }
    if stated.is_some_and(|stated| stated != records) {
        return Err(Error::damaged(
            "it has another number of rows than the log says",
        ));
    }
    Ok(Looked {
        records,
        data,
        dense,
    })
}

/// The rows of a file that are masked, each of which it has.
pub(super) async fn masked(
    store: &Arc<dyn ObjectStore>,
    root: &Path,
    vector: &Descriptor,
    records: u64,
) -> Result<RoaringTreemap> {
    let loaded = vector::load(store, root, vector).await;
    let masked = loaded.map_err(|error| match error.kind() {
        Kind::NotFound => Error::damaged("its deletion vector is not in the store").because(error),
        _ => error,
    })?;
    match masked.max() {
        Some(last) if last >= records => Err(Error::damaged(
            "its deletion vector masks rows that it does not have",
        )),
        _ => Ok(masked),
    }
}
