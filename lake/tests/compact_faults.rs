//! A compaction with every one of its store calls going wrong in turn, in every way: of loose keys
//! into a first run, and of a run into a better one that takes late keys in.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use futures::TryStreamExt;
use lake::delta::write::Signature;
use lake::host::{Quiet, SharedHost};
use lake::hours::compact::{Request, apply, plan};
use lake::hours::dataset::{Budget, MarkerKind, MarkerRule, Retention};
use lake::hours::marker::publication_ok;
use lake::hours::publish::{Claim, Over, What, prove};
use lake::hours::{Dataset, Marker, Slot, State};
use lake::parquet::reader::ParquetFile;
use lake::plan::{Published, PublishedOutcome};
use lake::store::fault::{Failure, FaultStore, Match, Rule};
use lake::table::Time;
use lake::{Error, Kind, Result};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::{ArrowWriter, ProjectionMask};

const HOUR: &str = "d/event_date=2026-11-10/hour=08";
const MARKER: &str = "d/_markers/event_date=2026-11-10/hour=08.json";

fn dataset() -> Dataset {
    Dataset {
        name: "learning.progress".into(),
        zone: "raw".into(),
        url: "s3://tlp-raw/".into(),
        prefix: "d".into(),
        partition: vec!["event_date".into(), "hour".into()],
        marker: MarkerRule {
            kind: MarkerKind::Tidemark,
            template: "_markers/event_date={event_date}/hour={hour}.json".into(),
            whole_day: false,
        },
        grace: 0,
        every_hour: true,
        first: None,
        banned_keys: Vec::new(),
        event_time: None,
        grain: Vec::new(),
        prohibited_columns: Vec::new(),
        columns: Default::default(),
        owner: None,
        publisher: None,
        compaction_owner: None,
        stream: None,
        definition_version: Some("1".into()),
        budget: Budget::default(),
        retention: Retention::default(),
        complete: None,
        metastore: None,
        reads: Vec::new(),
    }
}

fn slot() -> Slot {
    Slot::hour("2026-11-10".parse().unwrap(), 8)
}

fn rows(ids: std::ops::Range<i64>) -> Vec<u8> {
    let ids = Arc::new(Int64Array::from_iter_values(ids)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Prove, plan, write and publish: what one act does. Two files at least.
async fn act(store: Arc<dyn ObjectStore>, run: &str) -> Result<Published> {
    let host: SharedHost = Arc::new(Quiet);
    let dataset = dataset();
    let proved = prove(&dataset, &store, &What::Run(Claim::default()), run).await?;
    let request = Request {
        slot: slot(),
        target: 1_000,
        with_late: true,
        as_of: Time(1_000),
        over: Over::Any,
    };
    let now = Time(proved.store_time.0 + 60_000);
    let planned = plan(&dataset, &store, &request, now, &host).await?;
    if let Some(why) = planned.plan.refused {
        return Err(Error::invalid(why));
    }
    let signature = Signature {
        now: Time(1_000),
        txn_id: run.to_owned(),
        user: None,
        reason: None,
        engine: "tidemark/test".into(),
    };
    apply(&dataset, &store, &planned, run, &signature, &host).await
}

/// Loose keys; with `published`, they are in a run already, and one more came late.
async fn hour(published: bool) -> Arc<InMemory> {
    let store = Arc::new(InMemory::new());
    let put = async |name: &str, ids| {
        let key = Path::parse(format!("{HOUR}/{name}.parquet")).unwrap();
        store.put(&key, rows(ids).into()).await.unwrap();
    };
    for n in 0..4 {
        put(&format!("part-{n}"), n * 100..n * 100 + 100).await;
    }
    if published {
        act(Arc::clone(&store) as _, "before").await.unwrap();
        // The store's clock ticks in milliseconds, and this test's stands still.
        let marker = store.head(&Path::from(MARKER)).await.unwrap();
        loop {
            put("late", 400..450).await;
            let late = Path::parse(format!("{HOUR}/late.parquet")).unwrap();
            let late = store.head(&late).await.unwrap().last_modified;
            if late.timestamp_millis() > marker.last_modified.timestamp_millis() {
                break;
            }
        }
    }
    store
}

type Fault = (&'static str, fn(Match) -> Rule);

const FAULTS: [Fault; 7] = [
    ("killed before", |m| m.hangs()),
    ("500 or 503", |m| m.fails(Failure::Generic)),
    ("412", |m| m.fails(Failure::Precondition)),
    ("403", |m| m.fails(Failure::PermissionDenied)),
    ("404", |m| m.fails(Failure::NotFound)),
    ("stored but 500", |m| m.fails_after(Failure::Generic)),
    ("stored but 412", |m| m.fails_after(Failure::Precondition)),
];

#[tokio::test(start_paused = true)]
async fn every_call_may_go_wrong() {
    for published in [false, true] {
        let mut tried = 0;
        for (name, make) in FAULTS {
            for nth in 1.. {
                let inner = hour(published).await;
                let before = keys(&inner).await;
                let faulty = Arc::new(FaultStore::new(Arc::clone(&inner) as Arc<dyn ObjectStore>));
                let rule = make(Rule::on(None).nth(nth));
                faulty.add(rule.clone());
                let told = tokio::time::timeout(Duration::from_secs(60), act(faulty, "tried"));
                let told = told.await.ok();
                if rule.seen() < nth {
                    let told = told.unwrap().unwrap();
                    assert_eq!(told.outcome, PublishedOutcome::Published, "{name} {nth}");
                    break;
                }
                tried += 1;
                let what = format!("published {published}: {name}, call {nth}");
                check(published, &inner, &before, told, &what).await;
            }
        }
        println!("published {published}: {tried} fault points tried");
        assert!(tried > 20 * 7, "{tried}");
    }
}

async fn keys(store: &InMemory) -> Vec<String> {
    let listed = store.list(Some(&Path::from(HOUR)));
    let mut keys: Vec<String> = listed
        .map_ok(|meta| meta.location.to_string())
        .try_collect()
        .await
        .unwrap();
    keys.sort();
    keys
}

/// The marker that is there, whose run is whole, and the ids of its rows.
async fn current(store: &Arc<InMemory>, what: &str) -> Option<(Marker, Vec<i64>)> {
    let bytes = match store.get(&Path::from(MARKER)).await {
        Ok(answer) => answer.bytes().await.unwrap(),
        Err(object_store::Error::NotFound { .. }) => return None,
        Err(error) => panic!("{what}: {error}"),
    };
    let marker = Marker::parse(&dataset(), slot(), &bytes);
    let marker = marker.unwrap_or_else(|why| panic!("{what}: {why}"));
    let scan = marker.scan(&dataset()).unwrap();
    let listed = store.list(Some(&Path::parse(scan.trim_end_matches('/')).unwrap()));
    let listed: Vec<_> = listed.try_collect().await.unwrap();
    let sizes = listed.iter().map(|o| (o.location.as_ref(), o.size));
    assert!(publication_ok(&marker, &scan, sizes), "{what}: {marker:?}");
    let mut ids = Vec::new();
    let dynamic = Arc::clone(store) as Arc<dyn ObjectStore>;
    for object in &listed {
        let file = ParquetFile::open(&dynamic, &object.location).await.unwrap();
        for group in 0..file.metadata().num_row_groups() {
            for batch in file
                .row_group(group, &ProjectionMask::all(), 1024)
                .await
                .unwrap()
            {
                ids.extend(
                    batch
                        .unwrap()
                        .column(0)
                        .as_primitive::<Int64Type>()
                        .values(),
                );
            }
        }
    }
    ids.sort_unstable();
    Some((marker, ids))
}

/// The hour is as it was or as it should be, nothing is gone, and trying again ends well.
async fn check(
    published: bool,
    store: &Arc<InMemory>,
    before: &[String],
    told: Option<Result<Published>>,
    what: &str,
) {
    let rows = |last| (0..last).collect::<Vec<i64>>();
    let all = if published { rows(450) } else { rows(400) };
    let now = current(store, what).await;
    let done = now
        .as_ref()
        .is_some_and(|(marker, _)| marker.run_id == "tried");
    match &now {
        None => assert!(!published, "{what}"),
        Some((_, ids)) if done => assert_eq!(*ids, all, "{what}"),
        Some((marker, ids)) => {
            assert!(published && marker.run_id == "before", "{what}: {marker:?}");
            assert_eq!(*ids, rows(400), "{what}");
        }
    }
    let left = keys(store).await;
    let gone: Vec<&String> = before.iter().filter(|key| !left.contains(key)).collect();
    assert!(gone.is_empty(), "{what}: {gone:?}");
    match told {
        None => {}
        Some(Ok(told)) => assert!(done || told.refused.is_some(), "{what}: {told:?}"),
        Some(Err(error)) => {
            let text = error.to_string();
            let unknown = text.contains("nobody knows") || text.contains("the marker was put");
            assert!(unknown || !done, "{what}: done, told {text}");
            assert!(error.kind() != Kind::Internal, "{what}: {text}");
        }
    }
    let again = act(Arc::clone(store) as _, "again").await;
    let again = again.unwrap_or_else(|e| panic!("{what}, again: {e}"));
    assert_eq!(again.refused, None, "{what}");
    assert_eq!(again.state, Some(State::Closed), "{what}: {again:?}");
    assert_eq!(current(store, what).await.unwrap().1, all, "{what}");
}
