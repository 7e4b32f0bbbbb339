//! Every Delta table of the corpus against what independent readers agree on.
//!
//! `TIDEMARK_CORPUS` names the corpus; without it the test says that it was skipped. A deviation
//! is a failure unless it is listed below with its reason.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lake::answer::{Root, history, snapshot};
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Version};
use lake::wire::{HistoryQuery, SnapshotReport};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Tables and figures in which this crate differs from most readers, each with why it is right.
const DEVIATIONS: &[(&str, &str, &str)] = &[];

fn corpus() -> Option<PathBuf> {
    std::env::var_os("TIDEMARK_CORPUS").map(PathBuf::from)
}

fn host() -> SharedHost {
    Arc::new(Quiet)
}

struct Table {
    name: String,
    root: Root,
    expected: Value,
}

fn tables(corpus: &std::path::Path) -> Vec<Table> {
    let store = Arc::new(LocalFileSystem::new_with_prefix(corpus.join("delta")).unwrap());
    let mut names: Vec<String> = std::fs::read_dir(corpus.join("delta"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let table = |name: String| {
        let path = corpus.join(format!("expected/delta/{name}.json"));
        let expected = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let root = Root {
            store: Arc::clone(&store) as _,
            path: Path::parse(&name).unwrap(),
            location: name.clone(),
        };
        Table {
            name,
            root,
            expected,
        }
    };
    names.into_iter().map(table).collect()
}

#[derive(Default)]
struct Tally {
    tables: usize,
    versions: usize,
    figures: usize,
    rows_unknown: usize,
    refused: Vec<String>,
    deviations: Vec<(String, String, String)>,
}

impl Tally {
    fn deviate(&mut self, table: &str, what: &str, detail: String) {
        self.deviations
            .push((table.to_owned(), what.to_owned(), detail));
    }

    fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        table: &str,
        version: &str,
        what: &str,
        ours: T,
        theirs: T,
    ) {
        self.figures += 1;
        if ours != theirs {
            self.deviate(
                table,
                &format!("{what}@{version}"),
                format!("ours {ours:?}, theirs {theirs:?}"),
            );
        }
    }
}

fn decoded(raw: &str) -> String {
    percent_decode_str(raw).decode_utf8_lossy().into_owned()
}

fn compare(tally: &mut Tally, table: &str, version: &str, ours: &SnapshotReport, theirs: &Value) {
    let number = |key: &str| theirs[key].as_u64();
    tally.same(
        table,
        version,
        "num_files",
        Some(ours.files),
        number("num_files"),
    );
    tally.same(
        table,
        version,
        "total_bytes",
        Some(ours.bytes),
        number("total_bytes"),
    );
    match (ours.rows, number("row_count"), number("num_records")) {
        (Some(rows), Some(count), _) => tally.same(table, version, "row_count", rows, count),
        (Some(rows), None, Some(records)) => tally.same(
            table,
            version,
            "num_records",
            rows + ours.deleted_rows,
            records,
        ),
        (None, _, Some(records)) if ours.files > 0 => {
            tally.deviate(
                table,
                &format!("rows@{version}"),
                format!("ours unknown, theirs {records} records"),
            );
        }
        (None, ..) => tally.rows_unknown += 1,
        (Some(_), None, None) => {}
    }
    if let Some(files) = theirs["files"].as_array() {
        let mut theirs: Vec<String> = files.iter().map(|f| decoded(f.as_str().unwrap())).collect();
        theirs.sort();
        let ours: Vec<String> = ours
            .paths
            .as_ref()
            .unwrap()
            .iter()
            .map(|f| f.path.clone())
            .collect();
        tally.same(table, version, "files", ours, theirs);
    }
    let columns: Vec<String> = serde_json::from_value(theirs["partition_columns"].clone()).unwrap();
    tally.same(
        table,
        version,
        "partition_columns",
        ours.partition_columns.clone(),
        columns,
    );
    let properties: BTreeMap<String, String> =
        serde_json::from_value(theirs["properties"].clone()).unwrap();
    tally.same(
        table,
        version,
        "properties",
        ours.properties.clone().into_iter().collect(),
        properties,
    );
    tally.same(
        table,
        version,
        "protocol",
        sorted(Value::Object(ours.protocol.clone())),
        sorted(theirs["protocol"].clone()),
    );
}

fn sorted(mut protocol: Value) -> Value {
    for key in ["readerFeatures", "writerFeatures"] {
        if let Some(list) = protocol[key].as_array_mut() {
            list.sort_by_key(|v| v.as_str().unwrap_or_default().to_owned());
        }
    }
    if let Some(map) = protocol.as_object_mut() {
        map.retain(|_, v| !v.is_null());
    }
    protocol
}

#[tokio::test]
async fn snapshots_and_histories_are_what_most_readers_say() {
    let Some(corpus) = corpus() else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let mut tally = Tally::default();
    for table in tables(&corpus) {
        tally.tables += 1;
        one(&mut tally, &table).await;
    }
    for line in &tally.refused {
        println!("refused: {line}");
    }
    let mut unexplained = 0;
    for (table, what, detail) in &tally.deviations {
        let reason = DEVIATIONS
            .iter()
            .find(|(t, w, _)| t == table && what.starts_with(w))
            .map(|(.., why)| *why);
        unexplained += usize::from(reason.is_none());
        println!(
            "deviation: {table} {what}: {detail}: {}",
            reason.unwrap_or("NOT EXPLAINED")
        );
    }
    println!(
        "delta corpus: {} tables, {} versions compared, {} deviations ({} figures; rows unknown to every log in {} versions; {} tables that no reader opens refused)",
        tally.tables,
        tally.versions,
        tally.deviations.len(),
        tally.figures,
        tally.rows_unknown,
        tally.refused.len(),
    );
    assert_eq!(unexplained, 0);
}

async fn one(tally: &mut Tally, table: &Table) {
    let consensus = &table.expected["consensus"];
    let name = &table.name;
    let commits: Vec<u64> =
        serde_json::from_value(consensus["log"]["commits"].clone()).unwrap_or_default();
    match history(
        &table.root,
        &HistoryQuery {
            limit: 5_000,
            before: None,
        },
        &host(),
    )
    .await
    {
        Ok(report) => {
            let ours: Vec<u64> = report.commits.iter().rev().map(|c| c.version.0).collect();
            tally.same(name, "all", "history", ours, commits);
        }
        Err(error) if commits.is_empty() => println!("{name}: history: {error}"),
        Err(error) => tally.deviate(name, "history", error.to_string()),
    }
    let empty = serde_json::Map::new();
    let versions = consensus["versions"].as_object().unwrap_or(&empty);
    let mut answered = false;
    for (number, theirs) in versions {
        let version = Version(number.parse().unwrap());
        let ours = snapshot(&table.root, At::Version(version), true, &host()).await;
        if theirs.get("num_files").is_none() {
            if let Err(error) = ours {
                println!("{name} version {number}, which no reader rebuilds: {error}");
            } else {
                println!(
                    "{name} version {number}, which no reader rebuilds: {} files",
                    ours.unwrap().files
                );
            }
            continue;
        }
        answered = true;
        match ours {
            Ok(ours) => {
                tally.versions += 1;
                compare(tally, name, number, &ours, theirs);
            }
            Err(error) => tally.deviate(name, &format!("snapshot@{number}"), error.to_string()),
        }
    }
    if !answered {
        match snapshot(&table.root, At::Latest, true, &host()).await {
            Err(error) => tally.refused.push(format!("{name}: {error}")),
            Ok(ours) => tally.deviate(
                name,
                "opened",
                format!(
                    "{} files at {}, which no reader opens",
                    ours.files, ours.version
                ),
            ),
        }
    }
}
