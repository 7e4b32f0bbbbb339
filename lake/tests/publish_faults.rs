//! A publish with every one of its store calls going wrong in turn, in every way: of a first run, of
//! a run that replaces another, of an empty hour, and back to an older run.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use lake::delta::write::Signature;
use lake::host::{Quiet, SharedHost};
use lake::hours::dataset::{Budget, MarkerKind, MarkerRule, Retention};
use lake::hours::marker::publication_ok;
use lake::hours::publish::{Claim, Over, Request, Takes, What, apply, plan, prove};
use lake::hours::taken::{INLINE, TAKEN, Took};
use lake::hours::{Dataset, Marker, Slot, State};
use lake::plan::{Published, PublishedOutcome};
use lake::store::fault::{Failure, FaultStore, Match, Rule};
use lake::table::Time;
use lake::{Error, Kind, Result};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

const HOUR: &str = "d/event_date=2026-11-10/hour=08";
const MARKER: &str = "d/_markers/event_date=2026-11-10/hour=08.json";
const EMPTY: &str = "d/_markers/event_date=2026-11-10/hour=08.empty.json";

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

fn run(run: &str, count: u64) -> What {
    What::Run(Claim {
        run: run.into(),
        count,
        replace: true,
        definition_version: None,
        max_event_time: Some(slot().start()),
        ..Claim::default()
    })
}

/// Prove, plan and put: what one act does.
async fn act(store: Arc<dyn ObjectStore>, what: &What, id: &str) -> Result<Published> {
    let host: SharedHost = Arc::new(Quiet);
    let dataset = dataset();
    let request = Request {
        slot: slot(),
        what: what.clone(),
        as_of: Time(1_000),
        over: Over::Any,
    };
    let proved = prove(&dataset, &store, what, id).await?;
    let planned = plan(&dataset, &store, &request, proved.store_time, &host).await?;
    if let Some(why) = planned.plan.refused {
        return Err(Error::invalid(why));
    }
    let signature = Signature {
        now: Time(1_000),
        txn_id: id.to_owned(),
        user: None,
        reason: Some("nobody learnt anything".into()),
        engine: "tidemark/test".into(),
    };
    apply(&dataset, &store, &planned, &signature, &host).await
}

/// What is done, over what, and the run that is current afterwards: none for an empty hour.
struct Case {
    name: &'static str,
    before: &'static [(&'static str, u64)],
    runs: &'static [(&'static str, u64)],
    what: What,
    after: Option<&'static str>,
}

fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "a first run",
            before: &[],
            runs: &[("r1", 3)],
            what: run("r1", 3),
            after: Some("r1"),
        },
        Case {
            name: "a better run",
            before: &[("r0", 1), ("r1", 3)],
            runs: &[("r2", 4)],
            what: run("r2", 4),
            after: Some("r2"),
        },
        Case {
            name: "a run that took in many loose keys",
            before: &[("r0", 1)],
            runs: &[("r1", 3)],
            what: match run("r1", 3) {
                What::Run(claim) => What::Run(Claim {
                    takes: Takes::Loose,
                    ..claim
                }),
                other => other,
            },
            after: Some("r1"),
        },
        Case {
            name: "an empty hour",
            before: &[],
            runs: &[],
            what: What::Empty,
            after: None,
        },
        Case {
            name: "back to an older run",
            before: &[("r0", 1), ("r1", 3)],
            runs: &[],
            what: What::Repoint { run: "r0".into() },
            after: Some("r0"),
        },
    ]
}

async fn hour(case: &Case) -> Arc<InMemory> {
    let store = Arc::new(InMemory::new());
    for (run, count) in case.before.iter().chain(case.runs) {
        for n in 0..*count {
            let key = Path::parse(format!("{HOUR}/run_id={run}/part-{n}.parquet")).unwrap();
            store.put(&key, "0123456789".into()).await.unwrap();
        }
    }
    if matches!(&case.what, What::Run(claim) if claim.takes == Takes::Loose) {
        for n in 0..=INLINE {
            let key = Path::parse(format!("{HOUR}/loose-{n}.parquet")).unwrap();
            store.put(&key, "0123456789".into()).await.unwrap();
        }
    }
    for (name, count) in case.before {
        act(Arc::clone(&store) as _, &run(name, *count), name)
            .await
            .unwrap();
    }
    store
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
    for case in cases() {
        let mut tried = 0;
        for (name, make) in FAULTS {
            for nth in 1.. {
                let inner = hour(&case).await;
                let faulty = Arc::new(FaultStore::new(Arc::clone(&inner) as Arc<dyn ObjectStore>));
                let rule = make(Rule::on(None).nth(nth));
                faulty.add(rule.clone());
                let act = act(faulty, &case.what, "under-test");
                // A process that was killed says nothing.
                let told = tokio::time::timeout(Duration::from_secs(60), act)
                    .await
                    .ok();
                if rule.seen() < nth {
                    let put = PublishedOutcome::Published;
                    assert_eq!(told.unwrap().unwrap().outcome, put, "{name} {nth}");
                    break;
                }
                tried += 1;
                check(
                    &case,
                    &inner,
                    told,
                    &format!("{}: {name}, call {nth}", case.name),
                )
                .await;
            }
        }
        println!("{}: {tried} fault points tried", case.name);
        assert!(tried > 9 * 8, "{tried}");
    }
}

async fn read(store: &InMemory, key: &str) -> Option<Vec<u8>> {
    match store.get(&Path::parse(key).unwrap()).await {
        Ok(answer) => Some(answer.bytes().await.unwrap().to_vec()),
        Err(object_store::Error::NotFound { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The marker that is there is true: its run is whole.
async fn current(store: &InMemory, what: &str) -> Option<Marker> {
    let bytes = read(store, MARKER).await?;
    let marker = Marker::parse(&dataset(), slot(), &bytes);
    let marker = marker.unwrap_or_else(|why| panic!("{what}: {why}"));
    let scan = marker.scan(&dataset()).unwrap();
    let folder = Path::parse(scan.trim_end_matches('/')).unwrap();
    let listed = store.list_with_delimiter(Some(&folder)).await;
    let listed = listed.unwrap().objects;
    let sizes = listed
        .iter()
        .map(|meta| (meta.location.as_ref(), meta.size));
    assert!(publication_ok(&marker, &scan, sizes), "{what}: {marker:?}");
    // The list of what it took in was there first.
    if let Some(took) = marker.extra.get(TAKEN) {
        let bytes = read(store, took["record"].as_str().unwrap()).await;
        let list: Took = serde_json::from_slice(&bytes.unwrap_or_default())
            .unwrap_or_else(|why| panic!("{what}: {why}"));
        assert_eq!(list.keys.len(), INLINE + 1, "{what}");
    }
    Some(marker)
}

/// The hour is as it was or as it should be, what was told of it is so, and trying again ends well.
async fn check(case: &Case, store: &Arc<InMemory>, told: Option<Result<Published>>, what: &str) {
    let run_of = |marker: Option<Marker>| marker.map(|marker| marker.run_id);
    let before = case.before.last().map(|(run, _)| (*run).to_owned());
    let now = run_of(current(store, what).await);
    let done = match case.after {
        Some(after) => now.as_deref() == Some(after),
        None => read(store, EMPTY).await.is_some(),
    };
    if !done {
        assert_eq!(now, before, "{what}");
    }
    match told {
        None => {}
        Some(Ok(published)) => {
            assert!(done, "{what}: {published:?}");
            assert_eq!(published.outcome, PublishedOutcome::Published, "{what}");
        }
        Some(Err(error)) => {
            let text = error.to_string();
            let said_done = text.contains("the marker was put");
            let unknown = text.contains("nobody knows");
            assert!(
                unknown || said_done == done,
                "{what}: done {done}, told {text}"
            );
            assert!(error.kind() != Kind::Internal, "{what}: {text}");
        }
    }
    // Trying again is a no-op or does it, and the history is whole.
    let again = act(Arc::clone(store) as _, &case.what, "again").await;
    let again = again.unwrap_or_else(|e| panic!("{what}, again: {e}"));
    let expected = match done {
        true => PublishedOutcome::Unchanged,
        false => PublishedOutcome::Published,
    };
    assert_eq!(again.outcome, expected, "{what}");
    let state = match case.after {
        Some(_) => State::Closed,
        None => State::Empty,
    };
    assert_eq!(again.state, Some(state), "{what}: {again:?}");
    assert_eq!(
        again
            .reasons
            .iter()
            .filter(|r| r.state == State::Closed)
            .count(),
        0,
        "{what}"
    );
    assert_eq!(run_of(current(store, what).await).as_deref(), case.after);
    for (run, _) in case.before {
        let kept = read(store, &MARKER.replace(".json", &format!("/{run}.json"))).await;
        let current = case.after == Some(*run);
        assert!(
            kept.is_some() || current,
            "{what}: the marker of {run} is lost"
        );
    }
}
