//! What the gate of completeness costs, held to numbers: of a month nothing but the dead letters'
//! listing, of an hour that is in doubt two reads a file at most.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use lake::hours::dataset::Complete;
use lake::hours::find::Gate;
use lake::hours::{Slot, State};
use lake::wire::hours::Fresh;
use parquet::arrow::ArrowWriter;

use crate::bed::{Bed, dataset, day, hour};

const FROM: &str = "2026-10-11";
const TO: &str = "2026-11-10";
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

/// A month of a dataset with numbered lines; each marker says what its publisher's gate found.
async fn month() -> Bed {
    let mut declared = dataset(FROM);
    declared.complete = Some(Complete {
        key: "order_id".into(),
        sequence: "line_seq".into(),
        report: false,
        dead_letters: Some("learning/progress.dlq".into()),
    });
    let bed = Bed::new(declared, "2026-11-10T14:30:00Z");
    let files: Vec<Vec<u8>> = (1..=3).map(|line| lines("a", &[line])).collect();
    let bytes: usize = files.iter().map(Vec::len).sum();
    for slot in slots(&bed) {
        let prefix = bed.run_prefix(slot, "r1");
        for (n, file) in files.iter().enumerate() {
            bed.put(&format!("{prefix}part-{n}.parquet"), file.clone())
                .await;
        }
        let marker = serde_json::json!({
            "dataset": "learning.progress", "zone": "raw",
            "event_date": slot.day, "hour": slot.hour,
            "prefix": bed.dataset.url_of(&prefix), "object_count": FILES, "bytes": bytes,
            "max_event_time": slot.end(), "run_id": "r1",
            "definition_version": "1", "published_at": slot.end(),
            "completeness": { "orders": 1, "landed": 3, "dead_lettered": 0, "missing": 0 },
        });
        bed.put(&Bed::marker_key(slot), marker.to_string()).await;
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
    // 31 days, the marker tree, what lies beside the days; and the dead letters.
    assert_eq!((counts.lists, counts.gets, counts.heads), (34, markers, 0));
    assert!(counts.round_trips <= 6, "{counts}");
    bed.finder().grid(from, to, Fresh::Refresh).await.unwrap();
    let refresh = bed.counts();
    println!("a gated month, refreshed: {refresh}");
    // Markers, dead letters, today, and the day in turn.
    assert_eq!((refresh.lists, refresh.gets), (4, 0));
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
    let report = bed.finder().grid(from, to, Fresh::Known).await.unwrap();
    let counts = bed.counts();
    println!("a gated month with 10 hours in doubt, cold: {counts}");
    let incomplete = |counts: &[(State, u64)]| {
        let found = counts.iter().find(|(state, _)| *state == State::Incomplete);
        found.map(|(_, hours)| *hours)
    };
    assert_eq!(incomplete(&report.counts), Some(8));
    // A file so small is read with its footer; of a dead letter it is looked first what it is.
    let files = FILES + 2;
    assert_eq!(counts.gets - markers, 8 * files, "{counts}");
    assert!(counts.round_trips <= 14, "{counts}");
    assert_eq!(counts.lists, 34);
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
    // Its markers, its keys, its dead letters; the marker and its files.
    assert_eq!((counts.lists, counts.gets), (3, 1 + FILES), "{counts}");
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
