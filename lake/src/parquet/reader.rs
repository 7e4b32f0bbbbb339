//! A Parquet file behind a store: the footer in one request, then only the chunks asked for.

use std::ops::Range;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    FooterTail, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::{Buf, Bytes};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};

use crate::{Error, Kind, Result};

/// First guess at the size of a footer. One request is enough for all but very wide files.
const FOOTER_GUESS: u64 = 64 * 1024;

/// A footer larger than this is refused: it would not fit beside what it describes.
const FOOTER_LIMIT: u64 = 512 * 1024 * 1024;

/// A Parquet file whose footer was read.
#[derive(Clone)]
pub struct ParquetFile {
    store: Arc<dyn ObjectStore>,
    path: Path,
    size: u64,
    etag: Option<String>,
    footer_bytes: u64,
    metadata: ArrowReaderMetadata,
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
        let start = answer.range.start;
        let tail = answer.bytes().await?;
        if tail.len() < 8 {
            return Err(Error::damaged(format!("{size} bytes are no Parquet file")));
        }
        let last: [u8; 8] = tail[tail.len() - 8..].try_into().unwrap_or_default();
        let footer = FooterTail::try_new(&last)?;
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
            let range = footer_start..size - 8;
            pinned(store, path, etag.as_deref(), range).await?
        };
        let metadata = ParquetMetaDataReader::decode_metadata(&bytes)?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Skip);
        let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), options)?;
        Ok(Self {
            store: Arc::clone(store),
            path: path.clone(),
            size,
            etag,
            footer_bytes: length + 8,
            metadata,
        })
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

    /// Bytes of the footer, its length and magic included.
    pub fn footer_bytes(&self) -> u64 {
        self.footer_bytes
    }

    /// A range of the object, pinned to the bytes that the footer belongs to.
    pub async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        pinned(&self.store, &self.path, self.etag.as_deref(), range)
            .await
            .map_err(|e| e.at("key", &self.path))
    }

    /// Fetches what `mask` needs of one row group, all ranges at once, and returns a reader over
    /// it. Decoding happens while the reader is driven and touches no store.
    pub async fn row_group(
        &self,
        row_group: usize,
        mask: &ProjectionMask,
        batch_rows: usize,
    ) -> Result<ParquetRecordBatchReader> {
        let builder = self.row_group_builder(row_group, mask).await?;
        let reader = builder.with_batch_size(batch_rows).build();
        reader.map_err(|e| Error::from(e).at("key", &self.path))
    }

    /// As [`ParquetFile::row_group`], for a caller that adds a selection, offset or limit.
    pub async fn row_group_builder(
        &self,
        row_group: usize,
        mask: &ProjectionMask,
    ) -> Result<ParquetRecordBatchReaderBuilder<Fetched>> {
        let Some(group) = self.metadata().row_groups().get(row_group) else {
            return Err(Error::not_found(format!("no row group {row_group}")).at("key", &self.path));
        };
        let mut wanted: Vec<Range<u64>> = Vec::new();
        for (leaf, column) in group.columns().iter().enumerate() {
            if !mask.leaf_included(leaf) {
                continue;
            }
            let (start, length) = column.byte_range();
            let end = start.checked_add(length).filter(|end| *end <= self.size);
            let Some(end) = end else {
                return Err(
                    Error::damaged("a column chunk lies outside the file").at("key", &self.path)
                );
            };
            wanted.push(start..end);
        }
        let ranges = coalesce(wanted);
        let fetches = ranges.iter().map(|range| self.range(range.clone()));
        let pieces = futures::future::try_join_all(fetches).await?;
        let fetched = Fetched {
            size: self.size,
            pieces: ranges.iter().map(|r| r.start).zip(pieces).collect(),
        };
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(fetched, self.metadata.clone());
        Ok(builder
            .with_row_groups(vec![row_group])
            .with_projection(mask.clone()))
    }
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
    let wanted = range.end - range.start;
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

/// Joins ranges with small gaps between them: one request more costs more than the gap.
fn coalesce(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    const GAP: u64 = 256 * 1024;
    ranges.sort_by_key(|r| r.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(GAP) => {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// Ranges of a file held in memory, as the Parquet decoder wants them.
#[derive(Clone, Debug)]
pub struct Fetched {
    size: u64,
    pieces: Vec<(u64, Bytes)>,
}

impl Fetched {
    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let index = self.pieces.partition_point(|(at, _)| *at <= start);
        let piece = index.checked_sub(1).and_then(|i| self.pieces.get(i));
        match piece {
            Some((at, bytes)) if start - at <= bytes.len() as u64 => {
                Ok(bytes.slice((start - at) as usize..))
            }
            _ => Err(ParquetError::EOF(format!("byte {start} was not fetched"))),
        }
    }
}

impl Length for Fetched {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Fetched {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.from(start)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF(format!(
                "{length} bytes from {start} were not fetched"
            )));
        }
        Ok(bytes.slice(..length))
    }
}
