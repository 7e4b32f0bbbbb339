//! Statistics as text, as typed columns, or as both: as the table asks for, and none lost.

use object_store::ObjectStoreExt;
use object_store::path::Path;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use super::rows::rows_of;
use super::table::{LARGEST, Table, metadata};

fn with(stats: Option<&str>) -> Value {
    let mut add = json!({"add": {"path": "f", "size": 10, "modificationTime": 7,
        "partitionValues": {"day": "2026-01-02", "sure": "false"}, "dataChange": true}});
    if let Some(stats) = stats {
        add["add"]["stats"] = json!(stats);
    }
    add
}

/// The columns of `add` in the checkpoint that comes of one file with these statistics, and its row.
async fn of(text: &str, columns: &str, stats: Option<&str>) -> (Vec<String>, Value, Table) {
    let mut table = Table::new(json!({
        "delta.checkpointInterval": "2",
        "delta.checkpoint.writeStatsAsJson": text,
        "delta.checkpoint.writeStatsAsStruct": columns,
    }))
    .await;
    table.commit(&[with(stats)]).await;
    table.upto(2).await;
    let before = table.report().await;
    assert_eq!(table.upkeep().await, [""; 0]);
    table.forget_commits().await;
    assert_eq!(table.report().await, before);
    let key = Path::from(format!("t/_delta_log/{:020}.checkpoint.parquet", 2));
    let bytes = table.store.get(&key).await.unwrap().bytes().await.unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let leaves = reader.parquet_schema().columns().iter();
    let leaves = leaves.map(|c| c.path().string());
    let leaves: Vec<String> = leaves
        .filter(|p| p.starts_with("add.stats") || p.starts_with("add.partitionValues_parsed"))
        .collect();
    let rows = rows_of(&table, 2).await;
    let add = rows.iter().find_map(|row| row.get("add")).unwrap().clone();
    (leaves, add, table)
}

fn has(leaves: &[String], column: &str) -> bool {
    leaves.iter().any(|leaf| leaf.starts_with(column))
}

const STATS: &str = r#"{"numRecords":9223372036854775807,"minValues":{"id":-9223372036854775808,"name":"a","price":-12345678901234567.89,"at":"2026-01-02T03:04:05.678Z"},"maxValues":{"id":9223372036854775807,"name":"ä","price":0.01,"at":"9999-12-31T23:59:59.999Z"},"nullCount":{"id":0,"name":1,"price":2,"at":3},"tightBounds":true}"#;

#[tokio::test]
async fn a_table_gets_what_it_asks_for() {
    let (leaves, add, _) = of("true", "false", Some(STATS)).await;
    assert_eq!(leaves, ["add.stats"]);
    assert_eq!(add["stats"], STATS);

    let (leaves, add, _) = of("true", "true", Some(STATS)).await;
    assert!(
        has(&leaves, "add.stats_parsed.minValues.price"),
        "{leaves:?}"
    );
    assert!(has(&leaves, "add.partitionValues_parsed.day"), "{leaves:?}");
    assert_eq!(add["stats"], STATS);
    check_parsed(&add);

    let (leaves, add, table) = of("false", "true", Some(STATS)).await;
    assert!(!leaves.contains(&"add.stats".to_owned()), "{leaves:?}");
    check_parsed(&add);
    again(table).await;

    // Without either nobody could count the rows.
    let (leaves, add, _) = of("false", "false", Some(STATS)).await;
    assert_eq!(leaves, ["add.stats"]);
    assert_eq!(add["stats"], STATS);
}

fn check_parsed(add: &Value) {
    let parsed = &add["stats_parsed"];
    assert_eq!(parsed["numRecords"], LARGEST);
    assert_eq!(parsed["minValues"]["id"], i64::MIN);
    assert_eq!(parsed["maxValues"]["id"], LARGEST);
    assert_eq!(parsed["maxValues"]["name"], "ä");
    assert!(
        parsed["minValues"]["at"]
            .as_str()
            .unwrap()
            .starts_with("2026-01-02T03:04:05.678")
    );
    assert_eq!(
        parsed["nullCount"],
        json!({"id": 0, "name": 1, "price": 2, "at": 3})
    );
    assert_eq!(parsed["tightBounds"], true);
    let partition = json!({"day": "2026-01-02", "sure": false});
    assert_eq!(add["partitionValues_parsed"], partition);
}

/// The next checkpoint, made of one that has columns alone, says the same, in columns and as text.
async fn again(mut table: Table) {
    table.next = 3;
    table.upto(3).await;
    table
        .commit(&[metadata(json!({
            "delta.checkpointInterval": "2",
            "delta.checkpoint.writeStatsAsStruct": "true",
        }))])
        .await;
    let before = table.report().await;
    assert_eq!(table.upkeep().await, [""; 0]);
    table.forget_commits().await;
    assert_eq!(table.report().await, before);
    let rows = rows_of(&table, 4).await;
    let add = rows.iter().find_map(|row| row.get("add")).unwrap();
    check_parsed(add);
    let text = add["stats"].as_str().unwrap();
    for figure in [
        "\"numRecords\":9223372036854775807",
        "\"id\":-9223372036854775808",
        // More digits than a float has.
        "-12345678901234567.89",
        "\"nullCount\":{\"id\":0,\"name\":1,\"price\":2,\"at\":3}",
    ] {
        assert!(text.contains(figure), "{figure}: {text}");
    }
}

#[tokio::test]
async fn what_columns_would_lose_is_text_too() {
    let odd = [
        // A column that was dropped, a value that is none of its type, bytes that are no JSON.
        r#"{"numRecords":1,"minValues":{"dropped":1}}"#,
        r#"{"numRecords":1,"minValues":{"id":"x"}}"#,
        r#"{"numRecords":1,"maxValues":{"id":9223372036854775808}}"#,
        r#"{"numRecords":1,"minValues":{"sure":true}}"#,
        r#"{"numRecords":1,"extra":{"a":1}}"#,
        r#"{"numRecords":1} {"numRecords":2}"#,
        r#"{"numRecords":1,"minValues":{"id":NaN}}"#,
        r#"{"numRecords":1"#,
        "[]",
    ];
    for stats in odd {
        let (leaves, add, _) = of("false", "true", Some(stats)).await;
        assert!(leaves.contains(&"add.stats".to_owned()), "{stats}");
        assert_eq!(add["stats"], stats);
    }
    for nothing in [None, Some("")] {
        let (leaves, _, _) = of("false", "true", nothing).await;
        assert!(!leaves.contains(&"add.stats".to_owned()), "{nothing:?}");
    }
}

#[tokio::test]
async fn a_partition_value_of_another_type_is_no_column() {
    let mut table = Table::new(json!({
        "delta.checkpointInterval": "2",
        "delta.checkpoint.writeStatsAsStruct": "true",
    }))
    .await;
    let mut odd = with(Some(STATS));
    odd["add"]["partitionValues"]["day"] = json!("yesterday");
    table.commit(&[odd]).await;
    table.upto(2).await;
    assert_eq!(table.upkeep().await, [""; 0]);
    let rows = rows_of(&table, 2).await;
    let add = rows.iter().find_map(|row| row.get("add")).unwrap();
    assert_eq!(add["partitionValues"]["day"], "yesterday");
    assert_eq!(add.get("partitionValues_parsed"), None);
    assert_eq!(add["stats_parsed"]["numRecords"], LARGEST);
}
