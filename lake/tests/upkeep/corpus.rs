//! A checkpoint of every table of the corpus, which alone is the version that it was written of.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use lake::answer::snapshot;
use lake::delta::path::canonical;
use lake::delta::write::checkpoint;
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Time};
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use serde_json::{Value, json};

use super::checksums::copy;
use super::rows::{lean, rows_of};
use super::table::{NOW, Table, report};

#[tokio::test]
async fn the_checkpoint_of_a_table_is_the_table() {
    let Some(corpus) = std::env::var_os("TIDEMARK_CORPUS") else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let mut tables: Vec<PathBuf> = fs::read_dir(PathBuf::from(corpus).join("delta"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    tables.sort();
    let (mut done, mut verbatim, mut unreadable) = (0, 0, 0);
    for folder in &tables {
        match try_table(folder).await {
            Some(adds) => {
                done += 1;
                verbatim += adds;
            }
            None => unreadable += 1,
        }
    }
    println!(
        "checkpoints: {done} tables, {verbatim} adds compared with their commits; {unreadable} tables cannot be read"
    );
    assert!(done > 250 && verbatim > 1_000, "{done} {verbatim}");
}

/// Adds that were compared with commits; `None` where the table cannot be read.
async fn try_table(folder: &FilePath) -> Option<usize> {
    let host: SharedHost = Arc::new(Quiet);
    let log = folder.join("_delta_log");
    if !log.is_dir() {
        return None;
    }
    let mut table = Table {
        store: Arc::new(InMemory::new()),
        next: 0,
    };
    copy(&log, "", &table.store, "").await;
    let head = snapshot(&table.root(), At::Latest, false, &host).await;
    // From whatever the table has: other writers' checkpoints of every kind.
    table.next = head.ok()?.version.0 + 1;
    checked(&mut table, folder).await;

    // From commits alone, and then from our own checkpoint.
    let mut table = Table {
        store: Arc::new(InMemory::new()),
        next: table.next - 1,
    };
    copy(&log, "", &table.store, "").await;
    forget_others(&table, is_commit).await;
    let Some(expected) = live_adds(&table).await else {
        return Some(0);
    };
    let mut expected: Vec<Value> = expected.into_values().collect();
    expected.sort_by_key(identity);
    for _ in 0..2 {
        let rows = checked(&mut table, folder).await;
        let mut adds: Vec<Value> = rows.iter().filter_map(|r| r.get("add").cloned()).collect();
        for add in &mut adds {
            let add = add.as_object_mut().unwrap();
            add.remove("stats_parsed");
            add.remove("partitionValues_parsed");
        }
        adds.sort_by_key(identity);
        assert_eq!(adds, expected, "{}", folder.display());
    }
    Some(expected.len())
}

fn identity(add: &Value) -> (String, String) {
    (add["path"].to_string(), add["deletionVector"].to_string())
}

fn is_commit(name: &str) -> bool {
    name.len() == 25 && name.ends_with(".json")
}

/// Writes a checkpoint of a version of its own, compares what it alone says with what the log said,
/// and answers its rows.
async fn checked(table: &mut Table, folder: &FilePath) -> Vec<Value> {
    let host: SharedHost = Arc::new(Quiet);
    let about = folder.display();
    table
        .commit(&[json!({"commitInfo": {"operation": "X"}})])
        .await;
    let before = report(&table.root()).await;
    let version = before.version;
    assert_eq!(version.0, table.next - 1, "{about}");
    let mut given = 0;
    let mut ids = || {
        given += 1;
        format!("80a083e8-7026-4e79-81be-{:06}{given:06}", version.0)
    };
    let written = checkpoint(&table.root(), version, Time(NOW), &mut ids, &host).await;
    let told = written.unwrap_or_else(|e| panic!("{about}: {e}"));
    assert_eq!(told, [""; 0], "{about}");
    let own = format!("{:020}.checkpoint", version.0);
    forget_others(table, |name| {
        name.starts_with(&own) || name.starts_with("_sidecars")
    })
    .await;
    assert_eq!(report(&table.root()).await, before, "{about}");
    rows_of(table, version.0).await
}

async fn forget_others(table: &Table, keep: impl Fn(&str) -> bool) {
    for name in table.names().await {
        if !keep(&name) {
            let key = Path::from(format!("t/_delta_log/{name}"));
            table.store.delete(&key).await.unwrap();
        }
    }
}

/// The active files as commits spell them, by the plainest replay there is; `None` where the log
/// does not start with version 0, or the table wants no text in its checkpoints.
async fn live_adds(table: &Table) -> Option<BTreeMap<String, Value>> {
    let mut live: BTreeMap<String, Value> = BTreeMap::new();
    for version in 0..table.next {
        let text = table.text(&format!("{version:020}.json")).await?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            // Logs that are spelled in some odd way are read by the tests about reading.
            let line: Value = serde_json::from_str(line).ok()?;
            let key = |action: &Value| {
                let vector = &action["deletionVector"];
                let id = ["storageType", "pathOrInlineDv", "offset"].map(|f| vector[f].to_string());
                let path = canonical(action["path"].as_str().unwrap());
                format!("{path} {}", id.join(" "))
            };
            if let Some(configuration) = line.pointer("/metaData/configuration")
                && configuration["delta.checkpoint.writeStatsAsJson"] == "false"
            {
                return None;
            }
            if let Some(remove) = line.get("remove") {
                live.remove(&key(remove));
            }
            if let Some(add) = line.get("add") {
                let mut add = add.clone();
                add["dataChange"] = json!(false);
                let known = [
                    "path",
                    "partitionValues",
                    "size",
                    "modificationTime",
                    "dataChange",
                    "stats",
                    "tags",
                    "deletionVector",
                    "baseRowId",
                    "defaultRowCommitVersion",
                    "clusteringProvider",
                ];
                let fields = add.as_object_mut().unwrap();
                fields.retain(|name, _| known.contains(&name.as_str()));
                lean(&mut add);
                live.insert(key(&add), add);
            }
        }
    }
    Some(live)
}
