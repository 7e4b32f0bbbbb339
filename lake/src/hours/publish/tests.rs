//! Every refusal, and the life of an hour from its first run on.

use object_store::memory::InMemory;
use object_store::{ObjectStoreExt, PutMode, PutOptions};

use super::*;
use crate::delta::write::Signature;
use crate::host::Quiet;
use crate::hours::Day;
use crate::hours::dataset::MarkerKind;
use crate::hours::judge::Verdict;
use crate::hours::judge::tests::dataset;
use crate::hours::listing::path;
use crate::hours::state::State;
use crate::plan::PublishedOutcome::{Published as Put, Refused, Unchanged};

/// A store with one dataset, and a clock.
struct Lab {
    dataset: Dataset,
    store: Arc<dyn ObjectStore>,
    slot: Slot,
}

impl Lab {
    fn new() -> Self {
        Self {
            dataset: dataset(),
            store: Arc::new(InMemory::new()),
            slot: Slot::hour("2026-11-10".parse().unwrap(), 8),
        }
    }

    /// The key of an object of the hour.
    fn key(&self, rest: &str) -> Path {
        path(&format!("{}{rest}", self.dataset.prefix_of(self.slot))).unwrap()
    }

    async fn put(&self, rest: &str) {
        let body = object_store::PutPayload::from_static(b"0123456789");
        // The store's clock ticks in milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        self.store.put(&self.key(rest), body).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }

    /// Puts a run of `count` objects.
    async fn run(&self, run: &str, count: u64) {
        for n in 0..count {
            self.put(&format!("run_id={run}/part-{n}.parquet")).await;
        }
    }

    fn request(&self, what: What) -> Request {
        Request {
            slot: self.slot,
            what,
            as_of: Time(1_794_300_000_000),
            over: Over::Any,
        }
    }

    async fn plan(&self, what: What) -> Result<Planned> {
        self.plan_of(&self.request(what)).await
    }

    async fn plan_of(&self, request: &Request) -> Result<Planned> {
        let proved = prove(&self.dataset, &self.store, &request.what, "scratch").await?;
        let host: SharedHost = Arc::new(Quiet);
        plan(
            &self.dataset,
            &self.store,
            request,
            proved.store_time,
            &host,
        )
        .await
    }

    async fn apply(&self, planned: &Planned, id: &str) -> Result<Published> {
        let host: SharedHost = Arc::new(Quiet);
        let signature = Signature {
            now: Time(1_794_300_000_000),
            txn_id: id.to_owned(),
            user: Some("kim".to_owned()),
            reason: Some("the partner was down".to_owned()),
            engine: "tidemark/test".to_owned(),
        };
        apply(&self.dataset, &self.store, planned, &signature, &host).await
    }

    async fn act(&self, what: What) -> Published {
        let planned = self.plan(what).await.unwrap();
        self.apply(&planned, "one").await.unwrap()
    }

    async fn publish(&self, run: &str, count: u64) -> Published {
        self.act(What::Run(self.claim(run, count))).await
    }

    async fn replace(&self, run: &str, count: u64) -> Published {
        let claim = Claim {
            replace: true,
            ..self.claim(run, count)
        };
        self.act(What::Run(claim)).await
    }

    async fn repoint(&self, run: &str) -> Published {
        let run = run.to_owned();
        self.act(What::Repoint { run }).await
    }

    fn claim(&self, run: &str, count: u64) -> Claim {
        Claim {
            run: run.to_owned(),
            count,
            replace: false,
            definition_version: Some("1".to_owned()),
            max_event_time: Some(self.slot.start()),
            ..Claim::default()
        }
    }

    async fn seen(&self) -> Look {
        look(&self.dataset, &self.store, self.slot).await.unwrap()
    }

    async fn state(&self) -> Verdict {
        let seen = self.seen().await;
        let at = (self.slot, Time(1_796_000_000_000));
        asked::judged(&self.dataset, at, (&seen.markers, &seen.objects), None)
    }

    fn marker_key(&self) -> Path {
        path(&Template::of(&self.dataset).current(self.slot)).unwrap()
    }
}

fn why(told: &Published) -> &str {
    assert_eq!(told.outcome, Refused, "{told:?}");
    told.refused.as_deref().unwrap()
}

#[tokio::test]
async fn three_objects_then_a_fourth_then_a_new_run() {
    let lab = Lab::new();
    lab.run("r1", 3).await;
    let told = lab.publish("r1", 3).await;
    assert_eq!((told.outcome, told.state), (Put, Some(State::Closed)));
    assert_eq!(
        (told.objects, told.bytes, told.median_bytes),
        (3, 30, Some(10))
    );
    assert_eq!(told.superseded_run, None);

    lab.put("run_id=r1/part-3.parquet").await;
    let verdict = lab.state().await;
    assert_eq!(verdict.state, State::Mutated);
    let names_it = |r: &crate::hours::Reason| {
        r.key
            .as_ref()
            .is_some_and(|key| key.ends_with("run_id=r1/part-3.parquet"))
    };
    assert!(verdict.reasons.iter().any(names_it), "{verdict:?}");

    // The run is spoilt for good, whatever is counted now.
    assert!(why(&lab.publish("r1", 4).await).contains("never edited"));
    assert!(why(&lab.replace("r1", 4).await).contains("never edited"));
    lab.run("r2", 4).await;
    let told = lab.publish("r2", 4).await;
    assert_eq!((told.outcome, told.state), (Put, Some(State::Closed)));
    assert_eq!(told.superseded_run.as_deref(), Some("r1"));
    let seen = lab.seen().await;
    assert_eq!(
        seen.markers.marker().unwrap().supersedes.as_deref(),
        Some("r1")
    );
    assert_eq!(seen.markers.history().count(), 1);
    assert!(why(&lab.repoint("r1").await).contains("no longer what its marker says"));
}

#[tokio::test]
async fn what_is_published_already_is_left() {
    let lab = Lab::new();
    lab.run("r1", 2).await;
    lab.run("r2", 2).await;
    assert_eq!(lab.publish("r1", 2).await.outcome, Put);
    let before = lab.seen().await;
    for told in [
        lab.publish("r1", 2).await,
        lab.replace("r1", 2).await,
        lab.publish("r2", 2).await,
    ] {
        assert_eq!(told.outcome, Unchanged);
        assert!(told.message.unwrap().contains("names run r1"));
        assert_eq!(told.marker.unwrap()["run_id"], "r1");
    }
    assert_eq!(lab.seen().await.current, before.current);
    let told = lab.replace("r2", 2).await;
    assert_eq!((told.outcome, told.state), (Put, Some(State::Closed)));
    assert!(why(&lab.replace("r1", 2).await).contains("`repoint`"));
}

#[tokio::test]
async fn a_run_is_what_its_writer_counted() {
    let lab = Lab::new();
    assert!(why(&lab.publish("r1", 3).await).contains("nothing is listed"));
    lab.run("r1", 2).await;
    lab.run("r10", 1).await;
    assert!(why(&lab.publish("r1", 3).await).contains("not whole yet"));
    let told = lab.publish("r1", 1).await;
    assert!(
        why(&told).contains("part-1.parquet was put last"),
        "{told:?}"
    );
    assert!(why(&lab.publish("r1", 0).await).contains("0 objects"));
    assert!(lab.seen().await.markers.current.is_none());
    lab.put("run_id=r1/_SUCCESS").await;
    assert_eq!(lab.publish("r1", 2).await.outcome, Put);
}

#[tokio::test]
async fn only_an_hour_that_ended_is_closed() {
    let mut lab = Lab::new();
    let proved = prove(&lab.dataset, &lab.store, &What::Empty, "clock").await;
    lab.slot = lab.dataset.slot_of(proved.unwrap().store_time);
    lab.run("r1", 1).await;
    let told = lab.publish("r1", 1).await;
    assert!(why(&told).contains("is open: it ends at"), "{told:?}");
    assert!(why(&lab.act(What::Empty).await).contains("is open"));
    assert!(why(&lab.repoint("r1").await).contains("is open"));
    assert!(lab.seen().await.markers.current.is_none());
}

#[tokio::test]
async fn what_cannot_be_meant_is_an_error() {
    let mut lab = Lab::new();
    lab.run("r1", 1).await;
    for run in ["", "a/b", "..", "r%31", "a b", "ü"] {
        let error = lab.plan(What::Run(lab.claim(run, 1))).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid, "{run}");
    }
    let mut claim = lab.claim("r1", 1);
    claim.definition_version = None;
    let error = lab.plan(What::Run(claim.clone())).await.unwrap_err();
    assert!(error.to_string().contains("--definition-version"));
    lab.dataset.definition_version = Some("7".to_owned());
    let planned = lab.plan(What::Run(claim)).await.unwrap();
    assert_eq!(
        planned.plan.hours.unwrap().marker.unwrap()["definition_version"],
        "7"
    );
    lab.slot.hour = None;
    assert!(
        lab.plan(What::Empty)
            .await
            .unwrap_err()
            .to_string()
            .contains("name the hour")
    );
    lab.dataset.partition.pop();
    lab.slot.hour = Some(3);
    assert!(
        lab.plan(What::Empty)
            .await
            .unwrap_err()
            .to_string()
            .contains("has no hours")
    );
}

#[tokio::test]
async fn a_whole_day_is_closed_as_an_hour_is() {
    let mut lab = Lab::new();
    lab.dataset.partition.pop();
    lab.dataset.marker.template = "_markers/event_date={event_date}.json".into();
    lab.slot = Slot::day(lab.slot.day);
    lab.run("r1", 2).await;
    assert_eq!(lab.publish("r1", 2).await.state, Some(State::Closed));
    assert!(
        lab.marker_key()
            .as_ref()
            .ends_with("event_date=2026-11-10.json")
    );
    lab.run("r2", 2).await;
    assert_eq!(lab.replace("r2", 2).await.state, Some(State::Closed));
    assert_eq!(lab.repoint("r1").await.state, Some(State::Closed));
}

#[tokio::test]
async fn markers_of_others_are_never_written() {
    let mut lab = Lab::new();
    lab.run("r1", 1).await;
    for (kind, named) in [
        (MarkerKind::Success, "_SUCCESS"),
        (MarkerKind::Committed, "_committed_"),
        (MarkerKind::Custom, "markers of its own"),
    ] {
        lab.dataset.marker.kind = kind;
        assert!(why(&lab.publish("r1", 1).await).contains(named));
        assert!(why(&lab.act(What::Empty).await).contains(named));
        assert!(why(&lab.repoint("r1").await).contains(named));
    }
}

#[tokio::test]
async fn the_newest_event_is_known_or_the_run_is_refused() {
    let lab = Lab::new();
    lab.run("r1", 1).await;
    let mut claim = lab.claim("r1", 1);
    claim.max_event_time = None;
    let told = lab.act(What::Run(claim.clone())).await;
    assert!(why(&told).contains("declares no event_time"), "{told:?}");
    claim.max_event_time = Some(lab.slot.end());
    assert!(why(&lab.act(What::Run(claim)).await).contains("is not of 2026-11-10 08:00"));
}

#[tokio::test]
async fn a_key_that_names_somebody_is_not_published() {
    let lab = Lab::new();
    lab.put("run_id=r1/x_Learner%5Fid=7/part-0.parquet").await;
    let told = lab.publish("r1", 1).await;
    assert!(why(&told).contains("may not exist"), "{told:?}");
}

#[tokio::test]
async fn an_empty_hour_is_declared_once_and_data_ends_it() {
    let lab = Lab::new();
    let told = lab.act(What::Empty).await;
    assert_eq!((told.outcome, told.state), (Put, Some(State::Empty)));
    assert_eq!(told.marker, None);
    let told = lab.act(What::Empty).await;
    assert_eq!(told.outcome, Unchanged);
    assert!(told.message.unwrap().contains("the partner was down"));
    lab.run("r1", 1).await;
    assert_eq!(lab.state().await.state, State::Late);
    let told = lab.publish("r1", 1).await;
    assert_eq!((told.outcome, told.state), (Put, Some(State::Closed)));
    assert!(told.warnings[0].contains("counts no longer"));
    assert!(why(&lab.act(What::Empty).await).contains("has a marker"));

    let lab = Lab::new();
    lab.put("part-0.parquet").await;
    assert!(why(&lab.act(What::Empty).await).contains("is not empty: 1 object"));
}

#[tokio::test]
async fn a_marker_that_cannot_be_read_is_kept_aside() {
    let lab = Lab::new();
    lab.store.put(&lab.marker_key(), "{".into()).await.unwrap();
    lab.run("r1", 1).await;
    assert!(why(&lab.publish("r1", 1).await).contains("--replace keeps it aside"));
    let told = lab.replace("r1", 1).await;
    assert_eq!(
        (told.outcome, told.state),
        (Put, Some(State::Closed)),
        "{told:?}"
    );
    let kept = &lab.seen().await.markers.superseded;
    assert!(kept[0].0.key.contains("hour=08/unreadable-"), "{kept:?}");
}

#[tokio::test]
async fn back_and_forth_the_chain_stays_whole() {
    let lab = Lab::new();
    for (run, count) in [("r0", 1), ("r1", 2), ("r2", 3)] {
        lab.run(run, count).await;
        assert_eq!(lab.replace(run, count).await.state, Some(State::Closed));
    }
    for (run, count) in [("r1", 2), ("r0", 1), ("r2", 3), ("r0", 1), ("r1", 2)] {
        let told = lab.repoint(run).await;
        assert_eq!(
            (told.outcome, told.state),
            (Put, Some(State::Closed)),
            "{run}"
        );
        let seen = lab.seen().await;
        let marker = seen.markers.marker().unwrap();
        assert_eq!((marker.run_id.as_str(), marker.object_count), (run, count));
        assert_eq!(lab.repoint(run).await.outcome, Unchanged);
    }
    assert!(lab.seen().await.markers.history().count() >= 6);
    assert!(why(&lab.repoint("r9").await).contains("never published"));
}

#[tokio::test]
async fn a_race_ends_where_somebody_chooses() {
    for chosen in ["r1", "r2", "r3"] {
        let lab = Lab::new();
        for run in ["r0", "r1", "r2", "r3"] {
            lab.run(run, 1).await;
        }
        lab.publish("r0", 1).await;
        lab.replace("r1", 1).await;
        // Two publishers that look at no marker left theirs beside ours.
        let ours = lab.seen().await.current.unwrap();
        for run in ["r2", "r3"] {
            let mut marker = Marker::parse(&lab.dataset, lab.slot, &ours).unwrap();
            marker.prefix = marker.prefix.replace("run_id=r1", &format!("run_id={run}"));
            (marker.run_id, marker.supersedes) = (run.to_owned(), None);
            let key = Template::of(&lab.dataset).superseded(lab.slot, run);
            let body = body_of(&marker).unwrap();
            lab.store
                .put(&path(&key).unwrap(), body.into())
                .await
                .unwrap();
        }
        assert_eq!(lab.state().await.state, State::Racing);
        let told = lab.repoint(chosen).await;
        assert_eq!(
            (told.outcome, told.state),
            (Put, Some(State::Closed)),
            "{chosen} {told:?}"
        );
        assert_eq!(told.marker.unwrap()["run_id"], chosen);
        lab.run("r4", 1).await;
        assert_eq!(
            lab.replace("r4", 1).await.state,
            Some(State::Closed),
            "{chosen}"
        );
    }
}

#[tokio::test]
async fn whoever_comes_second_is_told_by_whom() {
    let lab = Lab::new();
    lab.run("r1", 1).await;
    lab.run("r2", 1).await;
    let first = lab.plan(What::Run(lab.claim("r1", 1))).await.unwrap();
    let second = lab.plan(What::Run(lab.claim("r2", 1))).await.unwrap();
    assert_ne!(first.plan.id, second.plan.id);
    lab.apply(&first, "one").await.unwrap();
    let error = lab.apply(&second, "two").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    let text = error.to_string();
    assert!(text.contains("run r2 was not published"), "{text}");
    assert!(
        text.contains("names run r1, published at 2026-11-10T"),
        "{text}"
    );
    assert!(text.contains("by kim under definition_version 1"), "{text}");

    let mut over = lab.request(What::Run(lab.claim("r2", 1)));
    over.over = Over::Nothing;
    assert_eq!(lab.plan_of(&over).await.unwrap_err().kind(), Kind::Conflict);
    let tag = lab.seen().await.markers.current.unwrap().0.etag.unwrap();
    over.over = Over::Marker(tag);
    assert!(lab.plan_of(&over).await.is_ok());
    over.over = Over::Marker("another".to_owned());
    assert_eq!(lab.plan_of(&over).await.unwrap_err().kind(), Kind::Conflict);
}

#[tokio::test]
async fn whoever_publishes_the_same_run_second_finds_it_published() {
    for replace in [false, true] {
        let lab = Lab::new();
        lab.run("r0", 1).await;
        lab.run("r1", 1).await;
        if replace {
            lab.publish("r0", 1).await;
        }
        let claim = Claim {
            replace,
            ..lab.claim("r1", 1)
        };
        let what = || What::Run(claim.clone());
        let first = lab.plan(what()).await.unwrap();
        let second = lab.plan(what()).await.unwrap();
        assert_eq!(lab.apply(&first, "one").await.unwrap().outcome, Put);
        let before = lab.seen().await;
        let told = lab.apply(&second, "two").await.unwrap();
        assert_eq!((told.outcome, told.state), (Unchanged, Some(State::Closed)));
        let message = told.message.unwrap();
        let says = "run r1 is published already: the marker names run r1, published at 2026-11-10T";
        assert!(message.starts_with(says), "{message}");
        assert_eq!(told.superseded_run, None);
        assert_eq!(lab.seen().await.current, before.current);
    }

    // Of other objects, it is another publication.
    let lab = Lab::new();
    lab.run("r1", 1).await;
    let of_one = lab.plan(What::Run(lab.claim("r1", 1))).await.unwrap();
    lab.put("run_id=r1/part-1.parquet").await;
    assert_eq!(lab.publish("r1", 2).await.outcome, Put);
    let error = lab.apply(&of_one, "two").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
}

#[tokio::test]
async fn a_lost_current_marker_is_followed_by_its_history() {
    let lab = Lab::new();
    for run in ["r1", "r2", "r3"] {
        lab.run(run, 1).await;
    }
    lab.publish("r1", 1).await;
    lab.replace("r2", 1).await;
    lab.store.delete(&lab.marker_key()).await.unwrap();
    let told = lab.publish("r3", 1).await;
    assert_eq!((told.outcome, told.state), (Put, Some(State::Closed)));
    assert_eq!(told.marker.unwrap()["supersedes"], "r1");
}

#[tokio::test]
async fn the_same_plan_has_the_same_id() {
    let lab = Lab::new();
    lab.run("r1", 1).await;
    let what = || What::Run(lab.claim("r1", 1));
    let one = lab.plan(what()).await.unwrap().plan.id;
    assert_eq!(one, lab.plan(what()).await.unwrap().plan.id);
    lab.put("run_id=r1/part-0.parquet").await;
    assert_ne!(
        one,
        lab.plan(what()).await.unwrap().plan.id,
        "an object was put again"
    );
}

#[tokio::test]
async fn two_publishers_race_and_one_wins() {
    let day: Day = "2026-11-10".parse().unwrap();
    let mut lost = 0;
    for round in 0..200 {
        let mut lab = Lab::new();
        lab.slot = Slot::hour(day, (round % 24) as u8);
        for run in ["a", "b"] {
            let body = object_store::PutPayload::from_static(b"0123456789");
            let key = lab.key(&format!("run_id={run}/part-0.parquet"));
            lab.store
                .put_opts(&key, body, PutOptions::from(PutMode::Create))
                .await
                .unwrap();
        }
        let mut plans = Vec::new();
        for run in ["a", "b"] {
            plans.push(lab.plan(What::Run(lab.claim(run, 1))).await.unwrap());
        }
        // Whoever is polled first comes to its put first; which one that is alternates.
        let (one, two) = (&plans[round % 2], &plans[1 - round % 2]);
        let told = futures::join!(lab.apply(one, "one"), lab.apply(two, "two"));
        let told = [told.0, told.1];
        let won: Vec<_> = told.iter().filter_map(|told| told.as_ref().ok()).collect();
        assert_eq!(won.len(), 1, "{told:?}");
        let run = won[0].marker.as_ref().unwrap()["run_id"]
            .as_str()
            .unwrap()
            .to_owned();
        let seen = lab.seen().await;
        assert_eq!(seen.markers.marker().unwrap().run_id, run);
        for error in told.iter().filter_map(|told| told.as_ref().err()) {
            assert_eq!(error.kind(), Kind::Conflict);
            assert!(
                error.to_string().contains(&format!("names run {run}")),
                "{error}"
            );
            lost += 1;
        }
    }
    assert_eq!(lost, 200);
}
