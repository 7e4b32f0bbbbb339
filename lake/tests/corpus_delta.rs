//! Every Delta table of the corpus against what independent readers agree on.
//!
//! `TIDEMARK_CORPUS` names the corpus; without it the test says that it was skipped. A deviation
//! is a failure unless it is listed below with its reason.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic and reads the corpus from disk"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lake::answer::{Root, diff, history, snapshot};
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Version};
use lake::wire::{HistoryQuery, SnapshotReport};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Tables and figures in which this crate differs from most readers, each with why it is right.
const DEVIATIONS: &[(&str, &str, &str)] = &[
    ("krs-canonicalized-paths-", "", SPARK_PATHS),
    ("golden-canonicalized-paths-special-b", "", SPARK_PATHS),
    (
        "krs-compacted-log-files-table",
        "row_count@",
        "only one reader counted, and it adds up superseded actions of the compaction files; files and bytes of every reader agree with ours",
    ),
    (
        "conn-deltalog-invalid-protocol-version",
        "snapshot@0",
        "the table asks for reader version 99, and a reader must refuse a version it does not implement (PROTOCOL, Protocol Evolution)",
    ),
    (
        "gen-dlrs-log_compaction_with_checkpoint",
        "row_count@13",
        "only one reader counted, and it leaves out the commits of a compaction file; the records of every reader agree with ours",
    ),
    ("golden-catalog-owned-preview", "row_count@0", CATALOG),
    ("krs-catalog_managed_0", "row_count@0", CATALOG),
    ("krs-parquet_row_group_skipping", "rows@1", NO_STATISTICS),
    (
        "trino-deltalake_partition_values_parsed",
        "rows@",
        NO_STATISTICS,
    ),
    (
        "trino-partition_values_parsed_all_types",
        "rows@3",
        NO_STATISTICS,
    ),
    (
        "rs-simple_table_features",
        "snapshot@",
        "the table asks for reader version 5, and a reader must refuse a version it does not implement (PROTOCOL, Protocol Evolution)",
    ),
    (
        "dremio-multibatchCheckpointWithRemove",
        "row_count@20",
        "the log's statistics say so, as its one reader's own count of records does; the data files that came with it hold fewer rows",
    ),
    ("rs-table_b", "snapshot@", GAP),
    ("rs-table_c", "snapshot@", GAP),
];

const SPARK_PATHS: &str = "Spark, which wrote the table to show this, reads `file:/x`, `file:///x` and `/x` as one file; these readers compare the texts";
const CATALOG: &str = "only the commits of the log count by path; the one reader that gives another number counts every Parquet file of the folder";
const NO_STATISTICS: &str = "the checkpoint that makes the version was written without statistics, so the log does not say how many records its files hold";
const GAP: &str = "a commit before it is missing, and versions must be contiguous (PROTOCOL, Delta Log Entries); the one reader that answers skips it";

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
        // Leaving a list out and writing an empty one say the same.
        map.retain(|_, v| !v.is_null() && v.as_array().is_none_or(|list| !list.is_empty()));
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
            .find(|(t, w, _)| table.starts_with(t) && what.starts_with(w))
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

/// What a diff from the commits says must be what the two snapshots say, for neighbours and for
/// the whole span, in both directions.
#[tokio::test]
async fn a_diff_is_the_difference_of_two_snapshots() {
    let Some(corpus) = corpus() else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let (mut compared, mut wrong) = (0, Vec::new());
    for table in tables(&corpus) {
        let versions = table.expected["consensus"]["versions"].as_object();
        let mut numbers: Vec<u64> = versions
            .into_iter()
            .flatten()
            .map(|(v, _)| v.parse().unwrap())
            .collect();
        numbers.sort_unstable();
        let mut known = BTreeMap::new();
        for number in numbers {
            if let Ok(report) =
                snapshot(&table.root, At::Version(Version(number)), true, &host()).await
            {
                known.insert(number, report);
            }
        }
        let all: Vec<u64> = known.keys().copied().collect();
        let mut pairs: Vec<(u64, u64)> = all.windows(2).map(|w| (w[0], w[1])).collect();
        pairs.extend(all.first().zip(all.last()).map(|(a, b)| (*b, *a)));
        for (from, to) in pairs {
            compared += 1;
            let what = format!("{} {from}..{to}", table.name);
            match diff(&table.root, Version(from), Version(to), true, &host()).await {
                Ok(report) => {
                    if let Some(why) = differs(&report, &known[&from], &known[&to]) {
                        wrong.push(format!("{what}: {why}"));
                    }
                }
                Err(error) => wrong.push(format!("{what}: {error}")),
            }
        }
    }
    for line in &wrong {
        println!("wrong: {line}");
    }
    println!(
        "delta corpus: {compared} diffs compared with their snapshots, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty() && compared > 500);
}

fn differs(
    diff: &lake::wire::DiffReport,
    from: &SnapshotReport,
    to: &SnapshotReport,
) -> Option<String> {
    type Key = (String, Vec<String>);
    let keys = |files: &[lake::table::DataFile]| -> std::collections::BTreeSet<Key> {
        files
            .iter()
            .map(|f| (f.path.clone(), f.deletes.clone()))
            .collect()
    };
    let (old, new) = (keys(from.paths.as_ref()?), keys(to.paths.as_ref()?));
    let added = keys(diff.added.as_ref()?);
    let removed = keys(diff.removed.as_ref()?);
    let expect = |what: &str, ours: &std::collections::BTreeSet<Key>, right: Vec<&Key>| {
        (ours.iter().collect::<Vec<_>>() != right)
            .then(|| format!("{what}: {ours:?} instead of {right:?}"))
    };
    let sums = || {
        let bytes = to.bytes as i64 - from.bytes as i64;
        let ours = diff.totals.bytes_added as i64 - diff.totals.bytes_removed as i64;
        if bytes != ours {
            return Some(format!("bytes {ours} instead of {bytes}"));
        }
        let (before, after) = (from.rows? as i64, to.rows? as i64);
        let rows = diff
            .totals
            .rows_added
            .zip(diff.totals.rows_removed)
            .map(|(a, r)| a as i64 - r as i64);
        (rows != Some(after - before))
            .then(|| format!("rows {rows:?} instead of {}", after - before))
    };
    let schema = || {
        let same = from.schema == to.schema;
        (same && !diff.schema.is_empty()).then(|| format!("schema {:?}", diff.schema))
    };
    expect("added", &added, new.difference(&old).collect())
        .or_else(|| expect("removed", &removed, old.difference(&new).collect()))
        .or_else(sums)
        .or_else(schema)
}
