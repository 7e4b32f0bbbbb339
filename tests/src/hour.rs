//! Files of a dataset's hour, and what is in them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, TimestampMillisecondArray};
use futures::TryStreamExt as _;
use lake::hours::Slot;
use lake::parquet::reader::ParquetFile;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use parquet::arrow::{ArrowWriter, ProjectionMask};

/// A Parquet file of two columns: `id`, and `event_time`, so many milliseconds after the hour's
/// start.
pub fn rows(slot: Slot, ids: Range<i64>) -> Vec<u8> {
    let times = ids.clone().map(|id| slot.start().0 + id);
    let times = TimestampMillisecondArray::from_iter_values(times).with_timezone("UTC");
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids))),
        ("event_time", Arc::new(times)),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a plain schema");
    writer.write(&batch).expect("memory takes it");
    writer.close().expect("memory takes it");
    bytes
}

/// All objects below a prefix, by their keys.
pub async fn listed(store: &Arc<dyn ObjectStore>, prefix: &str) -> Vec<ObjectMeta> {
    let folder = Path::parse(prefix.trim_end_matches('/')).expect("a prefix of keys");
    let listed = store.list(Some(&folder));
    let mut listed: Vec<ObjectMeta> = listed.try_collect().await.expect("the store lists it");
    listed.sort_by(|a, b| a.location.cmp(&b.location));
    listed
}

/// The first column of all files below a prefix, sorted.
pub async fn ids(store: &Arc<dyn ObjectStore>, prefix: &str) -> Vec<i64> {
    let mut ids = Vec::new();
    for object in listed(store, prefix).await {
        let file = ParquetFile::open(store, &object.location).await;
        let file = file.expect("a Parquet file");
        for group in 0..file.metadata().num_row_groups() {
            let read = file.row_group(group, &ProjectionMask::all(), 8192).await;
            for batch in read.expect("its row groups can be read") {
                let batch = batch.expect("its rows can be read");
                ids.extend(batch.column(0).as_primitive::<Int64Type>().values());
            }
        }
    }
    ids.sort_unstable();
    ids
}
