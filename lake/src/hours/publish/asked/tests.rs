//! Hours that a dead letter makes incomplete once they are published.

use arrow_array::{Int64Array, StringArray};
use bytes::Bytes;

use super::*;
use crate::delta::write::Signature;
use crate::hours::compact;
use crate::hours::dataset::Complete;
use crate::hours::fixture::{Shop, file, host};
use crate::hours::judge::tests::{dataset, slot};
use crate::hours::publish::look::look;
use crate::hours::publish::{self, Claim, Over, Request, What};
use crate::plan::{Published, PublishedOutcome};

/// An hour of one order's lines.
pub(in crate::hours) struct Till {
    pub(in crate::hours) dataset: Dataset,
    pub(in crate::hours) shop: Shop,
}

impl Till {
    pub(in crate::hours) fn new() -> Self {
        let mut dataset = dataset();
        dataset.complete = Some(Complete {
            key: "order_id".into(),
            sequence: "line_seq".into(),
            report: false,
            dead_letters: Some("dlq".into()),
        });
        Self {
            dataset,
            shop: Shop::new(),
        }
    }

    /// Puts a run of one object with these lines.
    pub(in crate::hours) async fn run(&self, run: &str, of: &[i64]) {
        let key = format!("run_id={run}/part-0.parquet");
        self.put(&key, lines(of)).await;
    }

    pub(in crate::hours) async fn put(&self, rest: &str, bytes: impl Into<Bytes>) {
        let pause = || tokio::time::sleep(std::time::Duration::from_millis(2));
        pause().await;
        let key = format!("{}{rest}", self.dataset.prefix_of(slot()));
        self.shop.put(&key, bytes).await;
        pause().await;
    }

    /// A dead letter of the order.
    pub(in crate::hours) async fn letter(&self, line: i64) {
        let key = format!("dlq/{}/{line}.json", self.dataset.partition_of(slot()));
        let letter = format!(r#"{{"order_id":"a","line_seq":{line}}}"#);
        self.shop.put(&key, letter).await;
    }

    pub(in crate::hours) async fn now(&self) -> Time {
        self.shop.put("clock", "").await.put
    }

    pub(in crate::hours) async fn publish(&self, run: &str, replace: bool) -> Published {
        let what = What::Run(Claim {
            run: run.into(),
            count: 1,
            replace,
            definition_version: Some("1".into()),
            max_event_time: Some(slot().start()),
            ..Claim::default()
        });
        self.act(what).await
    }

    pub(in crate::hours) async fn act(&self, what: What) -> Published {
        let planned = self.plan(what).await;
        self.apply(&planned).await
    }

    async fn apply(&self, planned: &publish::Planned) -> Published {
        let (dataset, store) = (&self.dataset, &self.shop.store);
        publish::apply(dataset, store, planned, &signature(), &host())
            .await
            .unwrap()
    }

    async fn plan(&self, what: What) -> publish::Planned {
        let request = Request {
            slot: slot(),
            what,
            as_of: Time(0),
            over: Over::Any,
        };
        let now = self.now().await;
        publish::plan(&self.dataset, &self.shop.store, &request, now, &host())
            .await
            .unwrap()
    }

    async fn compact(&self, with_late: bool) -> Published {
        let request = compact::Request {
            slot: slot(),
            target: compact::TARGET,
            with_late,
            as_of: Time(0),
            over: Over::Any,
        };
        // What was put a moment ago has settled by then.
        let now = Time(self.now().await.0 + 3_600_000);
        let (dataset, store) = (&self.dataset, &self.shop.store);
        let planned = compact::plan(dataset, store, &request, now, &host())
            .await
            .unwrap();
        compact::apply(dataset, store, &planned, "packed", &signature(), &host())
            .await
            .unwrap()
    }
}

fn lines(of: &[i64]) -> Bytes {
    let orders = StringArray::from(vec!["a"; of.len()]);
    file(vec![
        ("order_id", Arc::new(orders) as _),
        ("line_seq", Arc::new(Int64Array::from(of.to_vec()))),
    ])
}

fn signature() -> Signature {
    Signature {
        now: Time(0),
        txn_id: "x".into(),
        user: None,
        reason: None,
        engine: "tidemark/test".into(),
    }
}

const LETTER: &str = "1 line only among the dead letters";

fn incomplete(told: &Published, outcome: PublishedOutcome) {
    assert_eq!(
        (&told.outcome, told.state),
        (&outcome, Some(State::Incomplete)),
        "{told:?}"
    );
    assert_eq!(told.reasons[0].message, LETTER);
}

#[tokio::test]
async fn what_changes_nothing_says_that_the_hour_is_incomplete() {
    let till = Till::new();
    till.run("A", &[1, 2]).await;
    till.run("B", &[1, 2]).await;
    let told = till.publish("A", false).await;
    assert_eq!(told.state, Some(State::Closed));
    let told = till.publish("A", false).await;
    let unchanged = PublishedOutcome::Unchanged;
    assert_eq!(
        (&told.outcome, told.state),
        (&unchanged, Some(State::Closed))
    );

    till.letter(3).await;
    let told = till.publish("A", false).await;
    incomplete(&told, PublishedOutcome::Unchanged);
    let why = told.message.unwrap();
    assert!(why.starts_with("run A is published already"), "{why}");
    let told = till.publish("B", false).await;
    incomplete(&told, PublishedOutcome::Unchanged);
    let why = told.message.unwrap();
    let says = "the hour is incomplete under run A; run B was not published: --replace does that";
    assert!(why.starts_with(says), "{why}");
    // A plan that is refused says so too.
    let told = till.publish("B", true).await;
    incomplete(&told, PublishedOutcome::Refused);
    let told = till.act(What::Repoint { run: "A".into() }).await;
    incomplete(&told, PublishedOutcome::Refused);

    // What mends it closes it.
    till.run("C", &[1, 2, 3]).await;
    let told = till.publish("C", true).await;
    assert_eq!(
        (told.outcome, told.state),
        (PublishedOutcome::Published, Some(State::Closed))
    );
}

#[tokio::test]
async fn a_letter_that_lands_between_plan_and_put_is_seen_after_it() {
    let till = Till::new();
    till.run("A", &[1, 2]).await;
    let claim = Claim {
        run: "A".into(),
        count: 1,
        definition_version: Some("1".into()),
        max_event_time: Some(slot().start()),
        ..Claim::default()
    };
    let planned = till.plan(What::Run(claim)).await;
    till.letter(3).await;
    incomplete(&till.apply(&planned).await, PublishedOutcome::Published);
}

#[tokio::test]
async fn a_marker_of_somebody_who_asked_no_gate_is_not_taken_at_its_word() {
    let mut till = Till::new();
    let rule = till.dataset.complete.take();
    till.run("A", &[1, 3]).await;
    assert_eq!(till.publish("A", false).await.state, Some(State::Closed));
    till.dataset.complete = rule;
    let told = till.publish("A", false).await;
    assert_eq!(told.state, Some(State::Incomplete));
    assert_eq!(
        told.reasons[0].message,
        "1 line of 1 orders are neither in the files nor among the dead letters"
    );
    till.dataset.complete.as_mut().unwrap().dead_letters = None;
    let told = till.publish("A", false).await;
    assert_eq!(told.state, Some(State::Incomplete));
    let why = &told.reasons[0].message;
    assert!(why.starts_with("no prefix is configured"), "{why}");
}

#[tokio::test]
async fn an_incomplete_hour_is_packed_only_with_what_completes_it() {
    let till = Till::new();
    till.run("A", &[1, 2]).await;
    till.publish("A", false).await;
    let told = till.compact(false).await;
    assert_eq!(
        (told.outcome, told.state),
        (PublishedOutcome::Unchanged, Some(State::Closed))
    );

    till.letter(3).await;
    for with_late in [false, true] {
        let told = till.compact(with_late).await;
        incomplete(&told, PublishedOutcome::Refused);
        let why = told.refused.unwrap();
        assert_eq!(why, format!("the hour is incomplete: {LETTER}"));
    }
    // The line itself, late.
    till.put("late.parquet", lines(&[3])).await;
    incomplete(&till.compact(false).await, PublishedOutcome::Refused);
    let told = till.compact(true).await;
    assert_eq!(
        (told.outcome, told.state),
        (PublishedOutcome::Published, Some(State::Closed))
    );
}

#[tokio::test]
async fn the_gate_is_asked_once_about_the_same_objects() {
    let till = Till::new();
    till.run("A", &[1, 2]).await;
    till.publish("A", false).await;
    let seen = look(&till.dataset, &till.shop.store, slot()).await.unwrap();
    let (now, evidence) = (till.now().await, (&seen.markers, &seen.objects));
    let (dataset, store) = (&till.dataset, &till.shop.store);
    let again = async |known: Option<&Asked>| {
        till.shop.counting.take();
        let asked = ask_of_current(dataset, store, (slot(), now), evidence, known, &host())
            .await
            .unwrap();
        (asked.unwrap(), till.shop.counting.take().gets)
    };
    let (first, reads) = again(None).await;
    assert!(reads > 0);
    let (same, reads) = again(Some(&first)).await;
    assert_eq!((same.found, reads), (first.found.clone(), 0));
    till.letter(3).await;
    let (other, reads) = again(Some(&first)).await;
    assert!(reads > 0);
    assert_eq!(other.found.dead_lettered, 1);
}

#[tokio::test]
async fn a_letter_in_no_hour_lets_nothing_be_published() {
    for below in ["x.json", "event_date=2026-11-10/x.json", "topic/x.json"] {
        let till = Till::new();
        till.run("A", &[1, 2]).await;
        till.shop.put(&format!("dlq/{below}"), "{}").await;
        let told = till.publish("A", false).await;
        assert_eq!(told.outcome, PublishedOutcome::Refused, "{below}");
        let why = told.refused.unwrap();
        assert!(
            why.contains("dead letters lie in no hour"),
            "{below}: {why}"
        );
    }
}

#[tokio::test]
async fn an_hour_of_dead_letters_alone_is_not_declared_empty() {
    let mut till = Till::new();
    till.letter(1).await;
    let told = till.act(What::Empty).await;
    assert_eq!(told.outcome, PublishedOutcome::Refused, "{told:?}");
    let why = told.refused.unwrap();
    let says = "the hour is not empty: its lines became dead letters, dlq/";
    assert!(why.starts_with(says), "{why}");
    // Where they are only reported, somebody may.
    till.dataset.complete.as_mut().unwrap().report = true;
    let planned = till.plan(What::Empty).await;
    assert_eq!(Published::of(&planned.plan, slot()).refused, None);
}
