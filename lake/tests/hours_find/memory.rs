//! What is read again, and what is not.

use std::sync::Arc;

use lake::hours::State;
use lake::hours::find::{Gate, Memory};
use lake::wire::hours::{Fresh, GridReport};

use crate::bed::{Bed, dataset, day, hour};

const FROM: &str = "2026-11-07";
const TO: &str = "2026-11-10";

async fn days() -> Bed {
    let bed = Bed::new(dataset(FROM), "2026-11-10T14:30:00Z");
    bed.close_days(day(FROM), day(TO), 2).await;
    bed
}

async fn grid(bed: &Bed, fresh: Fresh) -> GridReport {
    bed.finder().grid(day(FROM), day(TO), fresh).await.unwrap()
}

fn letter(report: &GridReport, date: &str, hour: usize) -> char {
    let row = report.days.iter().find(|d| d.date == day(date)).unwrap();
    row.states.chars().nth(hour).unwrap()
}

#[tokio::test]
async fn a_marker_that_did_not_change_is_not_read_again() {
    let bed = days().await;
    grid(&bed, Fresh::Known).await;
    bed.counts();
    grid(&bed, Fresh::Again).await;
    let counts = bed.counts();
    // Four days, the marker tree, what lies beside them.
    assert_eq!((counts.gets, counts.lists), (0, 6));
}

#[tokio::test]
async fn a_marker_that_changed_is_read_and_its_day_listed() {
    let bed = days().await;
    grid(&bed, Fresh::Known).await;
    // Let the day have had its turn, so that only the marker can bring it up.
    for _ in 0..3 {
        grid(&bed, Fresh::Refresh).await;
    }
    bed.counts();
    let slot = hour("2026-11-07", 5);
    bed.run(slot, "r2", 3).await;
    bed.mark(slot, "r2", 3, "1").await;
    let report = grid(&bed, Fresh::Refresh).await;
    let counts = bed.counts();
    assert_eq!(letter(&report, "2026-11-07", 5), 'C');
    assert_eq!(counts.gets, 1);
    let finder = bed.finder();
    let row = finder.hour(slot, Fresh::Known).await.unwrap().row;
    assert_eq!((row.state, row.objects), (State::Closed, 3));
}

#[tokio::test]
async fn a_key_put_into_a_closed_run_is_found_when_its_day_is_listed() {
    let bed = days().await;
    grid(&bed, Fresh::Known).await;
    let slot = hour("2026-11-08", 3);
    let key = format!("{}late.parquet", bed.run_prefix(slot, "r1"));
    bed.put(&key, "more").await;
    assert_eq!(
        letter(&grid(&bed, Fresh::Known).await, "2026-11-08", 3),
        'C'
    );
    assert_eq!(
        letter(&grid(&bed, Fresh::Again).await, "2026-11-08", 3),
        'M'
    );
    // The hour's own page looks at the hour alone.
    bed.delete(&key).await;
    bed.counts();
    let report = bed.finder().hour(slot, Fresh::Again).await.unwrap();
    assert_eq!(report.row.state, State::Closed);
    let counts = bed.counts();
    assert_eq!((counts.lists, counts.gets), (3, 0));
    // And the grid knows from then on.
    assert_eq!(
        letter(&grid(&bed, Fresh::Known).await, "2026-11-08", 3),
        'C'
    );
}

#[tokio::test]
async fn a_run_that_expired_is_lost_and_a_marker_that_went_is_late() {
    let bed = days().await;
    grid(&bed, Fresh::Known).await;
    let (lost, late) = (hour("2026-11-08", 3), hour("2026-11-08", 4));
    for part in 0..2 {
        let key = format!("{}part-{part:05}.parquet", bed.run_prefix(lost, "r1"));
        bed.delete(&key).await;
    }
    bed.delete(&Bed::marker_key(late)).await;
    let report = grid(&bed, Fresh::Again).await;
    assert_eq!(letter(&report, "2026-11-08", 3), 'L');
    assert_eq!(letter(&report, "2026-11-08", 4), 'T');
    assert_eq!(report.attention_total, 2);
    assert_eq!(report.attention[0].state, State::Lost);
    assert_eq!(report.closed.up_to, Some(lost.start()));
}

#[tokio::test]
async fn what_a_window_does_not_reach_is_asked_for_apart() {
    let bed = days().await;
    let finder = bed.finder();
    let report = finder.grid(day(TO), day(TO), Fresh::Known).await.unwrap();
    let unread = (day(FROM), day("2026-11-09"));
    assert_eq!(report.closed.unread, Some(unread));
    bed.counts();
    let closed = finder.closed().await.unwrap();
    assert_eq!(closed.up_to, Some(hour(TO, 13).end()));
    assert_eq!(closed.blocked_by.unwrap().hour, Some(14));
    // The day of the window is not read again.
    assert_eq!(bed.counts().gets, 3 * 24);
}

#[tokio::test]
async fn answers_of_two_questions_at_once_are_both_whole() {
    let bed = days().await;
    let (one, two) = (bed.finder(), bed.finder());
    let (a, b) = futures::future::join(
        one.grid(day(FROM), day(TO), Fresh::Known),
        two.grid(day(FROM), day(TO), Fresh::Again),
    )
    .await;
    assert_eq!(a.unwrap().days, b.unwrap().days);
    assert_eq!(Arc::strong_count(&bed.memory), 3);
}

#[tokio::test]
async fn what_was_asked_about_longest_ago_is_forgotten() {
    let whole = days().await;
    let mut bed = days().await;
    // A day is 48 objects and 24 markers: two of them fit.
    bed.memory = Arc::new(Memory::bounded(150));
    let one = async |bed: &Bed, date: &str| {
        let day = day(date);
        let report = bed.finder().grid(day, day, Fresh::Known).await.unwrap();
        (report.counts, bed.counts().gets)
    };
    let closed = vec![(State::Closed, 24)];
    assert_eq!(one(&bed, "2026-11-07").await, (closed.clone(), 24));
    assert_eq!(one(&bed, "2026-11-08").await, (closed.clone(), 24));
    assert_eq!(one(&bed, "2026-11-07").await, (closed.clone(), 0));
    assert_eq!(one(&bed, "2026-11-09").await, (closed.clone(), 24));
    assert_eq!(bed.memory.days(), 2);
    assert_eq!(one(&bed, "2026-11-07").await, (closed.clone(), 0));
    assert_eq!(one(&bed, "2026-11-08").await, (closed, 24));
    assert_eq!(bed.memory.days(), 2);

    // Whatever fits, the answers are whole, and end.
    for limit in [150, 1, 0] {
        bed.memory = Arc::new(Memory::bounded(limit));
        for gate in [Gate::Suspect, Gate::All] {
            let (from, to) = (day(FROM), day(TO));
            let report = bed.finder().hours(from, to, Fresh::Known, gate).await;
            let wanted = whole.finder().hours(from, to, Fresh::Known, gate).await;
            let (report, wanted) = (report.unwrap(), wanted.unwrap());
            assert_eq!(report.counts, wanted.counts, "{limit}");
            assert_eq!(report.closed_up_to, Some(hour(TO, 13).end()), "{limit}");
            assert_eq!(report.blocked_by, wanted.blocked_by, "{limit}");
        }
        let (a, b) = futures::future::join(one(&bed, FROM), one(&bed, TO)).await;
        assert_eq!(a.0, [(State::Closed, 24)], "{limit}");
        assert!(b.0.contains(&(State::Closed, 14)), "{limit}: {:?}", b.0);
        assert!(bed.memory.days() <= limit / 72, "{limit}");
        let closed = bed.finder().closed().await.unwrap();
        assert_eq!(closed.up_to, Some(hour(TO, 13).end()), "{limit}");
    }
}
