//! Each way in which other writers' markers are missing, early, stale or misnamed.

use super::*;
use crate::hours::judge::tests::dataset;
use crate::hours::listing::Listing;
use crate::hours::{Day, dataset::Budget};

fn day() -> Day {
    "2026-11-10".parse().unwrap()
}

fn slot() -> Slot {
    Slot::hour(day(), 8)
}

fn of(kind: MarkerKind, whole_day: bool) -> Dataset {
    let mut dataset = dataset();
    dataset.marker.kind = kind;
    dataset.marker.whole_day = whole_day;
    dataset.budget = Budget::default();
    dataset
}

/// An object below the dataset's prefix, put so many minutes after the hour's end.
fn object(key: &str, minute: i64) -> Object {
    Object {
        key: format!("learning/progress/{key}"),
        bytes: 100,
        put: Time(slot().end().0 + minute * 60_000),
        etag: None,
    }
}

fn hour(name: &str, minute: i64) -> Object {
    object(&format!("event_date=2026-11-10/hour=08/{name}"), minute)
}

struct Case {
    dataset: Dataset,
    objects: Vec<Object>,
    commits: BTreeMap<String, (Object, Result<Commit, String>)>,
    custom: Option<Object>,
    /// Minutes after the hour's end.
    now: i64,
}

impl Case {
    fn success(objects: Vec<Object>) -> Self {
        Self {
            dataset: of(MarkerKind::Success, false),
            objects,
            commits: BTreeMap::new(),
            custom: None,
            now: 60,
        }
    }

    fn committed(objects: Vec<Object>, commits: &[(&str, &str)]) -> Self {
        let read = |(name, text): &(&str, &str)| {
            let object = hour(name, 2);
            (object.key.clone(), (object, Commit::parse(text.as_bytes())))
        };
        Self {
            dataset: of(MarkerKind::Committed, false),
            commits: commits.iter().map(read).collect(),
            ..Self::success(objects)
        }
    }

    fn verdict(&self) -> Verdict {
        self.asked(judge)
    }

    fn asked<T>(&self, ask: impl Fn(&Dataset, Foreign<'_>) -> T) -> T {
        let mut listing = Listing::default();
        for object in &self.objects {
            listing.add(&self.dataset, object.clone());
        }
        let objects = listing.slots.remove(&slot()).unwrap_or_default();
        let evidence = Foreign {
            slot: slot(),
            objects: &objects,
            of_day: &listing.hidden,
            custom: self.custom.as_ref(),
            completeness: None,
            commits: &self.commits,
            now: Time(slot().end().0 + self.now * 60_000),
        };
        ask(&self.dataset, evidence)
    }

    fn state(&self) -> State {
        self.verdict().state
    }
}

fn says(verdict: &Verdict, words: &str) -> bool {
    verdict.reasons.iter().any(|r| r.message.contains(words))
}

#[test]
fn a_marker_put_last_closes() {
    let case = Case::success(vec![hour("a.parquet", 1), hour("_SUCCESS", 2)]);
    let verdict = case.verdict();
    assert_eq!((verdict.state, verdict.objects), (State::Closed, 1));
    let same = Case::success(vec![hour("a.parquet", 2), hour("_SUCCESS", 2)]);
    assert_eq!(same.state(), State::Closed);
}

#[test]
fn data_alone_is_unmarked() {
    let mut case = Case::success(vec![hour("a.parquet", 1)]);
    assert_eq!(case.state(), State::Late);
    case.now = 5;
    assert_eq!(case.state(), State::Open);
}

#[test]
fn a_marker_older_than_the_newest_data_is_stale() {
    let case = Case::success(vec![
        hour("a.parquet", 1),
        hour("b.parquet", 9),
        hour("_SUCCESS", 2),
    ]);
    let verdict = case.verdict();
    assert_eq!(verdict.state, State::Mutated);
    assert!(says(&verdict, "7 min 0 s"), "{verdict:?}");
    let key = verdict.reasons[0].key.as_deref().unwrap();
    assert!(key.ends_with("b.parquet"));
}

#[test]
fn a_marker_without_data_is_empty() {
    let verdict = Case::success(vec![hour("_SUCCESS", 2)]).verdict();
    assert_eq!(verdict.state, State::Empty);
    assert!(says(&verdict, "a marker and no data"));
    // Also where a writer has left something behind since.
    let left = Case::success(vec![hour("_SUCCESS", 2), hour("_temporary/0/x", 4)]);
    assert_eq!(left.state(), State::Empty);
}

#[test]
fn what_is_written_is_in_progress() {
    for left in [
        "_temporary/0/_t/part-0.parquet",
        ".spark-staging-1/x.parquet",
    ] {
        let mut case = Case::success(vec![hour("a.parquet", 1), hour(left, 1)]);
        let verdict = case.verdict();
        assert_eq!(verdict.state, State::Late, "{left}");
        assert!(says(&verdict, "in progress"), "{left}");
        case.now = 5;
        assert_eq!(case.state(), State::Open, "{left}");
        // Somebody writes, so it is no hour in which nothing happened.
        let mut alone = Case::success(vec![hour(left, 1)]);
        alone.dataset.every_hour = false;
        assert_eq!(alone.state(), State::Late, "{left}");
    }
}

#[test]
fn only_the_exact_name_is_a_marker() {
    for name in [
        "_success",
        "_SUCCESS.crc",
        "._SUCCESS.crc",
        "_Success",
        "x_SUCCESS",
        "sub/_SUCCESS",
        "_spark_metadata/0",
    ] {
        let case = Case::success(vec![hour("a.parquet", 1), hour(name, 2)]);
        assert_eq!(case.state(), State::Late, "{name}");
    }
}

#[test]
fn a_marker_closes_its_own_level_alone() {
    // The dataset's root, and the day, say nothing of an hour.
    for key in ["_SUCCESS", "event_date=2026-11-10/_SUCCESS"] {
        let case = Case::success(vec![hour("a.parquet", 1), object(key, 2)]);
        assert_eq!(case.state(), State::Late, "{key}");
    }
    // Where days are closed, the day's marker does, and the hour's does not.
    let mut case = Case::success(vec![
        hour("a.parquet", 1),
        object("event_date=2026-11-10/_SUCCESS", 2),
    ]);
    case.dataset.marker.whole_day = true;
    assert_eq!(case.state(), State::Closed);
    case.objects = vec![hour("a.parquet", 1), hour("_SUCCESS", 2)];
    assert_eq!(case.state(), State::Late);
    case.objects = vec![
        hour("a.parquet", 3),
        object("event_date=2026-11-10/_SUCCESS", 2),
    ];
    assert_eq!(case.state(), State::Mutated);
}

#[test]
fn two_runs_with_a_marker_each_race() {
    let both = vec![
        hour("run_id=1/a.parquet", 1),
        hour("run_id=1/_SUCCESS", 2),
        hour("run_id=10/a.parquet", 3),
        hour("run_id=10/_SUCCESS", 4),
    ];
    let verdict = Case::success(both.clone()).verdict();
    assert_eq!((verdict.state, verdict.reasons.len()), (State::Racing, 2));

    // One of them is the hour, and a reader scans it alone.
    let one = Case::success(both[..3].to_vec());
    let verdict = one.verdict();
    assert_eq!((verdict.state, verdict.objects), (State::Closed, 1));
    let scan = one.asked(scan);
    assert!(scan.ends_with("/hour=08/run_id=1/"), "{scan}");
}

#[test]
fn an_hour_over_its_budget_says_so() {
    let mut case = Case::success(vec![
        hour("a.parquet", 1),
        hour("b.parquet", 1),
        hour("_SUCCESS", 2),
    ]);
    case.dataset.budget.objects = Some(1);
    assert_eq!(case.state(), State::OverBudget);
}

#[test]
fn an_object_of_the_datasets_choice_closes() {
    let mut case = Case::success(vec![hour("a.parquet", 1)]);
    case.dataset.marker.kind = MarkerKind::Custom;
    assert_eq!(case.state(), State::Late);
    case.custom = Some(object("done/2026-11-10/08", 2));
    assert_eq!(case.state(), State::Closed);
    case.custom = Some(object("done/2026-11-10/08", 0));
    assert_eq!(case.state(), State::Mutated);
}

#[test]
fn only_named_files_count() {
    let files = vec![
        hour("a.parquet", 1),
        hour("b.parquet", 1),
        hour("_started_1", 0),
        hour("_committed_1", 2),
    ];
    let case = Case::committed(
        files.clone(),
        &[("_committed_1", r#"{"added":["a.parquet"],"removed":[]}"#)],
    );
    let verdict = case.verdict();
    assert_eq!((verdict.state, verdict.objects), (State::Closed, 1));
    assert!(says(&verdict, "not named by any commit"));

    let removed = Case::committed(
        [files, vec![hour("_committed_2", 2)]].concat(),
        &[
            ("_committed_1", r#"{"added":["a.parquet"],"removed":[]}"#),
            (
                "_committed_2",
                r#"{"added":["b.parquet"],"removed":["a.parquet"]}"#,
            ),
        ],
    );
    let verdict = removed.verdict();
    assert_eq!((verdict.state, verdict.objects), (State::Closed, 1));
    assert!(
        verdict.reasons[0]
            .key
            .as_deref()
            .unwrap()
            .ends_with("a.parquet")
    );
}

#[test]
fn begun_without_a_commit_is_in_progress() {
    let mut case = Case::committed(vec![hour("a.parquet", 1), hour("_started_1", 0)], &[]);
    let verdict = case.verdict();
    assert_eq!(verdict.state, State::Late);
    assert!(says(&verdict, "in progress"));
    case.now = 5;
    assert_eq!(case.state(), State::Open);
    // Another commit than its own does not finish it, and closes what it names.
    let case = Case::committed(
        vec![
            hour("a.parquet", 1),
            hour("_started_1", 0),
            hour("_committed_10", 2),
        ],
        &[("_committed_10", r#"{"added":["a.parquet"]}"#)],
    );
    let verdict = case.verdict();
    assert_eq!(verdict.state, State::Closed);
    assert!(says(&verdict, "in progress"));
}

#[test]
fn named_files_that_are_gone_break_it() {
    let commit = [("_committed_1", r#"{"added":["a.parquet","b.parquet"]}"#)];
    let some = Case::committed(vec![hour("a.parquet", 1), hour("_committed_1", 2)], &commit);
    let verdict = some.verdict();
    assert_eq!(verdict.state, State::Mutated);
    assert!(
        verdict.reasons[0]
            .key
            .as_deref()
            .unwrap()
            .ends_with("b.parquet")
    );
    let none = Case::committed(vec![hour("x.parquet", 1), hour("_committed_1", 2)], &commit);
    assert_eq!(none.state(), State::Lost);
    let again = Case::committed(
        vec![
            hour("a.parquet", 5),
            hour("b.parquet", 1),
            hour("_committed_1", 2),
        ],
        &commit,
    );
    assert_eq!(again.state(), State::Mutated);
}

#[test]
fn a_commit_that_cannot_be_read_closes_nothing() {
    let files = vec![hour("a.parquet", 1), hour("_committed_1", 2)];
    let broken = Case::committed(files.clone(), &[("_committed_1", "{\"added\":[\"a.par")]);
    assert_eq!(broken.state(), State::Invalid);
    assert_eq!(Case::committed(files, &[]).state(), State::Invalid);
}

#[test]
fn commits_that_name_nothing_leave_nothing_to_read() {
    let case = Case::committed(
        vec![hour("a.parquet", 1), hour("_committed_1", 2)],
        &[(
            "_committed_1",
            r#"{"added":["a.parquet"],"removed":["a.parquet"]}"#,
        )],
    );
    assert_eq!(case.state(), State::Empty);
}

#[test]
fn a_marker_put_before_the_hour_ended_closes_nothing() {
    for (name, text) in [
        ("_SUCCESS", ""),
        ("_committed_1", r#"{"added":["a.parquet"]}"#),
    ] {
        let files = vec![hour("a.parquet", -20), hour(name, -10)];
        let mut case = match text {
            "" => Case::success(files),
            text => {
                let mut case = Case::committed(files, &[(name, text)]);
                case.commits
                    .values_mut()
                    .for_each(|(o, _)| o.put = hour(name, -10).put);
                case
            }
        };
        for now in [-5, 60] {
            case.now = now;
            let verdict = case.verdict();
            assert_eq!(verdict.state, State::Invalid, "{name}");
            assert!(says(&verdict, "put before the hour ended"), "{verdict:?}");
        }
        // Nothing came: it may still come.
        case.objects.remove(0);
        case.now = -5;
        assert_eq!(case.state(), State::Invalid, "{name}");
    }
}

#[test]
fn a_days_marker_says_nothing_of_the_hours_to_come() {
    let day = |minute| object("event_date=2026-11-10/_SUCCESS", minute);
    let mut case = Case::success(vec![hour("a.parquet", -20), day(-10)]);
    case.dataset = of(MarkerKind::Success, true);
    case.now = 0;
    assert_eq!(case.state(), State::Open);
    case.now = 60;
    let verdict = case.verdict();
    assert_eq!(verdict.state, State::Late);
    assert!(says(
        &verdict,
        "the day's marker was put before the hour ended"
    ));
    case.objects = vec![day(-10)];
    case.now = -100;
    assert_eq!(case.state(), State::Future);
    // Put again after it.
    case.objects = vec![hour("a.parquet", -20), day(5)];
    case.now = 60;
    assert_eq!(case.state(), State::Closed);
}

/// The state by commits put one after the other, from a minute after the hour's end on.
fn by_commits(files: &[&str], commits: &[(&str, &str)]) -> Verdict {
    let mut objects: Vec<Object> = files.iter().map(|name| hour(name, 1)).collect();
    objects.extend(
        commits
            .iter()
            .zip(2..)
            .map(|((name, _), at)| hour(name, at)),
    );
    Case::committed(objects, commits).verdict()
}

#[test]
fn commits_are_followed_in_the_order_they_were_put() {
    let files = ["part-1", "part-2"];
    let commits = [
        ("_committed_9", r#"{"added":["part-1"],"removed":[]}"#),
        (
            "_committed_10",
            r#"{"added":["part-2"],"removed":["part-1"]}"#,
        ),
        (
            "_committed_11",
            r#"{"added":["part-1"],"removed":["part-2"]}"#,
        ),
    ];
    let verdict = by_commits(&files, &commits);
    assert_eq!((verdict.state, verdict.objects), (State::Closed, 1));
    let named = verdict.reasons.iter().filter_map(|r| r.key.as_deref());
    assert!(named.into_iter().all(|key| key.ends_with("part-2")));

    // Within one tick of the store's clock their numbers tell.
    let mut objects: Vec<Object> = files.iter().map(|name| hour(name, 1)).collect();
    objects.extend(commits.iter().map(|(name, _)| hour(name, 2)));
    let same = Case::committed(objects, &commits).verdict();
    assert_eq!((same.state, same.objects), (State::Closed, 1));
}

#[test]
fn a_commit_that_names_nothing_empties_no_hour_that_has_data() {
    for body in ["{}", r#"{"added":[],"removed":[]}"#] {
        let verdict = by_commits(&["a.parquet", "b.parquet"], &[("_committed_1", body)]);
        assert_eq!(verdict.state, State::Late, "{body}");
        assert!(says(&verdict, "no commit names any of it"), "{verdict:?}");
        assert_eq!(
            by_commits(&[], &[("_committed_1", body)]).state,
            State::Empty
        );
    }
    for body in ["[]", "[[],[]]", r#"[["a.parquet"],[]]"#, "null", "1"] {
        let verdict = by_commits(&["a.parquet"], &[("_committed_1", body)]);
        assert_eq!(verdict.state, State::Invalid, "{body}");
    }
}
