use object_store::memory::InMemory;
use object_store::{ObjectStoreExt as _, PutMode};

use super::*;

struct Fixture {
    memory: Arc<InMemory>,
    store: Arc<dyn ObjectStore>,
    metrics: Arc<Metrics>,
}

fn fixture(limit: u64) -> Fixture {
    let memory = Arc::new(InMemory::new());
    let metrics = Arc::new(Metrics::default());
    let cache = Arc::new(Cache::new(limit, Arc::clone(&metrics)));
    let inner: Arc<dyn ObjectStore> = Arc::clone(&memory) as _;
    Fixture {
        store: cache.wrap(inner, "memory://"),
        memory,
        metrics,
    }
}

async fn read(store: &Arc<dyn ObjectStore>, key: &str) -> Result<Bytes> {
    store.get(&Path::from(key)).await?.bytes().await
}

const COMMIT: &str = "t/_delta_log/00000000000000000000.json";

#[tokio::test]
async fn what_stands_is_answered_from_memory() {
    let Fixture {
        memory,
        store,
        metrics,
    } = fixture(1 << 20);
    memory
        .put(&Path::from(COMMIT), "0123456789".into())
        .await
        .unwrap();
    for _ in 0..3 {
        assert_eq!(read(&store, COMMIT).await.unwrap(), "0123456789");
    }
    assert_eq!(
        (metrics.cache_misses.get(), metrics.cache_hits.get()),
        (1, 2)
    );
    assert_eq!(metrics.cache_bytes.get(), 10);
    let path = Path::from(COMMIT);
    assert_eq!(
        store
            .get_opts(&path, GetOptions::new().with_range(Some(2..5)))
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap(),
        "234"
    );
    assert_eq!(metrics.cache_hits.get(), 3);
    let outside = GetOptions::new().with_range(Some(20..30));
    assert!(store.get_opts(&path, outside).await.is_err());
}

#[tokio::test]
async fn what_changed_or_went_is_noticed() {
    let Fixture {
        memory,
        store,
        metrics,
    } = fixture(1 << 20);
    let path = Path::from(COMMIT);
    memory.put(&path, "old".into()).await.unwrap();
    assert_eq!(read(&store, COMMIT).await.unwrap(), "old");
    let old = store.get(&path).await.unwrap().meta.e_tag;
    memory.put(&path, "new!".into()).await.unwrap();
    assert_eq!(read(&store, COMMIT).await.unwrap(), "new!");
    assert_eq!(read(&store, COMMIT).await.unwrap(), "new!");
    let stale = GetOptions::new().with_if_match(old);
    let stale = store.get_opts(&path, stale).await.unwrap_err();
    assert!(matches!(stale, Error::Precondition { .. }), "{stale}");
    let current = store.get(&path).await.unwrap().meta.e_tag;
    let unchanged = GetOptions::new().with_if_none_match(current);
    let unchanged = store.get_opts(&path, unchanged).await.unwrap_err();
    assert!(
        matches!(unchanged, Error::NotModified { .. }),
        "{unchanged}"
    );
    memory.delete(&path).await.unwrap();
    let gone = read(&store, COMMIT).await.unwrap_err();
    assert!(matches!(gone, Error::NotFound { .. }), "{gone}");
    assert!(metrics.cache_hits.get() > 0);
}

#[tokio::test]
async fn it_holds_no_more_than_it_may() {
    let Fixture {
        memory,
        store,
        metrics,
    } = fixture(2500);
    for n in 0..5 {
        let key = format!("t/{n}.parquet");
        memory
            .put(&Path::from(key.as_str()), vec![b'x'; 1000].into())
            .await
            .unwrap();
        read(&store, &key).await.unwrap();
        // The first stays because it is used.
        read(&store, "t/0.parquet").await.unwrap();
        assert!(metrics.cache_bytes.get() <= 2500);
    }
    let before = metrics.cache_misses.get();
    read(&store, "t/0.parquet").await.unwrap();
    assert_eq!(metrics.cache_misses.get(), before);
    read(&store, "t/1.parquet").await.unwrap();
    assert_eq!(metrics.cache_misses.get(), before + 1);
    let large = Path::from("t/large.parquet");
    let bytes = vec![b'x'; MAX_OBJECT as usize + 1];
    memory
        .put_opts(&large, bytes.into(), PutMode::Create.into())
        .await
        .unwrap();
    assert_eq!(
        read(&store, "t/large.parquet").await.unwrap().len() as u64,
        MAX_OBJECT + 1
    );
    assert!(metrics.cache_bytes.get() <= 2500);
}

#[tokio::test]
async fn what_may_be_written_again_is_not_kept() {
    let Fixture {
        memory,
        store,
        metrics,
    } = fixture(1 << 20);
    for key in [
        "t/_delta_log/_last_checkpoint",
        "t/_markers/hour=1.json",
        "t/x",
    ] {
        memory.put(&Path::from(key), "x".into()).await.unwrap();
        read(&store, key).await.unwrap();
        read(&store, key).await.unwrap();
    }
    assert_eq!(
        (metrics.cache_hits.get(), metrics.cache_bytes.get()),
        (0, 0)
    );
}

#[tokio::test]
async fn a_cached_store_conforms() {
    let Fixture { memory, store, .. } = fixture(1 << 20);
    lake::store::conformance::seed(&*memory).await.unwrap();
    for _ in 0..2 {
        let deviations = lake::store::conformance::reads(&*store).await;
        assert_eq!(deviations, Vec::<String>::new());
    }
}
