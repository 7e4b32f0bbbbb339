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
    let about = folder.display();
    let store = Arc::new(InMemory::new());
    let log = folder.join("_delta_log");
    if !log.is_dir() {
        return None;
    }
    copy(&log, "", &store, "").await;
    let mut table = Table { store, next: 0 };
    let head = snapshot(&table.root(), At::Latest, false, &host)
        .await
        .ok()?;
    // A version of its own, so that there is no checkpoint of it yet.
    table.next = head.version.0 + 1;
    table
        .commit(&[json!({"commitInfo": {"operation": "X"}})])
        .await;
    let before = report(&table.root()).await;
    let version = before.version;
    assert_eq!(version.0, table.next - 1, "{about}");
    let expected = live_adds(&table).await;
    let names = table.names().await;
    let table_had_checkpoints = names.iter().any(|name| name.contains(".checkpoint"));
    let mut given = 0;
    let mut ids = || {
        given += 1;
        format!("80a083e8-7026-4e79-81be-{given:012}")
    };
    let written = checkpoint(&table.root(), version, Time(NOW), &mut ids, &host).await;
    let told = written.unwrap_or_else(|e| panic!("{about}: {e}"));
    assert_eq!(told, [""; 0], "{about}");
    for name in table.names().await {
        let own = name.starts_with(&format!("{:020}.checkpoint", version.0));
        if !own && !name.starts_with("_sidecars") {
            let key = Path::from(format!("t/_delta_log/{name}"));
            table.store.delete(&key).await.unwrap();
        }
    }
    assert_eq!(report(&table.root()).await, before, "{about}");
    let Some(expected) = expected else {
        return Some(0);
    };
    let rows = rows_of(&table, version.0).await;
    let mut adds: Vec<Value> = rows.iter().filter_map(|r| r.get("add").cloned()).collect();
    for add in &mut adds {
        let add = add.as_object_mut().unwrap();
        add.remove("stats_parsed");
        add.remove("partitionValues_parsed");
    }
    let of = |add: &Value| (add["path"].to_string(), add["deletionVector"].to_string());
    adds.sort_by_key(of);
    let mut expected: Vec<Value> = expected.into_values().collect();
    if table_had_checkpoints {
        // Which need not space the text as the commits do, and may have no tags for no map.
        adds.iter_mut().chain(&mut expected).for_each(plain);
    }
    expected.sort_by_key(of);
    assert_eq!(adds, expected, "{about}");
    Some(adds.len())
}

fn plain(add: &mut Value) {
    if add["tags"] == json!({}) {
        add.as_object_mut().unwrap().remove("tags");
    }
    let parsed = add["stats"].as_str().map(serde_json::from_str);
    if let Some(Ok(parsed)) = parsed {
        add["stats"] = parsed;
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
