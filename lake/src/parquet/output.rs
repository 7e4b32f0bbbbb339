//! A new file: encoded batch by batch and put in parts, so that no more of it is held than a row
//! group and a few parts.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use object_store::path::Path;
use object_store::{
    MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UploadPart,
};

use crate::{Error, Kind, Result};

/// Parts on their way at once.
const IN_FLIGHT: usize = 2;

/// What is held in memory for each file that is being written.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Bytes of an input that are fetched at once.
    pub slice: u64,
    /// Encoded bytes of a row group of a new file.
    pub row_group: usize,
    /// Bytes of one part of an upload. Stores want at least five million.
    pub part: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            slice: 32 << 20,
            row_group: 64 << 20,
            part: 8 << 20,
        }
    }
}

/// What encodes a file. It touches no store.
pub(crate) struct Encoder {
    writer: ArrowWriter<Parts>,
}

impl Encoder {
    pub(crate) fn new(
        schema: &SchemaRef,
        compression: Compression,
        memory: &Memory,
        created_by: &str,
    ) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_created_by(created_by.to_owned())
            .set_max_row_group_row_count(None)
            .set_max_row_group_bytes(Some(memory.row_group.max(1)))
            .build();
        // Other engines make their own types of the columns.
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(true);
        let parts = Parts::new(memory.part);
        let writer = ArrowWriter::try_new_with_options(parts, Arc::clone(schema), options);
        Ok(Self {
            writer: writer.map_err(unwritable)?,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(unwritable)
    }

    /// Whole parts that are encoded.
    pub(crate) fn parts(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.writer.inner_mut().full)
    }

    /// Bytes that the file would have if it ended here, or about as many.
    pub(crate) fn bytes(&self) -> u64 {
        let open = self.writer.in_progress_size();
        (self.writer.bytes_written() + open) as u64
    }

    /// All that is left, and the rows that the footer has.
    pub(crate) fn finish(mut self) -> Result<(Vec<Bytes>, u64)> {
        let footer = self.writer.finish().map_err(unwritable)?;
        let rows = u64::try_from(footer.file_metadata().num_rows()).unwrap_or(0);
        let parts = std::mem::replace(self.writer.inner_mut(), Parts::new(1));
        Ok((parts.finish(), rows))
    }
}

fn unwritable(error: ::parquet::errors::ParquetError) -> Error {
    Error::new(Kind::Internal, "the columns cannot be encoded").because(error)
}

/// Encoded bytes in parts of one size.
struct Parts {
    size: usize,
    full: Vec<Bytes>,
    open: Vec<u8>,
}

impl Parts {
    fn new(size: usize) -> Self {
        Self {
            size: size.max(1),
            full: Vec::new(),
            open: Vec::new(),
        }
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.full.push(Bytes::from(self.open));
        self.full
    }
}

impl Write for Parts {
    fn write(&mut self, mut bytes: &[u8]) -> std::io::Result<usize> {
        let length = bytes.len();
        while !bytes.is_empty() {
            if self.open.capacity() == 0 {
                self.open.reserve_exact(self.size);
            }
            let taken = bytes.len().min(self.size - self.open.len());
            let (now, later) = bytes.split_at(taken);
            self.open.extend_from_slice(now);
            bytes = later;
            if self.open.len() == self.size {
                let full = std::mem::take(&mut self.open);
                self.full.push(Bytes::from(full));
            }
        }
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Puts parts one after another under one key.
pub(crate) struct Upload {
    store: Arc<dyn ObjectStore>,
    path: Path,
    multipart: Option<Box<dyn MultipartUpload>>,
    flying: FuturesUnordered<UploadPart>,
    pub(crate) bytes: u64,
}

impl Upload {
    /// Nothing is asked of the store before the first whole part.
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path) -> Self {
        Self {
            store,
            path,
            multipart: None,
            flying: FuturesUnordered::new(),
            bytes: 0,
        }
    }

    /// Sends whole parts on their way.
    pub(crate) async fn send(&mut self, parts: Vec<Bytes>) -> Result<()> {
        let sent = self.send_inner(parts).await;
        sent.map_err(|e| Error::from(e).at("key", &self.path))
    }

    async fn send_inner(&mut self, parts: Vec<Bytes>) -> object_store::Result<()> {
        for part in parts {
            self.bytes += part.len() as u64;
            let upload = match &mut self.multipart {
                Some(upload) => upload,
                none => none.insert(self.store.put_multipart(&self.path).await?),
            };
            self.flying.push(upload.put_part(PutPayload::from(part)));
            while self.flying.len() >= IN_FLIGHT {
                self.flying.next().await.transpose()?;
            }
        }
        Ok(())
    }

    /// Sends the last parts; the object is there when this returns.
    pub(crate) async fn finish(&mut self, parts: Vec<Bytes>) -> Result<()> {
        let put = async {
            match parts.as_slice() {
                [only] if self.multipart.is_none() => {
                    self.bytes = only.len() as u64;
                    let payload = PutPayload::from(only.clone());
                    let create = PutOptions::from(PutMode::Create);
                    match self.store.put_opts(&self.path, payload, create).await {
                        // The name is random, so what exists came of a put of ours whose answer was
                        // lost. Whether it is whole is looked at afterwards.
                        Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => Ok(()),
                        Err(error) => Err(error),
                    }
                }
                _ => {
                    let parts = parts.into_iter().filter(|part| !part.is_empty());
                    self.send_inner(parts.collect()).await?;
                    while self.flying.next().await.transpose()?.is_some() {}
                    match &mut self.multipart {
                        Some(upload) => upload.complete().await.map(|_| ()),
                        None => Ok(()),
                    }
                }
            }
        };
        put.await.map_err(|e| Error::from(e).at("key", &self.path))
    }

    /// Gives the upload up. What was put whole is deleted by whoever knows its key.
    pub(crate) async fn abort(mut self) {
        // Parts that are still on their way would outlive what they are parts of.
        while self.flying.next().await.is_some() {}
        if let Some(upload) = &mut self.multipart {
            let _ = upload.abort().await;
        }
    }
}
