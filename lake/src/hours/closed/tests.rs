//! Up to when a dataset is closed, from states alone.

use std::collections::BTreeMap;

use super::*;
use crate::hours::judge::tests::dataset;

fn time(text: &str) -> Time {
    Time::parse(text).unwrap()
}

/// The answer where each hour from the first on has the state of its letter; the rest is unknown.
fn walked(dataset: &Dataset, letters: &str, now: &str) -> ClosedReport {
    let first = dataset.first.unwrap();
    let slots = first.to(first.plus(30)).flat_map(|day| dataset.slots(day));
    let states: BTreeMap<Slot, State> = slots
        .zip(letters.chars().map(|l| State::of_letter(l).unwrap()))
        .collect();
    let seen = |slot| match states.get(&slot) {
        Some(state) => Seen::Stands(*state, state.words().to_owned()),
        None => Seen::Unread,
    };
    let read = |slot| states.contains_key(&slot);
    Walk::default().go(dataset, time(now), seen, read).into()
}

#[test]
fn it_is_the_end_of_the_last_good_hour() {
    let report = walked(&dataset(), "CCBECCCCTC", "2026-11-10T09:59:00Z");
    assert_eq!(report.up_to, Some(time("2026-11-10T08:00:00Z")));
    let blocked = report.blocked_by.unwrap();
    assert_eq!((blocked.hour, blocked.state), (Some(8), State::Late));
}

#[test]
fn the_open_hour_holds_it_back_until_it_is_closed() {
    let open = walked(&dataset(), "CCO", "2026-11-10T02:30:00Z");
    assert_eq!(open.up_to, Some(time("2026-11-10T02:00:00Z")));
    assert_eq!(open.blocked_by.unwrap().state, State::Open);

    // Hours that have not begun hold nothing back.
    let all = walked(&dataset(), "CCCF", "2026-11-10T02:30:00Z");
    assert_eq!(all.up_to, Some(time("2026-11-10T03:00:00Z")));
    assert_eq!(all.blocked_by, None);
}

#[test]
fn every_worse_state_holds_it_back_and_none_other() {
    for state in State::ALL {
        let letters = format!("C{}C", state.letter());
        let report = walked(&dataset(), &letters, "2026-11-10T02:59:59Z");
        let passes = matches!(state, State::Closed | State::OverBudget | State::Empty);
        let expected = match passes {
            true => "2026-11-10T03:00:00Z",
            false => "2026-11-10T01:00:00Z",
        };
        assert_eq!(report.up_to, Some(time(expected)), "{state:?}");
        assert_eq!(report.blocked_by.is_none(), passes, "{state:?}");
    }
}

#[test]
fn nothing_closed_is_no_instant() {
    let report = walked(&dataset(), "LC", "2026-11-10T01:30:00Z");
    assert_eq!(report.up_to, None);
    assert!(report.blocked_by.is_some());
}

#[test]
fn what_nobody_looked_at_is_asked_for() {
    let mut report = walked(&dataset(), &"C".repeat(30), "2026-11-13T12:00:00Z");
    let days = ("2026-11-11".parse().unwrap(), "2026-11-13".parse().unwrap());
    assert_eq!(report.unread.take(), Some(days));
    assert_eq!(report, ClosedReport::default());
    // What holds it back before makes no difference to look at the rest.
    let report = walked(&dataset(), "CT", "2026-11-13T12:00:00Z");
    assert_eq!(report.unread, None);
}

#[test]
fn days_are_walked_as_days() {
    let mut daily = dataset();
    daily.partition.truncate(1);
    let report = walked(&daily, "CCO", "2026-11-12T23:00:00Z");
    assert_eq!(report.up_to, Some(time("2026-11-12T00:00:00Z")));
    assert_eq!(report.blocked_by.unwrap().hour, None);
}

#[test]
fn without_a_first_day_there_is_no_answer() {
    let mut dataset = dataset();
    dataset.first = None;
    let closed = |_| Seen::Stands(State::Closed, String::new());
    let now = time("2026-11-12T23:00:00Z");
    let stop = Walk::default().go(&dataset, now, closed, |_| true);
    let report = ClosedReport::from(stop);
    assert!(report.unknown.is_some() && report.up_to.is_none());
}

#[test]
fn a_dataset_that_has_not_begun_is_closed_up_to_nothing() {
    let report = walked(&dataset(), "", "2026-11-01T00:00:00Z");
    assert_eq!(report, ClosedReport::default());
}
