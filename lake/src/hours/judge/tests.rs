//! Each state from its evidence, and the order between any two.

use indexmap::IndexMap;

use super::*;
use crate::hours::Day;
use crate::hours::dataset::{Budget, Complete, MarkerKind, MarkerRule, Retention};
use crate::hours::listing::Listing;
use crate::hours::marker::publication_ok;
use crate::hours::template::{Template, Tree};

/// A dataset of hours in `s3://tlp-raw/`.
pub(crate) fn dataset() -> Dataset {
    Dataset {
        name: "learning.progress".into(),
        zone: "raw".into(),
        url: "s3://tlp-raw/".into(),
        prefix: "learning/progress".into(),
        partition: vec!["event_date".into(), "hour".into()],
        marker: MarkerRule {
            kind: MarkerKind::Tidemark,
            template: "_markers/event_date={event_date}/hour={hour}.json".into(),
            whole_day: false,
        },
        grace: 15 * 60_000,
        every_hour: true,
        first: Some(day()),
        banned_keys: ["learner_id", "email"].map(String::from).to_vec(),
        event_time: None,
        grain: Vec::new(),
        prohibited_columns: Vec::new(),
        columns: IndexMap::new(),
        owner: None,
        publisher: None,
        compaction_owner: None,
        stream: None,
        definition_version: None,
        budget: Budget {
            objects: Some(4),
            median_bytes: Some(10),
        },
        retention: Retention::default(),
        complete: None,
        metastore: None,
        reads: Vec::new(),
    }
}

fn day() -> Day {
    "2026-11-10".parse().unwrap()
}

/// The hour that the tests are about.
pub(crate) fn slot() -> Slot {
    Slot::hour(day(), 8)
}

const RUN: &str = "learning/progress/event_date=2026-11-10/hour=08/run_id=r1/";

fn object(key: &str, bytes: u64, minute: i64) -> Object {
    let put = Time(slot().end().0 + minute * 60_000);
    Object {
        key: key.into(),
        bytes,
        put,
        etag: None,
    }
}

fn marker(run: &str, count: u64, bytes: u64, supersedes: Option<&str>) -> Marker {
    Marker {
        dataset: "learning.progress".into(),
        zone: "raw".into(),
        event_date: day(),
        hour: Some(8),
        prefix: format!(
            "s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id={run}/"
        ),
        object_count: count,
        bytes,
        max_event_time: slot().end(),
        run_id: run.into(),
        definition_version: "1".into(),
        published_at: slot().end(),
        supersedes: supersedes.map(String::from),
        extra: serde_json::Map::new(),
    }
}

fn current(marker: Marker) -> Markers {
    let key = Template::of(&dataset()).current(slot());
    Markers {
        current: Some((object(&key, 300, 10), Ok(marker))),
        ..Markers::default()
    }
}

fn listed(dataset: &Dataset, objects: Vec<Object>) -> SlotObjects {
    let mut listing = Listing::default();
    for object in objects {
        listing.add(dataset, object);
    }
    listing.slots.remove(&slot()).unwrap_or_default()
}

/// The state of the hour an hour after it ended.
fn verdict(
    dataset: &Dataset,
    markers: &Markers,
    objects: Vec<Object>,
    completeness: Option<&Completeness>,
) -> Verdict {
    let objects = listed(dataset, objects);
    let now = Time(slot().end().0 + 3_600_000);
    judge(
        dataset,
        Evidence {
            slot: slot(),
            markers,
            objects: &objects,
            completeness,
            now,
        },
    )
}

fn part(n: u32, minute: i64) -> Object {
    object(&format!("{RUN}part-{n}.parquet"), 10, minute)
}

/// What makes each state, for an hour that has ended: markers, objects, the gate.
fn made(state: State) -> (Markers, Vec<Object>, Option<Completeness>) {
    let good = || current(marker("r1", 3, 30, None));
    let three = || vec![part(0, 1), part(1, 1), part(2, 1)];
    match state {
        State::Lost => (good(), Vec::new(), None),
        State::Mutated => (good(), [three(), vec![part(3, 24)]].concat(), None),
        State::Racing => {
            let mut markers = good();
            let key = Template::of(&dataset()).superseded(slot(), "r0");
            markers
                .superseded
                .push((object(&key, 300, 9), Ok(marker("r0", 2, 20, None))));
            (markers, three(), None)
        }
        State::Invalid => {
            let mut markers = good();
            markers.current = markers
                .current
                .map(|(object, _)| (object, Err("not JSON".into())));
            (markers, three(), None)
        }
        State::Incomplete => {
            let found = Completeness {
                orders: 2,
                landed: 3,
                missing: 1,
                ..Completeness::default()
            };
            (good(), three(), Some(found))
        }
        State::Late => (Markers::default(), three(), None),
        State::OverBudget => {
            let parts = (0..5).map(|n| part(n, 1)).collect();
            (current(marker("r1", 5, 50, None)), parts, None)
        }
        State::Closed => (good(), three(), None),
        State::Open | State::Future | State::Empty => {
            unreachable!("not of an hour that is expected and past")
        }
    }
}

#[test]
fn each_state_of_a_past_hour_is_made_by_its_evidence() {
    let mut dataset = dataset();
    dataset.complete = Some(Complete {
        key: "order_id".into(),
        sequence: "line_seq".into(),
        report: false,
        dead_letters: None,
    });
    for state in State::ALL
        .into_iter()
        .filter(|state| *state <= State::Closed)
    {
        let (markers, objects, gate) = made(state);
        let verdict = verdict(&dataset, &markers, objects, gate.as_ref());
        assert_eq!(verdict.state, state, "{:?}", verdict.reasons);
    }
}

/// Two states' evidence together: the worse one is the state, and the other is a reason wherever
/// both can be so at once.
#[test]
fn the_worse_of_two_states_wins() {
    let mut dataset = dataset();
    dataset.complete = Some(Complete {
        key: "order_id".into(),
        sequence: "line_seq".into(),
        report: false,
        dead_letters: None,
    });
    let together = [
        State::Lost,
        State::Mutated,
        State::Racing,
        State::Incomplete,
    ];
    for (at, worse) in together.iter().enumerate() {
        for better in &together[at + 1..] {
            let (mut markers, objects, gate) = made(*worse);
            let (other, _, other_gate) = made(*better);
            markers.superseded.extend(other.superseded);
            let gate = gate.or(other_gate);
            let verdict = verdict(&dataset, &markers, objects, gate.as_ref());
            assert_eq!(verdict.state, *worse);
            let both = verdict.reasons.iter().any(|reason| reason.state == *better);
            assert!(
                both || (*worse, *better) == (State::Lost, State::Mutated),
                "{worse:?} {better:?}"
            );
        }
    }
    // The order itself, pair by pair, as the specification's table has it.
    let words = [
        "lost",
        "mutated",
        "racing",
        "invalid",
        "incomplete",
        "late",
        "over budget",
        "closed",
        "open",
        "future",
        "empty",
    ];
    assert_eq!(State::ALL.map(State::words), words);
    for (at, worse) in State::ALL.iter().enumerate() {
        for better in &State::ALL[at + 1..] {
            let reasons = vec![Reason::new(*better, ""), Reason::new(*worse, "")];
            assert_eq!(
                conclude(&SlotObjects::default(), &[], reasons).state,
                *worse
            );
        }
    }
}

#[test]
fn without_a_marker_the_clock_decides() {
    let dataset = dataset();
    let state = |dataset: &Dataset, objects: Vec<Object>, now: i64| {
        let objects = listed(dataset, objects);
        let markers = Markers::default();
        let now = Time(now);
        judge(
            dataset,
            Evidence {
                slot: slot(),
                markers: &markers,
                objects: &objects,
                completeness: None,
                now,
            },
        )
        .state
    };
    let (start, end, deadline) = (slot().start().0, slot().end().0, dataset.deadline(slot()).0);
    for (now, expected) in [
        (start - 1, State::Future),
        (start, State::Open),
        (end, State::Open),
        (deadline - 1, State::Open),
        (deadline, State::Late),
    ] {
        assert_eq!(state(&dataset, Vec::new(), now), expected);
        assert_eq!(state(&dataset, vec![part(0, 1)], now), expected);
    }
    let mut some = dataset.clone();
    some.every_hour = false;
    assert_eq!(state(&some, Vec::new(), deadline), State::Empty);
    assert_eq!(state(&some, vec![part(0, 1)], deadline), State::Late);
    let mut later = dataset;
    later.first = Some(day().plus(1));
    assert_eq!(state(&later, Vec::new(), deadline), State::Empty);
}

#[test]
fn late_data_leaves_the_hour_closed_and_names_the_key() {
    let dataset = dataset();
    let late = object(
        "learning/progress/event_date=2026-11-10/hour=08/part-9.parquet",
        7,
        20,
    );
    let consumed = object(
        "learning/progress/event_date=2026-11-10/hour=08/part-1.parquet",
        7,
        1,
    );
    let (mut markers, objects, _) = made(State::Closed);
    if let Some((_, Ok(marker))) = &mut markers.current {
        let took = Took::of(&dataset, slot(), "r1", true, [&consumed]);
        let took = serde_json::to_value(took).unwrap();
        marker.extra.insert("loose_keys_taken".into(), took);
    }
    let verdict = verdict(
        &dataset,
        &markers,
        [objects, vec![consumed, late.clone()]].concat(),
        None,
    );
    assert_eq!(verdict.state, State::Closed);
    assert_eq!(verdict.reasons.len(), 1);
    assert_eq!(verdict.reasons[0].key.as_deref(), Some(late.key.as_str()));
    assert!(verdict.reasons[0].message.starts_with("late data"));
    assert_eq!(
        (verdict.objects, verdict.bytes, verdict.median_bytes),
        (3, 30, Some(10))
    );
}

#[test]
fn a_key_put_after_the_marker_is_named() {
    let (markers, objects, _) = made(State::Mutated);
    let verdict = verdict(&dataset(), &markers, objects, None);
    let key = format!("{RUN}part-3.parquet");
    let named = verdict
        .reasons
        .iter()
        .find(|reason| reason.key.as_deref() == Some(&key));
    assert_eq!(
        named.unwrap().message,
        "this key was put 14 min 0 s after the marker"
    );
}

#[test]
fn a_chain_of_superseded_runs_does_not_race() {
    let mut markers = current(marker("r2", 3, 30, Some("r1")));
    let key = |run| object(&Template::of(&dataset()).superseded(slot(), run), 300, 1);
    markers
        .superseded
        .push((key("r1"), Ok(marker("r1", 3, 30, Some("r0")))));
    markers
        .superseded
        .push((key("r0"), Ok(marker("r0", 3, 30, None))));
    let objects = (0..3)
        .map(|n| object(&format!("{}part-{n}", RUN.replace("r1", "r2")), 10, 1))
        .collect();
    assert_eq!(
        verdict(&dataset(), &markers, objects, None).state,
        State::Closed
    );
}

#[test]
fn publication_ok_fails_closed() {
    let listed = |keys: &[(&'static str, u64)]| keys.to_vec();
    let ok = |count, bytes, keys: Vec<(&str, u64)>| {
        publication_ok(&marker("r1", count, bytes, None), "p/run_id=1/", keys)
    };
    assert!(ok(
        2,
        30,
        listed(&[("p/run_id=1/a", 10), ("p/run_id=1/b", 20)])
    ));
    // Short, empty, outside, a neighbour that shares letters, the prefix itself, other bytes.
    assert!(!ok(2, 10, listed(&[("p/run_id=1/a", 10)])));
    assert!(!ok(2, 30, Vec::new()));
    assert!(!ok(0, 0, Vec::new()));
    assert!(!ok(
        2,
        30,
        listed(&[("p/run_id=1/a", 10), ("q/run_id=1/b", 20)])
    ));
    assert!(!ok(
        2,
        30,
        listed(&[("p/run_id=1/a", 10), ("p/run_id=10/b", 20)])
    ));
    assert!(!ok(
        2,
        10,
        listed(&[("p/run_id=1/a", 10), ("p/run_id=1/", 0)])
    ));
    assert!(!ok(
        2,
        31,
        listed(&[("p/run_id=1/a", 10), ("p/run_id=1/b", 20)])
    ));
    assert!(!publication_ok(
        &marker("r1", 1, 10, None),
        "p/run_id=1",
        [("p/run_id=10/a", 10)]
    ));
}

#[test]
fn markers_are_of_their_slot_and_point_below_it() {
    let dataset = dataset();
    let parse =
        |marker: &Marker| Marker::parse(&dataset, slot(), &serde_json::to_vec(marker).unwrap());
    let good = marker("r1", 3, 30, None);
    assert_eq!(parse(&good).unwrap(), good);
    let with = |change: &dyn Fn(&mut Marker)| {
        let mut marker = good.clone();
        change(&mut marker);
        parse(&marker).unwrap_err()
    };
    assert!(with(&|m| m.object_count = 0).contains("0 objects"));
    assert!(with(&|m| m.dataset = "x".into()).contains("dataset"));
    assert!(with(&|m| m.hour = Some(9)).contains("2026-11-10 09:00"));
    assert!(with(&|m| m.prefix = "s3://other/x/".into()).contains("outside"));
    assert!(with(&|m| m.prefix = m.prefix.replace("progress/", "progress2/")).contains("outside"));
    assert!(
        with(&|m| m.prefix = m.prefix.replace("hour=08/", "hour=08/../hour=09/"))
            .contains("outside")
    );
    assert!(with(&|m| m.prefix.truncate(m.prefix.len() - 1)).contains("slash"));
    assert!(with(&|m| m.prefix = m.prefix.replace("hour=08", "hour=09")).contains("partition"));
    assert!(Marker::parse(&dataset, slot(), b"{").is_err());
    let s3a = Marker {
        prefix: good.prefix.replace("s3://", "s3a://"),
        ..good.clone()
    };
    assert_eq!(s3a.scan(&dataset).unwrap(), RUN);
    let encoded = Marker {
        prefix: good.prefix.replace('=', "%3D"),
        ..good.clone()
    };
    assert_eq!(encoded.scan(&dataset).unwrap(), RUN);
    assert_eq!(encoded.location(&dataset).unwrap(), good.prefix);
    assert_eq!(s3a.location(&dataset).unwrap(), s3a.prefix);
    // A folder that has a percent sign is meant as it is, and no other.
    let literal = Marker {
        prefix: good.prefix.replace("=r1", "=14%3A05"),
        ..good.clone()
    };
    assert_eq!(
        literal.scan(&dataset).unwrap(),
        RUN.replace("=r1", "=14%3A05")
    );
    assert_eq!(literal.location(&dataset).unwrap(), literal.prefix);
    assert!(with(&|m| m.prefix = m.prefix.replace("r1/", "r1%2F")).contains("slash"));
    let extra = br#"{"dataset":"learning.progress","zone":"raw","event_date":"2026-11-10","hour":8,
        "prefix":"s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=r1/","object_count":1,
        "bytes":1,"max_event_time":"2026-11-10T08:59:59Z","run_id":"r1","definition_version":"1",
        "published_at":"2026-11-10T09:05:00Z","ours":{"a":1}}"#;
    let read = Marker::parse(&dataset, slot(), extra).unwrap();
    assert_eq!(read.extra["ours"]["a"], 1);
    assert!(
        serde_json::to_string(&read)
            .unwrap()
            .contains(r#""ours":{"a":1}"#)
    );
}

#[test]
fn the_marker_tree_is_read_back() {
    let dataset = dataset();
    let template = Template::of(&dataset);
    assert_eq!(template.root(), "learning/progress/_markers");
    let current = template.current(slot());
    assert_eq!(
        current,
        "learning/progress/_markers/event_date=2026-11-10/hour=08.json"
    );
    for (key, tree) in [
        (current, Tree::Current),
        (
            template.superseded(slot(), "r1"),
            Tree::Superseded("r1".into()),
        ),
        (template.empty(slot()), Tree::Empty),
        (template.pin(slot(), "bi"), Tree::Pin("bi".into())),
    ] {
        assert_eq!(template.read(&key), Some((slot(), tree)));
    }
    for key in [
        "learning/progress/_markers/event_date=2026-11-10/hour=24.json",
        "learning/progress/_markers/event_date=2026-11-10/hour=08.json.tmp",
        "learning/progress/_markers/event_date=2026-11-31/hour=08.json",
        "learning/progress/_markers/event_date=2026-11-10/hour=08/a/b.json",
        "learning/progress2/_markers/event_date=2026-11-10/hour=08.json",
    ] {
        assert_eq!(template.read(key), None, "{key}");
    }
    assert!(template.before(day()) < template.current(Slot::hour(day(), 0)));
    assert!(template.before(day()) > template.current(Slot::hour(day().plus(-1), 23)));
    let after = template.start_after(day());
    assert!(after < template.before(day()) && !template.before(day()).starts_with(&after));
    assert!(after > template.superseded(Slot::hour(day().plus(-1), 23), "zz"));
}

#[test]
fn a_key_of_the_marker_s_own_second_is_named() {
    let markers = current(marker("r1", 3, 30, None));
    let verdict = verdict(
        &dataset(),
        &markers,
        vec![part(0, 1), part(1, 1), part(2, 1), part(3, 10)],
        None,
    );
    assert_eq!(verdict.state, State::Mutated);
    let named = verdict
        .reasons
        .iter()
        .filter_map(|reason| reason.key.as_deref());
    assert!(named.into_iter().any(|key| key.ends_with("part-3.parquet")));
}

/// Which loose keys are late is said by the list that the marker has, and by no time.
#[test]
fn a_loose_key_is_what_the_list_says_of_it() {
    let dataset = dataset();
    let key =
        |name: &str| format!("learning/progress/event_date=2026-11-10/hour=08/{name}.parquet");
    let (base, objects, _) = made(State::Closed);
    let took = |run: &str| {
        let taken = [object(&key("a"), 7, 2), object(&key("b"), 7, 2)];
        let took = Took::of(&dataset, slot(), run, true, &taken);
        serde_json::to_value(took).unwrap()
    };
    let late = "late data: this key is none of those that the run took in; a new run takes it in";
    let replaced = "late data: this key was replaced after the run took it in; a new run takes it in as it is now";
    let doubt = "nobody says whether the run has the rows of 1 loose key, so they stay and are not taken in";
    let old = object(&key("c"), 7, 1);
    let again = object(&key("a"), 9, 1);
    for (field, loose, right) in [
        // It is as it was, or older than all that were taken in, or put again.
        (Some(took("r1")), object(&key("a"), 7, 2), None),
        (Some(took("r1")), old.clone(), Some(late)),
        (Some(took("r1")), again.clone(), Some(replaced)),
        // Of the run before: the run may have more.
        (Some(took("r0")), object(&key("b"), 7, 2), None),
        (Some(took("r0")), old.clone(), Some(doubt)),
        (Some(took("r0")), again, Some(replaced)),
        // Nobody says anything.
        (None, old.clone(), Some(doubt)),
        (Some("all of them".into()), old, Some("cannot be read")),
    ] {
        let mut markers = base.clone();
        if let (Some((_, Ok(marker))), Some(field)) = (&mut markers.current, field) {
            marker.extra.insert("loose_keys_taken".into(), field);
        }
        let verdict = verdict(
            &dataset,
            &markers,
            [objects.clone(), vec![loose]].concat(),
            None,
        );
        assert_eq!(verdict.state, State::Closed);
        let said: Vec<&str> = verdict.reasons.iter().map(|r| r.message.as_str()).collect();
        match right {
            None => assert_eq!(said, [""; 0]),
            Some(right) => assert!(said.len() == 1 && said[0].contains(right), "{said:?}"),
        }
    }
}

/// Markers that compaction put before it named keys.
#[test]
fn a_marker_that_names_a_time_leaves_older_keys_in_doubt() {
    let dataset = dataset();
    let key =
        |name: &str| format!("learning/progress/event_date=2026-11-10/hour=08/{name}.parquet");
    let (mut markers, objects, _) = made(State::Closed);
    let until = object(&key("x"), 1, 2).put;
    if let Some((_, Ok(marker))) = &mut markers.current {
        let until = serde_json::to_value(until).unwrap();
        marker.extra.insert("loose_until".into(), until);
    }
    let loose = vec![object(&key("a"), 7, 2), object(&key("b"), 7, 3)];
    let verdict = verdict(&dataset, &markers, [objects, loose].concat(), None);
    let said: Vec<&str> = verdict.reasons.iter().map(|r| r.message.as_str()).collect();
    assert!(
        said[0].contains("late data") && said[1].contains("1 loose key"),
        "{said:?}"
    );
    assert_eq!((verdict.state, said.len()), (State::Closed, 2));
}

#[test]
fn two_markers_of_one_run_that_name_two_prefixes_race() {
    let dataset = dataset();
    let (mut markers, objects, _) = made(State::Closed);
    let key = Template::of(&dataset).superseded(slot(), "r1");
    let mut other = marker("r1", 3, 30, None);
    markers
        .superseded
        .push((object(&key, 300, 9), Ok(other.clone())));
    // A run that was current twice has a marker of each time.
    let twice = verdict(&dataset, &markers, objects.clone(), None);
    assert_eq!(twice.state, State::Closed);
    other.prefix = other.prefix.replace("run_id=r1", "run_id=r7");
    markers.superseded[0].1 = Ok(other);
    let verdict = verdict(&dataset, &markers, objects, None);
    assert_eq!(verdict.state, State::Racing);
    assert!(verdict.reasons[0].message.contains("run_id=r7"));
}

#[test]
fn a_marker_of_another_zone_or_without_a_name_is_none() {
    let dataset = dataset();
    let good = marker("r1", 3, 30, None);
    let parse = |marker: &Marker| {
        let bytes = serde_json::to_vec(marker).unwrap();
        Marker::parse(&dataset, slot(), &bytes).map(drop)
    };
    assert_eq!(parse(&good), Ok(()));
    for (change, right) in [
        (
            (|m: &mut Marker| m.zone = "curated".into()) as fn(&mut Marker),
            "the marker is of zone `curated`",
        ),
        (|m| m.run_id = String::new(), "the marker's run_id is empty"),
        (
            |m| m.definition_version = " ".into(),
            "the marker's definition_version is empty",
        ),
    ] {
        let mut marker = good.clone();
        change(&mut marker);
        assert_eq!(parse(&marker), Err(right.to_owned()));
    }
    // What it calls its run is told where its folder has another name.
    let (mut markers, objects, _) = made(State::Closed);
    if let Some((_, Ok(marker))) = &mut markers.current {
        marker.run_id = "job-1".into();
    }
    let verdict = verdict(&dataset, &markers, objects, None);
    assert_eq!(verdict.state, State::Closed);
    let right = "the marker's run_id is job-1, and its prefix is that of run r1";
    assert_eq!(verdict.reasons[0].message, right);
}

#[test]
fn what_was_put_before_the_hour_ended_does_not_count() {
    let dataset = dataset();
    let three = || vec![part(0, -20), part(1, -20), part(2, -20)];
    let put = |minute: i64| {
        let key = Template::of(&dataset).current(slot());
        Markers {
            current: Some((object(&key, 300, minute), Ok(marker("r1", 3, 30, None)))),
            ..Markers::default()
        }
    };
    let stands = |markers: &Markers, objects: Vec<Object>, now: i64| {
        let objects = listed(&dataset, objects);
        let evidence = Evidence {
            slot: slot(),
            markers,
            objects: &objects,
            completeness: None,
            now: Time(slot().end().0 + now * 60_000),
        };
        judge(&dataset, evidence)
    };
    // Asked in the hour, before it, and days later.
    for now in [-10, -300, 5_000] {
        let verdict = stands(&put(-15), three(), now);
        assert_eq!(verdict.state, State::Invalid, "{now}");
        let why = &verdict.reasons[0].message;
        assert!(why.contains("put before the hour ended"), "{why}");
    }
    // The store's clock is what counts: ours may be behind it, by a little.
    assert_eq!(stands(&put(0), three(), -5).state, State::Closed);
    assert_eq!(stands(&put(0), three(), -15).state, State::Invalid);

    let declared = |minute: i64| {
        let key = Template::of(&dataset).empty(slot());
        let said = Declared {
            reason: "the shop was closed".into(),
            by: None,
            declared_at: slot().end(),
        };
        Markers {
            declared: Some((object(&key, 30, minute), Ok(said))),
            ..Markers::default()
        }
    };
    for (now, state) in [
        (-300, State::Future),
        (-10, State::Open),
        (5, State::Open),
        (60, State::Late),
    ] {
        let verdict = stands(&declared(-15), Vec::new(), now);
        assert_eq!(verdict.state, state, "{now}");
        let named = verdict.reasons.iter().filter_map(|r| r.key.as_deref());
        assert_eq!(named.count(), 1, "{verdict:?}");
    }
    assert_eq!(stands(&declared(0), Vec::new(), 60).state, State::Empty);
}
