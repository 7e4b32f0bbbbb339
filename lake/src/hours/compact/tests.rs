//! The life of an hour that is packed, every refusal, and rows that stay the rows they are.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::ObjectStoreExt;

use super::*;
use crate::Kind;
use crate::delta::write::Signature;
use crate::host::{Host, Progress, Quiet};
use crate::hours::dataset::{Budget, Complete};
use crate::hours::fixture::{Shop, file, host};
use crate::hours::judge::tests::dataset as plain;
use crate::hours::listing::path;
use crate::hours::marker::Marker;
use crate::hours::publish::asked::judged;
use crate::hours::publish::{self, Claim, What};
use crate::hours::state::State;
use crate::parquet::reader::ParquetFile;
use crate::plan::{Published, PublishedOutcome};

const HOUR: i64 = 3_600_000;

fn slot() -> Slot {
    Slot::hour("2026-11-10".parse().unwrap(), 8)
}

/// A dataset, its store, and how far the store's clock is ahead of what it stamps.
struct Lab {
    dataset: Dataset,
    shop: Shop,
}

impl Lab {
    fn new() -> Self {
        Self {
            dataset: Dataset {
                event_time: Some("event_time".into()),
                definition_version: Some("7".into()),
                budget: Budget::default(),
                ..plain()
            },
            shop: Shop::new(),
        }
    }

    async fn put(&self, rest: &str, bytes: impl Into<Bytes>) -> Object {
        // The store's clock ticks in milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        let key = format!("{}{rest}", self.dataset.prefix_of(slot()));
        let object = self.shop.put(&key, bytes).await;
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        object
    }

    async fn now(&self) -> Time {
        self.shop.put("clock", "").await.put
    }

    fn request(&self) -> Request {
        Request {
            slot: slot(),
            target: TARGET,
            with_late: false,
            as_of: Time(1_796_000_000_000),
            over: Over::Any,
        }
    }

    /// A plan, an hour after all that was put.
    async fn plan(&self, request: &Request) -> Planned {
        let now = Time(self.now().await.0 + HOUR);
        plan(&self.dataset, &self.shop.store, request, now, &host())
            .await
            .unwrap()
    }

    async fn refusal(&self, request: &Request) -> String {
        let planned = self.plan(request).await;
        let told = self.apply(&planned, "never").await;
        assert_eq!(told.outcome, PublishedOutcome::Refused);
        assert!(self.run("never").await.is_empty());
        planned.plan.refused.unwrap()
    }

    async fn apply(&self, planned: &Planned, run: &str) -> Published {
        let signature = signature();
        apply(
            &self.dataset,
            &self.shop.store,
            planned,
            run,
            &signature,
            &host(),
        )
        .await
        .unwrap()
    }

    async fn compact(&self, request: &Request, run: &str) -> Published {
        let planned = self.plan(request).await;
        assert_eq!(planned.plan.refused, None);
        self.apply(&planned, run).await
    }

    async fn run(&self, run: &str) -> Vec<Object> {
        let prefix = format!("{}run_id={run}", self.dataset.prefix_of(slot()));
        let listed = self.shop.store.list(Some(&path(&prefix).unwrap()));
        let mut all: Vec<Object> = listed.map_ok(Object::from).try_collect().await.unwrap();
        all.sort_by(|a, b| a.key.cmp(&b.key));
        all
    }

    async fn marker(&self) -> Option<Marker> {
        let seen = look(&self.dataset, &self.shop.store, slot()).await.unwrap();
        seen.markers.marker().cloned()
    }

    async fn state(&self) -> (State, Vec<String>) {
        let seen = look(&self.dataset, &self.shop.store, slot()).await.unwrap();
        let now = Time(self.now().await.0 + HOUR);
        let evidence = (&seen.markers, &seen.objects);
        let verdict = judged(&self.dataset, (slot(), now), evidence, None);
        let reasons = verdict.reasons.into_iter().map(|reason| reason.message);
        (verdict.state, reasons.collect())
    }

    /// The ids of all rows of a run, sorted.
    async fn ids(&self, run: &str) -> Vec<i64> {
        let mut ids = Vec::new();
        for object in self.run(run).await {
            for batch in self.read(&object.key).await {
                let column = batch.column_by_name("id").unwrap();
                ids.extend(column.as_primitive::<Int64Type>().values());
            }
        }
        ids.sort_unstable();
        ids
    }

    async fn read(&self, key: &str) -> Vec<arrow_array::RecordBatch> {
        let file = ParquetFile::open(&self.shop.store, &path(key).unwrap())
            .await
            .unwrap();
        let mut all = Vec::new();
        for group in 0..file.metadata().num_row_groups() {
            let mask = ::parquet::arrow::ProjectionMask::all();
            for batch in file.row_group(group, &mask, 1024).await.unwrap() {
                all.push(batch.unwrap());
            }
        }
        all
    }
}

fn signature() -> Signature {
    Signature {
        now: Time(1_796_000_000_000),
        txn_id: "one".into(),
        user: Some("kim".into()),
        reason: None,
        engine: "tidemark/test".into(),
    }
}

/// Rows with these ids, each a second after the one before.
fn rows(ids: std::ops::Range<i64>) -> Bytes {
    let times = ids.clone().map(|id| (slot().start().0 + id * 1000) * 1000);
    let times = TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC");
    let notes = ids
        .clone()
        .map(|id| (id % 3 > 0).then(|| format!("note {id}")));
    file(vec![
        ("id", Arc::new(Int64Array::from_iter_values(ids))),
        ("event_time", Arc::new(times)),
        ("note", Arc::new(notes.collect::<StringArray>())),
    ])
}

#[test]
fn runs_are_named_after_the_second_they_began_in() {
    let now = Time::parse("2026-11-10T14:05:00.250Z").unwrap();
    assert_eq!(run_id(now, "1f3a-9c04-77"), "20261110T140500Z-1f3a9c04");
    publish::run::check(&run_id(now, "x")).unwrap();
}

#[tokio::test]
async fn loose_keys_become_the_first_run() {
    let lab = Lab::new();
    for n in 0..40 {
        lab.put(&format!("part-{n:02}.parquet"), rows(n * 10..n * 10 + 10))
            .await;
    }
    let planned = lab.plan(&lab.request()).await;
    let plan = &planned.plan;
    assert_eq!((plan.files_to_rewrite, plan.files_to_write), (40, 1));
    assert!(lab.marker().await.is_none() && lab.run("r1").await.is_empty());
    let told = lab.apply(&planned, "r1").await;
    assert_eq!(told.outcome, PublishedOutcome::Published);
    assert_eq!(
        told.message.as_deref(),
        Some("400 rows of 40 objects are in 1 now")
    );
    assert_eq!(lab.ids("r1").await, (0..400).collect::<Vec<i64>>());
    let marker = lab.marker().await.unwrap();
    assert_eq!((marker.object_count, marker.run_id.as_str()), (1, "r1"));
    assert_eq!(marker.definition_version, "7");
    assert_eq!(marker.max_event_time, Time(slot().start().0 + 399_000));
    assert_eq!(lab.state().await, (State::Closed, vec![]));
    // The same rows in another order of columns or types would be others.
    let read = lab.read(&lab.run("r1").await[0].key).await;
    let schema = read[0].schema();
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(names, ["id", "event_time", "note"]);
    let notes = read[0].column(2).as_string::<i32>();
    assert!(notes.is_null(3) && notes.value(4) == "note 4");
    // And again there is nothing to do.
    let again = lab.plan(&lab.request()).await;
    let unchanged = again.plan.hours.unwrap().unchanged.unwrap();
    assert!(
        unchanged.contains("no more objects than it needs"),
        "{unchanged}"
    );
}

#[tokio::test]
async fn files_have_about_the_size_that_was_asked_for() {
    let lab = Lab::new();
    for n in 0..30 {
        lab.put(
            &format!("part-{n:02}.parquet"),
            rows(n * 100..n * 100 + 100),
        )
        .await;
    }
    let request = Request {
        target: 8_000,
        ..lab.request()
    };
    lab.compact(&request, "r1").await;
    let run = lab.run("r1").await;
    assert!((2..15).contains(&run.len()), "{}", run.len());
    let (_, whole) = run.split_last().unwrap();
    assert!(
        whole
            .iter()
            .all(|object| (4_000..20_000).contains(&object.bytes)),
        "{whole:?}"
    );
    assert_eq!(lab.ids("r1").await, (0..3000).collect::<Vec<i64>>());
    assert_eq!(lab.state().await.0, State::Closed);
}

#[tokio::test]
async fn late_keys_stay_late_until_they_are_taken_in() {
    let lab = Lab::new();
    lab.put("a.parquet", rows(0..10)).await;
    lab.put("b.parquet", rows(10..20)).await;
    let small = Request {
        target: 1,
        ..lab.request()
    };
    lab.compact(&small, "r1").await;
    assert_eq!(lab.run("r1").await.len(), 2);
    lab.put("late.parquet", rows(20..25)).await;
    let late = "late data: this key was put";
    assert!(lab.state().await.1[0].starts_with(late));
    // A better run without them leaves them late.
    let planned = lab.plan(&lab.request()).await;
    assert_eq!(planned.plan.files_to_rewrite, 2);
    assert!(planned.plan.warnings[0].contains("1 late key is left out"));
    let told = lab.apply(&planned, "r2").await;
    assert_eq!(told.superseded_run.as_deref(), Some("r1"));
    assert_eq!(lab.ids("r2").await, (0..20).collect::<Vec<i64>>());
    let (state, reasons) = lab.state().await;
    assert_eq!(state, State::Closed);
    assert!(
        reasons[0].starts_with("late data: this key is none of those"),
        "{reasons:?}"
    );
    // And then in.
    let request = Request {
        with_late: true,
        ..lab.request()
    };
    let told = lab.compact(&request, "r3").await;
    assert_eq!(told.superseded_run.as_deref(), Some("r2"));
    assert_eq!(lab.ids("r3").await, (0..25).collect::<Vec<i64>>());
    assert_eq!(lab.state().await, (State::Closed, vec![]));
    // What was there is there.
    assert_eq!(lab.run("r1").await.len(), 2);
    let seen = look(&lab.dataset, &lab.shop.store, slot()).await.unwrap();
    assert_eq!(seen.objects.loose.len(), 3);
    // Nothing is late any more.
    let again = lab.plan(&request).await;
    assert!(again.plan.hours.unwrap().unchanged.is_some());
}

#[tokio::test]
async fn an_hour_that_is_open_or_still_written_is_left_alone() {
    let lab = Lab::new();
    lab.put("a.parquet", rows(0..10)).await;
    let early = Time(slot().end().0 - 1);
    let request = lab.request();
    let planned = plan(&lab.dataset, &lab.shop.store, &request, early, &host())
        .await
        .unwrap();
    assert!(planned.plan.refused.unwrap().contains("is open"));
    let now = lab.now().await;
    for (ahead, refused) in [(14, true), (16, false)] {
        let now = Time(now.0 + ahead * 60_000);
        let planned = plan(&lab.dataset, &lab.shop.store, &request, now, &host())
            .await
            .unwrap();
        let why = planned.plan.refused.unwrap_or_default();
        assert_eq!(
            why.contains("the sink has not left the hour"),
            refused,
            "{why}"
        );
    }
}

#[tokio::test]
async fn a_sink_that_comes_back_meanwhile_is_noticed() {
    let lab = Lab::new();
    lab.put("a.parquet", rows(0..10)).await;
    let planned = lab.plan(&lab.request()).await;
    lab.put("b.parquet", rows(10..20)).await;
    let told = lab.apply(&planned, "r1").await;
    let why = told.refused.unwrap();
    assert!(
        why.starts_with("run r1 is not published: the sink has not left"),
        "{why}"
    );
    assert!(why.contains("b.parquet"), "{why}");
    assert!(lab.marker().await.is_none());
    // What was written is not read as the hour's, and the next one takes all in.
    lab.compact(&lab.request(), "r2").await;
    assert_eq!(lab.ids("r2").await, (0..20).collect::<Vec<i64>>());
    // An input that was replaced is an error.
    let lab = Lab::new();
    lab.put("a.parquet", rows(0..10)).await;
    let planned = lab.plan(&lab.request()).await;
    lab.put("a.parquet", rows(0..11)).await;
    let signature = signature();
    let failed = apply(
        &lab.dataset,
        &lab.shop.store,
        &planned,
        "r1",
        &signature,
        &host(),
    )
    .await;
    let error = failed.unwrap_err();
    assert!(error.message().contains("replaced"), "{error}");
    assert!(
        error.message().contains("run r1 is not published"),
        "{error}"
    );
    assert!(lab.marker().await.is_none());
}

#[tokio::test]
async fn somebody_who_publishes_first_wins() {
    let lab = Lab::new();
    lab.put("a.parquet", rows(0..10)).await;
    let planned = lab.plan(&lab.request()).await;
    lab.compact(&lab.request(), "first").await;
    let signature = signature();
    let failed = apply(
        &lab.dataset,
        &lab.shop.store,
        &planned,
        "second",
        &signature,
        &host(),
    )
    .await;
    let error = failed.unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert!(error.message().contains("run first"), "{error}");
    assert_eq!(lab.marker().await.unwrap().run_id, "first");
}

#[tokio::test]
async fn hours_in_doubt_are_refused_with_their_reason() {
    let lab = Lab::new();
    assert_eq!(
        lab.refusal(&lab.request()).await,
        "there is nothing to pack"
    );
    lab.put("run_id=theirs/a.parquet", rows(0..10)).await;
    let why = lab.refusal(&lab.request()).await;
    assert!(why.contains("a run that nobody published"), "{why}");
    lab.put("a.parquet", rows(0..10)).await;
    lab.put("b.parquet", rows(10..20)).await;
    let planned = lab.plan(&lab.request()).await;
    assert!(planned.plan.warnings[0].contains("run_id=theirs/"));
    lab.apply(&planned, "r1").await;
    lab.put("run_id=r1/extra.parquet", rows(20..30)).await;
    let why = lab.refusal(&lab.request()).await;
    assert!(
        why.starts_with("the hour is mutated: 1 object more"),
        "{why}"
    );
}

#[tokio::test]
async fn what_cannot_be_one_run_is_named() {
    let text = |name: &'static str| {
        file(vec![(
            name,
            Arc::new(StringArray::from(vec!["secret"])) as _,
        )])
    };
    for (key, bytes, why) in [
        (
            "b.parquet",
            text("ID"),
            "its column `ID` is Utf8, and Int64 in",
        ),
        (
            "b.parquet",
            Bytes::from_static(b"secret"),
            "b.parquet cannot be packed",
        ),
        ("device=3/b.parquet", rows(0..1), "`device` would be lost"),
        (
            "b.parquet",
            rows(-5..1),
            "its `event_time` is from 2026-11-10T07:59:55.000Z",
        ),
    ] {
        let lab = Lab::new();
        lab.put("a.parquet", rows(0..10)).await;
        lab.put(key, bytes).await;
        let refused = lab.refusal(&lab.request()).await;
        assert!(refused.contains(why), "{refused}");
        assert!(
            refused.contains(key) && !refused.contains("secret"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn columns_are_found_by_name_and_widened() {
    let lab = Lab::new();
    let micros = slot().start().0 * 1000;
    lab.put(
        "a.parquet",
        file(vec![
            ("id", Arc::new(Int32Array::from(vec![1])) as _),
            (
                "event_time",
                Arc::new(TimestampMillisecondArray::from(vec![micros / 1000]).with_timezone("UTC")),
            ),
        ]),
    )
    .await;
    lab.put(
        "b.parquet",
        file(vec![
            ("note", Arc::new(StringArray::from(vec!["x"])) as _),
            (
                "event_time",
                Arc::new(TimestampMicrosecondArray::from(vec![micros + 1]).with_timezone("UTC")),
            ),
            ("id", Arc::new(Int64Array::from(vec![i64::MAX]))),
        ]),
    )
    .await;
    lab.compact(&lab.request(), "r1").await;
    assert_eq!(lab.ids("r1").await, [1, i64::MAX]);
    let read = lab.read(&lab.run("r1").await[0].key).await;
    let times = read[0].column_by_name("event_time").unwrap();
    let times = times.as_primitive::<TimestampMicrosecondType>();
    assert_eq!(times.values().as_ref(), [micros, micros + 1]);
    let notes = read[0].column_by_name("note").unwrap().as_string::<i32>();
    assert!(notes.is_null(0) && notes.value(1) == "x");
}

#[tokio::test]
async fn an_hour_with_a_hole_is_not_packed() {
    let mut lab = Lab::new();
    lab.dataset.event_time = None;
    lab.dataset.complete = Some(Complete {
        key: "order_id".into(),
        sequence: "id".into(),
        report: false,
        dead_letters: Some("dlq".into()),
    });
    let lines = |ids: Vec<i64>| {
        let keys = StringArray::from(vec!["o1"; ids.len()]);
        file(vec![
            ("order_id", Arc::new(keys) as _),
            ("id", Arc::new(Int64Array::from(ids))),
        ])
    };
    lab.put("a.parquet", lines(vec![1])).await;
    lab.put("b.parquet", lines(vec![3])).await;
    let why = lab.refusal(&lab.request()).await;
    assert!(why.contains("1 line of 1 order neither landed"), "{why}");
    let key = format!("dlq/{}/0.json", lab.dataset.partition_of(slot()));
    let letter = r#"{"order_id":"o1","id":2}"#;
    let letter = lab.shop.put(&key, letter).await;
    let why = lab.refusal(&lab.request()).await;
    assert!(why.contains("1 line only among the dead letters"), "{why}");
    if let Some(rule) = &mut lab.dataset.complete {
        rule.report = true;
    }
    // The sink of the dead letters has to have left, too.
    let now = Time(letter.put.0 + lab.dataset.grace - 1);
    let request = lab.request();
    let planned = plan(&lab.dataset, &lab.shop.store, &request, now, &host()).await;
    let why = planned.unwrap().plan.refused.unwrap();
    assert!(why.contains("has not left the hour: dlq/"), "{why}");
    let told = lab.compact(&lab.request(), "r1").await;
    assert_eq!(told.outcome, PublishedOutcome::Published);
    let marker = lab.marker().await.unwrap();
    assert_eq!(marker.extra["completeness"]["dead_lettered"], 1);
    // Nothing says when the events were.
    assert_eq!(marker.max_event_time, Time(slot().end().0 - 1));
}

#[tokio::test]
async fn a_marker_keeps_what_its_rows_mean() {
    let mut lab = Lab::new();
    lab.dataset.event_time = None;
    for n in 0..3 {
        lab.put(
            &format!("run_id=sink/{n}.parquet"),
            rows(n * 10..n * 10 + 10),
        )
        .await;
    }
    let claim = Claim {
        run: "sink".into(),
        count: 3,
        definition_version: Some("6".into()),
        max_event_time: Some(slot().start()),
        ..Claim::default()
    };
    let request = publish::Request {
        slot: slot(),
        what: What::Run(claim),
        as_of: Time(1_796_000_000_000),
        over: Over::Any,
    };
    let now = lab.now().await;
    let planned = publish::plan(&lab.dataset, &lab.shop.store, &request, now, &host())
        .await
        .unwrap();
    publish::apply(
        &lab.dataset,
        &lab.shop.store,
        &planned,
        &signature(),
        &host(),
    )
    .await
    .unwrap();
    let told = lab.compact(&lab.request(), "r2").await;
    assert_eq!(told.superseded_run.as_deref(), Some("sink"));
    let marker = lab.marker().await.unwrap();
    assert_eq!(marker.definition_version, "6");
    assert_eq!(marker.max_event_time, slot().start());
    assert_eq!(lab.ids("r2").await, (0..30).collect::<Vec<i64>>());
}

/// Says stop after a number of steps, and remembers what it was told.
struct Impatient(
    std::sync::atomic::AtomicU64,
    std::sync::Mutex<Vec<Progress>>,
);

impl Host for Impatient {
    fn progress(&self, progress: Progress) {
        self.1.lock().unwrap().push(progress);
    }

    fn cancelled(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.0
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
            .is_err()
    }

    fn pause(&self) -> futures::future::BoxFuture<'static, ()> {
        Quiet.pause()
    }
}

#[tokio::test]
async fn a_stop_between_files_leaves_the_hour_as_it_was() {
    let lab = Lab::new();
    for n in 0..5 {
        lab.put(&format!("{n}.parquet"), rows(n * 10..n * 10 + 10))
            .await;
    }
    let planned = lab.plan(&lab.request()).await;
    for patience in 0..6 {
        let impatient = Arc::new(Impatient(patience.into(), Default::default()));
        let host: SharedHost = Arc::clone(&impatient) as _;
        let run = format!("r{patience}");
        let told = apply(
            &lab.dataset,
            &lab.shop.store,
            &planned,
            &run,
            &signature(),
            &host,
        )
        .await;
        assert_eq!(told.unwrap_err().kind(), Kind::Cancelled, "{patience}");
        assert!(lab.marker().await.is_none());
        let steps = impatient.1.lock().unwrap();
        assert_eq!(
            steps.iter().filter(|s| s.step == "packing objects").count() as u64,
            patience.min(5)
        );
    }
    let told = lab.apply(&planned, "r9").await;
    assert_eq!(told.outcome, PublishedOutcome::Published);
}

#[tokio::test]
async fn the_same_plan_has_the_same_id() {
    let lab = Lab::new();
    lab.put("a.parquet", rows(0..10)).await;
    let one = lab.plan(&lab.request()).await.plan.id;
    assert_eq!(lab.plan(&lab.request()).await.plan.id, one);
    let other = Request {
        target: 5,
        ..lab.request()
    };
    assert_ne!(lab.plan(&other).await.plan.id, one);
    lab.put("b.parquet", rows(10..20)).await;
    assert_ne!(lab.plan(&lab.request()).await.plan.id, one);
}

/// A store may date an upload by its beginning: a key that appears after the run may be as old as
/// those that it took in.
#[tokio::test]
async fn a_key_that_appears_with_an_old_time_is_late_and_no_row_is_lost() {
    let lab = Lab::new();
    let old = lab.put("p0.parquet", rows(0..5)).await;
    lab.put("p1.parquet", rows(5..10)).await;
    lab.put("p2.parquet", rows(10..15)).await;
    let whole = lab.shop.store.get(&path(&old.key).unwrap()).await.unwrap();
    let bytes = whole.bytes().await.unwrap();
    lab.shop
        .store
        .delete(&path(&old.key).unwrap())
        .await
        .unwrap();
    lab.compact(&lab.request(), "r1").await;
    let mut seen = look(&lab.dataset, &lab.shop.store, slot()).await.unwrap();
    seen.objects.loose.push(old.clone());
    let now = Time(lab.now().await.0 + HOUR);
    let evidence = (&seen.markers, &seen.objects);
    let verdict = judged(&lab.dataset, (slot(), now), evidence, None);
    let said = &verdict.reasons[0];
    assert_eq!(said.key.as_ref(), Some(&old.key));
    assert!(
        said.message
            .starts_with("late data: this key is none of those")
    );
    let request = Request {
        with_late: true,
        ..lab.request()
    };
    let source = source::source(&lab.dataset, &request, &seen, &verdict, now).unwrap();
    assert_eq!(source.inputs.len(), 2, "the run and the late key");
    lab.put("p0.parquet", bytes).await;
    lab.compact(&request, "r2").await;
    assert_eq!(lab.ids("r2").await, (0..15).collect::<Vec<i64>>());
}

#[tokio::test]
async fn a_key_that_is_put_again_replaces_its_rows_or_is_refused() {
    let lab = Lab::new();
    lab.put("p1.parquet", rows(1..3)).await;
    lab.put("p2.parquet", rows(3..4)).await;
    lab.compact(&lab.request(), "r1").await;
    // The sink tries again, and has more by now; and something came late.
    lab.put("p1.parquet", rows(1..6)).await;
    lab.put("p3.parquet", rows(6..8)).await;
    let (state, reasons) = lab.state().await;
    assert_eq!(state, State::Closed);
    let replaced = "late data: this key was replaced after the run took it in";
    assert!(
        reasons.iter().any(|r| r.starts_with(replaced)),
        "{reasons:?}"
    );
    let request = Request {
        with_late: true,
        ..lab.request()
    };
    let planned = lab.plan(&request).await;
    let warned = &planned.plan.warnings;
    assert!(
        warned
            .iter()
            .any(|w| w.contains("written again from its 3 loose keys")),
        "{warned:?}"
    );
    lab.apply(&planned, "r2").await;
    assert_eq!(
        lab.ids("r2").await,
        [1, 2, 3, 3, 4, 5, 6, 7],
        "p2 has a 3 too"
    );
    assert_eq!(lab.state().await, (State::Closed, vec![]));
    // And again, where a key that was taken in has expired.
    lab.put("p1.parquet", rows(1..7)).await;
    let gone = format!("{}p2.parquet", lab.dataset.prefix_of(slot()));
    lab.shop.store.delete(&path(&gone).unwrap()).await.unwrap();
    let why = lab.refusal(&request).await;
    assert!(
        why.contains("p1.parquet was replaced after run r2 took it in"),
        "{why}"
    );
    assert!(
        why.contains("p2.parquet, which it took in too, is gone"),
        "{why}"
    );
    // That key again is no new one either, whatever its time.
    lab.put("p2.parquet", rows(3..4)).await;
    lab.put("p1.parquet", rows(1..3)).await;
    lab.compact(&request, "r3").await;
    assert_eq!(lab.ids("r3").await, [1, 2, 3, 6, 7]);
}

#[tokio::test]
async fn what_a_run_published_by_hand_has_is_not_packed_twice() {
    let lab = Lab::new();
    lab.put("p1.parquet", rows(0..5)).await;
    lab.put("run_id=a/x.parquet", rows(0..7)).await;
    let claim = Claim {
        run: "a".into(),
        count: 1,
        ..Claim::default()
    };
    let publish = async |claim: Claim| {
        let request = publish::Request {
            slot: slot(),
            what: What::Run(claim),
            as_of: Time(1_796_000_000_000),
            over: Over::Any,
        };
        let now = Time(lab.now().await.0 + HOUR);
        let store = &lab.shop.store;
        let planned = publish::plan(&lab.dataset, store, &request, now, &host()).await;
        let planned = planned.unwrap();
        assert_eq!(planned.plan.refused, None);
        let (signature, host) = (signature(), host());
        let told = publish::apply(&lab.dataset, store, &planned, &signature, &host);
        told.await.unwrap();
    };
    publish(claim).await;
    lab.put("p2.parquet", rows(7..9)).await;
    let request = Request {
        with_late: true,
        ..lab.request()
    };
    let planned = lab.plan(&request).await;
    assert!(planned.plan.warnings[0].contains("1 loose key is left out"));
    lab.apply(&planned, "r1").await;
    assert_eq!(lab.ids("r1").await, (0..9).collect::<Vec<i64>>());
    let doubt = "nobody says whether the run has the rows of 1 loose key";
    let (_, reasons) = lab.state().await;
    assert!(
        reasons.len() == 1 && reasons[0].starts_with(doubt),
        "{reasons:?}"
    );
    // It has other rows than its loose keys, so those cannot be what it is made of again.
    lab.put("p2.parquet", rows(7..12)).await;
    assert!(
        lab.refusal(&request)
            .await
            .contains("other rows than those of its loose keys")
    );
    // A publisher who knows says so.
    lab.put("run_id=b/x.parquet", rows(0..12)).await;
    let known = Claim {
        run: "b".into(),
        count: 1,
        replace: true,
        takes: publish::Takes::Loose,
        ..Claim::default()
    };
    publish(known).await;
    assert_eq!(lab.state().await, (State::Closed, vec![]));
}

/// A file with INT96 instants, on their own and in a struct: days since 4713 BC, and nanoseconds.
fn int96(instants: &[(i64, i64)], by_spark: bool) -> Bytes {
    use ::parquet::data_type::{Int96, Int96Type};
    use ::parquet::file::metadata::KeyValue;
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    let schema = "message m { optional int96 t; optional group s { optional int96 u; } }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let noted = KeyValue::new("org.apache.spark.version".to_owned(), "2.4.8".to_owned());
    let properties =
        WriterProperties::builder().set_key_value_metadata(by_spark.then(|| vec![noted]));
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let values: Vec<Int96> = instants
        .iter()
        .map(|(seconds, nanos)| {
            let day = seconds.div_euclid(86_400) + 2_440_588;
            let rest = (seconds.rem_euclid(86_400) * 1_000_000_000 + nanos) as u64;
            let mut value = Int96::new();
            value.set_data(rest as u32, (rest >> 32) as u32, day as u32);
            value
        })
        .collect();
    for level in [1i16, 2] {
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<Int96Type>();
        typed
            .write_batch(&values, Some(&vec![level; values.len()]), None)
            .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes.into()
}

#[tokio::test]
async fn old_instants_stay_what_they_are_or_are_refused_by_the_plan() {
    let mut lab = Lab::new();
    lab.dataset.event_time = None;
    // 2026, and two that nanoseconds do not hold.
    let instants = [
        (1_794_300_000, 123_456_000),
        (253_402_300_799, 999_999_000),
        (-62_135_596_800, 0),
    ];
    lab.put("a.parquet", int96(&instants, false)).await;
    lab.put("b.parquet", int96(&[(5, 7_000)], true)).await;
    lab.compact(&lab.request(), "r1").await;
    let mut found = Vec::new();
    for object in lab.run("r1").await {
        for batch in lab.read(&object.key).await {
            let nested = Arc::clone(batch.column(1).as_struct().column(0));
            for column in [batch.column(0), &nested] {
                let kind = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
                assert_eq!(*column.data_type(), kind);
                found.extend(
                    column
                        .as_primitive::<TimestampMicrosecondType>()
                        .values()
                        .iter()
                        .copied(),
                );
            }
        }
    }
    let right = [
        1_794_300_000_123_456,
        253_402_300_799_999_999,
        -62_135_596_800_000_000,
        5_000_007,
    ];
    assert_eq!(found, [right, right].concat());
    // Finer ones would be other instants.
    let mut lab = Lab::new();
    lab.dataset.event_time = None;
    lab.put("a.parquet", int96(&instants, false)).await;
    lab.put("b.parquet", int96(&[(-5, 7_001)], false)).await;
    let why = lab.refusal(&lab.request()).await;
    assert!(
        why.contains("b.parquet cannot be packed") && why.contains("column `t`"),
        "{why}"
    );
    assert!(why.contains("finer than a microsecond"), "{why}");
}

#[tokio::test]
async fn years_that_nanoseconds_do_not_hold_are_refused_by_the_plan() {
    use arrow_array::TimestampNanosecondArray;
    let nanos = || {
        file(vec![(
            "t",
            Arc::new(TimestampNanosecondArray::from(vec![Some(5), None])),
        )])
    };
    let millis = |millis: i64| {
        file(vec![(
            "t",
            Arc::new(TimestampMillisecondArray::from(vec![millis, 0])),
        )])
    };
    let mut lab = Lab::new();
    lab.dataset.event_time = None;
    lab.put("a.parquet", nanos()).await;
    lab.put("b.parquet", millis(9_223_372_036_854)).await;
    lab.compact(&lab.request(), "r1").await;
    let mut lab = Lab::new();
    lab.dataset.event_time = None;
    lab.put("a.parquet", millis(221_845_392_000_000)).await;
    lab.put("b.parquet", nanos()).await;
    let why = lab.refusal(&lab.request()).await;
    assert!(
        why.contains("a.parquet cannot be packed: its column `t`"),
        "{why}"
    );
}
