//! Every Delta table of the corpus packed on a copy, and every row of it read before and after by
//! DuckDB and deltalake.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lake::answer::{self, Root};
use lake::delta::optimize::Request;
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Version};
use serde_json::{Value, json};
use server::acts::{self, Consent};
use server::stores::LocalStore;
use tests::place;

use super::restore::{copy_folder, kind_of};

/// Its columns are found by id, and its files know them by other names: both peers look by name and
/// find nulls before, and every value afterwards.
const BY_ID: &str = "dremio-columnMappingConvertedIceberg";

/// A table that was packed, its version before and after.
struct Packed {
    table: String,
    before: Version,
    after: Version,
}

#[tokio::test]
async fn packed_tables_of_the_corpus_keep_every_row() {
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
    let mut left: BTreeMap<String, u64> = BTreeMap::new();
    let (mut packed, mut files) = (Vec::new(), (0, 0));
    for table in tables {
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        let copy = copies.path().join(&name);
        copy_folder(&table, &copy);
        if let Some((before, after, rewritten, written)) = pack(&name, &copy, &mut left).await {
            files = (files.0 + rewritten, files.1 + written);
            let table = copy.display().to_string();
            packed.push(Packed {
                table,
                before,
                after,
            });
        }
    }
    let agreed = compare_with_peers(&packed);
    println!(
        "optimize: {} tables packed, {} files into {}; {agreed} of them read by DuckDB or deltalake, with the same rows",
        packed.len(),
        files.0,
        files.1
    );
    for (why, count) in &left {
        println!("  {count:>5} left alone: {why}");
    }
    assert!(
        packed.len() > 140,
        "only {} tables were packed",
        packed.len()
    );
    assert!(agreed > 130, "only {agreed} tables were compared");
}

/// Packs a table, and then has nothing more to do.
async fn pack(
    name: &str,
    copy: &Path,
    left: &mut BTreeMap<String, u64>,
) -> Option<(Version, Version, u64, u64)> {
    let host: SharedHost = Arc::new(Quiet);
    let root = Root {
        store: Arc::new(LocalStore::new(copy).unwrap()),
        path: object_store::path::Path::default(),
        location: name.to_owned(),
    };
    let Ok(before) = answer::snapshot(&root, At::Latest, false, &host).await else {
        *left
            .entry("the newest version cannot be read".to_owned())
            .or_default() += 1;
        return None;
    };
    let request = Request {
        target: None,
        min: 100 << 20,
        default_target: 1 << 30,
        partitions: Vec::new(),
        as_of: acts::now(),
        expect: None,
    };
    let consent = Consent {
        user: None,
        reason: Some("a test".to_owned()),
        plan: None,
        over_appends: false,
    };
    let outcome = acts::optimize(&root, &request, Some(&consent), &host).await;
    let outcome = outcome.unwrap_or_else(|e| panic!("{name}: {e}"));
    let passed = outcome.plan.optimize.iter().flat_map(|o| &o.passed);
    for passed in passed {
        println!(
            "  {name}: {} files passed over: {}",
            passed.files, passed.why
        );
    }
    let Some(applied) = outcome.applied else {
        let why = outcome.plan.refused.unwrap_or_default();
        *left.entry(kind_of(&why)).or_default() += 1;
        return None;
    };
    let after = answer::snapshot(&root, At::Latest, false, &host)
        .await
        .unwrap();
    assert_eq!(after.version, applied.committed(), "{name}");
    let plan = &outcome.plan;
    assert_eq!(
        after.files,
        before.files - plan.files_to_rewrite + plan.files_to_write,
        "{name}"
    );
    if before.rows.is_some() {
        assert_eq!(after.rows, before.rows, "{name}");
    }
    let again = acts::optimize(&root, &request, None, &host).await.unwrap();
    let why = again
        .plan
        .refused
        .unwrap_or_else(|| panic!("{name}: there is more to do"));
    assert!(why.starts_with("nothing to do"), "{name}: {why}");
    Some((
        before.version,
        after.version,
        plan.files_to_rewrite,
        plan.files_to_write,
    ))
}

/// Tables that a peer reads, all of which must have the same rows before and after.
fn compare_with_peers(packed: &[Packed]) -> usize {
    let mut python = Command::new(place::venv("python"))
        .arg(place::repository().join("tests/peers/packed.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    let line = |p: &Packed| json!({ "table": p.table, "versions": [p.before.0, p.after.0] });
    let asked: Vec<String> = packed.iter().map(|p| line(p).to_string()).collect();
    let writer = std::thread::spawn(move || {
        for line in asked {
            writeln!(input, "{line}").unwrap();
        }
    });
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut facts: BTreeMap<(String, u64), Value> = BTreeMap::new();
    for line in text.lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let table = fact["table"].as_str().unwrap().to_owned();
        facts.insert((table, fact["version"].as_u64().unwrap()), fact);
    }
    let (mut agreed, mut wrong) = (0, Vec::new());
    for Packed {
        table,
        before,
        after,
    } in packed
    {
        let then = &facts[&(table.clone(), before.0)];
        let now = &facts[&(table.clone(), after.0)];
        if table.ends_with(BY_ID) {
            continue;
        }
        let mut read = false;
        for peer in ["duckdb", "deltalake"] {
            // What a peer could not read before it need not read now.
            if then[peer].is_null() {
                continue;
            }
            // deltalake turns INT96 outside the years 1677 to 2262 into others, and takes an empty
            // partition value for a text; what it reads of our files is what DuckDB read before.
            let odd = peer == "deltalake" && !then["duckdb"].is_null();
            if odd && then[peer] != then["duckdb"] {
                continue;
            }
            read = true;
            if then[peer] != now[peer] {
                wrong.push(format!("{table}: {peer} read {then}, now {now}"));
            }
        }
        agreed += usize::from(read);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    agreed
}
