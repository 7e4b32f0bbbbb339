//! The life of an hour on S3: loose keys of an open hour, its first run after its end, a key that
//! comes late, and a better run that takes it in.

use std::sync::Arc;
use std::time::Duration;

use lake::host::{Quiet, SharedHost};
use lake::hours::{Day, Slot, State};
use lake::plan::{Act, PlanRequest, Published, PublishedOutcome};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use server::acts::{self, Asked, Consent, Limits, Sizes};
use server::config::Config;
use server::datasets::Placed;
use server::setup;
use tests::hour;
use tests::seaweed::{BUCKET, SeaweedFs};

fn placed(seaweed: &SeaweedFs) -> Placed {
    let settings = seaweed.overrides();
    let store: String = settings
        .keys()
        .map(|key| format!("{key} = \"${{{key}}}\"\n"))
        .collect();
    let text = format!(
        "[[zone]]\nname = \"raw\"\nurl = \"s3://{BUCKET}/\"\n[zone.store]\n{store}\
         [[dataset]]\nname = \"life\"\nzone = \"raw\"\nprefix = \"compact-life/\"\n\
         partition = [\"event_date\", \"hour\"]\ndefinition_version = \"1\"\n\
         event_time = \"event_time\"\nclose_after = \"1s\"\n"
    );
    let environment = |name: &str| settings.get(name).cloned();
    let config = Config::parse("tidemark.toml", &text, &environment).unwrap();
    setup::dataset(&config, "life").unwrap()
}

async fn put(placed: &Placed, slot: Slot, name: &str, ids: std::ops::Range<i64>) {
    let key = Path::parse(format!("{}{name}", placed.dataset.prefix_of(slot))).unwrap();
    placed
        .store
        .put(&key, hour::rows(slot, ids).into())
        .await
        .unwrap();
}

/// Plans; and carries out what is not refused.
async fn compact(placed: &Placed, slot: Slot, with_late: bool) -> Result<Published, String> {
    let host: SharedHost = Arc::new(Quiet);
    let asked = Asked {
        request: PlanRequest {
            kind: Act::Compact,
            date: Some(slot.day),
            hour: slot.hour,
            with_late,
            ..Default::default()
        },
        as_of: acts::now(),
        expect: None,
        limits: Limits::default(),
        sizes: Sizes { min: 1, target: 2 },
    };
    let consent = Consent {
        user: Some("compaction".to_owned()),
        reason: None,
        plan: None,
        over_appends: false,
    };
    let outcome = acts::hours::act(placed, &asked, Some(&consent), &host).await;
    let outcome = outcome.unwrap();
    match outcome.plan.refused {
        Some(why) => Err(why),
        None => Ok(*outcome.applied.unwrap().hours.unwrap()),
    }
}

/// Ids below the prefix that the marker names.
async fn ids(placed: &Placed, told: &Published) -> Vec<i64> {
    let prefix = told.marker.as_ref().unwrap()["prefix"].as_str().unwrap();
    let prefix = prefix.strip_prefix(&placed.dataset.url).unwrap();
    hour::ids(&placed.store, prefix).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_is_packed_on_s3_and_late_data_is_taken_in() {
    let seaweed = SeaweedFs::shared();
    let placed = placed(&seaweed);
    // An hour that is open says so.
    let open = placed.dataset.slot_of(acts::now());
    put(&placed, open, "part-0.parquet", 0..10).await;
    let refused = compact(&placed, open, false).await.unwrap_err();
    assert!(refused.contains("is open"), "{refused}");
    // One that has ended waits until its sink has left.
    let day: Day = "2026-11-10".parse().unwrap();
    let slot = Slot::hour(day, 8);
    for n in 0..40 {
        put(
            &placed,
            slot,
            &format!("part-{n:02}.parquet"),
            n * 25..n * 25 + 25,
        )
        .await;
    }
    let refused = compact(&placed, slot, false).await.unwrap_err();
    assert!(refused.contains("the sink has not left"), "{refused}");
    tokio::time::sleep(Duration::from_secs(4)).await;
    let told = compact(&placed, slot, false).await.unwrap();
    assert_eq!(told.outcome, PublishedOutcome::Published);
    assert_eq!((told.state, told.objects), (Some(State::Closed), 1));
    assert_eq!(ids(&placed, &told).await, (0..1000).collect::<Vec<i64>>());
    let first = told.marker.unwrap()["run_id"].clone();
    // A late key is late data, and a better run takes it in.
    put(&placed, slot, "late.parquet", 1000..1010).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let unchanged = compact(&placed, slot, false).await.unwrap();
    assert_eq!(unchanged.outcome, PublishedOutcome::Unchanged);
    assert!(
        unchanged.reasons[0].message.starts_with("late data"),
        "{unchanged:?}"
    );
    let told = compact(&placed, slot, true).await.unwrap();
    assert_eq!(told.outcome, PublishedOutcome::Published, "{told:?}");
    assert_eq!((told.state, told.reasons.len()), (Some(State::Closed), 0));
    assert_eq!(told.superseded_run.as_deref(), first.as_str());
    assert_eq!(ids(&placed, &told).await, (0..1010).collect::<Vec<i64>>());
    // What was there is there.
    let listed = hour::listed(&placed.store, &placed.dataset.prefix_of(slot)).await;
    assert_eq!(listed.len(), 41 + 2);
}
