//! A table in memory that holds every kind of action, and how it is looked at.

use std::sync::Arc;

use futures::TryStreamExt;
use lake::answer::{Root, snapshot};
use lake::delta::write::upkeep;
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Time, Version};
use lake::wire::SnapshotReport;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::{Value, json};

/// The instant taken as now.
pub(crate) const NOW: i64 = 1_800_000_000_000;
pub(crate) const DAY: i64 = 86_400_000;

/// `2^63 - 1`.
pub(crate) const LARGEST: i64 = i64::MAX;

pub(crate) struct Table {
    pub(crate) store: Arc<InMemory>,
    pub(crate) next: u64,
}

impl Table {
    /// A table whose version 0 has these properties.
    pub(crate) async fn new(properties: Value) -> Self {
        let mut table = Self {
            store: Arc::new(InMemory::new()),
            next: 0,
        };
        let features = ["deletionVectors", "v2Checkpoint"];
        let writers = [
            "deletionVectors",
            "v2Checkpoint",
            "domainMetadata",
            "rowTracking",
            "clustering",
        ];
        table
            .commit(&[
                json!({"commitInfo": {"operation": "CREATE TABLE", "txnId": "id-0"}}),
                json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
                    "readerFeatures": features, "writerFeatures": writers}}),
                metadata(properties),
            ])
            .await;
        table
    }

    pub(crate) async fn commit(&mut self, actions: &[Value]) {
        let text: String = actions.iter().map(|a| format!("{a}\n")).collect();
        let name = format!("{:020}.json", self.next);
        self.put(&name, text).await;
        self.next += 1;
    }

    /// Commits that only say so, until `version` is the newest.
    pub(crate) async fn upto(&mut self, version: u64) {
        while self.next <= version {
            let id = format!("id-{}", self.next);
            self.commit(&[json!({"commitInfo": {"operation": "X", "txnId": id}})])
                .await;
        }
    }

    pub(crate) async fn put(&self, name: &str, text: String) {
        let key = Path::from(format!("t/_delta_log/{name}"));
        self.store.put(&key, text.into()).await.unwrap();
    }

    pub(crate) async fn text(&self, name: &str) -> Option<String> {
        let key = Path::from(format!("t/_delta_log/{name}"));
        let answer = self.store.get(&key).await.ok()?;
        let bytes = answer.bytes().await.unwrap();
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let prefix = Path::from("t/_delta_log");
        let listed: Vec<_> = self.store.list(Some(&prefix)).try_collect().await.unwrap();
        let names = listed.iter().map(|meta| meta.location.as_ref());
        let names = names.map(|key| key.strip_prefix("t/_delta_log/").unwrap().to_owned());
        names.collect()
    }

    /// Deletes every commit.
    pub(crate) async fn forget_commits(&self) {
        for name in self.names().await {
            if name.len() == 25 && name.ends_with(".json") {
                let key = Path::from(format!("t/_delta_log/{name}"));
                self.store.delete(&key).await.unwrap();
            }
        }
    }

    pub(crate) fn root(&self) -> Root {
        root(Arc::clone(&self.store) as _)
    }

    pub(crate) async fn upkeep(&self) -> Vec<String> {
        upkeep_at(&self.root(), self.next - 1).await
    }

    pub(crate) async fn report(&self) -> SnapshotReport {
        report(&self.root()).await
    }
}

pub(crate) fn metadata(properties: Value) -> Value {
    let schema = json!({"type": "struct", "fields": [
        {"name": "id", "type": "long", "nullable": true, "metadata": {}},
        {"name": "name", "type": "string", "nullable": true, "metadata": {}},
        {"name": "price", "type": "decimal(20,2)", "nullable": true, "metadata": {}},
        {"name": "at", "type": "timestamp", "nullable": true, "metadata": {}},
        {"name": "day", "type": "date", "nullable": true, "metadata": {}},
        {"name": "sure", "type": "boolean", "nullable": true, "metadata": {}},
    ]});
    json!({"metaData": {"id": "t", "name": "a table", "description": "äöü \"x\"",
        "format": {"provider": "parquet", "options": {"o": "1"}},
        "schemaString": schema.to_string(), "partitionColumns": ["day", "sure"],
        "configuration": properties, "createdTime": 5}})
}

pub(crate) fn root(store: Arc<dyn ObjectStore>) -> Root {
    Root {
        store,
        path: Path::from("t"),
        location: "t".to_owned(),
    }
}

pub(crate) async fn upkeep_at(root: &Root, version: u64) -> Vec<String> {
    let host: SharedHost = Arc::new(Quiet);
    let mut given = 0;
    let mut ids = || {
        given += 1;
        format!("80a083e8-7026-4e79-81be-{version:06}{given:06}")
    };
    upkeep(root, Version(version), Time(NOW), &mut ids, &host).await
}

/// What the newest version is, less how it was found out.
pub(crate) async fn report(root: &Root) -> SnapshotReport {
    report_at(root, At::Latest).await
}

/// What a version is, less how it was found out.
pub(crate) async fn report_at(root: &Root, at: At) -> SnapshotReport {
    let host: SharedHost = Arc::new(Quiet);
    let mut report = snapshot(root, at, true, &host).await.unwrap();
    report.checkpoint = None;
    report.commits_read = 0;
    report.timestamp = None;
    report.warnings.clear();
    report
}

pub(crate) fn add(path: &str) -> Value {
    json!({"add": {"path": path, "partitionValues": {"day": "2026-01-02", "sure": "true"},
        "size": 10, "modificationTime": 7, "dataChange": true,
        "stats": "{\"numRecords\":3}"}})
}

pub(crate) fn remove(path: &str, at: i64) -> Value {
    json!({"remove": {"path": path, "deletionTimestamp": at, "dataChange": true,
        "extendedFileMetadata": true, "size": 10,
        "partitionValues": {"day": "2026-01-02", "sure": "true"},
        "stats": "{\"numRecords\":3}", "tags": {"a": "b"}}})
}

/// Every kind of action, spelled in every way that a checkpoint can lose something by.
pub(crate) async fn fill(table: &mut Table) {
    let vector = json!({"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
        "offset": 4, "sizeInBytes": 40, "cardinality": 2, "maxRowIndex": 2});
    let stats = json!({"numRecords": 3, "minValues": {"id": -LARGEST, "name": "ä\n\"",
        "price": 12345678901234567.89, "at": "2026-01-02T03:04:05.678Z"},
        "maxValues": {"id": LARGEST, "name": "😀"}, "nullCount": {"id": 0, "name": 1},
        "tightBounds": false});
    table
        .commit(&[
            add("plain"),
            add("gone"),
            add("gone-long-ago"),
            add("back"),
            json!({"add": {"path": "a%20b/%C3%A4=1", "partitionValues": {"day": null, "sure": ""},
                "size": LARGEST, "modificationTime": LARGEST, "dataChange": true,
                "stats": stats.to_string(), "tags": {"k": "v", "n": null},
                "deletionVector": vector, "baseRowId": LARGEST,
                "defaultRowCommitVersion": LARGEST, "clusteringProvider": "liquid"}}),
            json!({"txn": {"appId": "old", "version": LARGEST, "lastUpdated": NOW - 90 * DAY}}),
            json!({"txn": {"appId": "new", "version": 1, "lastUpdated": NOW - DAY}}),
            json!({"txn": {"appId": "timeless", "version": 2}}),
            json!({"domainMetadata": {"domain": "kept", "configuration": "{\"a\":1}", "removed": false}}),
            json!({"domainMetadata": {"domain": "gone", "configuration": "{}", "removed": false}}),
        ])
        .await;
    table
        .commit(&[
            remove("gone", NOW - DAY),
            remove("gone-long-ago", NOW - 8 * DAY),
            remove("back", NOW - DAY),
            json!({"remove": {"path": "never-dated", "dataChange": true}}),
            json!({"txn": {"appId": "new", "version": 4, "lastUpdated": NOW - 2}}),
            json!({"domainMetadata": {"domain": "gone", "configuration": "{}", "removed": true}}),
        ])
        .await;
    table
        .commit(&[
            add("back"),
            // The same file with rows masked is another file.
            remove("plain", NOW - 5),
            json!({"add": {"path": "plain", "partitionValues": {"day": "2026-01-02", "sure": "true"},
                "size": 10, "modificationTime": 7, "dataChange": true, "stats": "{\"numRecords\":3}",
                "deletionVector": {"storageType": "i", "pathOrInlineDv": "x", "sizeInBytes": 4,
                    "cardinality": 1}}}),
        ])
        .await;
}
