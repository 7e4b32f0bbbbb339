//! A checkpoint of every Delta table of the corpus written on a copy, everything before it deleted,
//! and the rest read by us, by deltalake and by DuckDB.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lake::answer::{self, Root};
use lake::delta::write::checkpoint;
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Version};
use lake::wire::SnapshotReport;
use server::acts;
use server::demo::random::Random;
use server::stores::LocalStore;

use crate::restore::{copy_folder, peers};

/// Tables in whose commits deltalake sees other files than there are: it does not know that `/a` and
/// `file:/a` are one.
const OTHERWISE: &str = "canonicalized-paths";

#[tokio::test]
async fn peers_read_our_checkpoints_alone() {
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
    let mut skipped: BTreeMap<&str, u64> = BTreeMap::new();
    let mut asked = Vec::new();
    for table in tables {
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        let [whole, alone] = ["whole", "alone"].map(|kind| copies.path().join(kind).join(&name));
        copy_folder(&table, &whole);
        copy_folder(&table, &alone);
        match write_alone(&name, &alone, &whole).await {
            Ok(version) => asked.push([whole, alone].map(|at| (at.display().to_string(), version))),
            Err(why) => *skipped.entry(why).or_default() += 1,
        }
    }
    let facts = peers(
        asked
            .iter()
            .flatten()
            .map(|(at, v)| (at.clone(), vec![v.0])),
    );
    let mut agreed = [0, 0];
    for [(whole, version), (alone, _)] in &asked {
        let before = &facts[&(whole.clone(), version.0)];
        let after = &facts[&(alone.clone(), version.0)];
        for (figure, count) in ["files", "rows"].into_iter().zip(&mut agreed) {
            // What a peer could not read before it need not read now.
            let comparable = match figure {
                "files" => !alone.contains(OTHERWISE),
                _ => true,
            };
            if comparable && !before[figure].is_null() {
                assert_eq!(before[figure], after[figure], "{alone}: {figure}: {after}");
                *count += 1;
            }
        }
    }
    let [files, rows] = agreed;
    println!(
        "checkpoints: {} tables; {files} read the same by deltalake, {rows} by DuckDB",
        asked.len()
    );
    for (why, count) in &skipped {
        println!("  {count:>5} skipped: {why}");
    }
    assert!(files > 150 && rows > 150, "{files} {rows}");
}

/// Leaves of a log nothing but a checkpoint of its newest version, by us, and that version's commit.
async fn write_alone(name: &str, table: &Path, whole: &Path) -> Result<Version, &'static str> {
    let host: SharedHost = Arc::new(Quiet);
    let log = table.join("_delta_log");
    let root = || Root {
        store: Arc::new(LocalStore::new(table).unwrap()),
        path: object_store::path::Path::default(),
        location: name.to_owned(),
    };
    let read = async || answer::snapshot(&root(), At::Latest, true, &host).await;
    let version = read().await.map_err(|_| "cannot be read")?.version;
    // What others checkpointed of it, which need not say all that the commits say.
    for log in [&log, &whole.join("_delta_log")] {
        forget(log, |file| {
            file.starts_with(&format!("{:020}.checkpoint", version.0)) || file == "_last_checkpoint"
        });
    }
    let before = read().await;
    let before = before.map_err(|_| "is known by its checkpoint alone")?;
    assert_eq!(before.version, version, "{name}");
    let mut random = Random::new(version.0);
    let mut ids = || random.uuid();
    let told = checkpoint(&root(), version, acts::now(), &mut ids, &host).await;
    assert_eq!(told.unwrap(), [""; 0], "{name}");
    let own = format!("{:020}.", version.0);
    let commit = format!("{own}json");
    forget(&log, |file| {
        file.as_bytes()[0].is_ascii_digit()
            && !(file.starts_with(&format!("{own}checkpoint")) || file == commit)
    });
    let after = read().await.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(figures(after), figures(before), "{name}");
    Ok(version)
}

/// What a version is, less how it was found out.
fn figures(mut report: SnapshotReport) -> SnapshotReport {
    report.checkpoint = None;
    report.commits_read = 0;
    // Times of files that were copied, made monotone over those that are left.
    report.timestamp = None;
    report.warnings.clear();
    report
}

fn forget(log: &Path, which: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(log).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_file() && which(&name) {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}
