//! An optimize with every one of its store calls going wrong in turn, in every way.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "optimize/table.rs"]
#[expect(dead_code, reason = "shared with tests that need more of it")]
mod table;

#[path = "faults/kinds.rs"]
mod kinds;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Int64Array, RecordBatch};
use kinds::{FAULTS, Other, infos, versions_of};
use lake::delta::optimize::{Memory, apply, plan};
use lake::delta::write::probe;
use lake::host::{Quiet, SharedHost};
use lake::store::fault::{FaultStore, Rule};
use lake::table::Version;
use lake::{Error, Kind, Result};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::file::properties::WriterProperties;
use serde_json::json;
use table::{TXN, Table, metadata, names, plain, protocol, request, signature, vector};

/// Two partitions, one of which becomes a file of several parts; one file has masked rows.
async fn table() -> Table {
    let table = Table::new();
    let fields = json!([plain("a", "long"), plain("p", "long")]);
    let mut actions = vec![
        protocol(&["deletionVectors"]),
        metadata(fields, json!(["p"]), json!({})),
    ];
    for n in 0..4i64 {
        let rows = if n < 2 { 1_200 } else { 10 };
        let ids: Int64Array = (0..rows)
            .map(|i| i * 7_919 % 100_003 + n * 1_000_000)
            .collect();
        let batch = RecordBatch::try_from_iter([("a", Arc::new(ids) as _)]).unwrap();
        let mut add = table.file_of(&format!("f{n}"), &batch, pages()).await;
        add["add"]["partitionValues"] = json!({ "p": (n / 2).to_string() });
        if n == 3 {
            add["add"]["deletionVector"] = vector(&[4]);
        }
        actions.push(add);
    }
    table.commit(0, &actions).await;
    table
}

/// Pages so small that a row group of them is read in slices.
fn pages() -> WriterProperties {
    WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(2 << 10)
        .set_write_batch_size(100)
        .build()
}

/// Another writer, who adds a file that is not packed.
async fn other(table: &Table, name: &str) -> Other {
    let batch = RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![5])) as _)]);
    let elsewhere = Table::new();
    let mut add = elsewhere.file(name, &batch.unwrap()).await;
    add["add"]["partitionValues"] = json!({ "p": "9" });
    let key = Path::from(format!("t/{name}"));
    let bytes = elsewhere.store.get(&key).await.unwrap().bytes().await;
    Other {
        store: Arc::clone(&table.store),
        key,
        bytes: bytes.unwrap().to_vec(),
        actions: vec![json!({ "commitInfo": { "operation": "WRITE" } }), add],
    }
}

/// Probe, plan, write and commit: what one act does. Somebody may commit after the plan.
async fn act(table: &Table, store: Arc<dyn ObjectStore>, raced: bool) -> Result<Version> {
    let host: SharedHost = Arc::new(Quiet);
    let root = Table::over(store).root();
    probe(&root.store, &root.path, TXN).await?;
    let mut planned = plan(&root, &request(), &host).await?;
    if let Some(why) = planned.plan.refused {
        return Err(Error::invalid(why));
    }
    if raced {
        other(table, "new").await.append().await;
    }
    planned.memory = Memory {
        slice: 8 << 10,
        row_group: 16 << 10,
        part: 4 << 10,
    };
    Ok(apply(&planned, &signature(), &mut names(0), &host)
        .await?
        .version)
}

#[tokio::test(start_paused = true)]
async fn every_call_may_go_wrong() {
    let mut tried = 0u64;
    for raced in [false, true] {
        for (name, make) in FAULTS {
            for nth in 1.. {
                let table = table().await;
                let before = table.rows().await;
                let faulty = Arc::new(FaultStore::new(Arc::clone(&table.store)));
                let rule = make(Rule::on(None).nth(nth), &other(&table, "newer").await);
                faulty.add(rule.clone());
                let act = act(&table, faulty, raced);
                // A process that was killed says nothing.
                let told = tokio::time::timeout(Duration::from_secs(10), act)
                    .await
                    .ok();
                let about = format!("{name}, call {nth}, raced {raced}");
                let appended = table.snapshot().await.files;
                check(&table, before, told.as_ref(), &about).await;
                if rule.seen() < nth {
                    assert!(matches!(told, Some(Ok(_))), "{about}: {told:?}");
                    assert_eq!(appended, if raced { 3 } else { 2 });
                    break;
                }
                let delayed = table.live().await.keys().any(|k| k.starts_with("newer|"));
                assert_eq!(delayed, name == "delayed", "{about}");
                tried += 1;
            }
        }
    }
    println!("optimize: {tried} fault points tried");
    assert!(tried > 2 * FAULTS.len() as u64 * 20, "{tried}");
}

/// The table is readable with the same rows, the act was done once or not at all, what was told of it
/// is so, and nothing is left behind by a failure that is known to be one.
async fn check(table: &Table, mut before: Vec<String>, told: Option<&Result<Version>>, what: &str) {
    let report = table.snapshot().await;
    let acts = versions_of(&infos(&table.store).await, "OPTIMIZE");
    assert!(acts.len() <= 1, "{what}: done {} times", acts.len());
    let live = table.live().await;
    for _ in live.keys().filter(|key| key.starts_with("new")) {
        before.push("{\"a\": \"5\", \"p\": \"\\\"9\\\"\"}".to_owned());
    }
    before.sort();
    assert_eq!(table.rows().await, before, "{what}");
    assert_eq!(report.rows, Some(before.len() as u64), "{what}");
    let named: BTreeSet<String> = table
        .ever_named()
        .await
        .into_iter()
        .map(|p| format!("t/{p}"))
        .collect();
    let keys = table.data_keys().await;
    let keys: BTreeSet<String> = keys
        .into_iter()
        .filter(|k| !k.contains("_tidemark"))
        .collect();
    // Also what was removed stays: only a vacuum deletes it.
    assert!(
        named.is_subset(&keys),
        "{what}: deleted {:?}",
        named.difference(&keys)
    );
    let orphans: Vec<&String> = keys.difference(&named).collect();
    match told {
        None => {}
        Some(Ok(version)) => {
            assert_eq!(acts, [version.0], "{what}");
            assert!(orphans.is_empty(), "{what}: {orphans:?}");
        }
        Some(Err(error)) => {
            let text = error.to_string();
            let unknown = text.contains("nobody knows");
            let said_done = text.contains("was committed");
            assert!(
                unknown || said_done != acts.is_empty(),
                "{what}: done {acts:?}, told {text}"
            );
            assert!(
                unknown || orphans.is_empty() || text.contains("could not be deleted"),
                "{what}: {orphans:?}, told {text}"
            );
            assert!(error.kind() != Kind::Internal, "{what}: {text}");
        }
    }
}
