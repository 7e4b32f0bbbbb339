//! A table in memory to vacuum.

#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test uses some of it"
)]

use std::sync::Arc;

use lake::Result;
use lake::answer::Root;
use lake::delta::vacuum::{Request, Vacuum, plan};
use lake::delta::write::Signature;
use lake::host::{Quiet, SharedHost};
use lake::table::Time;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode};
use serde_json::{Value, json};

pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const WEEK: i64 = 7 * 24 * HOUR;

/// The in-commit timestamp of version 0.
pub(crate) const CREATED: i64 = 5_000_000_000_000;

/// A table, and an instant two weeks after all its objects were put.
#[derive(Clone)]
pub(crate) struct Bed {
    pub(crate) root: Root,
    pub(crate) host: SharedHost,
    pub(crate) now: Time,
}

fn schema(columns: &[(&str, Value)]) -> String {
    let fields: Vec<Value> = columns
        .iter()
        .map(|(name, metadata)| json!({"name": name, "type": "string", "nullable": true, "metadata": metadata}))
        .collect();
    json!({"type": "struct", "fields": fields}).to_string()
}

fn described(schema: String, partitions: &[&str], properties: &[(&str, &str)]) -> Value {
    let configuration: serde_json::Map<String, Value> = properties
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    json!({"metaData": {
        "id": "x", "format": {"provider": "parquet", "options": {}}, "schemaString": schema,
        "partitionColumns": partitions, "configuration": configuration,
    }})
}

/// Version 0 of a table with these partition columns and properties.
pub(crate) fn metadata(partitions: &[&str], properties: &[(&str, &str)]) -> Vec<Value> {
    let columns: Vec<(&str, Value)> = partitions.iter().map(|name| (*name, json!({}))).collect();
    vec![
        json!({"commitInfo": {"inCommitTimestamp": CREATED}}),
        json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
            "readerFeatures": ["deletionVectors"],
            "writerFeatures": ["deletionVectors", "appendOnly", "inCommitTimestamp"]}}),
        described(schema(&columns), partitions, properties),
    ]
}

/// Version 0 of a table whose partition column has another physical name.
pub(crate) fn mapped(logical: &str, physical: &str) -> Vec<Value> {
    let notes = json!({"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": physical});
    vec![
        json!({"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}),
        described(
            schema(&[(logical, notes)]),
            &[logical],
            &[("delta.columnMapping.mode", "name")],
        ),
    ]
}

/// Version 0 of a table that needs a writer feature.
pub(crate) fn featured(feature: &str) -> Vec<Value> {
    vec![
        json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": [feature]}}),
        described(schema(&[]), &[], &[]),
    ]
}

/// An add with these fields.
pub(crate) fn add(fields: Value) -> Value {
    let mut add =
        json!({"partitionValues": {}, "size": 4, "modificationTime": 1, "dataChange": true});
    for (key, value) in fields.as_object().unwrap() {
        add[key] = value.clone();
    }
    add
}

pub(crate) fn signature() -> Signature {
    Signature {
        now: Time(2_000),
        txn_id: "11111111-2222-4333-8444-555555555555".to_owned(),
        user: Some("ana".to_owned()),
        reason: Some("why".to_owned()),
        engine: "tidemark/test".to_owned(),
    }
}

/// Fails unless `got` has all that `wanted` has.
pub(crate) fn holds(got: &Value, wanted: &Value) {
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&got[key], value, "{key}");
    }
}

impl Bed {
    pub(crate) async fn new(first: Vec<Value>) -> Self {
        Self::on(Arc::new(InMemory::new()), first).await
    }

    pub(crate) async fn on(store: Arc<dyn ObjectStore>, first: Vec<Value>) -> Self {
        let mut bed = Self {
            root: Root {
                store,
                path: Path::from("t"),
                location: "t".to_owned(),
            },
            host: Arc::new(Quiet),
            now: Time(0),
        };
        bed.now = Time(bed.clock().await.0 + 2 * WEEK);
        bed.commit(&first).await;
        bed
    }

    /// The same table behind another store.
    pub(crate) fn behind(&self, store: Arc<dyn ObjectStore>) -> Self {
        let mut bed = self.clone();
        bed.root.store = store;
        bed
    }

    pub(crate) fn key(&self, below: &str) -> Path {
        Path::parse(format!("t/{below}")).unwrap()
    }

    /// What the store's clock says.
    pub(crate) async fn clock(&self) -> Time {
        let scratch = Path::from("clock");
        self.root.store.put(&scratch, "x".into()).await.unwrap();
        let meta = self.root.store.head(&scratch).await.unwrap();
        Time(meta.last_modified.timestamp_millis())
    }

    /// Commits the next version.
    pub(crate) async fn commit(&self, actions: &[Value]) {
        let version = self.versions().await;
        let mut text = String::new();
        for action in actions {
            text.push_str(&format!("{action}\n"));
        }
        if actions.is_empty() {
            text.push_str("{\"commitInfo\":{}}\n");
        }
        let key = self.key(&format!("_delta_log/{version:020}.json"));
        let put = self
            .root
            .store
            .put_opts(&key, text.into(), PutMode::Create.into());
        put.await.unwrap();
    }

    async fn versions(&self) -> u64 {
        let mut version = 0;
        while self.has(&format!("_delta_log/{version:020}.json")).await {
            version += 1;
        }
        version
    }

    pub(crate) async fn latest(&self) -> u64 {
        self.versions().await - 1
    }

    /// `commitInfo` of a version.
    pub(crate) async fn info(&self, version: u64) -> Value {
        let text = self.get(&format!("_delta_log/{version:020}.json")).await;
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        line["commitInfo"].clone()
    }

    pub(crate) async fn put(&self, below: &str) {
        self.put_bytes(below, "data").await;
    }

    pub(crate) async fn put_bytes(&self, below: &str, text: &str) {
        let key = self.key(below);
        self.root
            .store
            .put(&key, text.to_owned().into())
            .await
            .unwrap();
    }

    pub(crate) async fn get(&self, below: &str) -> String {
        let answer = self.root.store.get(&self.key(below)).await.unwrap();
        String::from_utf8(answer.bytes().await.unwrap().to_vec()).unwrap()
    }

    pub(crate) async fn has(&self, below: &str) -> bool {
        self.root.store.head(&self.key(below)).await.is_ok()
    }

    pub(crate) async fn delete(&self, below: &str) {
        self.root.store.delete(&self.key(below)).await.unwrap();
    }

    pub(crate) fn request(&self) -> Request {
        Request {
            retain: None,
            allow_short: false,
            below_an_hour: false,
            quarantine: false,
            as_of: self.now,
            expect: None,
        }
    }

    pub(crate) async fn plan(&self, request: &Request) -> Vacuum {
        self.plan_at(request, self.now).await.unwrap()
    }

    pub(crate) async fn plan_at(&self, request: &Request, store: Time) -> Result<Vacuum> {
        plan(&self.root, request, store, &self.host).await
    }
}
