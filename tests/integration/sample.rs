//! The sample lake, as others read it and as the pages will show it.

use std::process::Command;
use std::sync::Arc;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Time, Version};
use lake::wire::{Answer, Ask, FilesQuery, HistoryQuery};
use serde_json::Value;
use server::demo::{self, Written};
use server::stores::LocalStore;
use tests::asking::Asking;
use tests::place;

const NOW: Time = Time(1_772_980_000_000);

fn written() -> (tempfile::TempDir, Written) {
    let folder = tempfile::tempdir().unwrap();
    let written = demo::write(folder.path(), NOW).unwrap();
    (folder, written)
}

fn root(written: &Written, table: &str) -> Root {
    let folder = written.zone.join(table);
    Root {
        store: Arc::new(LocalStore::new(&folder).unwrap()),
        path: object_store::path::Path::default(),
        location: folder.display().to_string(),
    }
}

#[tokio::test]
async fn deltalake_and_duckdb_read_the_sample_lake_as_we_do() {
    let (_folder, written) = written();
    let host: SharedHost = Arc::new(Quiet);
    let mut rows_counted = 0;
    for table in &written.tables {
        let step = if table.latest > 100 { 37 } else { 1 };
        let mut versions: Vec<u64> = (0..=table.latest).step_by(step).collect();
        versions.push(table.latest);
        let peers = Command::new(place::venv("python"))
            .arg(place::repository().join("tests/peers/readers.py"))
            .arg(written.zone.join(table.name))
            .args(versions.iter().map(u64::to_string))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&peers.stderr);
        assert!(peers.status.success(), "{}: {said}", table.name);
        let lines = String::from_utf8(peers.stdout).unwrap();
        let theirs: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(theirs.len(), versions.len(), "{}: {said}", table.name);
        let root = root(&written, table.name);
        for theirs in theirs {
            let version = theirs["version"].as_u64().unwrap();
            let about = format!("{} version {version}", table.name);
            let ours = answer::snapshot(&root, At::Version(Version(version)), false, &host).await;
            let ours = ours.unwrap_or_else(|e| panic!("{about}: {e}"));
            assert_eq!(Some(ours.files), theirs["files"].as_u64(), "{about}");
            assert_eq!(Some(ours.bytes), theirs["bytes"].as_u64(), "{about}");
            if let Some(rows) = theirs["rows"].as_u64() {
                assert_eq!(ours.rows, Some(rows), "{about}");
                rows_counted += 1;
            }
        }
    }
    assert!(
        rows_counted > 60,
        "only {rows_counted} versions have data files"
    );
}

#[tokio::test]
async fn the_accident_is_called_out_and_can_be_undone() {
    let (_folder, written) = written();
    let asking = Asking::of(&root(&written, "users"));
    let rows_removed = 0.2;
    let answer = asking
        .ask(|table| Ask::Overview {
            table,
            rows_removed,
        })
        .await;
    let Ok(Answer::Overview(overview)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(overview.version, Version(48));
    let [first, ..] = overview.attention.as_slice() else {
        panic!("nothing is called out: {overview:?}");
    };
    assert_eq!(first.version, Some(Version(48)), "{first:?}");
    assert_eq!(first.restore_to, Some(Version(47)), "{first:?}");
    assert_eq!(
        first.detail,
        "in one commit, by ana@tlp: region = US. No commit came after it."
    );

    let (from, to) = (Version(47), Version(48));
    let diff = asking.ask(|table| Ask::Diff { table, from, to }).await;
    let Ok(Answer::Diff(diff)) = diff else {
        panic!("{diff:?}");
    };
    assert!(diff.from_rows.is_some(), "{diff:?}");
    let query = FilesQuery {
        limit: 1_000,
        ..FilesQuery::default()
    };
    let files = asking
        .ask(|table| Ask::DiffFiles {
            table,
            from,
            to,
            query,
        })
        .await;
    let Ok(Answer::DiffFiles(files)) = files else {
        panic!("{files:?}");
    };
    assert_eq!(files.total, diff.totals.files_removed);
    for changed in &files.files {
        assert!(changed.file.modified.is_some(), "{changed:?}");
    }

    for (version, whole) in [(0, false), (47, true)] {
        let version = Version(version);
        let answer = asking.ask(|table| Ask::Presence { table, version }).await;
        let Ok(Answer::Presence(presence)) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(presence.missing_total == 0, whole, "{presence:?}");
    }
}

#[tokio::test]
async fn every_question_about_the_newest_versions_is_answered() {
    let (_folder, written) = written();
    for table in &written.tables {
        let root = root(&written, table.name);
        let asking = Asking::of(&root);
        for version in table.latest.saturating_sub(12)..=table.latest {
            let refused = asking.everything(version).await;
            assert!(refused.is_empty(), "{}: {refused:?}", table.name);
        }
        let query = HistoryQuery {
            limit: 1_000,
            before: None,
        };
        let host: SharedHost = Arc::new(Quiet);
        let history = answer::history(&root, &query, &host).await.unwrap();
        assert_eq!(history.commits.len() as u64, table.latest + 1);
        assert_eq!(history.warnings, Vec::<String>::new(), "{}", table.name);
        for commit in &history.commits {
            assert_eq!(commit.damaged, None, "{}", table.name);
            assert_eq!(commit.timestamp, commit.writer_timestamp, "{}", table.name);
        }
    }
}
