//! Every earlier version of every Delta table of the corpus restored on a copy, and the result read
//! by us, by deltalake and by DuckDB.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::plan::{Act, PlanRequest};
use lake::schema::Schema;
use lake::table::{At, DataFile, Version};
use lake::wire::SnapshotReport;
use serde_json::{Value, json};
use server::acts::{self, Asked, Consent};
use server::stores::LocalStore;
use tests::place;

/// Versions of one table at most: the corpus has logs of thousands of commits.
const VERSIONS: u64 = 40;

struct Done {
    /// The version that was restored, and what it is.
    target: SnapshotReport,
    /// The version that the restore made.
    made: Version,
    /// The newest version that others wrote.
    head: Version,
}

#[tokio::test]
async fn every_version_of_the_corpus_comes_back() {
    let Some(corpus) = std::env::var_os("TIDEMARK_CORPUS") else {
        println!("skipped: TIDEMARK_CORPUS is not set");
        return;
    };
    let copies = tempfile::tempdir().unwrap();
    let mut tables: Vec<PathBuf> = fs::read_dir(Path::new(&corpus).join("delta"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    tables.sort();
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    let mut restored: Vec<(String, Vec<Done>)> = Vec::new();
    for table in tables {
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        let copy = copies.path().join(&name);
        copy_folder(&table, &copy);
        let done = restore_all(&name, &copy, &mut refused).await;
        if !done.is_empty() {
            restored.push((copy.display().to_string(), done));
        }
    }
    let versions: usize = restored.iter().map(|(_, done)| done.len()).sum();
    let agreed = compare_with_peers(&restored);
    println!(
        "restore: {} tables, {versions} versions restored; {agreed} of them read by deltalake or DuckDB too",
        restored.len()
    );
    for (why, count) in &refused {
        println!("  {count:>5} refused: {why}");
    }
    assert!(versions > 300, "only {versions} versions were restored");
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

async fn restore_all(name: &str, copy: &Path, refused: &mut BTreeMap<String, u64>) -> Vec<Done> {
    let host: SharedHost = Arc::new(Quiet);
    let root = Root {
        store: Arc::new(LocalStore::new(copy).unwrap()),
        path: object_store::path::Path::default(),
        location: name.to_owned(),
    };
    let mut done = Vec::new();
    let Ok(newest) = answer::snapshot(&root, At::Latest, false, &host).await else {
        *refused
            .entry("the newest version cannot be read".to_owned())
            .or_default() += 1;
        return done;
    };
    let last = newest.version.0;
    for version in last.saturating_sub(VERSIONS)..last {
        let at = At::Version(Version(version));
        let Ok(target) = answer::snapshot(&root, at, true, &host).await else {
            *refused
                .entry("the version cannot be rebuilt".to_owned())
                .or_default() += 1;
            continue;
        };
        let asked = Asked {
            request: PlanRequest {
                kind: Act::Restore,
                version: Some(Version(version)),
                ..PlanRequest::default()
            },
            as_of: acts::now(),
            expect: None,
            limits: acts::Limits::default(),
            sizes: acts::Sizes::default(),
        };
        let consent = Consent {
            user: Some("ana".to_owned()),
            reason: Some("a test".to_owned()),
            plan: None,
            over_appends: false,
        };
        let outcome = acts::act(&root, &asked, Some(&consent), &host).await;
        let outcome = outcome.unwrap_or_else(|e| panic!("{name}@{version}: {e}"));
        let Some(applied) = outcome.applied else {
            let why = outcome.plan.refused.unwrap_or_default();
            *refused.entry(kind_of(&why)).or_default() += 1;
            continue;
        };
        assert_eq!(applied.warnings, [""; 0], "{name}@{version}");
        let made = answer::snapshot(&root, At::Latest, true, &host).await;
        let made = made.unwrap_or_else(|e| panic!("{name}@{version}: {e}"));
        assert_eq!(made.version, applied.committed(), "{name}@{version}");
        assert_eq!(files(&made), files(&target), "{name}@{version}");
        assert_eq!(made.rows, target.rows, "{name}@{version}");
        assert_eq!(columns(&made), columns(&target), "{name}@{version}");
        assert_eq!(
            made.partition_columns, target.partition_columns,
            "{name}@{version}"
        );
        done.push(Done {
            target,
            made: made.version,
            head: newest.version,
        });
    }
    done
}

/// The files of a version. An add of what is active already stays as it is, its time included.
fn files(report: &SnapshotReport) -> Vec<DataFile> {
    let timeless = |file: &DataFile| DataFile {
        modified: None,
        ..file.clone()
    };
    report.paths.iter().flatten().map(timeless).collect()
}

/// The columns of a version. How far an identity column has counted never goes back.
fn columns(report: &SnapshotReport) -> Schema {
    let mut schema = report.schema.clone();
    for field in &mut schema.fields {
        field
            .notes
            .retain(|(key, _)| key != "delta.identity.highWaterMark");
    }
    schema
}

/// A refusal without its names and numbers.
pub(crate) fn kind_of(why: &str) -> String {
    let why = why.split(": ").next().unwrap_or(why);
    why.split_whitespace()
        .map(|word| {
            if word.bytes().all(|b| b.is_ascii_digit()) {
                "n"
            } else {
                word
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Restored versions that a peer reads, all of which must be as their targets were.
fn compare_with_peers(restored: &[(String, Vec<Done>)]) -> usize {
    let facts = peers(restored.iter().map(|(table, done)| {
        let all = done
            .iter()
            .flat_map(|d| [d.target.version.0, d.made.0, d.head.0]);
        let all: BTreeSet<u64> = all.collect();
        (table.clone(), all.into_iter().collect())
    }));
    let mut agreed = 0;
    for (table, done) in restored {
        for Done { target, made, head } in done {
            let about = format!("{table}: version {} as {made}", target.version);
            let before = &facts[&(table.clone(), target.version.0)];
            let after = &facts[&(table.clone(), made.0)];
            let whole = &facts[&(table.clone(), head.0)];
            let mut read = false;
            for figure in ["files", "rows"] {
                // What a peer could not read before it need not read now; a restore names the
                // head's files, too.
                if before[figure].is_null() || whole[figure].is_null() {
                    continue;
                }
                read = true;
                assert_eq!(before[figure], after[figure], "{about}: {figure}: {after}");
            }
            agreed += usize::from(read);
        }
    }
    agreed
}

/// What deltalake and DuckDB read of tables and versions, by both.
pub(crate) fn peers(
    asked: impl Iterator<Item = (String, Vec<u64>)>,
) -> BTreeMap<(String, u64), Value> {
    let mut python = Command::new(place::venv("python"))
        .arg(place::repository().join("tests/peers/restored.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    let asked: Vec<String> = asked
        .map(|(table, versions)| json!({ "table": table, "versions": versions }).to_string())
        .collect();
    let writer = std::thread::spawn(move || {
        for line in asked {
            writeln!(input, "{line}").unwrap();
        }
    });
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let mut facts: BTreeMap<(String, u64), Value> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let table = fact["table"].as_str().unwrap().to_owned();
        facts.insert((table, fact["version"].as_u64().unwrap()), fact);
    }
    facts
}
