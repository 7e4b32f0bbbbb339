//! A Parquet file behind a store: the footer in one request, then only the chunks asked for.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::Type as Physical;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    FooterTail, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
};
use ::parquet::file::reader::{ChunkReader, Length};
use arrow::datatypes::{DataType, FieldRef, Fields, Schema, TimeUnit};
use bytes::{Buf, Bytes};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore};

use super::batches::{Batches, caught};
use super::{codec, guard, heads};
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

    /// Fetches ranges at once, near ones together, for a decoder that asks for parts of them.
    pub async fn fetch(&self, wanted: Vec<Range<u64>>) -> Result<Fetched> {
        let ranges = coalesce(wanted);
        let fetches = ranges.iter().map(|range| self.range(range.clone()));
        let pieces = futures::future::try_join_all(fetches).await?;
        Ok(Fetched {
            size: self.size,
            pieces: ranges.iter().map(|r| r.start).zip(pieces).collect(),
        })
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
    caught(|| arrow_metadata(Arc::new(metadata)))?
}

/// The Arrow schema of a footer.
pub(crate) fn arrow_metadata(metadata: Arc<ParquetMetaData>) -> Result<ArrowReaderMetadata> {
    let options = || {
        ArrowReaderOptions::new()
            .with_page_index_policy(PageIndexPolicy::Skip)
            .with_skip_arrow_metadata(true)
    };
    let plain = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options())?;
    let columns = metadata.file_metadata().schema_descr().columns();
    if columns.iter().all(|c| c.physical_type() != Physical::INT96) {
        return Ok(plain);
    }
    // Nanoseconds, the default, hold no more than the years 1677 to 2262.
    let mut leaves = columns.iter().map(|c| c.physical_type());
    let fields = widened(plain.schema().fields(), &mut leaves);
    let schema = Arc::new(Schema::new(fields));
    let widened = ArrowReaderMetadata::try_new(metadata, options().with_schema(schema));
    Ok(widened.unwrap_or(plain))
}

/// The fields with microseconds where the leaf is an INT96.
fn widened(fields: &Fields, leaves: &mut impl Iterator<Item = Physical>) -> Fields {
    let widened = fields.iter().map(|field| {
        let data_type = widened_type(field.data_type(), leaves);
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    });
    widened.collect()
}

fn widened_type(data_type: &DataType, leaves: &mut dyn Iterator<Item = Physical>) -> DataType {
    let mut one = |field: &FieldRef| {
        let data_type = widened_type(field.data_type(), leaves);
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(one).collect()),
        DataType::List(field) => DataType::List(one(field)),
        DataType::LargeList(field) => DataType::LargeList(one(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(one(field), *size),
        DataType::Map(field, sorted) => DataType::Map(one(field), *sorted),
        other => match leaves.next() {
            Some(Physical::INT96) => DataType::Timestamp(TimeUnit::Microsecond, None),
            _ => other.clone(),
        },
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
    /// The bytes of a range; `None` where not all of it was fetched.
    pub fn bytes(&self, range: &Range<u64>) -> Option<Bytes> {
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        self.get_bytes(range.start, length).ok()
    }

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
