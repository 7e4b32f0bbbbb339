//! Up to when, from states alone.

use super::*;
use crate::hours::judge::tests::dataset;
use crate::hours::{Reason, State};

/// The first day's hours by their letters, the rest late.
fn up_to(letters: &str, now: i64) -> ClosedReport {
    let dataset = dataset();
    let first = dataset.first.unwrap();
    let verdict = |slot: Slot| {
        let at = usize::from(slot.hour.unwrap());
        let letter = if slot.day == first {
            letters.chars().nth(at)
        } else {
            None
        };
        let state = letter.and_then(State::of_letter).unwrap_or(State::Late);
        Verdict {
            state,
            reasons: vec![Reason::new(state, state.words())],
            objects: 0,
            bytes: 0,
            median_bytes: None,
            newest: None,
        }
    };
    closed_up_to(
        &dataset,
        Time(first.start().0 + now * 3_600_000),
        None,
        verdict,
    )
}

#[test]
fn it_ends_where_the_first_bad_hour_begins() {
    let dataset = dataset();
    let first = dataset.first.unwrap();
    let at = |hour: i64| Some(Time(first.start().0 + hour * 3_600_000));
    assert_eq!(up_to("CCCCCCCCM", 30).up_to, at(8));
    let blocked = up_to("CCCCCCCCM", 30).blocked_by.unwrap();
    assert_eq!(
        (blocked.date, blocked.hour, blocked.state),
        (first, Some(8), State::Mutated)
    );
    // Over budget and empty let pass; an open hour does not, and is no alarm.
    assert_eq!(up_to("CBECO", 4).up_to, at(4));
    assert_eq!(up_to("CBECO", 4).blocked_by.unwrap().state, State::Open);
    assert_eq!(up_to("MCCC", 4).up_to, None);
    // What is good after a bad hour does not count.
    assert_eq!(up_to("CTCC", 4).up_to, at(1));
    assert_eq!(up_to("CCCCCCCCCCCCCCCCCCCCCCCC", 24).up_to, at(24));
}

#[test]
fn what_is_not_known_is_said() {
    let mut dataset = dataset();
    let first = dataset.first.unwrap();
    let now = Time(first.plus(3).start().0);
    let unread = closed_up_to(&dataset, now, Some(first), |_| panic!("nobody looks"));
    assert_eq!(
        (unread.up_to, unread.unread),
        (None, Some((first, first.plus(3))))
    );
    dataset.first = None;
    let unknown = closed_up_to(&dataset, now, None, |_| panic!("nobody looks"));
    assert!(unknown.unknown.unwrap().contains("first"));
}
