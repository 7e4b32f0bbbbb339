//! A restore with every one of its store calls going wrong in turn, in every way.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use lake::answer::{Root, snapshot};
use lake::delta::restore::{Request, apply, plan};
use lake::delta::write::{Signature, probe};
use lake::host::{Quiet, SharedHost};
use lake::store::fault::{Failure, FaultStore, Match, Rule};
use lake::table::{At, Time, Version};
use lake::{Error, Kind, Result};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

const TXN: &str = "11111111-2222-4333-8444-555555555555";

const COMMITS: [&str; 3] = [
    r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors"]}}
{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{}}}
{"add":{"path":"one","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":10}"}}
{"add":{"path":"two","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":10}"}}
"#,
    r#"{"remove":{"path":"one","dataChange":true,"deletionTimestamp":5}}
{"add":{"path":"one","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":10}","deletionVector":{"storageType":"i","pathOrInlineDv":"x","sizeInBytes":36,"cardinality":2}}}
"#,
    r#"{"remove":{"path":"two","dataChange":true,"deletionTimestamp":5}}
{"add":{"path":"three","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":3}"}}
"#,
];

async fn table() -> Arc<InMemory> {
    let store = Arc::new(InMemory::new());
    for (version, text) in COMMITS.iter().enumerate() {
        let key = Path::from(format!("t/_delta_log/{version:020}.json"));
        store.put(&key, (*text).into()).await.unwrap();
    }
    for key in ["t/one", "t/two", "t/three"] {
        store.put(&Path::from(key), "x".into()).await.unwrap();
    }
    store
}

fn root(store: Arc<dyn ObjectStore>) -> Root {
    Root {
        store,
        path: Path::from("t"),
        location: "t".to_owned(),
    }
}

/// Probe, plan and commit: what one act does.
async fn act(store: Arc<dyn ObjectStore>) -> Result<Version> {
    let host: SharedHost = Arc::new(Quiet);
    let root = root(store);
    let request = Request {
        at: At::Version(Version(0)),
        partitions: Vec::new(),
        allow_missing: false,
        as_of: Time(1_000),
        expect: None,
    };
    probe(&root.store, &root.path, TXN).await?;
    let planned = plan(&root, &request, &host).await?;
    if let Some(why) = planned.plan.refused {
        return Err(Error::invalid(why));
    }
    let signature = Signature {
        now: Time(1_000),
        txn_id: TXN.to_owned(),
        user: None,
        reason: None,
        engine: "tidemark/test".to_owned(),
    };
    Ok(apply(&planned, &signature, &host).await?.version)
}

/// How a call goes wrong; `None` kills the process in it.
type Fault = (&'static str, fn(Match) -> Rule);

const FAULTS: [Fault; 9] = [
    ("killed before", |m| m.hangs()),
    ("500 or 503", |m| m.fails(Failure::Generic)),
    ("409", |m| m.fails(Failure::AlreadyExists)),
    ("412", |m| m.fails(Failure::Precondition)),
    ("403", |m| m.fails(Failure::PermissionDenied)),
    ("404", |m| m.fails(Failure::NotFound)),
    ("stored but 500", |m| m.fails_after(Failure::Generic)),
    ("stored but 409", |m| m.fails_after(Failure::AlreadyExists)),
    ("stored but 412", |m| m.fails_after(Failure::Precondition)),
];

#[tokio::test(start_paused = true)]
async fn every_call_may_go_wrong() {
    let mut tried = 0;
    for (name, make) in FAULTS {
        for nth in 1.. {
            let inner = table().await;
            let faulty = Arc::new(FaultStore::new(Arc::clone(&inner) as Arc<dyn ObjectStore>));
            let rule = make(Rule::on(None).nth(nth));
            faulty.add(rule.clone());
            let act = act(faulty);
            // A process that was killed says nothing.
            let told = tokio::time::timeout(Duration::from_secs(1), act).await.ok();
            if rule.seen() < nth {
                assert!(
                    matches!(told, Some(Ok(Version(3)))),
                    "{name} {nth}: {told:?}"
                );
                break;
            }
            tried += 1;
            check(&inner, told, &format!("{name}, call {nth}")).await;
        }
    }
    println!("restore: {tried} fault points tried");
    assert!(tried > 9 * 10, "{tried}");
}

/// The table is readable, the act was done once or not at all, and what was told of it is so.
async fn check(store: &Arc<InMemory>, told: Option<Result<Version>>, what: &str) {
    let host: SharedHost = Arc::new(Quiet);
    let store: Arc<dyn ObjectStore> = Arc::clone(store) as _;
    let report = snapshot(&root(Arc::clone(&store)), At::Latest, true, &host).await;
    let report = report.unwrap_or_else(|e| panic!("{what}: {e}"));
    let done = report.version == Version(3);
    let files: Vec<String> = report.paths.unwrap().into_iter().map(|f| f.path).collect();
    match done {
        true => assert_eq!(
            (files, report.rows),
            (vec!["one".to_owned(), "two".to_owned()], Some(20)),
            "{what}"
        ),
        false => {
            assert_eq!(report.version, Version(2), "{what}");
            assert_eq!(
                (files, report.rows),
                (vec!["one".to_owned(), "three".to_owned()], Some(11)),
                "{what}"
            );
        }
    }
    for key in ["t/one", "t/two", "t/three"] {
        assert!(
            store.head(&Path::from(key)).await.is_ok(),
            "{what}: {key} is gone"
        );
    }
    match told {
        None => {}
        Some(Ok(version)) => assert_eq!((version, done), (Version(3), true), "{what}"),
        Some(Err(error)) => {
            let text = error.to_string();
            let said_done = text.contains("was committed");
            let unknown = text.contains("nobody knows");
            assert!(
                unknown || said_done == done,
                "{what}: done {done}, told {text}"
            );
            assert!(error.kind() != Kind::Internal, "{what}: {text}");
        }
    }
}
