//! Written by others, read by us: tables that deltalake and Sail write, looked at after every
//! statement and compared with what those engines hold to be true of them.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::schema::Field;
use lake::table::{At, Version};
use lake::wire::HistoryQuery;
use serde_json::Value;
use server::stores::LocalStore;
use tests::place;

#[tokio::test]
async fn deltalake_writes_and_we_read_the_same() {
    let statements = compare_with("deltalake").await;
    assert!(
        statements > 30,
        "only {statements} statements were compared"
    );
}

#[tokio::test]
async fn sail_writes_and_we_read_the_same() {
    let statements = compare_with("pysail").await;
    assert!(
        statements > 60,
        "only {statements} statements were compared"
    );
}

/// Lets an engine write, and compares after each statement. Answers how many there were.
async fn compare_with(engine: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::start(engine, folder.path());
    let mut statements = 0;
    while let Some(facts) = writer.next() {
        compare(&facts).await;
        statements += 1;
    }
    println!("{engine}: {statements} statements compared");
    statements
}

/// The engine's process. It waits after each statement until it is asked for the next one.
struct Writer {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    asked: bool,
}

impl Writer {
    fn start(engine: &str, folder: &Path) -> Self {
        let mut process = Command::new(place::venv("python"))
            .arg(place::repository().join("tests/peers/writers.py"))
            .arg(engine)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self {
            process,
            lines,
            asked: true,
        }
    }

    /// What the engine says after its next statement; `None` after the last one.
    fn next(&mut self) -> Option<Value> {
        if !std::mem::take(&mut self.asked) {
            let input = self.process.stdin.as_mut().unwrap();
            input.write_all(b"\n").unwrap();
        }
        let Some(line) = self.lines.next() else {
            let status = self.process.wait().unwrap();
            assert!(status.success(), "the engine failed: {status}");
            return None;
        };
        let line = line.unwrap();
        Some(serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}")))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Only a failed test gets here with the engine still at work.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn compare(facts: &Value) {
    let host: SharedHost = Arc::new(Quiet);
    let folder = facts["table"].as_str().unwrap();
    let about = format!("{folder} after `{}`", facts["statement"].as_str().unwrap());
    let root = Root {
        store: Arc::new(LocalStore::new(folder).unwrap()),
        path: object_store::path::Path::default(),
        location: folder.to_owned(),
    };

    let ours = answer::snapshot(&root, At::Latest, true, &host).await;
    let ours = ours.unwrap_or_else(|e| panic!("{about}: {e}"));
    assert_eq!(
        ours.version.0,
        facts["version"].as_u64().unwrap(),
        "{about}"
    );
    assert_eq!(ours.rows, facts["rows"].as_u64(), "{about}");
    let theirs: Vec<(String, u64)> = serde_json::from_value(facts["files"].clone()).unwrap();
    let files = ours.paths.iter().flatten();
    let files: Vec<(String, u64)> = files.map(|f| (f.path.clone(), f.bytes.unwrap())).collect();
    assert_eq!(files, theirs, "{about}");
    assert_eq!(ours.files, theirs.len() as u64, "{about}");
    assert_eq!(
        ours.bytes,
        theirs.iter().map(|(_, bytes)| bytes).sum::<u64>(),
        "{about}"
    );
    let columns = serde_json::to_value(&ours.partition_columns).unwrap();
    assert_eq!(columns, facts["partition_columns"], "{about}");
    let properties = serde_json::to_value(&ours.properties).unwrap();
    assert_eq!(properties, facts["properties"], "{about}");
    for (key, theirs) in [
        ("minReaderVersion", &facts["min_reader_version"]),
        ("minWriterVersion", &facts["min_writer_version"]),
    ] {
        assert_eq!(ours.protocol.get(key), Some(theirs), "{about}");
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let snapshot = answer::snapshot(&root, At::Latest, false, &host)
        .await
        .unwrap();
    our_columns("", &snapshot.schema.fields, &mut ours);
    their_columns("", &facts["schema"], &mut theirs);
    assert_eq!(ours, theirs, "{about}");

    compare_history(&root, &facts["history"], &host, &about).await;
}

/// Every commit that the peer lists is in our history, with its operation and its writer's time.
async fn compare_history(root: &Root, theirs: &Value, host: &SharedHost, about: &str) {
    let query = HistoryQuery {
        limit: 1_000,
        before: None,
    };
    let ours = answer::history(root, &query, host).await;
    let ours = ours.unwrap_or_else(|e| panic!("{about}: {e}"));
    assert!(ours.commits.iter().all(|c| c.damaged.is_none()), "{about}");
    let of_ours: Vec<Value> = ours
        .commits
        .iter()
        .map(|c| serde_json::json!([c.version.0, c.operation, c.writer_timestamp.map(|t| t.0)]))
        .collect();
    assert_eq!(Value::from(of_ours), *theirs, "{about}");
    // Both ends of a page meet.
    if ours.commits.len() > 2 {
        let middle = ours.commits[1].version;
        let query = HistoryQuery {
            limit: 1,
            before: Some(middle),
        };
        let page = answer::history(root, &query, host).await.unwrap();
        assert_eq!(page.commits[0].version, Version(middle.0 - 1), "{about}");
    }
}

/// One line for each field: path, type, nullability.
pub(crate) fn our_columns(above: &str, fields: &[Field], lines: &mut Vec<String>) {
    for field in fields {
        let path = format!("{above}{}", field.name);
        lines.push(format!("{path} {} {}", field.data_type, field.nullable));
        our_columns(&format!("{path}."), &field.fields, lines);
    }
}

/// The same lines from Delta's own JSON.
pub(crate) fn their_columns(above: &str, schema: &Value, lines: &mut Vec<String>) {
    for field in schema["fields"].as_array().unwrap() {
        their_column(
            &format!("{above}{}", field["name"].as_str().unwrap()),
            &field["type"],
            field["nullable"].as_bool().unwrap(),
            lines,
        );
    }
}

fn their_column(path: &str, kind: &Value, nullable: bool, lines: &mut Vec<String>) {
    let name = kind.as_str().or_else(|| kind["type"].as_str()).unwrap();
    lines.push(format!("{path} {name} {nullable}"));
    match name {
        "struct" => their_columns(&format!("{path}."), kind, lines),
        "array" => {
            let nullable = kind["containsNull"].as_bool().unwrap();
            their_column(
                &format!("{path}.element"),
                &kind["elementType"],
                nullable,
                lines,
            );
        }
        "map" => {
            let nullable = kind["valueContainsNull"].as_bool().unwrap();
            their_column(&format!("{path}.key"), &kind["keyType"], false, lines);
            their_column(
                &format!("{path}.value"),
                &kind["valueType"],
                nullable,
                lines,
            );
        }
        _ => {}
    }
}
