//! A vacuum with every one of its store calls going wrong in turn, in every way; and stores that
//! answer for many keys at once as real ones do.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

#[path = "vacuum/bed.rs"]
mod bed;
#[path = "faults/kinds.rs"]
mod kinds;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bed::{Bed, metadata, signature};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use kinds::{FAULTS, Other, infos, versions_of};
use lake::answer::snapshot;
use lake::delta::vacuum::{self, Vacuumed, apply};
use lake::delta::write::probe;
use lake::host::{Quiet, SharedHost};
use lake::store::Request;
use lake::store::fault::{Failure, FaultStore, Rule};
use lake::table::At;
use lake::{Error, Kind, Result};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use serde_json::json;

/// Files of the newest version.
const LIVE: [&str; 2] = ["live one", "live two"];

/// Objects that go: removed, uncommitted, and one with an escape in its key.
const DEAD: [&str; 4] = ["removed", "stray", "x=a%20b/stray", "x=1/stray"];

async fn table() -> (Arc<InMemory>, Bed) {
    let store = Arc::new(InMemory::new());
    let first = metadata(&["x"], &[("delta.enableInCommitTimestamps", "true")]);
    let bed = Bed::on(Arc::clone(&store) as _, first).await;
    let add = |path: &str| json!({"add": bed::add(json!({"path": path}))});
    let stamp = |at: i64| json!({"commitInfo": {"inCommitTimestamp": bed::CREATED + at}});
    bed.commit(&[stamp(1), add("live%20one"), add("removed")])
        .await;
    let remove = json!({"remove": {"path": "removed", "deletionTimestamp": 5}});
    bed.commit(&[stamp(2), remove, add("live%20two")]).await;
    for key in LIVE.iter().chain(&DEAD) {
        bed.put(key).await;
    }
    (store, bed)
}

/// Probe, plan and delete: what one act does.
async fn act(bed: &Bed, quarantine: bool) -> Result<Vacuumed> {
    probe(&bed.root.store, &bed.root.path, "scratch").await?;
    let request = vacuum::Request {
        quarantine,
        ..bed.request()
    };
    let planned = bed.plan_at(&request, bed.now).await?;
    if let Some(why) = planned.plan.refused {
        return Err(Error::invalid(why));
    }
    apply(&planned, &signature(), &bed.host).await
}

/// A file that another writer appends.
const OTHER: &str = "other";

/// Another writer's append.
fn other(store: &Arc<InMemory>, bed: &Bed) -> Other {
    let stamp = bed::CREATED + 1_000;
    Other {
        store: Arc::clone(store) as _,
        key: bed.key(OTHER),
        bytes: b"data".to_vec(),
        actions: vec![
            json!({"commitInfo": {"operation": "WRITE", "inCommitTimestamp": stamp}}),
            json!({"add": bed::add(json!({"path": OTHER}))}),
        ],
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_may_go_wrong() {
    let mut tried = 0u64;
    for quarantine in [false, true] {
        for (name, make) in FAULTS {
            for nth in 1.. {
                let (inner, bed) = table().await;
                let faulty = Arc::new(FaultStore::new(Arc::clone(&inner) as _));
                let rule = make(Rule::on(None).nth(nth), &other(&inner, &bed));
                faulty.add(rule.clone());
                let behind = bed.behind(faulty);
                let act = act(&behind, quarantine);
                // A process that was killed says nothing.
                let told = tokio::time::timeout(Duration::from_secs(3600), act)
                    .await
                    .ok();
                let what = format!("{name}, call {nth}, quarantine {quarantine}");
                if rule.seen() < nth {
                    let done = told.unwrap().unwrap();
                    assert_eq!((done.deleted, done.failed), (4, Vec::new()), "{what}");
                    break;
                }
                tried += 1;
                check(&bed, told, quarantine, &what).await;
            }
        }
    }
    println!("vacuum: {tried} fault points tried");
    assert!(tried > FAULTS.len() as u64 * 2 * 15, "{tried}");
}

/// Somebody commits an object of the plan while a call waits, as long as it is there. What is committed
/// before the last look is spared. Between that look and the delete no store can help, and then it is
/// said that a live file is gone.
#[tokio::test(start_paused = true)]
async fn an_object_that_is_committed_meanwhile_is_spared_or_its_loss_is_told() {
    let (mut spared, mut told_lost) = (0u64, BTreeMap::new());
    let kinds = [
        Request::Get,
        Request::Head,
        Request::List,
        Request::Put,
        Request::Copy,
        Request::Delete,
    ];
    for (quarantine, kind) in [false, true]
        .into_iter()
        .flat_map(|q| kinds.map(|k| (q, k)))
    {
        for nth in 1.. {
            let (inner, bed) = table().await;
            let mut other = other(&inner, &bed);
            other.key = bed.key("stray");
            other.actions[1]["add"]["path"] = json!("stray");
            let faulty = Arc::new(FaultStore::new(Arc::clone(&inner) as _));
            let rule = Rule::on(kind).nth(nth).waits(other.adopting());
            faulty.add(rule.clone());
            let told = act(&bed.behind(faulty), quarantine).await;
            if rule.seen() < nth {
                break;
            }
            let what = format!("{kind:?} {nth}, quarantine {quarantine}: {told:?}");
            let committed = !versions_of(&infos(&bed.root.store).await, "WRITE").is_empty();
            match (committed, bed.has("stray").await) {
                (true, true) => {
                    let done = told.unwrap_or_else(|_| panic!("{what}"));
                    assert_eq!(done.deleted, 3, "{what}");
                    spared += 1;
                }
                (true, false) => {
                    let error = told.err().unwrap_or_else(|| panic!("{what}"));
                    assert_eq!(error.kind(), Kind::Damaged, "{what}");
                    assert!(error.to_string().contains("while somebody committed it"));
                    *told_lost.entry(format!("{kind:?}")).or_insert(0u64) += 1;
                }
                (false, there) => assert!(!there, "{what}"),
            }
        }
    }
    println!("vacuum: committed meanwhile: spared {spared} times; lost and told: {told_lost:?}");
    assert!(spared > 20, "{spared}");
    // The last look ends with the list of the pins; the deletes follow.
    let after: Vec<&str> = told_lost.keys().map(String::as_str).collect();
    assert_eq!(after, ["Delete", "List"], "{told_lost:?}");
    assert_eq!(told_lost["List"], 2, "{told_lost:?}");
}

/// The table is readable, all that it needs is there, and what was told is so.
async fn check(bed: &Bed, told: Option<Result<Vacuumed>>, quarantine: bool, what: &str) {
    let report = snapshot(&bed.root, At::Latest, true, &bed.host).await;
    let report = report.unwrap_or_else(|e| panic!("{what}: {e}"));
    let files: Vec<String> = report.paths.unwrap().into_iter().map(|f| f.path).collect();
    let infos = infos(&bed.root.store).await;
    let others = versions_of(&infos, "WRITE").len();
    assert_eq!(others, usize::from(what.starts_with("delayed")), "{what}");
    let live = [LIVE[0], LIVE[1], OTHER];
    let live = &live[..LIVE.len() + others];
    assert_eq!(files, live, "{what}");
    for key in live {
        assert!(bed.has(key).await, "{what}: {key} is gone");
    }
    let mut gone = Vec::new();
    for key in DEAD {
        if !bed.has(key).await {
            gone.push(key);
            let aside = bed.root.store.list(Some(&bed.key("_tidemark/quarantine")));
            let aside: Vec<ObjectMeta> = aside.try_collect().await.unwrap();
            let found = aside
                .iter()
                .any(|meta| meta.location.as_ref().ends_with(key) && meta.size == 4);
            assert_eq!(found, quarantine, "{what}: {key}");
        }
    }
    let mut said = Vec::new();
    for (version, info) in infos.iter().filter(|(version, _)| **version > 2) {
        if info["operation"] == "WRITE" {
            continue;
        }
        // It says so and nothing else.
        assert_eq!(&bed.info(*version).await, info, "{what}");
        let status = info["operationParameters"]["status"].as_str().unwrap_or("");
        said.push(format!("{} {status}", info["operation"].as_str().unwrap()));
    }
    let start = "VACUUM START ".to_owned();
    assert!(
        gone.is_empty() || said.first() == Some(&start),
        "{what}: {said:?}"
    );
    assert!(said.len() <= 2, "{what}: {said:?}");
    match told {
        None => {}
        Some(Ok(done)) => {
            assert_eq!(
                done.deleted as usize + done.absent as usize,
                gone.len(),
                "{what}: {done:?}"
            );
            assert_eq!(done.bytes_deleted, 4 * done.deleted, "{what}");
            assert_eq!(
                done.failed.len(),
                DEAD.len() - gone.len(),
                "{what}: {done:?}"
            );
            assert!(
                done.failed.iter().all(|f| !gone.contains(&f.key.as_str())),
                "{what}"
            );
            let ended = match done.failed.is_empty() {
                true => "VACUUM END COMPLETED",
                false => "VACUUM END FAILED",
            };
            match done.end {
                Some(_) => assert_eq!(said, [start, ended.to_owned()], "{what}"),
                None => assert!(
                    done.warnings
                        .iter()
                        .any(|w| w.contains("VACUUM END was not committed")),
                    "{what}: {done:?}"
                ),
            }
        }
        Some(Err(error)) => {
            assert!(gone.is_empty(), "{what}: {error}");
            let unknown = error.to_string().contains("nobody knows");
            assert!(said.is_empty() || unknown, "{what}: {said:?}: {error}");
            assert_ne!(error.kind(), Kind::Internal, "{what}: {error}");
        }
    }
}

/// A store that deletes many keys with one request, as S3 and Azure do.
#[derive(Debug)]
struct Bulk {
    inner: InMemory,
    /// Keys that it does not delete, how often, and what it says of them.
    refusals: Mutex<BTreeMap<String, (u32, &'static str)>>,
    /// What it says of any request for more than one key.
    whole: Option<&'static str>,
    requests: AtomicU64,
}

fn says(text: &'static str) -> object_store::Error {
    object_store::Error::Generic {
        store: "S3",
        source: text.into(),
    }
}

impl Bulk {
    fn new(whole: Option<&'static str>) -> Self {
        Self {
            inner: InMemory::new(),
            refusals: Mutex::default(),
            whole,
            requests: AtomicU64::new(0),
        }
    }
}

impl fmt::Display for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bulk")
    }
}

/// Shared, so that its stream of deletes can outlive the call.
#[derive(Clone, Debug)]
struct Shared(Arc<Bulk>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Shared {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> object_store::Result<PutResult> {
        self.0.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.0.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(
        &self,
        location: &Path,
        options: GetOptions,
    ) -> object_store::Result<GetResult> {
        self.0.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        let bulk = Arc::clone(&self.0);
        let batch = async move {
            let keys: Vec<Path> = locations.try_collect().await?;
            bulk.requests.fetch_add(1, Ordering::SeqCst);
            if let Some(whole) = bulk.whole.filter(|_| keys.len() > 1) {
                return Err(says(whole));
            }
            let mut told = Vec::new();
            for key in keys {
                let refused = {
                    let mut refusals = bulk.refusals.lock().unwrap();
                    match refusals.get_mut(key.as_ref()) {
                        Some((times, why)) if *times > 0 => {
                            *times -= 1;
                            Some(*why)
                        }
                        _ => None,
                    }
                };
                told.push(match refused {
                    Some(why) => Err(says(why)),
                    None => {
                        use object_store::ObjectStoreExt as _;
                        bulk.inner.delete(&key).await.map(|()| key)
                    }
                });
            }
            Ok(stream::iter(told))
        };
        stream::once(batch).try_flatten().boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.0.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        self.0.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &Path,
        to: &Path,
        options: CopyOptions,
    ) -> object_store::Result<()> {
        self.0.inner.copy_opts(from, to, options).await
    }
}

async fn bulk(whole: Option<&'static str>, objects: usize) -> (Arc<Bulk>, Bed) {
    let bulk = Arc::new(Bulk::new(whole));
    let bed = Bed::on(Arc::new(Shared(Arc::clone(&bulk))), metadata(&[], &[])).await;
    for n in 0..objects {
        bed.put(&format!("f{n:04}")).await;
    }
    (bulk, bed)
}

#[tokio::test(start_paused = true)]
async fn refusals_of_single_keys_are_told() {
    let (bulk, bed) = bulk(None, 1_000).await;
    let denied = ["f0003", "f0500", "f0999"];
    {
        let mut refusals = bulk.refusals.lock().unwrap();
        for key in denied {
            refusals.insert(format!("t/{key}"), (u32::MAX, "(code: AccessDenied)"));
        }
        // Twice, then it goes.
        for key in ["f0004", "f0998"] {
            refusals.insert(format!("t/{key}"), (2, "(code: InternalError)"));
        }
        refusals.insert("t/f0005".to_owned(), (u32::MAX, "(code: SlowDown)"));
    }
    let done = act(&bed, false).await.unwrap();
    assert_eq!((done.deleted, done.bytes_deleted), (996, 996 * 4));
    let mut failed: Vec<&str> = done.failed.iter().map(|f| f.key.as_str()).collect();
    failed.sort_unstable();
    assert_eq!(failed, ["f0003", "f0005", "f0500", "f0999"]);
    let denied = &done.failed.iter().find(|f| f.key == "f0003").unwrap().why;
    assert!(denied.contains("AccessDenied"), "{denied}");
    for key in failed {
        assert!(bed.has(key).await, "{key}");
    }
    assert_eq!(bed.info(2).await["operationParameters"]["status"], "FAILED");
    assert_eq!(
        bed.info(2).await["operationMetrics"]["numDeletedFiles"],
        "996"
    );
    // The denied ones were asked for once: one request for all, then for those that may pass.
    let requests = bulk.requests.load(Ordering::SeqCst);
    assert!(requests < 10, "{requests} requests");
}

#[tokio::test(start_paused = true)]
async fn a_store_without_bulk_deletes_is_asked_key_by_key() {
    let words = [
        "501 Not Implemented (code: NotImplemented)",
        "500 Internal Server Error",
        "503 SlowDown",
    ];
    for whole in words {
        let (bulk, bed) = bulk(Some(whole), 2_500).await;
        let done = act(&bed, false).await.unwrap();
        assert_eq!((done.deleted, done.failed.len()), (2_500, 0), "{whole}");
        // Each batch is tried as one until the first that fails.
        let probe = 1;
        assert_eq!(
            bulk.requests.load(Ordering::SeqCst),
            probe + 1 + 2_500,
            "{whole}"
        );
        assert_eq!(
            bed.info(2).await["operationParameters"]["status"],
            "COMPLETED"
        );
    }
}

#[tokio::test]
async fn what_is_gone_already_is_not_counted_as_deleted() {
    // A local disk, Google and Azure say that there is nothing; it is then not our doing.
    let (inner, bed) = table().await;
    let faulty = Arc::new(FaultStore::new(Arc::clone(&inner) as _));
    faulty.add(
        Rule::on(Request::Delete)
            .key("t/removed")
            .fails_after(Failure::NotFound),
    );
    let done = act(&bed.behind(faulty), false).await.unwrap();
    assert_eq!((done.deleted, done.absent, done.failed.len()), (3, 1, 0));
    let host: SharedHost = Arc::new(Quiet);
    assert!(snapshot(&bed.root, At::Latest, true, &host).await.is_ok());
}
