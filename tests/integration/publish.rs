//! Two publishers on S3, two hundred times: one winner each, whoever lost is told by whom, no marker
//! is lost, and none names a run that was not whole.

use std::sync::Arc;

use futures::TryStreamExt as _;
use lake::host::{Quiet, SharedHost};
use lake::hours::marker::publication_ok;
use lake::hours::{Dataset, Day, Marker, Slot};
use lake::plan::{Act, Outcome, PlanRequest, PublishedOutcome};
use lake::{Error, Kind};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use server::acts::{self, Asked, Consent, Limits, Sizes};
use server::config::Config;
use server::datasets::Placed;
use server::setup;
use tests::seaweed::{BUCKET, SeaweedFs};

const ROUNDS: usize = 200;

fn placed(seaweed: &SeaweedFs, prefix: &str) -> Placed {
    let settings = seaweed.overrides();
    let store: String = settings
        .keys()
        .map(|key| format!("{key} = \"${{{key}}}\"\n"))
        .collect();
    let text = format!(
        "[[zone]]\nname = \"raw\"\nurl = \"s3://{BUCKET}/\"\n[zone.store]\n{store}\
         [[dataset]]\nname = \"race\"\nzone = \"raw\"\nprefix = \"{prefix}/\"\n\
         partition = [\"event_date\", \"hour\"]\ndefinition_version = \"1\"\n"
    );
    let environment = |name: &str| settings.get(name).cloned();
    let config = Config::parse("tidemark.toml", &text, &environment).unwrap();
    setup::dataset(&config, "race").unwrap()
}

async fn add_run(placed: &Placed, slot: Slot, run: &str, count: u64) {
    for n in 0..count {
        let prefix = placed.dataset.prefix_of(slot);
        let key = Path::parse(format!("{prefix}run_id={run}/part-{n}.parquet")).unwrap();
        placed.store.put(&key, "0123456789".into()).await.unwrap();
    }
}

async fn publish(placed: &Placed, slot: Slot, run: &str, count: u64) -> Result<Outcome, Error> {
    let host: SharedHost = Arc::new(Quiet);
    let asked = Asked {
        request: PlanRequest {
            kind: Act::Publish,
            date: Some(slot.day),
            hour: slot.hour,
            run: Some(run.to_owned()),
            count: Some(count),
            replace: true,
            max_event_time: Some(slot.start()),
            ..Default::default()
        },
        as_of: acts::now(),
        expect: None,
        limits: Limits::default(),
        sizes: Sizes { min: 1, target: 2 },
    };
    let consent = Consent {
        user: Some(format!("publisher of {run}")),
        reason: None,
        plan: None,
        over_appends: false,
    };
    acts::hours::act(placed, &asked, Some(&consent), &host).await
}

/// All markers of a slot, the current one first.
async fn markers(placed: &Placed, slot: Slot) -> Vec<Marker> {
    let dataset: &Dataset = &placed.dataset;
    let template = lake::hours::template::Template::of(dataset);
    let current = Path::parse(template.current(slot)).unwrap();
    let history = Path::parse(template.superseded(slot, "x")).unwrap();
    let mut history: Vec<String> = history.as_ref().split('/').map(String::from).collect();
    history.pop();
    let folder = Path::parse(history.join("/")).unwrap();
    let mut keys = vec![current];
    let listed: Vec<_> = placed
        .store
        .list(Some(&folder))
        .try_collect()
        .await
        .unwrap();
    keys.extend(
        listed
            .into_iter()
            .map(|meta: object_store::ObjectMeta| meta.location),
    );
    let mut markers = Vec::new();
    for key in keys {
        let bytes = placed.store.get(&key).await.unwrap().bytes().await.unwrap();
        markers.push(Marker::parse(dataset, slot, &bytes).unwrap());
    }
    markers
}

async fn whole(placed: &Placed, marker: &Marker) -> bool {
    let scan = marker.scan(&placed.dataset).unwrap();
    let folder = Path::parse(scan.trim_end_matches('/')).unwrap();
    let listed: Vec<_> = placed
        .store
        .list(Some(&folder))
        .try_collect()
        .await
        .unwrap();
    let sizes = listed
        .iter()
        .map(|meta: &object_store::ObjectMeta| (meta.location.as_ref(), meta.size));
    publication_ok(marker, &scan, sizes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_publishers_race_two_hundred_times() {
    let seaweed = SeaweedFs::shared();
    let placed = placed(&seaweed, "publish-race");
    let first: Day = "2025-01-01".parse().unwrap();
    let (mut conflicts, mut after) = (0, 0);
    for round in 0..ROUNDS {
        // Every other hour has a marker already, so that both kinds of put are raced.
        let hour = u8::try_from(round % 24).unwrap();
        let slot = Slot::hour(first.plus(i32::try_from(round / 24).unwrap()), hour);
        let mut expected = 1;
        if round % 2 == 1 {
            add_run(&placed, slot, "before", 1).await;
            publish(&placed, slot, "before", 1).await.unwrap();
            expected += 1;
        }
        add_run(&placed, slot, "a", 1).await;
        add_run(&placed, slot, "b", 2).await;
        let (a, b) = tokio::join!(
            publish(&placed, slot, "a", 1),
            publish(&placed, slot, "b", 2)
        );
        let mut winners = Vec::new();
        for (run, told) in [("a", &a), ("b", &b)] {
            match told {
                Ok(outcome) => {
                    let hours = outcome
                        .applied
                        .as_ref()
                        .and_then(|done| done.hours.as_ref());
                    let hours = hours.unwrap_or_else(|| panic!("{round} {run}: {outcome:?}"));
                    assert_eq!(
                        hours.outcome,
                        PublishedOutcome::Published,
                        "{round}: {hours:?}"
                    );
                    winners.push(run);
                }
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Conflict, "{round} {run}: {error}");
                    let other = if run == "a" { "b" } else { "a" };
                    let named = format!("names run {other}, published at ");
                    assert!(error.to_string().contains(&named), "{round}: {error}");
                    let by = format!("by publisher of {other} ");
                    assert!(error.to_string().contains(&by), "{round}: {error}");
                    conflicts += 1;
                }
            }
        }
        let all = markers(&placed, slot).await;
        // Whoever planned after the other had won replaced it, as it was asked to: nobody is lost.
        if winners.len() == 2 {
            after += 1;
            expected += 1;
        }
        assert!(!winners.is_empty(), "{round}: {a:?} {b:?}");
        assert_eq!(all.len(), expected, "{round}: {all:?}");
        assert!(
            winners.contains(&all[0].run_id.as_str()),
            "{round}: {all:?}"
        );
        for marker in &all {
            assert!(whole(&placed, marker).await, "{round}: {marker:?}");
        }
    }
    println!(
        "publish: {ROUNDS} races, {conflicts} told of the winner, {after} came one after the other"
    );
    assert!(
        conflicts > ROUNDS / 2,
        "{conflicts} conflicts in {ROUNDS} races"
    );
}
