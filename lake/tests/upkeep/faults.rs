//! Every store call of an upkeep going wrong in turn, in every way: the table stays what it was.

use std::sync::Arc;
use std::time::Duration;

use lake::store::fault::{Failure, FaultStore, Rule};
use lake::table::{At, Version};
use object_store::ObjectStore;
use object_store::path::Path;
use serde_json::json;

use super::kinds::{FAULTS, Other};
use super::table::{Table, add, fill, report_at, root, upkeep_at};

/// Another writer, who goes on.
fn other(table: &Table) -> Other {
    Other {
        store: Arc::clone(&table.store) as _,
        key: Path::from("t/other"),
        bytes: b"x".to_vec(),
        actions: vec![json!({"commitInfo": {"operation": "WRITE"}}), add("other")],
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_may_go_wrong() {
    let mut tried = 0;
    for policy in ["classic", "v2"] {
        for (name, make) in FAULTS {
            for nth in 1.. {
                let table = due(policy).await;
                let before = table.report().await;
                let inner = Arc::clone(&table.store) as Arc<dyn ObjectStore>;
                let faulty = Arc::new(FaultStore::new(inner));
                let rule = make(Rule::on(None).nth(nth), &other(&table));
                faulty.add(rule.clone());
                let faulty = root(faulty);
                let act = upkeep_at(&faulty, 10);
                let told = tokio::time::timeout(Duration::from_secs(1), act).await.ok();
                let what = format!("{policy}: {name}, call {nth}: {told:?}");
                if rule.seen() < nth {
                    assert_eq!(told, Some(Vec::new()), "{what}");
                    break;
                }
                tried += 1;
                let ten = At::Version(Version(10));
                assert_eq!(report_at(&table.root(), ten).await, before, "{what}");
                let now = table.report().await;
                let others = u64::from(name == "delayed");
                assert_eq!(now.version.0, 10 + others, "{what}");
                assert_eq!(now.files, before.files + others, "{what}");
                // Where a checkpoint came of it, it is a whole one.
                let names = table.names().await;
                let upper = format!("{:020}.checkpoint.", 10);
                if names.iter().any(|n| n.starts_with(&upper)) {
                    table.forget_commits().await;
                    assert_eq!(report_at(&table.root(), ten).await, before, "{what}");
                } else if let Some(told) = told {
                    assert!(!told.is_empty(), "{what}: it failed in silence");
                    assert_eq!(table.text("_last_checkpoint").await, None, "{what}");
                }
            }
        }
    }
    println!("upkeep: {tried} fault points tried");
    assert!(tried > 200, "{tried}");
}

#[tokio::test]
async fn a_store_that_refuses_everything_is_said() {
    let table = due("classic").await;
    let before = table.names().await;
    let faulty = Arc::new(FaultStore::new(Arc::clone(&table.store) as _));
    faulty.add(Rule::on(None).fails(Failure::Generic));
    let told = upkeep_at(&root(faulty), 10).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(table.names().await, before);
}

async fn due(policy: &str) -> Table {
    let mut table = Table::new(json!({"delta.checkpointPolicy": policy})).await;
    fill(&mut table).await;
    table.upto(9).await;
    table.put(&format!("{:020}.crc", 9), "{}".to_owned()).await;
    table.upto(10).await;
    table
}
