//! A checkpoint holds all that the commits held.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde_json::{Value, json};

use super::rows::{lean, rows_of};
use super::table::{DAY, LARGEST, NOW, Table, add, fill, metadata, remove};

#[tokio::test]
async fn the_checkpoint_alone_is_the_version() {
    for policy in ["classic", "v2"] {
        let mut table = Table::new(json!({"delta.checkpointPolicy": policy})).await;
        fill(&mut table).await;
        table.upto(9).await;
        assert_eq!(table.upkeep().await, [""; 0]);
        let names = table.names().await;
        assert!(!names.iter().any(|n| n.contains("checkpoint")), "{names:?}");

        for version in [10, 20] {
            table.upto(version).await;
            let before = table.report().await;
            assert_eq!(before.files, 3);
            assert_eq!(table.upkeep().await, [""; 0]);
            // From here on there are no commits, and the next one replaces it.
            table.forget_commits().await;
            forget(&table, version - 10).await;
            assert_eq!(table.report().await, before, "{policy} {version}");
            let metadata = table.report().await;
            assert_eq!(metadata.properties["delta.checkpointPolicy"], policy);
            assert_eq!(rows_of(&table, version).await, expected(policy), "{policy}");
            check_names(&table, policy, version).await;
        }
    }
}

/// Deletes the checkpoint of a version.
async fn forget(table: &Table, version: u64) {
    for name in table.names().await {
        if name.starts_with(&format!("{version:020}.checkpoint")) {
            let key = Path::from(format!("t/_delta_log/{name}"));
            table.store.delete(&key).await.unwrap();
        }
    }
}

/// The rows of a checkpoint of [`fill`].
fn expected(policy: &str) -> Vec<Value> {
    let plain = json!({"day": "2026-01-02", "sure": "true"});
    let mut back = add("back");
    let mut gone = remove("gone", NOW - DAY);
    let mut masked = remove("plain", NOW - 5);
    back["add"]["dataChange"] = json!(false);
    for removed in [&mut gone, &mut masked] {
        removed["remove"]["dataChange"] = json!(false);
        removed["remove"].as_object_mut().unwrap().remove("stats");
        removed["remove"].as_object_mut().unwrap().remove("tags");
    }
    let stats = json!({"numRecords": 3, "minValues": {"id": -LARGEST, "name": "ä\n\"",
        "price": 12345678901234567.89, "at": "2026-01-02T03:04:05.678Z"},
        "maxValues": {"id": LARGEST, "name": "😀"}, "nullCount": {"id": 0, "name": 1},
        "tightBounds": false});
    let features = ["deletionVectors", "v2Checkpoint"];
    let writers = [
        "deletionVectors",
        "v2Checkpoint",
        "domainMetadata",
        "rowTracking",
        "clustering",
    ];
    let mut rows = vec![
        json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
            "readerFeatures": features, "writerFeatures": writers}}),
        metadata(json!({"delta.checkpointPolicy": policy})),
        json!({"txn": {"appId": "old", "version": LARGEST, "lastUpdated": NOW - 90 * DAY}}),
        json!({"txn": {"appId": "new", "version": 4, "lastUpdated": NOW - 2}}),
        json!({"txn": {"appId": "timeless", "version": 2}}),
        json!({"domainMetadata": {"domain": "kept", "configuration": "{\"a\":1}", "removed": false}}),
        back,
        gone,
        masked,
        json!({"add": {"path": "plain", "partitionValues": plain, "size": 10,
            "modificationTime": 7, "dataChange": false, "stats": "{\"numRecords\":3}",
            "deletionVector": {"storageType": "i", "pathOrInlineDv": "x", "sizeInBytes": 4,
                "cardinality": 1}}}),
        json!({"add": {"path": "a%20b/%C3%A4=1", "partitionValues": {"day": null, "sure": ""},
            "size": LARGEST, "modificationTime": LARGEST, "dataChange": false,
            "stats": stats.to_string(), "tags": {"k": "v", "n": null},
            "deletionVector": {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
                "offset": 4, "sizeInBytes": 40, "cardinality": 2, "maxRowIndex": 2},
            "baseRowId": LARGEST, "defaultRowCommitVersion": LARGEST,
            "clusteringProvider": "liquid"}}),
    ];
    rows.iter_mut().for_each(lean);
    rows.sort_by_key(Value::to_string);
    rows
}

/// What the checkpoint is called, and what `_last_checkpoint` says of it.
async fn check_names(table: &Table, policy: &str, version: u64) {
    let hint = table.text("_last_checkpoint").await.unwrap();
    let hint: Value = serde_json::from_str(&hint).unwrap();
    assert_eq!(hint["version"], version);
    assert_eq!(hint["numOfAddFiles"], 3);
    let names = table.names().await;
    let prefix = format!("{version:020}.checkpoint");
    let upper: Vec<&String> = names.iter().filter(|n| n.starts_with(&prefix)).collect();
    assert_eq!(upper.len(), 1, "{names:?}");
    let size = |text: &str| {
        let key = Path::from(format!("t/_delta_log/{text}"));
        let store = std::sync::Arc::clone(&table.store);
        async move { store.head(&key).await.unwrap().size }
    };
    if policy == "classic" {
        assert_eq!(*upper[0], format!("{prefix}.parquet"));
        assert_eq!(hint["size"], 11);
        assert_eq!(hint["sizeInBytes"], size(upper[0]).await);
        assert!(hint.get("v2Checkpoint").is_none());
        return;
    }
    assert!(
        upper[0].ends_with(".json") && upper[0].len() == 73,
        "{upper:?}"
    );
    let v2 = &hint["v2Checkpoint"];
    assert_eq!(v2["path"], **upper[0]);
    assert_eq!(v2["sizeInBytes"], size(upper[0]).await);
    assert!(v2["modificationTime"].as_i64().unwrap() > 0);
    assert_eq!(v2["nonFileActions"].as_array().unwrap().len(), 7);
    let sidecars = v2["sidecarFiles"].as_array().unwrap();
    assert_eq!(sidecars.len(), 1);
    let sidecar = size(&format!(
        "_sidecars/{}",
        sidecars[0]["path"].as_str().unwrap()
    ))
    .await;
    assert_eq!(sidecars[0]["sizeInBytes"], sidecar);
    assert_eq!(hint["sizeInBytes"], sidecar + size(upper[0]).await);
    assert_eq!(hint["size"], 11 + 2);
}

#[tokio::test]
async fn what_is_remembered_is_the_tables_choice() {
    let kept = |rows: &[Value], kind: &str, name: &str| -> Vec<String> {
        let of = rows.iter().filter_map(|r| r.get(kind));
        let mut names: Vec<String> = of.map(|a| a[name].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    // Durations, the removed files and the transactions that are kept, and the warnings.
    let all = ["gone", "gone-long-ago", "never-dated", "plain"];
    let cases = [
        (
            None,
            None,
            &["gone", "plain"][..],
            &["new", "old", "timeless"][..],
            0,
        ),
        (
            Some("interval 1 hour"),
            Some("interval 1 hour"),
            &["plain"],
            &["new"],
            0,
        ),
        (
            Some("interval 2 weeks"),
            Some("interval 100 days"),
            &all[..2]
                .iter()
                .chain(&all[3..])
                .copied()
                .collect::<Vec<_>>(),
            &["new", "old"],
            0,
        ),
        (
            Some("interval 1 month"),
            Some("for ever"),
            &all,
            &["new", "old", "timeless"],
            2,
        ),
    ];
    for (files, transactions, removed, heard, warnings) in cases {
        let mut properties = json!({"delta.checkpointInterval": "4"});
        if let Some(files) = files {
            properties["delta.deletedFileRetentionDuration"] = json!(files);
        }
        if let Some(transactions) = transactions {
            properties["delta.setTransactionRetentionDuration"] = json!(transactions);
        }
        let mut table = Table::new(properties).await;
        fill(&mut table).await;
        table.upto(4).await;
        assert_eq!(table.upkeep().await.len(), warnings, "{files:?}");
        let rows = rows_of(&table, 4).await;
        assert_eq!(kept(&rows, "remove", "path"), removed, "{files:?}");
        assert_eq!(kept(&rows, "txn", "appId"), heard, "{transactions:?}");
        assert_eq!(kept(&rows, "domainMetadata", "domain"), ["kept"]);
        // A tombstone that came with a checkpoint ages as one of a commit does.
        table.upto(8).await;
        table.upkeep().await;
        assert_eq!(rows_of(&table, 8).await, rows, "{files:?}");
    }
}

#[tokio::test]
async fn sidecars_are_of_a_bounded_size() {
    let mut table = Table::new(json!({"delta.checkpointPolicy": "v2"})).await;
    for part in 0..3 {
        let adds: Vec<Value> = (0..40_000).map(|n| add(&format!("{part}-{n}"))).collect();
        table.commit(&adds).await;
    }
    table.upto(10).await;
    let before = table.report().await;
    assert_eq!(table.upkeep().await, [""; 0]);
    table.forget_commits().await;
    assert_eq!(table.report().await, before);
    let names = table.names().await;
    let sidecars = names.iter().filter(|n| n.starts_with("_sidecars/"));
    assert_eq!(sidecars.count(), 3);
    // The next one takes them over.
    table.next = 11;
    table.upto(19).await;
    table.commit(&[remove("1-7", NOW)]).await;
    assert_eq!(table.upkeep().await, [""; 0]);
    table.forget_commits().await;
    let after = table.report().await;
    assert_eq!((after.version.0, after.files), (20, 119_999));
}

#[tokio::test]
async fn a_policy_without_the_feature_is_classic() {
    let mut table = Table::new(json!({"delta.checkpointPolicy": "v2"})).await;
    table
        .commit(&[json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})])
        .await;
    table.upto(10).await;
    assert_eq!(table.upkeep().await, [""; 0]);
    let name = format!("{:020}.checkpoint.parquet", 10);
    assert!(table.names().await.contains(&name));
    let rows = rows_of(&table, 10).await;
    let protocol = rows.iter().find_map(|r| r.get("protocol"));
    let right = json!({"minReaderVersion": 1, "minWriterVersion": 2});
    assert_eq!(protocol, Some(&right));
}
