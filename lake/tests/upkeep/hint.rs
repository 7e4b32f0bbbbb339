//! `_last_checkpoint` never goes back, and checkpoints of others are left alone.

use serde_json::{Value, json};

use super::table::{Table, fill};

async fn due() -> Table {
    let mut table = Table::new(json!({})).await;
    fill(&mut table).await;
    table.upto(10).await;
    table
}

#[tokio::test]
async fn the_hint_never_goes_back() {
    let newer = r#"{"version":12,"size":1}"#;
    let same = r#"{"version":10,"size":1,"by":"somebody else"}"#;
    for stays in [newer, same] {
        let table = due().await;
        table.put("_last_checkpoint", stays.to_owned()).await;
        assert_eq!(table.upkeep().await, [""; 0]);
        assert_eq!(table.text("_last_checkpoint").await.as_deref(), Some(stays));
    }
    for goes in [
        r#"{"version":9,"size":1}"#,
        "",
        "nonsense",
        r#"{"version":"x"}"#,
    ] {
        let table = due().await;
        table.put("_last_checkpoint", goes.to_owned()).await;
        assert_eq!(table.upkeep().await, [""; 0]);
        let text = table.text("_last_checkpoint").await.unwrap();
        let hint: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(hint["version"], 10, "{goes}");
    }
}

#[tokio::test]
async fn a_checkpoint_that_is_there_stays() {
    let table = due().await;
    let name = format!("{:020}.checkpoint.parquet", 10);
    // Not one that can be read: it is another writer's, who may not be done.
    table.put(&name, "theirs".to_owned()).await;
    assert_eq!(table.upkeep().await, [""; 0]);
    assert_eq!(table.text(&name).await.as_deref(), Some("theirs"));
    assert_eq!(table.text("_last_checkpoint").await, None);
}

#[tokio::test]
async fn somebody_committed_meanwhile() {
    let mut table = due().await;
    table.upto(13).await;
    assert_eq!(super::table::upkeep_at(&table.root(), 10).await, [""; 0]);
    let name = format!("{:020}.checkpoint.parquet", 10);
    assert!(table.names().await.contains(&name));
    let before = table.report().await;
    let first = format!("{:020}.json", 0);
    let key = object_store::path::Path::from(format!("t/_delta_log/{first}"));
    object_store::ObjectStoreExt::delete(&*table.store, &key)
        .await
        .unwrap();
    assert_eq!(table.report().await, before);
}

#[tokio::test]
async fn an_interval_that_is_none_is_said() {
    let mut table = Table::new(json!({"delta.checkpointInterval": "often"})).await;
    table.upto(10).await;
    let warnings = table.upkeep().await;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("`often`"), "{warnings:?}");
    assert!(table.text("_last_checkpoint").await.is_some());
}
