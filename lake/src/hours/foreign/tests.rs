//! Each line of what goes wrong with others' markers.

use super::*;
use crate::hours::dataset::MarkerRule;
use crate::hours::judge::tests::{dataset as ours, slot};
use crate::table::Time;

fn dataset(kind: MarkerKind, whole_day: bool) -> Dataset {
    let template = "_done/{event_date}/{hour}".to_owned();
    Dataset {
        marker: MarkerRule {
            kind,
            template,
            whole_day,
        },
        ..ours()
    }
}

const HOUR: &str = "learning/progress/event_date=2026-11-10/hour=08";

/// An object put so many minutes after the hour's end.
fn object(key: &str, minute: i64) -> Object {
    let put = Time(slot().end().0 + minute * 60_000);
    let key = if key.starts_with("learning") {
        key.to_owned()
    } else {
        format!("{HOUR}/{key}")
    };
    Object {
        key,
        bytes: 100,
        put,
        etag: None,
    }
}

fn verdict_of(
    dataset: &Dataset,
    objects: &[(&str, i64)],
    bodies: &[(&str, &str)],
    plain: Option<i64>,
) -> Verdict {
    let mut listing = Listing::default();
    for (key, minute) in objects {
        listing.add(dataset, object(key, *minute));
    }
    let day = Arc::new(ListedDay {
        day: slot().day,
        at: Time(0),
        listing,
        findings: Vec::new(),
    });
    let body = |object: &Object| {
        let found = bodies.iter().find(|(key, _)| object.key.ends_with(key));
        found.map(|(_, text)| Bytes::from(text.as_bytes().to_vec()))
    };
    let commits = committed(dataset, [&day].into_iter(), &body);
    let mut markers = commits
        .get(&slot())
        .map(|m| m.as_ref().clone())
        .unwrap_or_default();
    markers.plain = plain.map(|minute| object("learning/progress/_done/2026-11-10/08", minute));
    let none = crate::hours::listing::SlotObjects::default();
    let objects = day.listing.slots.get(&slot()).unwrap_or(&none);
    let now = Time(slot().end().0 + 3_600_000);
    let evidence = Evidence {
        slot: slot(),
        markers: &markers,
        objects,
        completeness: None,
        now,
    };
    judge(dataset, evidence, Some(&day.listing))
}

fn success(objects: &[(&str, i64)]) -> Verdict {
    verdict_of(&dataset(MarkerKind::Success, false), objects, &[], None)
}

fn commit(objects: &[(&str, i64)], bodies: &[(&str, &str)]) -> Verdict {
    verdict_of(
        &dataset(MarkerKind::Committed, false),
        objects,
        bodies,
        None,
    )
}

#[test]
fn success_closes_what_is_not_newer() {
    assert_eq!(success(&[("a", 1), ("_SUCCESS", 2)]).state, State::Closed);
    assert_eq!(success(&[("a", 2), ("_SUCCESS", 2)]).state, State::Closed);
    assert_eq!(success(&[("a", 1)]).state, State::Late);
    let stale = success(&[("a", 1), ("b", 9), ("_SUCCESS", 2)]);
    assert_eq!(stale.state, State::Mutated);
    assert_eq!(
        stale.reasons[0].key.as_deref(),
        Some(format!("{HOUR}/b").as_str())
    );
    assert_eq!(success(&[("_SUCCESS", 2)]).state, State::Empty);
    let busy = success(&[("a", 1), ("_temporary/0/x", 1)]);
    assert_eq!(busy.state, State::Late);
    assert!(
        busy.reasons
            .iter()
            .any(|r| r.message.starts_with("in progress")),
        "{:?}",
        busy.reasons
    );
    let staging = success(&[(".spark-staging-1/x", 1)]);
    assert_eq!(staging.state, State::Late);
    // Names are what they are, to the letter.
    assert_eq!(success(&[("a", 1), ("_success", 2)]).state, State::Late);
    assert_eq!(success(&[("a", 1), ("b/_SUCCESS", 2)]).objects, 0);
}

#[test]
fn two_runs_with_markers_of_their_own_race() {
    let one = success(&[
        ("run_id=1/a", 1),
        ("run_id=1/_SUCCESS", 2),
        ("run_id=2/a", 1),
    ]);
    assert_eq!((one.state, one.objects), (State::Closed, 1));
    let two = success(&[
        ("run_id=1/a", 1),
        ("run_id=1/_SUCCESS", 2),
        ("run_id=2/a", 1),
        ("run_id=2/_SUCCESS", 3),
    ]);
    assert_eq!(two.state, State::Racing);
}

#[test]
fn a_day_s_marker_closes_no_hour_that_is_newer() {
    let day = dataset(MarkerKind::Success, true);
    let root = "learning/progress/event_date=2026-11-10/_SUCCESS";
    assert_eq!(
        verdict_of(&day, &[("a", 1), (root, 2)], &[], None).state,
        State::Closed
    );
    assert_eq!(
        verdict_of(&day, &[("a", 3), (root, 2)], &[], None).state,
        State::Mutated
    );
    // A marker of the whole dataset is no marker of any hour.
    let of_all = "learning/progress/_SUCCESS";
    assert_eq!(
        verdict_of(&day, &[("a", 1), (of_all, 2)], &[], None).state,
        State::Late
    );
}

#[test]
fn only_what_was_committed_counts() {
    let added = |names: &str| format!(r#"{{"added":[{names}],"removed":[]}}"#);
    let one = added(r#""a""#);
    let good = commit(
        &[("a", 1), ("_started_1", 0), ("_committed_1", 2)],
        &[("_committed_1", &one)],
    );
    assert_eq!((good.state, good.objects), (State::Closed, 1));
    let more = commit(
        &[("a", 1), ("b", 1), ("_committed_1", 2)],
        &[("_committed_1", &one)],
    );
    assert_eq!((more.state, more.objects), (State::Closed, 1));
    assert!(
        more.reasons[0]
            .message
            .contains("1 files are named by no commit")
    );
    let both = added(r#""a","b""#);
    let short = commit(&[("a", 1), ("_committed_1", 2)], &[("_committed_1", &both)]);
    assert_eq!(short.state, State::Mutated);
    let gone = commit(&[("_committed_1", 2)], &[("_committed_1", &both)]);
    assert_eq!(gone.state, State::Lost);
    let begun = commit(&[("a", 1), ("_started_1", 0)], &[]);
    assert_eq!(begun.state, State::Late);
    assert!(
        begun
            .reasons
            .iter()
            .any(|r| r.message.contains("transaction 1 has started"))
    );
    let broken = commit(&[("a", 1), ("_committed_1", 2)], &[("_committed_1", "{")]);
    assert_eq!(broken.state, State::Invalid);
    let swapped = commit(
        &[("a", 1), ("b", 3), ("_committed_1", 2), ("_committed_2", 4)],
        &[
            ("_committed_1", &one),
            ("_committed_2", r#"{"added":["b"],"removed":["a"]}"#),
        ],
    );
    assert_eq!((swapped.state, swapped.objects), (State::Closed, 1));
}

#[test]
fn a_custom_marker_closes_by_being_there() {
    let custom = dataset(MarkerKind::Custom, false);
    assert_eq!(
        verdict_of(&custom, &[("a", 1)], &[], Some(2)).state,
        State::Closed
    );
    assert_eq!(
        verdict_of(&custom, &[("a", 3)], &[], Some(2)).state,
        State::Mutated
    );
    assert_eq!(
        verdict_of(&custom, &[("a", 1)], &[], None).state,
        State::Late
    );
    assert_eq!(verdict_of(&custom, &[], &[], Some(2)).state, State::Empty);
}
