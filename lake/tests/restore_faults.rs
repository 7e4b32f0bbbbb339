//! A restore with every one of its store calls going wrong in turn, in every way.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "faults/kinds.rs"]
mod kinds;

use std::sync::Arc;
use std::time::Duration;

use kinds::{FAULTS, Other, infos, versions_of};
use lake::answer::{Root, snapshot};
use lake::delta::restore::{Request, apply, plan};
use lake::delta::write::{Signature, probe};
use lake::host::{Quiet, SharedHost};
use lake::store::fault::{FaultStore, Rule};
use lake::table::{At, Time, Version};
use lake::{Error, Kind, Result};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde_json::json;

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

/// Another writer's append of seven rows.
fn other(store: &Arc<InMemory>) -> Other {
    let add = json!({"add": {"path": "other", "partitionValues": {}, "size": 1,
        "modificationTime": 1, "dataChange": true, "stats": "{\"numRecords\":7}"}});
    Other {
        store: Arc::clone(store) as _,
        key: Path::from("t/other"),
        bytes: b"x".to_vec(),
        actions: vec![json!({"commitInfo": {"operation": "WRITE"}}), add],
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_may_go_wrong() {
    let mut tried = 0u64;
    for (name, make) in FAULTS {
        for nth in 1.. {
            let inner = table().await;
            let faulty = Arc::new(FaultStore::new(Arc::clone(&inner) as Arc<dyn ObjectStore>));
            let rule = make(Rule::on(None).nth(nth), &other(&inner));
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
    assert!(tried > FAULTS.len() as u64 * 10, "{tried}");
}

/// The table is readable, the act was done once or not at all, and what was told of it is so.
async fn check(store: &Arc<InMemory>, told: Option<Result<Version>>, what: &str) {
    let host: SharedHost = Arc::new(Quiet);
    let store: Arc<dyn ObjectStore> = Arc::clone(store) as _;
    let report = snapshot(&root(Arc::clone(&store)), At::Latest, true, &host).await;
    let report = report.unwrap_or_else(|e| panic!("{what}: {e}"));
    let infos = infos(&store).await;
    let acts = versions_of(&infos, "RESTORE");
    let others = versions_of(&infos, "WRITE");
    assert_eq!(
        others.len(),
        usize::from(what.starts_with("delayed")),
        "{what}"
    );
    let newest = 2 + (acts.len() + others.len()) as u64;
    assert_eq!(report.version, Version(newest), "{what}");
    assert!(acts.len() <= 1, "{what}: done {} times", acts.len());
    let done = acts.first().copied();
    let mut expected = match done {
        Some(version) => {
            // It undid what was planned for and not a commit that came after the plan.
            assert_eq!(infos[&version]["readVersion"], version - 1, "{what}");
            vec![("one", 10), ("two", 10)]
        }
        None => vec![("one", 8), ("three", 3)],
    };
    if others.first().copied() > done {
        expected.insert(1, ("other", 7));
    }
    let files: Vec<String> = report.paths.unwrap().into_iter().map(|f| f.path).collect();
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    assert_eq!(files, names, "{what}");
    let rows = expected.iter().map(|(_, rows)| rows).sum();
    assert_eq!(report.rows, Some(rows), "{what}");
    for key in ["t/one", "t/two", "t/three"] {
        assert!(
            store.head(&Path::from(key)).await.is_ok(),
            "{what}: {key} is gone"
        );
    }
    match told {
        None => {}
        Some(Ok(version)) => assert_eq!(Some(version.0), done, "{what}"),
        Some(Err(error)) => {
            let text = error.to_string();
            let said_done = text.contains("was committed");
            let unknown = text.contains("nobody knows");
            assert!(
                unknown || said_done == done.is_some(),
                "{what}: done {done:?}, told {text}"
            );
            assert!(error.kind() != Kind::Internal, "{what}: {text}");
        }
    }
}
