//! What a run must pass before a marker names it, from real Parquet: a prohibited column, events of
//! another hour, the newest event, and lines that are missing.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, TimestampMillisecondArray};
use lake::delta::write::Signature;
use lake::host::{Quiet, SharedHost};
use lake::hours::dataset::{Budget, Complete, MarkerKind, MarkerRule, Retention};
use lake::hours::find::{Finder, Gate};
use lake::hours::listing::fingerprint;
use lake::hours::publish::{Claim, Over, Request, What, apply, plan, prove};
use lake::hours::{Dataset, Slot, State};
use lake::plan::{Published, PublishedOutcome};
use lake::store::CountingStore;
use lake::table::Time;
use lake::wire::hours::Fresh;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::ArrowWriter;

fn slot() -> Slot {
    Slot::hour("2026-11-10".parse().unwrap(), 8)
}

fn dataset() -> Dataset {
    Dataset {
        name: "commerce.purchase_line".into(),
        zone: "raw".into(),
        url: "s3://tlp-raw/".into(),
        prefix: "lines".into(),
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
        event_time: Some("event_time".into()),
        grain: vec!["order_id".into(), "line_seq".into()],
        prohibited_columns: vec!["email".into()],
        columns: Default::default(),
        owner: None,
        publisher: None,
        compaction_owner: None,
        stream: None,
        definition_version: Some("1".into()),
        budget: Budget::default(),
        retention: Retention::default(),
        complete: Some(Complete {
            key: "order_id".into(),
            sequence: "line_seq".into(),
            report: false,
            dead_letters: Some("lines.dlq".into()),
        }),
        metastore: None,
        reads: Vec::new(),
    }
}

/// Lines of orders, `minute` minutes after the hour began and later.
fn file(lines: &[(&str, i32)], minute: i64, email: bool) -> Vec<u8> {
    let orders = StringArray::from_iter_values(lines.iter().map(|(order, _)| *order));
    let numbers = Int32Array::from_iter_values(lines.iter().map(|(_, line)| *line));
    let start = slot().start().0 + minute * 60_000;
    let times = (0..).take(lines.len()).map(|n| start + n);
    let times = TimestampMillisecondArray::from_iter_values(times).with_timezone("UTC");
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("order_id", Arc::new(orders)),
        ("line_seq", Arc::new(numbers)),
        ("event_time", Arc::new(times)),
    ];
    if email {
        let mails = StringArray::from_iter_values(lines.iter().map(|_| "ana@example.org"));
        columns.push(("email", Arc::new(mails)));
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

struct Lab {
    dataset: Dataset,
    store: Arc<dyn ObjectStore>,
}

impl Lab {
    fn new() -> Self {
        Self {
            dataset: dataset(),
            store: Arc::new(InMemory::new()),
        }
    }

    async fn put(&self, key: &str, bytes: Vec<u8>) {
        let key = Path::parse(key).unwrap();
        self.store.put(&key, bytes.into()).await.unwrap();
    }

    async fn run(&self, run: &str, bytes: Vec<u8>) -> Published {
        let prefix = self.dataset.prefix_of(slot());
        self.put(&format!("{prefix}run_id={run}/part-0.parquet"), bytes)
            .await;
        self.publish(run, None).await
    }

    async fn publish(&self, run: &str, max_event_time: Option<Time>) -> Published {
        let host: SharedHost = Arc::new(Quiet);
        let what = What::Run(Claim {
            run: run.into(),
            count: 1,
            replace: true,
            definition_version: None,
            max_event_time,
            ..Claim::default()
        });
        let proved = prove(&self.dataset, &self.store, &what, "scratch")
            .await
            .unwrap();
        let request = Request {
            slot: slot(),
            what,
            as_of: Time(0),
            over: Over::Any,
        };
        let now = proved.store_time;
        let planned = plan(&self.dataset, &self.store, &request, now, &host)
            .await
            .unwrap();
        let signature = Signature {
            now: Time(0),
            txn_id: "x".into(),
            user: None,
            reason: None,
            engine: "tidemark/test".into(),
        };
        apply(&self.dataset, &self.store, &planned, &signature, &host)
            .await
            .unwrap()
    }
}

fn why(told: &Published) -> &str {
    assert_eq!(told.outcome, PublishedOutcome::Refused, "{told:?}");
    told.refused.as_deref().unwrap()
}

const WHOLE: [(&str, i32); 3] = [("a", 1), ("a", 2), ("b", 1)];

#[tokio::test]
async fn a_whole_run_says_its_newest_event_and_its_lines() {
    let lab = Lab::new();
    let told = lab.run("r1", file(&WHOLE, 10, false)).await;
    assert_eq!(told.state, Some(State::Closed), "{told:?}");
    let marker = told.marker.unwrap();
    assert_eq!(marker["max_event_time"], "2026-11-10T08:10:00.002Z");
    let figures = serde_json::json!({
        "orders": 2, "landed": 3, "dead_lettered": 0, "missing": 0,
        "letters": fingerprint(&[]),
    });
    assert_eq!(marker["completeness"], figures);

    lab.run("r2", file(&WHOLE, 10, false)).await;
    let said = Some(slot().start());
    lab.put(
        &format!("{}run_id=r3/part-0.parquet", lab.dataset.prefix_of(slot())),
        file(&WHOLE, 10, false),
    )
    .await;
    let told = lab.publish("r3", said).await;
    assert!(why(&told).contains("was said"), "{told:?}");
}

#[tokio::test]
async fn what_the_contract_or_the_lines_forbid_is_not_published() {
    let lab = Lab::new();
    let told = lab.run("r1", file(&WHOLE, 10, true)).await;
    assert!(why(&told).contains("email"), "{told:?}");
    assert!(!why(&told).contains("ana@"), "no value is told");
    let told = lab.run("r2", file(&WHOLE, 70, false)).await;
    assert!(
        why(&told).contains("part-0.parquet") || why(&told).contains("hour"),
        "{told:?}"
    );
    let told = lab
        .run("r3", file(&[("a", 1), ("a", 3), ("b", 1)], 10, false))
        .await;
    assert!(why(&told).contains("1 line of 2 orders"), "{told:?}");

    // The line that is missing is a dead letter: accounted for, and not in the files.
    let letters = format!("lines.dlq/{}/0.parquet", lab.dataset.partition_of(slot()));
    lab.put(&letters, file(&[("a", 2)], 10, false)).await;
    let told = lab.publish("r3", None).await;
    assert!(
        why(&told).contains("only among the dead letters"),
        "{told:?}"
    );

    let mut lab = lab;
    if let Some(rule) = &mut lab.dataset.complete {
        rule.report = true;
    }
    let told = lab.publish("r3", None).await;
    assert_eq!(told.state, Some(State::Closed), "{told:?}");
    assert_eq!(told.marker.unwrap()["completeness"]["dead_lettered"], 1);

    // Its readers believe the marker as long as the dead letters are those of then.
    let counting = Arc::new(CountingStore::new(Arc::clone(&lab.store)));
    let look = async || {
        let finder = Finder::new(
            Arc::new(lab.dataset.clone()),
            Arc::clone(&counting) as Arc<dyn ObjectStore>,
            Arc::default(),
            Arc::new(Quiet),
            Time(slot().end().0 + 3_600_000),
        );
        let hours = finder.hours(slot().day, slot().day, Fresh::Known, Gate::Doubt);
        let row = hours.await.unwrap().hours.swap_remove(8);
        (row.state, counting.take().gets)
    };
    assert_eq!(look().await, (State::Closed, 1));
    lab.store
        .delete(&Path::parse(&letters).unwrap())
        .await
        .unwrap();
    assert_eq!(look().await.0, State::Incomplete);
}

#[tokio::test]
async fn repeated_rows_block_where_readers_expect_none() {
    let mut lab = Lab::new();
    lab.dataset.complete = None;
    let twice = [("a", 1), ("a", 1), ("b", 1)];
    lab.dataset.zone = "curated".into();
    let told = lab.run("r1", file(&twice, 10, false)).await;
    assert!(
        why(&told).contains("1 row repeats the grain (order_id, line_seq)"),
        "{told:?}"
    );
    // Where the same event may be delivered twice, it is counted and told.
    lab.dataset.zone = "raw".into();
    let told = lab.publish("r1", None).await;
    assert_eq!(told.state, Some(State::Closed), "{told:?}");
    let counted = "1 row repeats the grain (order_id, line_seq) of a row before them";
    assert_eq!(told.warnings, [counted]);
    assert_eq!(told.marker.unwrap()["repeated_rows"], 1);
    let told = lab.run("r2", file(&WHOLE, 10, false)).await;
    assert_eq!(told.warnings, [] as [&str; 0]);
    assert_eq!(told.marker.unwrap()["repeated_rows"], 0);
    // What cannot be counted is told too.
    lab.dataset.grain = vec!["event_id".into()];
    let told = lab.run("r3", file(&WHOLE, 10, false)).await;
    assert_eq!(told.state, Some(State::Closed), "{told:?}");
    assert!(
        told.warnings[0].contains("were not counted"),
        "{:?}",
        told.warnings
    );
    let marker = told.marker.unwrap();
    assert_eq!(marker.get("repeated_rows"), None, "{marker:?}");
}
