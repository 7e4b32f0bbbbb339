//! What the gate of completeness costs, held to numbers: of a month nothing but the dead letters'
//! listing, of an hour that is in doubt two reads a file at most.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use lake::hours::dataset::Complete;
use lake::hours::find::Gate;
use lake::hours::listing::{Object, fingerprint};
use lake::hours::{Remark, Slot, State};
use lake::wire::hours::Fresh;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::bed::{Bed, dataset, day, hour};

const FROM: &str = "2026-10-11";
const TO: &str = "2026-11-10";
const SECOND: Duration = Duration::from_secs(1);
/// Files of a run.
const FILES: u64 = 3;

/// A file of one order's lines.
fn lines(order: &str, lines: &[i32]) -> Vec<u8> {
    let orders = StringArray::from_iter_values(lines.iter().map(|_| order));
    let numbers = Int32Array::from_iter_values(lines.iter().copied());
    let columns: [(&str, ArrayRef); 2] = [
        ("order_id", Arc::new(orders)),
        ("line_seq", Arc::new(numbers)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn slots(bed: &Bed) -> Vec<Slot> {
    let all = day(FROM).to(day(TO)).flat_map(|day| bed.dataset.slots(day));
    all.filter(|slot| slot.end() <= bed.now).collect()
}

/// A dataset with numbered lines.
fn bed(first: &str, report: bool) -> Bed {
    let mut declared = dataset(first);
    declared.complete = Some(Complete {
        key: "order_id".into(),
        sequence: "line_seq".into(),
        report,
        dead_letters: Some("learning/progress.dlq".into()),
    });
    Bed::new(declared, "2026-11-10T14:30:00Z")
}

/// A run of a file for each line of an order, with a marker that says what its publisher's gate
/// found, or nothing of it.
async fn publish(bed: &Bed, slot: Slot, landed: &[i32], completeness: Option<Value>) {
    let files: Vec<Vec<u8>> = landed.iter().map(|line| lines("a", &[*line])).collect();
    let bytes: usize = files.iter().map(Vec::len).sum();
    let prefix = bed.run_prefix(slot, "r1");
    for (n, file) in files.iter().enumerate() {
        bed.put(&format!("{prefix}part-{n}.parquet"), file.clone())
            .await;
    }
    let mut marker = json!({
        "dataset": "learning.progress", "zone": "raw",
        "event_date": slot.day, "hour": slot.hour,
        "prefix": bed.dataset.url_of(&prefix), "object_count": files.len(), "bytes": bytes,
        "max_event_time": slot.end(), "run_id": "r1",
        "definition_version": "1", "published_at": slot.end(),
    });
    if let Some(completeness) = completeness {
        marker["completeness"] = completeness;
    }
    bed.put(&Bed::marker_key(slot), marker.to_string()).await;
}

/// A month of a dataset with numbered lines; each marker says what its publisher's gate found.
async fn month() -> Bed {
    let bed = bed(FROM, false);
    for slot in slots(&bed) {
        let found = json!({ "orders": 1, "landed": 3, "dead_lettered": 0, "missing": 0 });
        publish(&bed, slot, &[1, 2, 3], Some(found)).await;
    }
    bed
}

async fn dead_letter(bed: &Bed, slot: Slot) {
    let partition = bed.dataset.partition_of(slot);
    let key = format!("learning/progress.dlq/{partition}/0.parquet");
    bed.put(&key, lines("a", &[4])).await;
}

#[tokio::test]
async fn a_month_pays_one_listing_more_where_markers_say_what_the_gate_found() {
    let bed = month().await;
    let (from, to) = (day(FROM), day(TO));
    let report = bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    let counts = bed.counts();
    println!("a gated month, cold: {counts}");
    let markers = slots(&bed).len() as u64;
    assert_eq!(report.counts[0], (State::Closed, markers));
    // 31 days, the marker tree, what lies beside the days; the dead letters, and what lies beside
    // their days.
    assert_eq!((counts.lists, counts.gets, counts.heads), (35, markers, 0));
    assert!(counts.round_trips <= 6, "{counts}");
    bed.finder().grid(from, to, Fresh::Refresh).await.unwrap();
    let refresh = bed.counts();
    println!("a gated month, refreshed: {refresh}");
    // Markers, dead letters and what lies beside them, today; and the day in turn.
    assert_eq!((refresh.lists, refresh.gets), (4 + 1, 0));
}

#[tokio::test]
async fn the_gate_reads_eight_hours_in_doubt_an_answer_and_each_once() {
    let bed = month().await;
    let (from, to) = (day(FROM), day(TO));
    bed.tick().await;
    for hour_of in 0..10 {
        dead_letter(&bed, hour("2026-11-10", hour_of)).await;
    }
    let markers = slots(&bed).len() as u64;
    // Every request takes a second: with many under way the seconds are the rounds.
    let (finder, start) = (bed.slow_finder(SECOND), Instant::now());
    let report = finder.grid(from, to, Fresh::Known).await.unwrap();
    let rounds = start.elapsed().as_secs();
    let counts = bed.counts();
    println!("a gated month with 10 hours in doubt, cold: {counts}, {rounds} rounds");
    let incomplete = |counts: &[(State, u64)]| {
        let found = counts.iter().find(|(state, _)| *state == State::Incomplete);
        found.map(|(_, hours)| *hours)
    };
    assert_eq!(incomplete(&report.counts), Some(8));
    // A file so small is read with its footer; of a dead letter it is looked first what it is.
    let files = FILES + 2;
    assert_eq!(counts.gets - markers, 8 * files, "{counts}");
    assert!(rounds <= 6, "{rounds}");
    assert_eq!(counts.lists, 35);
    // The two that are left, and then nothing more.
    let report = bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    assert_eq!(incomplete(&report.counts), Some(10));
    let counts = bed.counts();
    assert_eq!((counts.lists, counts.gets), (0, 2 * files), "{counts}");
    bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    assert_eq!(bed.counts().requests(), 0);
}

#[tokio::test]
async fn a_check_asks_the_gate_always() {
    let bed = month().await;
    let slot = hour("2026-11-10", 3);
    let report = bed.finder().check(slot).await.unwrap();
    let counts = bed.counts();
    println!("a check of a gated hour: {counts}");
    assert!(report.closed, "{report:?}");
    // Its markers, the hours of its day, its keys, its dead letters and what lies beside their days; the
    // marker and its files.
    assert_eq!((counts.lists, counts.gets), (5, 1 + FILES), "{counts}");
    bed.tick().await;
    dead_letter(&bed, slot).await;
    let report = bed.finder().check(slot).await.unwrap();
    assert_eq!(report.state, State::Incomplete);
    assert_eq!(bed.counts().gets, FILES + 2, "the marker is known");

    // Of a whole day, each hour once.
    let day = day("2026-11-09");
    let finder = bed.finder();
    finder
        .hours(day, day, Fresh::Known, Gate::All)
        .await
        .unwrap();
    bed.counts();
    finder
        .hours(day, day, Fresh::Known, Gate::All)
        .await
        .unwrap();
    assert_eq!(bed.counts().requests(), 0);
}

/// What is said of an hour whose completeness nobody knows.
const WORD: &str = "completeness not checked";

#[tokio::test]
async fn hours_that_no_gate_was_asked_about_close_nothing_without_a_word() {
    let bed = bed(TO, false);
    for slot in slots_of(&bed) {
        // The second line is nowhere, and the writer of the marker asked no gate.
        publish(&bed, slot, &[1, 3], None).await;
    }
    let today = day(TO);
    let grid = bed.finder().grid(today, today, Fresh::Known).await.unwrap();
    let counts = bed.counts();
    // The markers, and the files of the newest eight hours: a grid is not to read a month's.
    assert_eq!(counts.gets, 14 + 8 * 2, "{counts}");
    assert!(grid.counts.contains(&(State::Incomplete, 8)));
    assert!(grid.counts.contains(&(State::Closed, 6)));
    assert_eq!(grid.days[0].remarks, format!("{:.<24}", "NNNNNN"));
    assert_eq!(grid.days[0].remark(5), Some(Remark::NotChecked));
    assert_eq!(grid.days[0].remark(6), None);
    assert_eq!(
        (grid.closed.up_to, grid.closed.unread),
        (None, Some((today, today)))
    );
    let word = grid
        .findings
        .iter()
        .find(|f| f.rule == "completeness_not_checked");
    let message = &word.unwrap().message;
    assert!(message.contains("6 closed hours") && message.contains("2026-11-10 00:00"));

    // It is the first hour that holds everything back; those beyond the next few are not read.
    let closed = bed.finder().closed().await.unwrap();
    let blocked = closed.blocked_by.unwrap();
    assert_eq!((closed.up_to, blocked.hour), (None, Some(0)));
    assert_eq!(blocked.state, State::Incomplete);
    assert_eq!(closed.unread, None);

    let mut fresh = bed;
    fresh.memory = Arc::default();
    let report = fresh
        .finder()
        .hours(today, today, Fresh::Known, Gate::Doubt)
        .await
        .unwrap();
    assert_eq!(report.counts.get(&State::Incomplete), Some(&14));
    assert_eq!(report.closed_up_to, None);
    let check = fresh.finder().check(hour(TO, 3)).await.unwrap();
    assert_eq!((check.closed, check.state), (false, State::Incomplete));
}

#[tokio::test]
async fn a_few_hours_that_nobody_checked_are_asked_about() {
    let bed = bed(TO, false);
    publish(&bed, hour(TO, 0), &[1, 2], None).await;
    let today = day(TO);
    let ask = async |gate| {
        let report = bed.finder().hours(today, today, Fresh::Known, gate).await;
        report.unwrap().hours.swap_remove(0).reasons
    };
    // "Closed up to" needs the first hour: it is asked about.
    assert_eq!(ask(Gate::Suspect).await, []);
    publish(&bed, hour(TO, 1), &[1, 2], None).await;
    let word = |f: &lake::wire::Finding| f.rule == "completeness_not_checked";
    let report = bed.finder().grid(today, today, Fresh::Again).await.unwrap();
    assert_eq!(report.closed.up_to, Some(hour(TO, 1).end()));
    assert_eq!((report.closed.unread, &*report.days[0].remarks), (None, ""));
    assert!(!report.findings.iter().any(word));
}

#[tokio::test]
async fn dead_letters_that_were_moved_away_bring_the_hour_into_doubt() {
    let bed = bed(TO, true);
    let slot = hour(TO, 0);
    let partition = bed.dataset.partition_of(slot);
    let key = format!("learning/progress.dlq/{partition}/0.parquet");
    bed.put(&key, lines("a", &[2])).await;
    let meta = bed
        .counting
        .head(&Path::parse(&key).unwrap())
        .await
        .unwrap();
    let then = fingerprint(&[Object::from(meta)]);
    let found = json!({
        "orders": 1, "landed": 2, "dead_lettered": 1, "missing": 0, "letters": then,
    });
    publish(&bed, slot, &[1, 3], Some(found)).await;
    bed.counts();
    let today = day(TO);
    let report = bed.finder().grid(today, today, Fresh::Again).await.unwrap();
    assert_eq!(report.closed.up_to, Some(slot.end()));
    assert_eq!(
        bed.counts().gets,
        1,
        "the marker says it: the gate is not asked"
    );

    bed.delete(&key).await;
    let grid = bed.finder().grid(today, today, Fresh::Again).await.unwrap();
    assert_eq!(grid.attention[grid.attention.len() - 1].state, State::Late);
    assert_eq!(
        grid.attention[0].state,
        State::Incomplete,
        "it is asked again"
    );
    assert_eq!(grid.closed.up_to, None);
    let check = bed.finder().check(slot).await.unwrap();
    assert_eq!(check.state, State::Incomplete);
}

#[tokio::test]
async fn hours_in_doubt_beyond_those_of_an_answer_do_not_pass() {
    let bed = bed(TO, false);
    for slot in slots_of(&bed) {
        let found = json!({ "orders": 1, "landed": 3, "dead_lettered": 0, "missing": 0 });
        publish(&bed, slot, &[1, 2, 3], Some(found)).await;
    }
    bed.tick().await;
    for slot in slots_of(&bed) {
        dead_letter(&bed, slot).await;
    }
    let today = day(TO);
    let grid = bed.finder().grid(today, today, Fresh::Known).await.unwrap();
    assert!(grid.counts.contains(&(State::Incomplete, 8)));
    // The newest were asked about, and the oldest say what they are.
    assert!(grid.counts.contains(&(State::Closed, 6)));
    assert_eq!(
        (grid.closed.up_to, grid.closed.unread),
        (None, Some((today, today)))
    );
    let report = bed
        .finder()
        .hours(today, today, Fresh::Known, Gate::Suspect)
        .await
        .unwrap();
    assert!(report.hours.iter().all(|row| {
        row.state != State::Closed
            || row
                .reasons
                .iter()
                .any(|reason| reason.message.starts_with(WORD))
    }));
    assert_eq!(report.closed_up_to, None);
    let report = bed
        .finder()
        .hours(today, today, Fresh::Known, Gate::Doubt)
        .await
        .unwrap();
    assert_eq!(report.counts.get(&State::Incomplete), Some(&14));
}

#[tokio::test]
async fn the_gate_of_hours_that_others_close_is_asked_too() {
    let mut bed = bed(TO, false);
    let mut declared = (*bed.dataset).clone();
    declared.marker.kind = lake::hours::dataset::MarkerKind::Success;
    bed.dataset = Arc::new(declared);
    for (hour_of, landed) in [(0, [1, 2].as_slice()), (1, &[1, 3])] {
        let prefix = bed.dataset.prefix_of(hour(TO, hour_of));
        bed.put(&format!("{prefix}part-0.parquet"), lines("a", landed))
            .await;
        bed.tick().await;
        bed.put(&format!("{prefix}_SUCCESS"), "").await;
    }
    let today = day(TO);
    let grid = bed.finder().grid(today, today, Fresh::Known).await.unwrap();
    assert!(grid.counts.contains(&(State::Closed, 1)));
    assert!(grid.counts.contains(&(State::Incomplete, 1)));
    assert_eq!(grid.closed.up_to, Some(hour(TO, 0).end()));
    let closed = bed.finder().closed().await.unwrap();
    assert_eq!(closed.up_to, Some(hour(TO, 0).end()));
    assert_eq!(closed.blocked_by.unwrap().state, State::Incomplete);
    let check = bed.finder().check(hour(TO, 1)).await.unwrap();
    assert_eq!(check.state, State::Incomplete);
}

#[tokio::test]
async fn an_hour_whose_lines_all_became_dead_letters_is_not_one_in_which_nothing_happened() {
    let slot = hour(TO, 0);
    let declared = json!({ "dataset": "learning.progress", "event_date": slot.day, "hour": 0, "reason": "quiet", "declared_at": slot.end() });
    for (every_hour, report, declares, right) in [
        (true, false, false, State::Late),
        (false, false, false, State::Late),
        (false, false, true, State::Late),
        (false, true, false, State::Late),
        (false, true, true, State::Empty),
    ] {
        let mut bed = bed(TO, report);
        let mut dataset = (*bed.dataset).clone();
        dataset.every_hour = every_hour;
        bed.dataset = Arc::new(dataset);
        dead_letter(&bed, slot).await;
        if declares {
            let key = Bed::marker_key(slot).replace(".json", ".empty.json");
            bed.put(&key, declared.to_string()).await;
        }
        let check = bed.finder().check(slot).await.unwrap();
        let said = &check.reasons;
        assert_eq!(
            check.state, right,
            "{every_hour} {report} {declares}: {said:?}"
        );
        assert!(
            said.iter()
                .any(|r| r.message == "no data, and yet 1 object of dead letters"),
            "{said:?}"
        );
        let closed = bed.finder().closed().await.unwrap();
        assert_eq!(closed.up_to.is_some(), right == State::Empty);
    }
}

#[tokio::test]
async fn dead_letters_in_no_hour_may_be_any_hours() {
    let slot = hour(TO, 0);
    for below in [
        "x.json",
        "partition=0/x.json",
        "topic/event_date=2026-11-10/hour=00/x.json",
        "event_date=2026-11-10/x.json",
        "event_date=2026-11-10/Hour=00/x.json",
        "event_date=2026-11-10/hour=24/x.json",
        "event_date=2026%2D11%2D10/hour=00/x.json",
    ] {
        let bed = bed(TO, true);
        publish(&bed, slot, &[1, 2], None).await;
        bed.put(&format!("learning/progress.dlq/{below}"), "{}")
            .await;
        let check = bed.finder().check(slot).await.unwrap();
        assert_eq!(check.state, State::Incomplete, "{below}");
        let why = &check.reasons[0].message;
        assert!(
            why.starts_with("dead letters lie in no hour"),
            "{below}: {why}"
        );
    }
    let bed = bed(TO, true);
    publish(&bed, slot, &[1, 2], None).await;
    for hidden in ["_log/x.json", ".x.json"] {
        bed.put(&format!("learning/progress.dlq/{hidden}"), "{}")
            .await;
    }
    let check = bed.finder().check(slot).await.unwrap();
    assert_eq!((check.state, check.closed), (State::Closed, true));
}

#[tokio::test]
async fn dead_letters_that_a_marker_knows_of_are_not_forgotten() {
    let bed = bed(TO, true);
    let slot = hour(TO, 0);
    let found = json!({
        "orders": 1, "landed": 2, "dead_lettered": 1, "missing": 0, "letters": "1-0000000000000000",
    });
    publish(&bed, slot, &[1, 2], Some(found)).await;
    let check = bed.finder().check(slot).await.unwrap();
    assert_eq!(check.state, State::Closed);
    let said = "1 line only among the dead letters when the hour was published, and some of these are gone";
    assert!(
        check.reasons.iter().any(|r| r.message == said),
        "{:?}",
        check.reasons
    );
}

/// The hours of the last day that have ended.
fn slots_of(bed: &Bed) -> Vec<Slot> {
    let all = bed.dataset.slots(day(TO));
    all.filter(|slot| slot.end() <= bed.now).collect()
}
