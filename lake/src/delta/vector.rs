//! Deletion vectors: which rows of a data file are no longer there (PROTOCOL, "Deletion Vectors").

use std::sync::Arc;

use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};
use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

use crate::{Error, Kind, Result};

pub mod bitmap;
pub mod place;
pub mod z85;

/// A larger vector is refused. A row takes at most two bytes in one and a bit in a dense one, so
/// this masks a thousand million rows of one file.
const SIZE_LIMIT: u64 = 128 * 1024 * 1024;

/// A vector that starts this early is read from the file's first byte on, which is the version.
const VERSION_NEAR: u64 = 4096;

/// Where a deletion vector is and how much it masks (PROTOCOL, "Deletion Vector Descriptor Schema").
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// `u` relative, `i` inline, `p` absolute.
    pub storage_type: String,
    /// Random prefix and base85 uuid, base85 bytes, or a URL.
    pub path_or_inline_dv: String,
    /// Where the vector starts in its file; absent for inline ones.
    pub offset: Option<i64>,
    /// Bytes of the serialised vector.
    pub size_in_bytes: i64,
    /// Rows masked.
    pub cardinality: i64,
}

/// Whether the protocol has this storage type.
pub(crate) fn is_known(storage_type: &str) -> bool {
    matches!(storage_type, "u" | "i" | "p")
}

impl Descriptor {
    /// The id that tells two vectors of one file apart (PROTOCOL, "Derived Fields").
    pub fn unique_id(&self) -> String {
        match self.offset {
            Some(offset) => format!("{}{}@{offset}", self.storage_type, self.path_or_inline_dv),
            None => format!("{}{}", self.storage_type, self.path_or_inline_dv),
        }
    }

    fn size(&self) -> Result<u64> {
        let size = u64::try_from(self.size_in_bytes)
            .map_err(|_| Error::damaged(format!("a size of {} bytes", self.size_in_bytes)))?;
        if size > SIZE_LIMIT {
            return Err(Error::new(
                Kind::TooLarge,
                format!("a deletion vector of {size} bytes; this build reads up to {SIZE_LIMIT}"),
            ));
        }
        Ok(size)
    }
}

/// Key of the file that holds the vector; `None` for an inline one.
///
/// An absolute vector is [`Kind::Unsupported`]: without the table's URL nobody can tell whether it
/// lies in this store (see [`location_at`]). So is an unknown storage type.
pub fn location(root: &Path, descriptor: &Descriptor) -> Result<Option<Path>> {
    location_at(root, None, descriptor)
}

/// As [`location`], where `url` is the table's root as a URL: an absolute vector in the store that
/// this URL names has a key, one anywhere else is external and not followed.
pub fn location_at(
    root: &Path,
    url: Option<&str>,
    descriptor: &Descriptor,
) -> Result<Option<Path>> {
    let text = &descriptor.path_or_inline_dv;
    let found = match descriptor.storage_type.as_str() {
        "i" => return Ok(None),
        "u" => place::relative(root, text),
        "p" => place::absolute(root, url, text),
        other => Err(Error::unsupported(format!(
            "unknown storage type `{}` of a deletion vector",
            other.escape_default()
        ))),
    };
    found.map(Some).map_err(|e| at(e, descriptor))
}

/// Rows masked, read with one request (none for an inline vector).
///
/// A vector that is not what its descriptor says (size, checksum, number of rows) is
/// [`Kind::Damaged`].
pub async fn load(
    store: &Arc<dyn ObjectStore>,
    root: &Path,
    descriptor: &Descriptor,
) -> Result<RoaringTreemap> {
    load_at(store, root, None, descriptor).await
}

/// As [`load`], following absolute vectors as [`location_at`] does.
pub async fn load_at(
    store: &Arc<dyn ObjectStore>,
    root: &Path,
    url: Option<&str>,
    descriptor: &Descriptor,
) -> Result<RoaringTreemap> {
    let rows = match location_at(root, url, descriptor)? {
        None => decode_inline(descriptor),
        Some(key) => read(store, &key, descriptor)
            .await
            .map_err(|e| e.at("key", &key)),
    };
    rows.map_err(|e| at(e, descriptor))
}

/// Decodes the vector that the descriptor itself holds.
pub fn decode_inline(descriptor: &Descriptor) -> Result<RoaringTreemap> {
    let size = descriptor.size()?;
    let text = &descriptor.path_or_inline_dv;
    if (text.len() as u64) / 5 * 4 < size {
        return Err(Error::damaged("the inline deletion vector is cut short"));
    }
    let mut bytes = z85::decode(text)?;
    bytes.truncate(size as usize);
    decode(&bytes, descriptor)
}

/// Decodes a serialised vector: the bytes between size and checksum in a file, or inline.
pub fn decode(bytes: &[u8], descriptor: &Descriptor) -> Result<RoaringTreemap> {
    // Spark's word for "nothing is masked".
    if bytes.is_empty() && descriptor.size_in_bytes == 0 && descriptor.cardinality == 0 {
        return Ok(RoaringTreemap::new());
    }
    let rows = bitmap::decode(bytes)?;
    if i64::try_from(rows.len()) != Ok(descriptor.cardinality) {
        return Err(Error::damaged(format!(
            "the deletion vector masks {} rows, the log says {}",
            rows.len(),
            descriptor.cardinality
        )));
    }
    Ok(rows)
}

/// Decodes what a file holds from the descriptor's offset on: size, vector, checksum.
pub fn decode_stored(bytes: &[u8], descriptor: &Descriptor) -> Result<RoaringTreemap> {
    let size = descriptor.size()?;
    let Some((stated, rest)) = bytes.split_first_chunk::<4>() else {
        return Err(cut_short());
    };
    let stated = u32::from_be_bytes(*stated);
    if u64::from(stated) != size {
        return Err(Error::damaged(format!(
            "the deletion vector has {stated} bytes, the log says {size}"
        )));
    }
    let Some((data, rest)) = rest.split_at_checked(size as usize) else {
        return Err(cut_short());
    };
    let Some((checksum, _)) = rest.split_first_chunk::<4>() else {
        return Err(cut_short());
    };
    if crc32fast::hash(data) != u32::from_be_bytes(*checksum) {
        return Err(Error::damaged(
            "the deletion vector's checksum does not match",
        ));
    }
    decode(data, descriptor)
}

async fn read(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
    descriptor: &Descriptor,
) -> Result<RoaringTreemap> {
    let size = descriptor.size()?;
    // Byte 0 is the version, so a vector without an offset can only be the one behind it.
    let offset = descriptor.offset.unwrap_or(1);
    let offset = u64::try_from(offset)
        .ok()
        .filter(|at| (1..=i64::MAX as u64 / 2).contains(at))
        .ok_or_else(|| Error::damaged(format!("a deletion vector at byte {offset}")))?;
    let start = if offset <= VERSION_NEAR { 0 } else { offset };
    let range = start..offset + size + 8;
    let wanted = range.end - range.start;
    let options = GetOptions {
        range: Some(GetRange::Bounded(range)),
        ..Default::default()
    };
    let bytes = store.get_opts(key, options).await?.bytes().await?;
    if (bytes.len() as u64) < wanted {
        return Err(cut_short());
    }
    if start == 0
        && let Some(version) = bytes.first().filter(|v| **v != 1)
    {
        return Err(Error::unsupported(format!(
            "version {version} of the deletion vector file format"
        )));
    }
    let stored = bytes.get((offset - start) as usize..).unwrap_or_default();
    decode_stored(stored, descriptor)
}

fn cut_short() -> Error {
    Error::damaged("the file ends inside the deletion vector")
}

fn at(error: Error, descriptor: &Descriptor) -> Error {
    const SHOWN: usize = 80;
    let id = descriptor.unique_id();
    match id.char_indices().nth(SHOWN) {
        Some((cut, _)) => error.at("deletion vector", format!("{}…", &id[..cut])),
        None => error.at("deletion vector", id),
    }
}

#[cfg(test)]
mod tests;
