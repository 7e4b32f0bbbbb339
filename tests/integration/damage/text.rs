//! Text that wants to be more than text, and statistics that are not clean numbers.

use lake::table::{At, Version};
use lake::wire::{Answer, Ask, FilesQuery};
use serde_json::{Value, json};
use tests::TableBuilder;
use tests::asking::Asking;

use super::{commit_key, history, memory, put, snapshot};

const HOSTILE: [&str; 6] = [
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "javascript:alert(1)",
    "\u{202e}gpj.exe\u{202c}",
    "a\u{0}b\u{7}c\u{1b}[2J",
    "'; DROP TABLE users; --",
];

#[tokio::test]
async fn hostile_text_arrives_as_it_is() {
    for text in HOSTILE {
        let table = TableBuilder::new(4).build(memory(), "t").await;
        let schema = json!({"type": "struct", "fields": [
            {"name": text, "type": "long", "nullable": true, "metadata": {"comment": text}},
            {"name": "p", "type": "string", "nullable": true, "metadata": {}},
        ]});
        let lines = [
            json!({"commitInfo": {"operation": text, "userMetadata": text, "userName": text,
                "operationParameters": {text: text}, "engineInfo": text}}),
            json!({"metaData": {"id": "x", "name": text, "description": text,
                "format": {"provider": "parquet", "options": {}}, "partitionColumns": ["p"],
                "schemaString": schema.to_string(), "configuration": {text: text}}}),
            json!({"add": {"path": "p=x/f.parquet", "partitionValues": {"p": text}, "size": 1,
                "modificationTime": 1, "dataChange": true}}),
        ];
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        put(&table.root, &commit_key(3), lines.join("\n")).await;

        let snapshot = snapshot(&table.root, 3).await.unwrap();
        assert_eq!(snapshot.name.as_deref(), Some(text));
        assert_eq!(snapshot.description.as_deref(), Some(text));
        assert_eq!(snapshot.schema.fields[0].name, text);
        assert_eq!(
            snapshot.properties.get(text).map(String::as_str),
            Some(text)
        );
        let files = snapshot.paths.unwrap();
        let hostile = files.iter().find(|f| f.path == "p=x/f.parquet").unwrap();
        assert_eq!(hostile.partition["p"].as_deref(), Some(text));
        let commit = &history(&table.root).await.commits[0];
        assert_eq!(commit.operation.as_deref(), Some(text));
        assert_eq!(commit.reason.as_deref(), Some(text));
        assert_eq!(commit.user.as_deref(), Some(text));
        assert_eq!(commit.parameters[text], text);
        let refused = Asking::of(&table.root).everything(3).await;
        assert!(refused.is_empty(), "{refused:?}");
    }
}

#[tokio::test]
async fn a_megabyte_of_text_does_not_stop_a_page() {
    let table = TableBuilder::new(4).build(memory(), "t").await;
    let long = "long ".repeat(200_000);
    let lines = [
        json!({"commitInfo": {"operation": long, "userMetadata": long}}),
        json!({"add": {"path": format!("{}.parquet", "x".repeat(100_000)), "size": 1,
            "partitionValues": {"date": long}, "modificationTime": 1, "dataChange": true}}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    put(&table.root, &commit_key(3), lines.join("\n")).await;
    let refused = Asking::of(&table.root).everything(3).await;
    assert!(refused.is_empty(), "{refused:?}");
}

#[tokio::test]
async fn statistics_that_are_not_clean_cost_nothing_but_themselves() {
    // Each with the rows that it lets us count.
    let cases: [(Option<&str>, Option<u64>); 18] = [
        (
            Some(r#"{"numRecords":1,"minValues":{"d":"NaN"},"maxValues":{"d":"Infinity"}}"#),
            Some(1),
        ),
        (
            Some(r#"{"numRecords":2,"minValues":{"t":"+48690-07-02T22:50:38.211Z"}}"#),
            Some(2),
        ),
        (
            Some(r#"{"numRecords":3,"minValues":{"t":"1850-01-01T01:01:01.000+00:53"}}"#),
            Some(3),
        ),
        (
            Some("{\"numRecords\":4,\"maxValues\":{\"s\":\"aaaaaaaa\u{fffd}\u{10ffff}\"}}"),
            Some(4),
        ),
        (Some(r#"{"numRecords":5,"tightBounds":false}"#), Some(5)),
        (
            Some(r#"{"numRecords":6,"minValues":{"x":12345678901234567890.12}}"#),
            Some(6),
        ),
        (
            Some(r#"{"numRecords":7,"minValues":{"gone":{"a":[1,{"b":null}]}}}"#),
            Some(7),
        ),
        (
            Some(r#"{"numRecords":9223372036854775807}"#),
            Some(i64::MAX as u64),
        ),
        (Some(r#"{"nullCount":{"id":0}}"#), None),
        (Some(r#"{"numRecords":null}"#), None),
        (Some(r#"{"numRecords":-1}"#), None),
        (Some(r#"{"numRecords":"many"}"#), None),
        // Cut after the count, which is whole; and in the middle of it.
        (Some(r#"{"numRecords":12,"min"#), Some(12)),
        (Some(r#"{"numRecords":12"#), None),
        (Some("not JSON"), None),
        (Some(""), None),
        (Some("null"), None),
        (None, None),
    ];
    let table = TableBuilder::new(4).build(memory(), "t").await;
    let mut lines = Vec::new();
    for (n, (stats, _)) in cases.iter().enumerate() {
        lines.push(
            json!({"add": {"path": format!("date=1/odd-{n:02}.parquet"), "size": 10,
            "partitionValues": {"date": "1"}, "modificationTime": 1, "dataChange": true,
            "stats": stats}}),
        );
    }
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    put(&table.root, &commit_key(3), text.join("\n")).await;

    let asking = Asking::of(&table.root);
    let refused = asking.everything(3).await;
    assert!(refused.is_empty(), "{refused:?}");
    let query = FilesQuery {
        limit: 100,
        text: Some("odd-".to_owned()),
        ..FilesQuery::default()
    };
    let version = Version(3);
    let answer = asking
        .ask(|table| Ask::Files {
            table,
            version,
            query,
        })
        .await;
    let Ok(Answer::Files(report)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(report.matching, cases.len() as u64);
    for (file, (stats, rows)) in report.files.iter().zip(&cases) {
        assert_eq!(file.rows, *rows, "{stats:?}");
        assert_eq!(file.bytes, Some(10), "{stats:?}");
    }
    // One file that does not say makes the sum unknown, and not smaller.
    let at = At::Version(version);
    let answer = asking.ask(|table| Ask::Snapshot { table, at }).await;
    let Ok(Answer::Snapshot(report)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(report.files, 2 + cases.len() as u64);
    assert_eq!(report.rows, None);
}
