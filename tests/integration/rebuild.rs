//! A version rebuilt in pieces, on several threads and on one, is the version that was written.

use std::sync::Arc;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::table::At;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use tests::threads::Threads;
use tests::{Layout, TableBuilder};

fn hosts() -> [SharedHost; 2] {
    [Arc::new(Quiet), Arc::new(Threads(4))]
}

#[tokio::test]
async fn every_kind_of_checkpoint_is_read_the_same_on_several_threads() {
    let layouts = [
        Layout::Classic,
        Layout::MultiPart(5),
        Layout::V2Json(5),
        Layout::V2Parquet(1),
        Layout::V2Parquet(5),
    ];
    for layout in layouts {
        let table = TableBuilder::new(400).removing_every(3);
        let table = table.checkpoint(310, layout).cleaned_before(200);
        let mut built = table.build(Arc::new(InMemory::new()), "t").await;
        built.paths.sort();
        for host in hosts() {
            let report = answer::snapshot(&built.root, At::Latest, true, &host);
            let report = report.await.unwrap();
            let files = report.paths.unwrap();
            let paths: Vec<&String> = files.iter().map(|f| &f.path).collect();
            assert!(paths.iter().eq(&built.paths.iter().collect::<Vec<_>>()));
            assert_eq!(report.rows, Some(10 * paths.len() as u64));
            assert_eq!(report.warnings, Vec::<String>::new(), "{layout:?}");
            for file in &files {
                let date = file.partition.get("date").unwrap().as_deref().unwrap();
                let folder = format!("date={date}/");
                assert!(file.path.starts_with(&folder), "{file:?}");
            }
        }
    }
}

#[tokio::test]
async fn row_groups_of_several_batches_keep_their_files_and_partitions() {
    let folder = tempfile::tempdir().unwrap();
    tests::big::many_files(folder.path(), 90_000).unwrap();
    let root = Root {
        store: Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap()),
        path: Path::default(),
        location: "t".to_owned(),
    };
    let mut reports = Vec::new();
    for host in hosts() {
        let report = answer::snapshot(&root, At::Latest, true, &host);
        let report = report.await.unwrap();
        let files = report.paths.as_deref().unwrap_or_default();
        assert_eq!(files.len(), 90_000 + 5 * 20 - 5 * 10);
        for file in files {
            let label = file.partition.iter();
            let folder: String = label
                .map(|(name, value)| format!("{name}={}/", value.as_deref().unwrap()))
                .collect();
            assert!(file.path.starts_with(&folder), "{file:?}");
            assert!(file.rows.is_some_and(|rows| rows >= 500), "{file:?}");
        }
        let layout = answer::layout(&root, At::Latest, None, &host)
            .await
            .unwrap();
        assert_eq!(layout.partitions.len(), 200);
        assert_eq!(layout.rows, report.rows);
        reports.push((report, layout));
    }
    assert!(reports.first() == reports.last());
}

#[tokio::test]
async fn a_log_of_several_batches_is_replayed_whole() {
    let table = TableBuilder::new(700).removing_every(2);
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let plain = table.build(Arc::clone(&store), "plain").await;
    let compacted = table.compacted(100, 250).compacted(90, 250);
    let compacted = compacted.compacted(300, 699);
    let compacted = compacted.build(store, "compacted").await;
    for built in [plain, compacted] {
        let [host, _] = hosts();
        let report = answer::snapshot(&built.root, At::Latest, true, &host);
        let report = report.await.unwrap();
        let paths = report.paths.unwrap_or_default();
        let mut expected = built.paths;
        expected.sort();
        assert!(paths.iter().map(|f| &f.path).eq(&expected));
        assert_eq!(report.commits_read, 700);
    }
}
