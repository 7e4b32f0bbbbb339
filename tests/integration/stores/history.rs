//! What it costs to find the newest commits of a very long log in S3, counted in requests.

use std::sync::Arc;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::store::CountingStore;
use lake::table::Version;
use lake::wire::HistoryQuery;
use object_store::ObjectStore;
use tests::seaweed::SeaweedFs;
use tests::{Hint, TableBuilder};

const COMMITS: u64 = 100_000;

#[tokio::test]
async fn fifty_commits_of_a_hundred_thousand_take_few_requests() {
    let seaweed = SeaweedFs::shared();
    let s3: Arc<dyn ObjectStore> = Arc::new(seaweed.store());
    let table = TableBuilder::new(COMMITS).hint(Hint::Missing);
    let built = table.build(Arc::clone(&s3), "long/table").await;
    let counting = Arc::new(CountingStore::new(s3));
    let root = Root {
        store: Arc::clone(&counting) as _,
        ..built.root
    };
    let host: SharedHost = Arc::new(Quiet);

    for before in [None, Some(Version(50_001))] {
        let query = HistoryQuery { limit: 50, before };
        let report = answer::history(&root, &query, &host).await.unwrap();

        let newest = before.map_or(COMMITS - 1, |before| before.0 - 1);
        let versions: Vec<_> = report
            .commits
            .iter()
            .map(|commit| commit.version.0)
            .collect();
        assert!(
            versions.iter().copied().eq((newest - 49..=newest).rev()),
            "{versions:?}"
        );
        let counts = counting.take();
        println!("newest 50 before {before:?}: {counts}");
        assert!(counts.requests() <= 120, "{counts}");
        assert!(counts.round_trips <= 8, "{counts}");
    }
}
