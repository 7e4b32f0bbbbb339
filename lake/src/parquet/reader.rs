//! A Parquet file behind a store: the footer in one request, then only the chunks asked for.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use ::parquet::file::metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader};
use bytes::Bytes;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};

use super::batches::{Batches, caught};
use super::ranges::{Fetched, coalesce};
use super::{codec, guard, heads, schema};
use crate::{Error, Kind, Result};

/// First guess at the size of a footer. One request is enough for all but very wide files.
const FOOTER_GUESS: u64 = 64 * 1024;

/// A footer larger than this is refused: it would not fit beside what it describes.
const FOOTER_LIMIT: u64 = 512 * 1024 * 1024;

/// A Parquet file whose footer was read.
///
/// The Arrow schema is made of the Parquet schema alone: what a writer noted about its own Arrow
/// types is not read. INT96 timestamps are microseconds, which hold the years 1 to 9999.
#[derive(Clone)]
pub struct ParquetFile {
    store: Arc<dyn ObjectStore>,
    path: Path,
    size: u64,
    etag: Option<String>,
    footer_bytes: u64,
    metadata: ArrowReaderMetadata,
    /// Where the bytes that came with the footer start, and the bytes.
    tail: (u64, Bytes),
    read: Arc<AtomicU64>,
}

impl ParquetFile {
    /// Reads the footer: one request where it is not larger than the first guess, else two. All
    /// later reads are pinned to the object seen here, so a file that is replaced meanwhile is an
    /// error and not a mixture.
    pub async fn open(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<Self> {
        Self::open_inner(store, path)
            .await
            .map_err(|e| e.at("key", path))
    }

    async fn open_inner(store: &Arc<dyn ObjectStore>, path: &Path) -> Result<Self> {
        let options = GetOptions {
            range: Some(GetRange::Suffix(FOOTER_GUESS)),
            ..Default::default()
        };
        let answer = store.get_opts(path, options).await?;
        let size = answer.meta.size;
        let etag = answer.meta.e_tag.clone();
        let tail = answer.bytes().await?;
        let mut read = tail.len() as u64;
        let Some(last) = tail.last_chunk::<8>() else {
            return Err(Error::damaged(format!("{size} bytes are no Parquet file")));
        };
        let start = size
            .checked_sub(tail.len() as u64)
            .ok_or_else(|| Error::damaged("more bytes came than the file has"))?;
        let footer = FooterTail::try_new(last)?;
        if footer.is_encrypted_footer() {
            return Err(Error::unsupported("the footer is encrypted"));
        }
        let length = footer.metadata_length() as u64;
        let Some(footer_start) = size.checked_sub(length + 8) else {
            return Err(Error::damaged(
                "the footer is said to be longer than the file",
            ));
        };
        if length > FOOTER_LIMIT {
            return Err(Error::new(
                Kind::TooLarge,
                format!("a footer of {length} bytes"),
            ));
        }
        let bytes = if footer_start >= start {
            let from = (footer_start - start) as usize;
            tail.slice(from..tail.len() - 8)
        } else {
            read += length;
            let range = footer_start..size - 8;
            pinned(store, path, etag.as_deref(), range).await?
        };
        Ok(Self {
            store: Arc::clone(store),
            path: path.clone(),
            size,
            etag,
            footer_bytes: length + 8,
            metadata: decode_footer(&bytes)?,
            tail: (start, tail),
            read: Arc::new(AtomicU64::new(read)),
        })
    }

    /// The same file with the texts of one leaf as views, which [`schema::viewing`] is about.
    pub(crate) fn viewing(self, path: &str) -> Result<Self> {
        let metadata = self.metadata.clone();
        Ok(Self {
            metadata: caught(|| schema::viewing(metadata, path))?,
            ..self
        })
    }

    /// The same file with INT96 as nanoseconds, which [`schema::nanoseconds`] is about.
    #[cfg(feature = "write")]
    pub(crate) fn nanoseconds(self) -> Result<Self> {
        let metadata = caught(|| schema::nanoseconds(self.metadata()))??;
        Ok(Self { metadata, ..self })
    }

    /// The footer.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// The footer with the Arrow schema made of it.
    pub fn arrow(&self) -> &ArrowReaderMetadata {
        &self.metadata
    }

    /// Bytes of the object.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Entity tag of the object that the footer belongs to.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// Bytes of the footer, its length and magic included.
    pub fn footer_bytes(&self) -> u64 {
        self.footer_bytes
    }

    /// Bytes read from the store so far, the footer's included. Clones count together.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// A range of the object, pinned to the bytes that the footer belongs to. What came with the
    /// footer is not read again.
    pub async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        if let Some(from) = range.start.checked_sub(self.tail.0)
            && range.end <= self.size
            && range.start <= range.end
        {
            let length = range.end - range.start;
            return Ok(self.tail.1.slice(from as usize..(from + length) as usize));
        }
        let length = range.end.saturating_sub(range.start);
        self.read.fetch_add(length, Ordering::Relaxed);
        pinned(&self.store, &self.path, self.etag.as_deref(), range)
            .await
            .map_err(|e| e.at("key", &self.path))
    }

    /// Where a column chunk lies. An error where there is no such chunk, where its figures make no
    /// sense, or where it is encrypted.
    pub fn chunk_range(&self, row_group: usize, leaf: usize) -> Result<Range<u64>> {
        let group = self.metadata().row_groups().get(row_group);
        let Some(chunk) = group.and_then(|group| group.columns().get(leaf)) else {
            let message = format!("no column {leaf} in row group {row_group}");
            return Err(Error::not_found(message).at("key", &self.path));
        };
        guard::chunk(chunk, self.size).map_err(|e| {
            let column = chunk.column_path().string();
            e.at("key", &self.path).at("column", column)
        })
    }

    /// An error that names the codec, where a chunk of these root columns cannot be decoded.
    #[cfg(feature = "write")]
    pub(crate) fn check_codecs(&self, row_group: usize, roots: &[usize]) -> Result<()> {
        let schema = self.metadata().file_metadata().schema_descr();
        for leaf in 0..schema.num_columns() {
            if roots.contains(&schema.get_column_root_idx(leaf)) {
                self.chunk_range(row_group, leaf)?;
                let group = self.metadata().row_groups().get(row_group);
                if let Some(chunk) = group.and_then(|group| group.columns().get(leaf)) {
                    codec::check(chunk)?;
                }
            }
        }
        Ok(())
    }

    /// Fetches ranges at once, near ones together, for a decoder that asks for parts of them.
    pub(crate) async fn fetch(&self, wanted: Vec<Range<u64>>) -> Result<Fetched> {
        let ranges = coalesce(wanted);
        let fetches = ranges.iter().map(|range| self.range(range.clone()));
        let pieces = futures::future::try_join_all(fetches).await?;
        let starts = ranges.iter().map(|range| range.start);
        Ok(Fetched::new(self.size, starts.zip(pieces).collect()))
    }

    /// Fetches what `mask` needs of one row group, all ranges at once, and returns a reader over
    /// it. Decoding happens while the reader is driven and touches no store.
    pub async fn row_group(
        &self,
        row_group: usize,
        mask: &ProjectionMask,
        batch_rows: usize,
    ) -> Result<Batches> {
        let builder = self.row_group_builder(row_group, mask).await?;
        let reader = caught(|| builder.with_batch_size(batch_rows).build());
        let reader = reader.and_then(|reader| Ok(Batches::new(reader?)));
        reader.map_err(|e| e.at("key", &self.path))
    }

    async fn row_group_builder(
        &self,
        row_group: usize,
        mask: &ProjectionMask,
    ) -> Result<ParquetRecordBatchReaderBuilder<Fetched>> {
        let Some(group) = self.metadata().row_groups().get(row_group) else {
            return Err(Error::not_found(format!("no row group {row_group}")).at("key", &self.path));
        };
        let mut wanted = Vec::new();
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if mask.leaf_included(leaf) {
                wanted.push(self.chunk_range(row_group, leaf)?);
                codec::check(chunk).map_err(|e| e.at("key", &self.path))?;
            }
        }
        let fetched = self.fetch(wanted.clone()).await?;
        for range in wanted {
            let chunk = fetched.bytes(&range).unwrap_or_default();
            heads::check(&chunk).map_err(|e| e.at("key", &self.path))?;
        }
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(fetched, self.metadata.clone());
        Ok(builder
            .with_row_groups(vec![row_group])
            .with_projection(mask.clone()))
    }
}

/// Decodes a footer's Thrift, its length and magic not included.
fn decode_footer(bytes: &[u8]) -> Result<ArrowReaderMetadata> {
    guard::footer(bytes)?;
    let metadata = caught(|| ParquetMetaDataReader::decode_metadata(bytes))??;
    guard::metadata(&metadata)?;
    caught(|| schema::arrow_metadata(Arc::new(metadata)))?
}

async fn pinned(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    etag: Option<&str>,
    range: Range<u64>,
) -> Result<Bytes> {
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    let wanted = range.end.saturating_sub(range.start);
    let options = GetOptions {
        range: Some(GetRange::Bounded(range)),
        if_match: etag.map(str::to_owned),
        ..Default::default()
    };
    let bytes = store.get_opts(path, options).await?.bytes().await?;
    if bytes.len() as u64 != wanted {
        let message = format!("{} bytes came instead of {wanted}", bytes.len());
        return Err(Error::damaged(message).at("key", path));
    }
    Ok(bytes)
}
