//! Which version a time means, by the commit files' own times and by in-commit timestamps.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lake::Kind;
use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::table::{At, Time};
use lake::wire::HistoryQuery;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use tempfile::TempDir;

/// 2026-03-08T10:00:00Z
const TEN: i64 = 1_772_964_000_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A commit: when its file was put, and its in-commit timestamp.
type Commit = (i64, Option<i64>);

fn table(commits: &[Commit]) -> (TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("_delta_log");
    std::fs::create_dir(&log).unwrap();
    for (version, (put, in_commit)) in commits.iter().enumerate() {
        let mut lines = Vec::new();
        let stamp = in_commit
            .map(|t| format!(r#","inCommitTimestamp":{t}"#))
            .unwrap_or_default();
        lines.push(format!(
            r#"{{"commitInfo":{{"operation":"WRITE","timestamp":1{stamp}}}}}"#
        ));
        if version == 0 {
            lines.push(r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#.to_owned());
            lines.push(r#"{"metaData":{"id":"t","schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}"#.to_owned());
        }
        let path = log.join(format!("{version:020}.json"));
        std::fs::write(&path, lines.join("\n")).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(*put as u64);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    let store = Arc::new(LocalFileSystem::new_with_prefix(dir.path()).unwrap());
    (
        dir,
        Root {
            store,
            path: Path::default(),
            location: "t".to_owned(),
        },
    )
}

fn quiet() -> SharedHost {
    Arc::new(Quiet)
}

async fn at(root: &Root, time: i64) -> Result<u64, lake::Error> {
    answer::snapshot(root, At::Time(Time(time)), false, &quiet())
        .await
        .map(|s| s.version.0)
}

#[tokio::test]
async fn a_time_means_the_newest_version_committed_by_then() {
    let (_dir, root) = table(&[(TEN, None), (TEN + HOUR, None), (TEN + 2 * HOUR, None)]);
    assert_eq!(at(&root, TEN).await.unwrap(), 0);
    assert_eq!(at(&root, TEN + HOUR - 1).await.unwrap(), 0);
    assert_eq!(at(&root, TEN + HOUR).await.unwrap(), 1);
    assert_eq!(at(&root, TEN + 9 * HOUR).await.unwrap(), 2);
    let before = at(&root, TEN - 1).await.unwrap_err();
    assert_eq!(before.kind(), Kind::NotFound);
    assert!(
        before.message().contains("2026-03-08T10:00:00.000Z"),
        "{before}"
    );
}

#[tokio::test]
async fn in_commit_timestamps_count_from_the_version_that_carries_them() {
    let late = TEN + 10 * HOUR;
    let (_dir, root) = table(&[
        (TEN, None),
        (TEN + MINUTE, None),
        (TEN + 2 * MINUTE, None),
        (TEN + 3 * MINUTE, Some(late)),
        (TEN + 4 * MINUTE, Some(late + MINUTE)),
    ]);
    assert_eq!(at(&root, TEN + 3 * MINUTE + 30_000).await.unwrap(), 2);
    assert_eq!(at(&root, late + 30_000).await.unwrap(), 3);
    assert_eq!(at(&root, late + MINUTE).await.unwrap(), 4);
    assert_eq!(
        at(&root, TEN - HOUR).await.unwrap_err().kind(),
        Kind::NotFound
    );
}

#[tokio::test]
async fn commits_put_at_one_time_or_out_of_order_are_a_millisecond_apart() {
    let (_dir, root) = table(&[
        (TEN, None),
        (TEN, None),
        (TEN - HOUR, None),
        (TEN + HOUR, None),
    ]);
    assert_eq!(at(&root, TEN).await.unwrap(), 0);
    assert_eq!(at(&root, TEN + 1).await.unwrap(), 1);
    assert_eq!(at(&root, TEN + 2).await.unwrap(), 2);
    let query = HistoryQuery {
        limit: 10,
        before: None,
    };
    let history = answer::history(&root, &query, &quiet()).await.unwrap();
    let times: Vec<i64> = history
        .commits
        .iter()
        .rev()
        .map(|c| c.timestamp.unwrap().0)
        .collect();
    assert_eq!(times, [TEN, TEN + 1, TEN + 2, TEN + HOUR]);
}

#[tokio::test]
async fn a_long_log_is_searched_and_not_walked() {
    let commits: Vec<Commit> = (0..1500).map(|i| (TEN + i * MINUTE, None)).collect();
    let (_dir, root) = table(&commits);
    for version in [0, 1, 63, 64, 749, 1000, 1498, 1499] {
        assert_eq!(
            at(&root, TEN + version * MINUTE + 1).await.unwrap(),
            version as u64
        );
    }
}

#[tokio::test]
async fn a_time_in_another_unit_is_refused() {
    let (_dir, root) = table(&[(TEN, None)]);
    let micros = at(&root, TEN * 1000).await.unwrap_err();
    assert_eq!(micros.kind(), Kind::Invalid);
}
