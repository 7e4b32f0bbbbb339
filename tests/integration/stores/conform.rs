//! Every kind of store that runs here, opened by its URL as the configuration names it, does what
//! `lake` relies on.

use std::sync::Arc;

use futures::future::join_all;
use lake::store::conformance;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload, UpdateVersion};
use server::metrics::Metrics;
use server::stores::{Address, Cache, Opener, Overrides};
use tempfile::TempDir;
use tests::seaweed::{BUCKET, SeaweedFs};

fn open(url: &str, overrides: &Overrides) -> Arc<dyn ObjectStore> {
    let metrics = Arc::new(Metrics::default());
    let cache = Arc::new(Cache::new(1 << 20, Arc::clone(&metrics)));
    let address = Address::parse(url).unwrap();
    let bucket = Opener { metrics, cache }.open(&address, overrides).unwrap();
    bucket.store
}

async fn deviations(store: &dyn ObjectStore) -> Vec<String> {
    conformance::seed(store).await.unwrap();
    conformance::reads(store).await
}

/// SeaweedFS keeps folders: a listing after the name of one leaves out what lies below it. No
/// listing of a table starts there: they start after the name of a log file.
const AFTER_A_FOLDER: &str = "offsets: after conformance/list/sub: [\"conformance/list/sub-z\"] \
     instead of [\"conformance/list/sub-z\", \"conformance/list/sub/x\", \"conformance/list/sub/y/deep\"]";

#[tokio::test]
async fn s3_conforms_but_for_what_seaweedfs_does_with_folders() {
    let seaweed = SeaweedFs::shared();
    let store = open(&format!("s3://{BUCKET}/conforms/"), &seaweed.overrides());
    assert_eq!(deviations(&store).await, [AFTER_A_FOLDER]);
}

#[tokio::test]
async fn disk_conforms() {
    let folder = TempDir::new().unwrap();
    let store = open(
        &format!("file://{}/", folder.path().display()),
        &Overrides::new(),
    );
    assert_eq!(deviations(&store).await, Vec::<String>::new());
}

#[tokio::test]
async fn memory_conforms() {
    let store = open("memory:///", &Overrides::new());
    assert_eq!(deviations(&store).await, Vec::<String>::new());
}

#[tokio::test]
async fn s3_lets_one_of_eight_create_a_key() {
    let seaweed = SeaweedFs::shared();
    let store = seaweed.store();
    let key = Path::from("races/00000000000000000001.json");

    let puts = (0..8).map(|racer| {
        let (store, key) = (&store, &key);
        let body = PutPayload::from(format!("racer {racer}"));
        async move { store.put_opts(key, body, PutMode::Create.into()).await }
    });
    let outcomes = join_all(puts).await;

    let winners: Vec<_> = outcomes
        .iter()
        .enumerate()
        .filter(|(_, o)| o.is_ok())
        .collect();
    assert_eq!(winners.len(), 1, "{outcomes:?}");
    for lost in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        assert!(matches!(lost, Error::AlreadyExists { .. }), "{lost}");
    }
    let kept = store.get(&key).await.unwrap().bytes().await.unwrap();
    assert_eq!(kept, format!("racer {}", winners[0].0));
}

#[tokio::test]
async fn s3_refuses_an_update_of_what_has_changed() {
    let seaweed = SeaweedFs::shared();
    let store = seaweed.store();
    let key = Path::from("updates/marker.json");
    let first = store.put(&key, "first".into()).await.unwrap();
    let update = |version: UpdateVersion, body: &'static str| {
        let (store, key) = (&store, &key);
        async move {
            let mode = PutMode::Update(version);
            store
                .put_opts(key, PutPayload::from_static(body.as_bytes()), mode.into())
                .await
        }
    };

    update(first.clone().into(), "second").await.unwrap();
    let stale = update(first.into(), "third").await.unwrap_err();

    assert!(matches!(stale, Error::Precondition { .. }), "{stale}");
    assert_eq!(
        store.get(&key).await.unwrap().bytes().await.unwrap(),
        "second"
    );
}

#[tokio::test]
async fn every_kind_of_store_creates_and_swaps() {
    let seaweed = SeaweedFs::shared();
    let folder = TempDir::new().unwrap();
    let disk = format!("file://{}/", folder.path().display());
    for (url, overrides) in [
        (format!("s3://{BUCKET}/swaps/"), seaweed.overrides()),
        (disk, Overrides::new()),
        ("memory:///".to_owned(), Overrides::new()),
    ] {
        let store = open(&url, &overrides);
        let deviations = conformance::writes(&store, "scratch").await;
        assert_eq!(deviations, Vec::<String>::new(), "{url}");
    }
}
