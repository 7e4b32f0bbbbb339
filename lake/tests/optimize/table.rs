//! A table in memory whose data files are real, and its rows as a reader gets them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use lake::Result;
use lake::answer::{Root, snapshot};
use lake::delta::optimize::{Committed, Optimize, Request, apply, plan};
use lake::delta::vector::{Descriptor, decode_inline};
use lake::delta::write::Signature;
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Time};
use lake::wire::SnapshotReport;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use roaring::RoaringTreemap;
use serde_json::{Value, json};

pub(crate) const TXN: &str = "11111111-2222-4333-8444-555555555555";

pub(crate) struct Table {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// Acts carried out so far: each has its own id and names.
    acts: AtomicU64,
}

/// A column of a schema: name, type, and what is noted of it.
pub(crate) fn column(name: &str, data_type: Value, notes: Value) -> Value {
    json!({ "name": name, "type": data_type, "nullable": true, "metadata": notes })
}

pub(crate) fn plain(name: &str, data_type: &str) -> Value {
    column(name, json!(data_type), json!({}))
}

pub(crate) fn metadata(fields: Value, partitions: Value, configuration: Value) -> Value {
    let schema = json!({ "type": "struct", "fields": fields }).to_string();
    json!({ "metaData": {
        "id": "x", "format": { "provider": "parquet", "options": {} }, "schemaString": schema,
        "partitionColumns": partitions, "configuration": configuration,
    }})
}

pub(crate) fn protocol(features: &[&str]) -> Value {
    match features {
        [] => json!({ "protocol": { "minReaderVersion": 1, "minWriterVersion": 2 } }),
        all => {
            let readers = [
                "deletionVectors",
                "columnMapping",
                "timestampNtz",
                "typeWidening",
            ];
            let readers: Vec<&&str> = all.iter().filter(|f| readers.contains(f)).collect();
            json!({ "protocol": { "minReaderVersion": 3, "minWriterVersion": 7,
                "readerFeatures": readers, "writerFeatures": all } })
        }
    }
}

impl Table {
    pub(crate) fn new() -> Self {
        Self::over(Arc::new(InMemory::new()))
    }

    pub(crate) fn over(store: Arc<dyn ObjectStore>) -> Self {
        Self {
            store,
            acts: AtomicU64::new(0),
        }
    }

    pub(crate) fn root(&self) -> Root {
        Root {
            store: Arc::clone(&self.store),
            path: Path::from("t"),
            location: "t".to_owned(),
        }
    }

    pub(crate) async fn commit(&self, version: u64, actions: &[Value]) {
        let lines: Vec<String> = actions.iter().map(Value::to_string).collect();
        let key = Path::from(format!("t/_delta_log/{version:020}.json"));
        let body = lines.join("\n") + "\n";
        self.store
            .put_opts(&key, body.into(), PutMode::Create.into())
            .await
            .unwrap();
    }

    /// Puts a data file; its add.
    pub(crate) async fn file(&self, name: &str, batch: &RecordBatch) -> Value {
        self.file_of(name, batch, WriterProperties::default()).await
    }

    pub(crate) async fn file_of(
        &self,
        name: &str,
        batch: &RecordBatch,
        how: WriterProperties,
    ) -> Value {
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(how)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        self.put(name, bytes, batch.num_rows() as u64).await
    }

    pub(crate) async fn put(&self, name: &str, bytes: Vec<u8>, rows: u64) -> Value {
        let size = bytes.len();
        let key = Path::parse(format!("t/{name}")).unwrap();
        self.store.put(&key, bytes.into()).await.unwrap();
        json!({ "add": {
            "path": name, "partitionValues": {}, "size": size, "modificationTime": 1,
            "dataChange": true, "stats": format!("{{\"numRecords\":{rows}}}"),
        }})
    }

    pub(crate) async fn snapshot(&self) -> SnapshotReport {
        let host: SharedHost = Arc::new(Quiet);
        snapshot(&self.root(), At::Latest, true, &host)
            .await
            .unwrap()
    }

    pub(crate) async fn plan(&self) -> Optimize {
        self.plan_of(&request()).await
    }

    pub(crate) async fn plan_of(&self, request: &Request) -> Optimize {
        let host: SharedHost = Arc::new(Quiet);
        plan(&self.root(), request, &host).await.unwrap()
    }

    pub(crate) async fn apply(&self, optimize: &Optimize) -> Result<Committed> {
        let host: SharedHost = Arc::new(Quiet);
        let act = self.acts.fetch_add(1, Ordering::Relaxed);
        let signature = Signature {
            txn_id: format!("{act:08}-2222-4333-8444-555555555555"),
            ..signature()
        };
        apply(optimize, &signature, &mut names(act), &host).await
    }

    /// Plans and carries out; the actions of the commit.
    pub(crate) async fn optimized(&self) -> Vec<Value> {
        let planned = self.plan().await;
        assert_eq!(planned.plan.refused, None);
        let done = self.apply(&planned).await.unwrap();
        self.actions(done.version.0).await
    }

    pub(crate) async fn actions(&self, version: u64) -> Vec<Value> {
        let key = Path::from(format!("t/_delta_log/{version:020}.json"));
        let text = self.store.get(&key).await.unwrap().bytes().await.unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// All keys but those of the log.
    pub(crate) async fn data_keys(&self) -> Vec<String> {
        use futures::TryStreamExt;
        let all: Vec<_> = self.store.list(None).try_collect().await.unwrap();
        let keys = all.into_iter().map(|meta| meta.location.to_string());
        let mut keys: Vec<String> = keys.filter(|key| !key.contains("_delta_log")).collect();
        keys.sort();
        keys
    }

    /// Every row as text, sorted: columns by name, those of partitions too.
    pub(crate) async fn rows(&self) -> Vec<String> {
        let adds = self.live().await;
        let mut rows = Vec::new();
        for add in adds.values() {
            let path = add["path"].as_str().unwrap();
            let path = percent_encoding::percent_decode_str(path)
                .decode_utf8()
                .unwrap();
            let key = Path::parse(format!("t/{path}")).unwrap();
            let bytes = self.store.get(&key).await.unwrap().bytes().await.unwrap();
            let masked = match add.get("deletionVector") {
                Some(vector) => {
                    let vector: Descriptor = serde_json::from_value(vector.clone()).unwrap();
                    decode_inline(&vector).unwrap()
                }
                None => RoaringTreemap::new(),
            };
            let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
            let mut at = 0u64;
            for batch in reader.build().unwrap() {
                let batch = batch.unwrap();
                for row in 0..batch.num_rows() {
                    if !masked.contains(at) {
                        rows.push(row_text(&batch, row, &add["partitionValues"]));
                    }
                    at += 1;
                }
            }
        }
        rows.sort();
        rows
    }

    /// Every path that an add of any version names, decoded.
    pub(crate) async fn ever_named(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for version in 0..=self.snapshot().await.version.0 {
            for action in self.actions(version).await {
                if let Some(path) = action["add"]["path"].as_str() {
                    let path = percent_encoding::percent_decode_str(path);
                    paths.push(path.decode_utf8().unwrap().into_owned());
                }
            }
        }
        paths
    }

    /// The live adds, by path and deletion vector; read from the commits by this test alone.
    pub(crate) async fn live(&self) -> BTreeMap<String, Value> {
        let mut live = BTreeMap::new();
        for version in 0.. {
            let key = Path::from(format!("t/_delta_log/{version:020}.json"));
            if self.store.head(&key).await.is_err() {
                return live;
            }
            let id = |action: &Value| {
                let vector = action["deletionVector"]["pathOrInlineDv"].as_str();
                format!(
                    "{}|{}",
                    action["path"].as_str().unwrap(),
                    vector.unwrap_or_default()
                )
            };
            let actions = self.actions(version).await;
            for action in &actions {
                if let Some(remove) = action.get("remove") {
                    assert!(
                        live.remove(&id(remove)).is_some(),
                        "nothing to remove: {remove}"
                    );
                }
            }
            for action in actions {
                if let Some(add) = action.get("add") {
                    live.insert(id(add), add.clone());
                }
            }
        }
        live
    }
}

fn row_text(batch: &RecordBatch, row: usize, partition: &Value) -> String {
    let mut cells: BTreeMap<String, String> = BTreeMap::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        if column.is_valid(row) {
            cells.insert(field.name().clone(), cell(column, row));
        }
    }
    for (name, value) in partition.as_object().unwrap() {
        cells.insert(name.clone(), value.to_string());
    }
    format!("{cells:?}")
}

fn cell(column: &ArrayRef, row: usize) -> String {
    match column.data_type() {
        // With and without a zone the same.
        DataType::Timestamp(arrow_schema::TimeUnit::Microsecond, _) => column
            .as_primitive::<TimestampMicrosecondType>()
            .value(row)
            .to_string(),
        _ => array_value_to_string(column, row).unwrap(),
    }
}

pub(crate) fn request() -> Request {
    Request {
        target: None,
        min: 100 << 20,
        default_target: 1 << 30,
        partitions: Vec::new(),
        as_of: Time(1_000),
        expect: None,
    }
}

pub(crate) fn signature() -> Signature {
    Signature {
        now: Time(2_000),
        txn_id: TXN.to_owned(),
        user: Some("ana".to_owned()),
        reason: Some("why".to_owned()),
        engine: "tidemark/test".to_owned(),
    }
}

/// Names that are the same in every run, and none twice.
pub(crate) fn names(act: u64) -> impl FnMut() -> String + Send {
    let mut given = 0;
    move || {
        given += 1;
        format!("{act:08}-0000-4000-8000-{given:012}")
    }
}

/// A deletion vector of these rows, inline.
pub(crate) fn vector(rows: &[u64]) -> Value {
    let mut bytes = 1_681_511_377u32.to_le_bytes().to_vec();
    let map: RoaringTreemap = rows.iter().copied().collect();
    map.serialize_into(&mut bytes).unwrap();
    let size = bytes.len();
    bytes.resize(size.next_multiple_of(4), 0);
    json!({
        "storageType": "i", "pathOrInlineDv": z85(&bytes), "sizeInBytes": size,
        "cardinality": rows.len(),
    })
}

fn z85(bytes: &[u8]) -> String {
    const DIGITS: &[u8] =
        b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    let mut text = String::new();
    for word in bytes.chunks(4) {
        let mut value = u32::from_be_bytes(word.try_into().unwrap());
        let mut digits = [0u8; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(value % 85) as usize];
            value /= 85;
        }
        text.push_str(std::str::from_utf8(&digits).unwrap());
    }
    text
}
