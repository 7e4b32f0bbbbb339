use lake::hours::Reason;
use lake::wire::hours::{DatasetReport, HourRow, ObjectRow};

use super::*;

fn run(id: &str, current: bool, matches: Option<bool>) -> RunRow {
    RunRow {
        run_id: id.to_owned(),
        objects: 3,
        bytes: 3_072,
        newest: None,
        current,
        marked_objects: matches.map(|_| 3),
        matches,
        published_at: None,
        pins: Vec::new(),
    }
}

fn hour(state: State, runs: Vec<RunRow>) -> HourReport {
    let objects = runs.first().map_or(0, |run| run.objects);
    HourReport {
        dataset: DatasetReport {
            name: "learning.progress".to_owned(),
            ..DatasetReport::default()
        },
        row: HourRow {
            date: "2026-11-10".parse().unwrap(),
            hour: Some(8),
            state,
            reasons: Vec::new(),
            marker: None,
            objects,
            bytes: 0,
            median_bytes: None,
            newest_object: None,
            completeness: None,
            listed_at: None,
            deadline: None,
            owner: None,
        },
        prefix: String::new(),
        scan: None,
        marker_key: runs.iter().any(|run| run.current).then(|| "m".to_owned()),
        marker_put: Some(Time(1_000)),
        closed_by: None,
        runs,
        loose: Vec::new(),
        loose_total: 0,
        objects: Vec::new(),
        replay_until: None,
        contract: None,
        statement: None,
        last_closed: None,
        now: Time(0),
    }
}

fn names(report: &HourReport) -> Vec<String> {
    offers(report).into_iter().map(|offer| offer.name).collect()
}

#[test]
fn a_mutated_hour_is_mended_by_another_run_and_never_by_its_own() {
    let mutated = hour(
        State::Mutated,
        vec![
            run("b", true, Some(false)),
            run("a", false, Some(true)),
            run("c", false, None),
        ],
    );
    assert_eq!(
        names(&mutated),
        ["Publish run c with 3 objects…", "Point back to a…"]
    );
    let (_, command) = advice(&mutated).unwrap();
    assert_eq!(
        command,
        "tidemark publish learning.progress --date 2026-11-10 --hour 8 --run RUN --count N"
    );
    let lost = hour(State::Lost, vec![run("b", true, Some(false))]);
    assert_eq!(names(&lost), [""; 0]);
    assert!(advice(&lost).is_some());
    let incomplete = hour(State::Incomplete, vec![run("b", true, Some(true))]);
    assert_eq!(names(&incomplete), [""; 0]);
    assert!(advice(&incomplete).unwrap().1.ends_with("--replace"));
}

#[test]
fn of_two_that_race_those_that_match_can_be_kept_or_chosen() {
    let racing = hour(
        State::Racing,
        vec![run("b", true, Some(true)), run("a", false, Some(true))],
    );
    assert_eq!(names(&racing), ["Keep b…", "Choose a…"]);
    let note = offers(&racing)[0].note.clone().unwrap();
    assert_eq!(note, "3 objects, 3.0 KiB, matches its marker");
    let one = hour(
        State::Racing,
        vec![run("b", true, Some(false)), run("a", false, Some(true))],
    );
    assert_eq!(names(&one), ["Choose a…"]);
    assert_eq!(spoiled(&one).count(), 1);
}

#[test]
fn only_what_can_be_packed_is_packed() {
    let mut closed = hour(State::Closed, vec![run("a", true, Some(true))]);
    assert_eq!(names(&closed), ["Compact…"]);
    closed.row.objects = 1;
    assert_eq!(names(&closed), [""; 0]);
    let key = |put| ObjectRow {
        key: String::new(),
        bytes: 1,
        put: Time(put),
        after_marker: put > 1_000,
    };
    closed.loose = vec![key(500), key(2_000)];
    assert_eq!((late(&closed), names(&closed).len()), (1, 1));
    let mut late = hour(State::Late, Vec::new());
    assert_eq!(names(&late), ["Declare that nothing happened…"]);
    late.loose_total = 2;
    assert_eq!(names(&late), ["Compact…"]);
    assert_eq!(names(&hour(State::Open, Vec::new())), [""; 0]);
}

#[test]
fn what_is_declared_is_not_declared_again() {
    let mut empty = hour(State::Empty, Vec::new());
    assert_eq!(names(&empty), ["Declare that nothing happened…"]);
    empty.row.reasons = vec![Reason {
        key: Some("x/_markers/event_date=2026-11-10/hour=08.empty.json".to_owned()),
        ..Reason::new(State::Empty, "declared empty")
    }];
    assert_eq!(names(&empty), [""; 0]);
}
