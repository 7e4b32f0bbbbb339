//! What a restore's plan says, refuses and leaves alone.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use lake::answer::{Root, snapshot};
use lake::delta::restore::{Request, Restore, apply, plan};
use lake::delta::write::{Signature, probe};
use lake::host::{Quiet, SharedHost};
use lake::store::fault::Failure;
use lake::store::{CountingStore, FaultStore, Rule};
use lake::table::{At, Time, Version};
use lake::{Error, Kind};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode};

/// A table by region: two files, then one of each region goes and another comes.
const COMMITS: [&str; 3] = [
    r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"region\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["region"],"configuration":{}}}
{"add":{"path":"us0","partitionValues":{"region":"US"},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":10}","tags":{"k":"v"}}}
{"add":{"path":"none0","partitionValues":{"region":null},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":7}"}}
"#,
    r#"{"remove":{"path":"us0","dataChange":true,"deletionTimestamp":5}}
{"add":{"path":"us1","partitionValues":{"region":"US"},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":3}"}}
"#,
    r#"{"remove":{"path":"none0","dataChange":true,"deletionTimestamp":5}}
{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"region\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["region"],"configuration":{"delta.constraints.c":"a > 0"}}}
"#,
];

async fn table() -> Arc<dyn ObjectStore> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    for (version, text) in COMMITS.iter().enumerate() {
        commit(&store, version as u64, text).await;
    }
    for key in ["t/us0", "t/us1", "t/none0"] {
        store.put(&Path::from(key), "x".into()).await.unwrap();
    }
    store
}

async fn commit(store: &Arc<dyn ObjectStore>, version: u64, text: &str) {
    let key = Path::from(format!("t/_delta_log/{version:020}.json"));
    let put = store.put_opts(&key, text.to_owned().into(), PutMode::Create.into());
    put.await.unwrap();
}

fn root(store: &Arc<dyn ObjectStore>) -> Root {
    Root {
        store: Arc::clone(store),
        path: Path::from("t"),
        location: "t".to_owned(),
    }
}

fn host() -> SharedHost {
    Arc::new(Quiet)
}

fn to(version: u64) -> Request {
    Request {
        at: At::Version(Version(version)),
        partitions: Vec::new(),
        allow_missing: false,
        as_of: Time(1_000),
        expect: None,
    }
}

fn of(partition: Option<&str>) -> (String, Option<String>) {
    ("region".to_owned(), partition.map(str::to_owned))
}

async fn planned(store: &Arc<dyn ObjectStore>, request: &Request) -> Restore {
    plan(&root(store), request, &host()).await.unwrap()
}

async fn applied(restore: &Restore) -> Result<Version, Error> {
    let signature = Signature {
        now: Time(2_000),
        txn_id: "11111111-2222-4333-8444-555555555555".to_owned(),
        user: Some("ana".to_owned()),
        reason: Some("why".to_owned()),
        engine: "tidemark/test".to_owned(),
    };
    Ok(apply(restore, &signature, &host()).await?.version)
}

async fn paths(store: &Arc<dyn ObjectStore>) -> Vec<String> {
    let report = snapshot(&root(store), At::Latest, true, &host())
        .await
        .unwrap();
    report.paths.unwrap().into_iter().map(|f| f.path).collect()
}

#[tokio::test]
async fn commits_beyond_the_listed_ones_are_counted() {
    let store = table().await;
    for version in 3..1_205 {
        commit(&store, version, r#"{"commitInfo":{"timestamp":1}}"#).await;
    }
    let plan = planned(&store, &to(2)).await.plan;
    assert_eq!(plan.commits_undone(), 1_202);
    assert_eq!(plan.undone.len(), 1_000);
    assert_eq!(plan.undone[0].version, Version(1_204));
    let words = "1202 commits are undone, of which the newest 1000 are listed";
    assert!(
        plan.warnings.iter().any(|w| w == words),
        "{:?}",
        plan.warnings
    );
    let near = planned(&store, &to(1_000)).await.plan;
    assert_eq!((near.commits_undone(), near.undone.len()), (204, 204));
}

#[tokio::test]
async fn the_same_plan_has_the_same_id_on_any_machine() {
    let (one, other) = (table().await, table().await);
    let id = planned(&one, &to(0)).await.plan.id;
    assert_eq!(planned(&other, &to(0)).await.plan.id, id);
    assert_ne!(planned(&one, &to(1)).await.plan.id, id);
    let later = Request {
        as_of: Time(1_001),
        ..to(0)
    };
    assert_ne!(planned(&one, &later).await.plan.id, id);
    commit(&other, 3, r#"{"commitInfo":{"operation":"WRITE"}}"#).await;
    assert_ne!(planned(&other, &to(0)).await.plan.id, id);
}

#[tokio::test]
async fn some_partitions_come_back_and_the_rest_stays() {
    let cases: [(Option<&str>, u64, &[&str]); 2] =
        [(Some("US"), 0, &["us0"]), (Some("nowhere"), 0, &["us1"])];
    for (partition, version, right) in cases {
        let store = table().await;
        // Without the check that version 2 brought: files of before may not fit it.
        commit(&store, 3, COMMITS[0].lines().nth(1).unwrap()).await;
        let request = Request {
            partitions: vec![of(partition)],
            ..to(version)
        };
        let restore = planned(&store, &request).await;
        match partition {
            Some("US") => {
                assert_eq!(restore.plan.refused, None);
                applied(&restore).await.unwrap();
            }
            _ => assert!(restore.plan.refused.unwrap().starts_with("nothing to do")),
        }
        assert_eq!(paths(&store).await, right);
    }
    let store = table().await;
    let null = Request {
        partitions: vec![of(None), of(Some("US"))],
        ..to(0)
    };
    let refused = planned(&store, &null).await.plan.refused.unwrap();
    assert!(
        refused.contains("the check `c` (a > 0) was added since"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_head_that_moved_is_left_as_it_is() {
    let store = table().await;
    let restore = planned(&store, &to(0)).await;
    // Even a commit without files.
    commit(
        &store,
        3,
        r#"{"commitInfo":{"operation":"OPTIMIZE","userName":"ben"}}"#,
    )
    .await;
    let error = applied(&restore).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(
        error.message().contains("version 3 (OPTIMIZE by ben)"),
        "{error}"
    );
    assert_eq!(paths(&store).await, ["us1"]);
    let expecting = Request {
        expect: Some(Version(2)),
        ..to(0)
    };
    let error = plan(&root(&store), &expecting, &host()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
}

#[tokio::test]
async fn no_byte_of_data_moves() {
    let inner = table().await;
    let counting = Arc::new(CountingStore::new(Arc::clone(&inner)));
    let store: Arc<dyn ObjectStore> = Arc::clone(&counting) as _;
    let restore = planned(&store, &to(0)).await;
    applied(&restore).await.unwrap();
    let counts = counting.counts();
    // One put, of the commit; the files that come back are looked for and nothing else.
    assert_eq!((counts.puts, counts.copies, counts.deletes), (1, 0, 0));
    assert_eq!(counts.heads, 2);
    let faulty = Arc::new(FaultStore::new(table().await));
    for key in ["us0", "us1", "none0"] {
        faulty.add(
            Rule::on(lake::store::Request::Get)
                .key(key)
                .fails(Failure::Generic),
        );
    }
    let store: Arc<dyn ObjectStore> = faulty;
    let restore = planned(&store, &to(0)).await;
    assert_eq!(applied(&restore).await.unwrap(), Version(3));
    assert_eq!(paths(&store).await, ["none0", "us0"]);
}

#[tokio::test]
async fn a_store_that_overwrites_is_refused() {
    let faulty = FaultStore::new(Arc::new(InMemory::new()));
    faulty.add(Rule::on(None).forgets());
    let careless: Arc<dyn ObjectStore> = Arc::new(faulty);
    let error = probe(&careless, &Path::from("t"), "a").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().contains("If-None-Match"), "{error}");
    let sound = table().await;
    probe(&sound, &Path::from("t"), "a").await.unwrap();
    assert_eq!(paths(&sound).await, ["us1"]);
}
