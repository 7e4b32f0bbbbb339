//! Version checksums beside those that Spark wrote for the same versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use serde_json::{Value, json};

use super::table::{Table, root, upkeep_at};

/// Fields that one of the two leaves out, and why. Where both have a field, it is the same.
const LEFT_OUT: &[(&str, &str)] = &[
    ("ours: allFiles", "optional, and of any size"),
    (
        "ours: numTransactions",
        "of the first releases; the protocol does not have it",
    ),
    (
        "theirs: protocol",
        "of the first releases; the protocol demands it",
    ),
    (
        "theirs: metadata",
        "of the first releases; the protocol demands it",
    ),
    ("theirs: setTransactions", "of older releases; optional"),
    ("theirs: domainMetadata", "of older releases; optional"),
    ("theirs: numDeletedRecordsOpt", DERIVED),
    ("theirs: numDeletionVectorsOpt", DERIVED),
    ("theirs: deletedRecordCountsHistogramOpt", DERIVED),
];

const DERIVED: &str = "Spark adds to the checksum before, which did not have it yet when the \
    feature came; ours is counted";

#[tokio::test]
async fn a_table_without_checksums_gets_none() {
    let mut table = Table::new(json!({})).await;
    table.upto(3).await;
    assert_eq!(table.upkeep().await, [""; 0]);
    assert!(!table.names().await.iter().any(|n| n.ends_with(".crc")));
}

#[tokio::test]
async fn a_checksum_that_is_there_stays() {
    let mut table = Table::new(json!({})).await;
    table.upto(3).await;
    table.put(&format!("{:020}.crc", 2), "{}".to_owned()).await;
    let theirs = format!("{:020}.crc", 3);
    table.put(&theirs, "theirs".to_owned()).await;
    assert_eq!(table.upkeep().await, [""; 0]);
    assert_eq!(table.text(&theirs).await.as_deref(), Some("theirs"));
}

#[tokio::test]
async fn checksums_say_what_spark_says() {
    let Some(corpus) = std::env::var_os("TIDEMARK_CORPUS") else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let corpus = PathBuf::from(corpus);
    let mut logs: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(corpus.join("delta")).unwrap() {
        logs.push(entry.unwrap().path().join("_delta_log"));
    }
    for entry in fs::read_dir(corpus.join("spark-restore")).unwrap() {
        logs.push(entry.unwrap().path());
    }
    logs.sort();
    let mut compared = 0;
    let mut differences: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Damaged on purpose.
    logs.retain(|log| log.is_dir() && !log.to_string_lossy().contains("checksum_invalid"));
    for log in &logs {
        for (version, theirs) in checksums(log) {
            let Some(ours) = ours(log, version).await else {
                continue;
            };
            compared += 1;
            let about = format!("{}@{version}", log.display());
            for (field, said) in differing(&ours, &theirs) {
                differences
                    .entry(field)
                    .or_default()
                    .push(format!("{about}: {said}"));
            }
        }
    }
    println!("checksums: {compared} compared");
    for (field, all) in &differences {
        println!("  {field}: {} differ, as {}", all.len(), all[0]);
    }
    assert!(compared > 150, "{compared}");
    let known = |field: &String| LEFT_OUT.iter().any(|(name, _)| name == field);
    differences.retain(|field, _| !known(field));
    assert_eq!(differences, BTreeMap::new());
}

/// Versions after the first that have a checksum which can be read.
fn checksums(log: &FilePath) -> Vec<(u64, Value)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(log).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(version) = name.strip_suffix(".crc").and_then(|v| v.parse().ok()) else {
            continue;
        };
        let text = fs::read_to_string(&path).unwrap();
        if version > 0
            && let Ok(theirs) = serde_json::from_str(&text)
        {
            found.push((version, theirs));
        }
    }
    found.sort_by_key(|(version, _)| *version);
    found
}

/// The checksum that we write for a version, in a copy of the log; `None` where the version cannot
/// be rebuilt.
async fn ours(log: &FilePath, version: u64) -> Option<Value> {
    let store = Arc::new(InMemory::new());
    let own = format!("{version:020}.crc");
    let before = format!("{:020}.crc", version - 1);
    store
        .put(&Path::from(format!("t/_delta_log/{before}")), "{}".into())
        .await
        .unwrap();
    copy(log, "", &store, &own).await;
    let told = upkeep_at(&root(Arc::clone(&store) as _), version).await;
    let key = Path::from(format!("t/_delta_log/{own}"));
    let Ok(answer) = store.get(&key).await else {
        assert!(!told.is_empty(), "{} {version}", log.display());
        return None;
    };
    let bytes = answer.bytes().await.unwrap();
    Some(serde_json::from_slice(&bytes).unwrap())
}

pub(crate) async fn copy(from: &FilePath, below: &str, to: &Arc<InMemory>, without: &str) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{below}{name}");
        if entry.file_type().unwrap().is_dir() {
            Box::pin(copy(&entry.path(), &format!("{path}/"), to, without)).await;
        } else if name != without {
            let bytes = fs::read(entry.path()).unwrap();
            let key = Path::from(format!("t/_delta_log/{path}"));
            to.put(&key, bytes.into()).await.unwrap();
        }
    }
}

/// Fields in which two checksums differ.
fn differing(ours: &Value, theirs: &Value) -> Vec<(String, String)> {
    let (ours, theirs) = (ours.as_object().unwrap(), theirs.as_object().unwrap());
    let mut names: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
    names.sort();
    names.dedup();
    let mut found = Vec::new();
    for name in names {
        let plain = |value: Option<&Value>| {
            let mut value = value.cloned().unwrap_or_default();
            sorted(&mut value);
            value
        };
        let (a, b) = (plain(ours.get(name)), plain(theirs.get(name)));
        if a != b {
            let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            let what = match (&a, &b) {
                (Value::Null, _) => format!("ours: {name}"),
                (_, Value::Null) => format!("theirs: {name}"),
                _ => name.clone(),
            };
            found.push((what, format!("ours {} | Spark's {}", short(&a), short(&b))));
        }
    }
    found
}

/// Sorts what has no order: transactions, domains, features. Drops what is null.
fn sorted(value: &mut Value) {
    match value {
        Value::Array(items) if !items.iter().all(Value::is_number) => {
            items.sort_by_key(Value::to_string);
        }
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(sorted);
        }
        _ => {}
    }
}
