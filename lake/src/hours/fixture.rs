//! Small Parquet files in a store that counts, for tests.

use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, RecordBatch};
use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt, ready};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};

use super::listing::{Object, path};
use crate::host::{Host, Progress, Quiet, SharedHost, Work};
use crate::store::counting::CountingStore;

pub(super) fn host() -> SharedHost {
    Arc::new(Quiet)
}

/// A host of three cores: each piece of work has a thread.
pub(super) struct Threads;

impl Host for Threads {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }

    fn lanes(&self) -> usize {
        3
    }

    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        Box::pin(tokio::task::spawn_blocking(work).map(drop))
    }
}

/// A store, and what was asked of it.
pub(super) struct Shop {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) counting: Arc<CountingStore>,
}

impl Shop {
    pub(super) fn new() -> Self {
        let counting = Arc::new(CountingStore::new(Arc::new(InMemory::new())));
        Self {
            store: Arc::clone(&counting) as Arc<dyn ObjectStore>,
            counting,
        }
    }

    pub(super) async fn put(&self, key: &str, bytes: impl Into<Bytes>) -> Object {
        let path = path(key).unwrap();
        let payload = object_store::PutPayload::from(bytes.into());
        self.store.put(&path, payload).await.unwrap();
        Object::from(self.store.head(&path).await.unwrap())
    }
}

pub(super) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(nullable).unwrap()
}

/// A file of these columns.
pub(super) fn file(columns: Vec<(&str, ArrayRef)>) -> Bytes {
    write(&batch(columns), WriterProperties::default())
}

pub(super) fn write(batch: &RecordBatch, properties: WriterProperties) -> Bytes {
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes.into()
}
