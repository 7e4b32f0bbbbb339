//! Damaged, gapped and hostile logs: never a panic, always a message with the key, and what is not
//! damaged goes on working.

mod hints;
mod text;

use std::sync::Arc;

use lake::Kind;
use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::store::Request;
use lake::store::fault::{Failure, FaultStore, Rule};
use lake::table::{At, Version};
use lake::wire::{HistoryQuery, HistoryReport, SnapshotReport};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::json;
use tests::asking::Asking;
use tests::{Built, Layout, TableBuilder};

fn quiet() -> SharedHost {
    Arc::new(Quiet)
}

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

fn commit_key(version: u64) -> String {
    format!("_delta_log/{version:020}.json")
}

async fn put(root: &Root, key: &str, bytes: impl Into<Vec<u8>>) {
    let key = Path::parse(format!("{}/{key}", root.path)).unwrap();
    let bytes: Vec<u8> = bytes.into();
    root.store.put(&key, bytes.into()).await.unwrap();
}

async fn snapshot(root: &Root, version: u64) -> lake::Result<SnapshotReport> {
    answer::snapshot(root, At::Version(Version(version)), true, &quiet()).await
}

async fn history(root: &Root) -> HistoryReport {
    let query = HistoryQuery {
        limit: 100,
        before: None,
    };
    answer::history(root, &query, &quiet()).await.unwrap()
}

/// Versions below `damaged` are whole; those from it on are refused with the key of its commit.
async fn only_versions_before(damaged: u64, table: &Built, kind: Kind) {
    let asking = Asking::of(&table.root);
    for version in 0..=table.latest {
        let refused = asking.everything(version).await;
        let snapshot = snapshot(&table.root, version).await;
        if version < damaged {
            assert_eq!(snapshot.unwrap().files, version, "version {version}");
            let names: Vec<_> = refused.iter().map(|(name, _)| *name).collect();
            assert!(
                !names.contains(&"files") && !names.contains(&"commit"),
                "{refused:?}"
            );
        } else {
            let error = snapshot.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            let location = error.location().unwrap();
            assert!(location.contains(&commit_key(damaged)), "{error}");
        }
    }
}

#[tokio::test]
async fn commit_info_of_any_shape_is_history() {
    let infos = [
        json!({"operation": "RESTORE", "operationParameters": {"version": 10, "timestamp": null}}),
        json!({"operation": "OPTIMIZE", "operationParameters": {"predicate": [], "auto": false}}),
        json!({"operation": "WRITE", "operationParameters": {"partitionBy": "[]"}}),
        json!({"operation": "WRITE", "operationMetrics": {"filesAdded": {"avg": 1.5}}}),
        json!({"operation": "WRITE", "operationMetrics": {"numFiles": 3}}),
        json!({"operation": "WRITE", "userMetadata": {"ticket": 4471}}),
        json!({"timestamp": 1_772_964_000_000_i64}),
        json!({"operation": 7, "timestamp": "yesterday", "operationParameters": "none", "engineInfo": null}),
        json!("not even an object"),
        json!(null),
    ];
    let table = TableBuilder::new(14).build(memory(), "t").await;
    let add = serde_json::to_string(&json!({"add": tests::table::file(1)})).unwrap();
    for (version, info) in (1..).zip(&infos) {
        let line = json!({ "commitInfo": info });
        put(&table.root, &commit_key(version), format!("{line}\n{add}")).await;
    }
    // None at all; after the add; twice.
    put(&table.root, &commit_key(11), add.clone()).await;
    let late = json!({"commitInfo": {"operation": "WRITE"}});
    put(&table.root, &commit_key(12), format!("{add}\n{late}")).await;
    put(
        &table.root,
        &commit_key(13),
        format!("{late}\n{late}\n{add}"),
    )
    .await;

    let history = history(&table.root).await;
    let versions: Vec<u64> = history.commits.iter().map(|c| c.version.0).collect();
    assert_eq!(versions, (0..14).rev().collect::<Vec<_>>());
    let row = |version: u64| &history.commits[13 - version as usize];
    for version in 1..14 {
        assert_eq!(row(version).damaged, None, "version {version}");
        assert_eq!(row(version).files_added, Some(1), "version {version}");
        assert!(row(version).timestamp.is_some(), "version {version}");
    }
    assert_eq!(row(1).parameters, json!({"version": 10, "timestamp": null}));
    assert_eq!(row(2).parameters, json!({"predicate": [], "auto": false}));
    assert_eq!(row(4).metrics, json!({"filesAdded": {"avg": 1.5}}));
    assert_eq!(row(5).metrics, json!({"numFiles": 3}));
    assert!(row(6).reason.as_deref().unwrap().contains("4471"));
    assert_eq!(row(11).operation, None);
    assert_eq!(row(12).operation.as_deref(), Some("WRITE"));
    let asking = Asking::of(&table.root);
    for version in 0..14 {
        let refused = asking.everything(version).await;
        assert!(refused.is_empty(), "version {version}: {refused:?}");
    }
}

#[tokio::test]
async fn a_missing_commit_stops_what_comes_after_it() {
    let table = TableBuilder::new(6).gap(3).build(memory(), "t").await;
    for version in 0..3 {
        assert_eq!(snapshot(&table.root, version).await.unwrap().files, version);
    }
    for version in 3..6 {
        let error = snapshot(&table.root, version).await.unwrap_err();
        assert!(
            error.message().contains("version 3") || error.to_string().contains(&commit_key(3)),
            "{error}"
        );
        Asking::of(&table.root).everything(version).await;
    }
    let history = history(&table.root).await;
    let versions: Vec<u64> = history
        .commits
        .iter()
        .map(|c| c.version.0)
        .filter(|v| *v != 3)
        .collect();
    assert_eq!(versions, [5, 4, 2, 1, 0]);
    let hole = history
        .commits
        .iter()
        .any(|c| c.version.0 == 3 && c.damaged.is_some());
    let said = history.warnings.iter().any(|w| w.contains('3'));
    assert!(
        hole || said,
        "nothing tells of the hole: {:?}",
        history.warnings
    );
}

#[tokio::test]
async fn a_checkpoint_after_a_gap_heals_it() {
    let table = TableBuilder::new(8).gap(3).checkpoint(4, Layout::Classic);
    let table = table.build(memory(), "t").await;
    for version in [0, 1, 2, 4, 5, 6, 7] {
        assert_eq!(snapshot(&table.root, version).await.unwrap().files, version);
    }
    let error = snapshot(&table.root, 3).await.unwrap_err();
    assert!(error.to_string().contains('3'), "{error}");
}

#[tokio::test]
async fn a_commit_that_is_not_json_is_damaged_and_named() {
    let whole = serde_json::to_string(&json!({"add": tests::table::file(3)})).unwrap();
    let cut = whole[..whole.len() / 2].to_owned();
    let damages: [(&str, Vec<u8>); 8] = [
        ("truncated", cut.into_bytes()),
        ("binary", vec![0, 159, 146, 150, 255, 0, 10, 7]),
        ("text", b"<html>503 Slow down</html>".to_vec()),
        ("array", b"[1,2,3]".to_vec()),
        ("not an action's shape", b"{\"add\":\"x\"}".to_vec()),
        ("no path", b"{\"add\":{\"size\":1}}".to_vec()),
        (
            "not utf-8",
            [b"{\"add\":{\"path\":\"".as_slice(), &[0xff, 0xfe], b"\"}}"].concat(),
        ),
        (
            "deep",
            [b"{\"add\":".repeat(100_000), b"1".to_vec()].concat(),
        ),
    ];
    for (name, bytes) in damages {
        let table = TableBuilder::new(6).build(memory(), "t").await;
        put(&table.root, &commit_key(3), bytes).await;
        println!("{name}");
        only_versions_before(3, &table, Kind::Damaged).await;
        let history = history(&table.root).await;
        assert_eq!(history.commits.len(), 6, "{name}");
        for commit in &history.commits {
            assert_eq!(
                commit.damaged.is_some(),
                commit.version.0 == 3,
                "{name}: {commit:?}"
            );
        }
        let actions = Asking::of(&table.root);
        let refused = actions.everything(3).await;
        let raw = refused.iter().find(|(question, _)| *question == "actions");
        assert!(
            raw.is_none(),
            "{name}: the raw lines are what helps now: {raw:?}"
        );
    }
}

#[tokio::test]
async fn what_other_tools_tolerate_is_read() {
    let add = serde_json::to_string(&json!({"add": tests::table::file(3)})).unwrap();
    let harmless: [(&str, String); 5] = [
        ("byte-order mark", format!("\u{feff}{add}\n")),
        ("carriage returns", format!("{add}\r\n\r\n")),
        ("empty lines", format!("\n\n{add}\n\n")),
        ("no newline at the end", add.clone()),
        (
            "unknown action",
            format!("{add}\n{{\"somethingNew\":{{\"x\":[1,2]}}}}\n"),
        ),
    ];
    for (name, text) in harmless {
        let table = TableBuilder::new(6).build(memory(), "t").await;
        put(&table.root, &commit_key(3), text).await;
        for version in 0..6 {
            let snapshot = snapshot(&table.root, version).await;
            assert_eq!(snapshot.unwrap().files, version, "{name}");
            let refused = Asking::of(&table.root).everything(version).await;
            assert!(refused.is_empty(), "{name}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn an_empty_commit_changes_nothing_or_is_damaged() {
    let table = TableBuilder::new(6).build(memory(), "t").await;
    put(&table.root, &commit_key(3), "").await;
    let history = history(&table.root).await;
    assert_eq!(history.commits.len(), 6);
    let asking = Asking::of(&table.root);
    for version in 0..6 {
        asking.everything(version).await;
    }
    match snapshot(&table.root, 3).await {
        Ok(snapshot) => assert_eq!(snapshot.files, 2),
        Err(error) => assert!(error.to_string().contains(&commit_key(3)), "{error}"),
    }
}

#[tokio::test]
async fn a_huge_line_is_read_or_named() {
    let table = TableBuilder::new(4).build(memory(), "t").await;
    let huge = "x".repeat(24 << 20);
    let line = json!({"commitInfo": {"operation": "WRITE", "userMetadata": huge}});
    let add = json!({"add": tests::table::file(2)});
    put(&table.root, &commit_key(2), format!("{line}\n{add}\n")).await;
    let refused = Asking::of(&table.root).everything(3).await;
    assert!(refused.is_empty(), "{refused:?}");
    Asking::of(&table.root).everything(2).await;
}

#[tokio::test]
async fn denied_damaged_and_not_there_are_told_apart() {
    let inner = memory();
    let table = TableBuilder::new(6).build(Arc::clone(&inner), "t").await;
    let faulty = Arc::new(FaultStore::new(inner));
    let root = Root {
        store: Arc::clone(&faulty) as Arc<dyn ObjectStore>,
        ..table.root.clone()
    };
    for (failure, kind) in [
        (Failure::PermissionDenied, Kind::Denied),
        (Failure::Unauthenticated, Kind::Denied),
        (Failure::Generic, Kind::Unreachable),
    ] {
        faulty.clear();
        faulty.add(Rule::on(Request::Get).key(commit_key(3)).fails(failure));
        assert_eq!(snapshot(&root, 2).await.unwrap().files, 2);
        let error = snapshot(&root, 4).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{failure:?}: {error}");
        assert!(error.to_string().contains(&commit_key(3)), "{error}");
    }
    faulty.clear();
    let nothing = Root {
        path: Path::from("nothing/here"),
        ..table.root.clone()
    };
    let error = snapshot(&nothing, 0).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound, "{error}");
    let error = snapshot(&root, 9).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound, "{error}");
}

#[tokio::test]
async fn metadata_that_cannot_be_meant_is_damage_with_its_key() {
    let schemas = [
        "null",
        "{}",
        "{\"type\":\"struct\"}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":7}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\"",
        "[]",
    ];
    for schema in schemas {
        let table = TableBuilder::new(4).build(memory(), "t").await;
        let metadata = json!({"metaData": {"id": "x", "format": {"provider": "parquet", "options": {}},
            "schemaString": schema, "partitionColumns": [], "configuration": {}}});
        put(&table.root, &commit_key(2), metadata.to_string()).await;
        assert_eq!(snapshot(&table.root, 1).await.unwrap().files, 1);
        let error = snapshot(&table.root, 3).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Damaged, "{schema}: {error}");
        assert!(error.location().is_some(), "{schema}: {error}");
        let asking = Asking::of(&table.root);
        for version in 0..4 {
            asking.everything(version).await;
        }
        assert_eq!(history(&table.root).await.commits.len(), 4, "{schema}");
    }
}
