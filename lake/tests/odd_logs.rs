//! Logs that are damaged, or say what cannot be: each has one right answer, and the same one
//! wherever it is asked for.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic and writes its logs to disk"
)]

use std::fs::{self, File};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use lake::answer::{Root, diff, history, layout, snapshot};
use lake::host::{Quiet, SharedHost};
use lake::store::fault::{Failure, FaultStore};
use lake::store::{Request, Rule};
use lake::table::{At, Time, Version};
use lake::wire::{HistoryQuery, HistoryReport, SnapshotReport};
use lake::{Error, Kind};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use tempfile::TempDir;

const FIRST: &str = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}
{"add":{"path":"f0","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":10}"}}
"#;

fn add(path: &str) -> String {
    format!(
        r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":1,"dataChange":true,"stats":"{{\"numRecords\":10}}"}}}}"#
    )
}

struct Table {
    folder: TempDir,
}

impl Table {
    /// A table of these commits.
    fn new(commits: &[(u64, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("_delta_log")).unwrap();
        let table = Self { folder };
        for (version, text) in commits {
            table.put(&format!("{version:020}.json"), text);
        }
        table
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join("_delta_log").join(name), text).unwrap();
    }

    /// Commits as if put at these seconds.
    fn times(&self, seconds: &[u64]) {
        for (version, seconds) in seconds.iter().enumerate() {
            let name = format!("_delta_log/{version:020}.json");
            let file = File::options()
                .write(true)
                .open(self.folder.path().join(name));
            let time = UNIX_EPOCH + Duration::from_secs(*seconds);
            file.unwrap().set_modified(time).unwrap();
        }
    }

    fn store(&self) -> Arc<dyn ObjectStore> {
        Arc::new(LocalFileSystem::new_with_prefix(self.folder.path()).unwrap())
    }

    fn root(&self) -> Root {
        root(self.store())
    }

    async fn history(&self) -> HistoryReport {
        history_of(&self.root()).await
    }

    async fn snapshot(&self, at: At) -> Result<SnapshotReport, Error> {
        snapshot(&self.root(), at, false, &host()).await
    }
}

fn root(store: Arc<dyn ObjectStore>) -> Root {
    Root {
        store,
        path: Path::default(),
        location: "t".to_owned(),
    }
}

fn host() -> SharedHost {
    Arc::new(Quiet)
}

async fn history_of(root: &Root) -> HistoryReport {
    let query = HistoryQuery {
        limit: 50,
        before: None,
    };
    history(root, &query, &host()).await.unwrap()
}

#[tokio::test]
async fn a_version_out_of_all_proportion_costs_nothing() {
    for far in [1_000, 10_000_000, i64::MAX as u64] {
        let table = Table::new(&[(0, FIRST), (far, &add("f"))]);
        let error = table.snapshot(At::Latest).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Damaged, "{far}: {error}");
        assert!(
            error.message().contains("version 1 is missing"),
            "{far}: {error}"
        );
        assert!(
            layout(&table.root(), At::Latest, None, &host())
                .await
                .is_err()
        );
        let error = diff(&table.root(), Version(0), Version(far), false, &host()).await;
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("version 1 is missing"),
            "{far}"
        );
        let report = table.history().await;
        assert_eq!(report.latest_version, Version(far));
        assert_eq!(report.commits.len(), 2);
        // A time means one of the commits that are there.
        let soon = Time(i64::from(u32::MAX) * 1_000);
        assert!(table.snapshot(At::Time(soon)).await.is_err());
        assert_eq!(
            table.snapshot(At::Version(Version(0))).await.unwrap().files,
            1
        );
    }
}

#[tokio::test]
async fn half_a_checkpoint_is_no_version() {
    for name in [
        "00000000000000000007.checkpoint.0000000001.0000000002.parquet",
        "00000000000000000007.checkpoint.parquet",
    ] {
        let table = Table::new(&[(0, FIRST), (1, &add("f1")), (2, &add("f2"))]);
        table.put(name, "");
        assert_eq!(table.history().await.latest_version, Version(2), "{name}");
        let newest = table.snapshot(At::Latest).await.unwrap();
        assert_eq!((newest.version, newest.files), (Version(2), 3), "{name}");
    }
}

#[tokio::test]
async fn a_commit_has_one_time() {
    for seconds in [[2_000, 1_000, 1_500], [1_000, 1_000, 1_000]] {
        let table = Table::new(&[(0, FIRST), (1, &add("f1")), (2, &add("f2"))]);
        table.times(&seconds);
        let first = i64::try_from(seconds[0]).unwrap() * 1_000;
        for commit in table.history().await.commits {
            let right = Time(first + i64::try_from(commit.version.0).unwrap());
            assert_eq!(commit.timestamp, Some(right));
            let version = table.snapshot(At::Version(commit.version)).await.unwrap();
            assert_eq!(version.timestamp, Some(right));
            let found = table.snapshot(At::Time(right)).await.unwrap();
            assert_eq!(found.version, commit.version);
        }
        assert!(table.snapshot(At::Time(Time(first - 1))).await.is_err());
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_not_compared() {
    let needs = format!(
        "{}\n{}",
        r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["fooBar"],"writerFeatures":["fooBar"]}}"#,
        add("f1")
    );
    let table = Table::new(&[(0, FIRST), (1, &needs), (2, &add("f2"))]);
    for (from, to) in [(0, 1), (0, 2), (1, 2), (2, 0)] {
        let error = diff(&table.root(), Version(from), Version(to), false, &host()).await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported, "{from}..{to}: {error}");
        assert!(
            error.to_string().contains("fooBar"),
            "{from}..{to}: {error}"
        );
    }
    assert_eq!(table.history().await.commits.len(), 3);
}

#[tokio::test]
async fn a_deletion_vector_that_cannot_be_leaves_rows_unknown() {
    for (kind, cardinality) in [("x", 2), ("u", -5), ("u", 1_000)] {
        let masked = format!(
            r#"{{"add":{{"path":"f1","partitionValues":{{}},"size":1,"modificationTime":1,"dataChange":true,"stats":"{{\"numRecords\":10}}","deletionVector":{{"storageType":"{kind}","pathOrInlineDv":"ab^-aqEH.-t@S}}K{{vb[*k^","offset":1,"sizeInBytes":36,"cardinality":{cardinality}}}}}}}"#
        );
        let table = Table::new(&[(0, FIRST), (1, &masked)]);
        let report = table.snapshot(At::Latest).await.unwrap();
        assert_eq!(report.rows, None, "{kind} {cardinality}");
        let told = report
            .warnings
            .iter()
            .any(|w| w.contains("deletion vector of `f1`"));
        assert!(told, "{kind} {cardinality}: {:?}", report.warnings);
        let history = table.history().await;
        assert_eq!(history.commits[0].rows_added, None, "{kind} {cardinality}");
    }
}

#[tokio::test]
async fn a_commit_that_may_not_be_read_leaves_the_others() {
    let table = Table::new(&[(0, FIRST), (1, &add("f1")), (2, &add("f2"))]);
    let store = FaultStore::new(table.store());
    store.add(
        Rule::on(Request::Get)
            .key("1.json")
            .fails(Failure::PermissionDenied),
    );
    let report = history_of(&root(Arc::new(store))).await;
    let damaged: Vec<bool> = report.commits.iter().map(|c| c.damaged.is_some()).collect();
    assert_eq!(damaged, [false, true, false]);
    let restorable: Vec<_> = report.commits.iter().map(|c| c.restorable).collect();
    assert_eq!(restorable, [Some(false), Some(false), None]);
}

#[tokio::test]
async fn what_a_damaged_commit_stands_before_cannot_be_rebuilt() {
    let table = Table::new(&[(0, ""), (1, &add("f1"))]);
    let report = table.history().await;
    assert_eq!(report.earliest_version, None);
    assert!(report.commits.iter().all(|c| c.restorable == Some(false)));
    let table = Table::new(&[(0, FIRST), (1, "[]"), (2, &add("f2"))]);
    let report = table.history().await;
    assert_eq!(report.earliest_version, Some(Version(0)));
    assert!(report.commits[1].damaged.is_some());
    assert_eq!(report.commits[2].restorable, None);
}
