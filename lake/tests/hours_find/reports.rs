//! What is said of a window and of an hour.

use lake::Kind;
use lake::hours::dataset::MarkerKind;
use lake::hours::find::Gate;
use lake::hours::listing::Object;
use lake::hours::{Slot, State};
use lake::wire::hours::Fresh;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::bed::{Bed, dataset, day, hour};

const DAY: &str = "2026-11-10";

async fn one_day() -> Bed {
    let bed = Bed::new(dataset(DAY), "2026-11-10T04:30:00Z");
    bed.close_days(day(DAY), day(DAY), 3).await;
    bed
}

#[tokio::test]
async fn a_month_of_bad_keys_is_a_finding_or_two() {
    let bed = Bed::new(dataset("2026-10-11"), "2026-11-10T14:30:00Z");
    for (n, slot) in day("2026-10-11")
        .to(day(DAY))
        .flat_map(|day| bed.dataset.slots(day))
        .take(720)
        .enumerate()
    {
        let prefix = bed.dataset.prefix_of(slot);
        bed.put(&format!("{prefix}learner_id={n}/a.parquet"), "x")
            .await;
        bed.put(&format!("{prefix}minute={:02}/a.parquet", n % 60), "x")
            .await;
        let day = format!("learning/progress/event_date={}", slot.day);
        bed.put(&format!("{day}/hour={n}x/a.parquet"), "x").await;
        bed.put(&format!("learning/progress/learner_id={n}/a.parquet"), "x")
            .await;
    }
    let finder = bed.finder();
    let report = finder
        .grid(day("2026-10-11"), day(DAY), Fresh::Known)
        .await
        .unwrap();
    let rules: Vec<&str> = report.findings.iter().map(|f| f.rule.as_str()).collect();
    assert!(report.findings.len() <= 6, "{rules:?}");
    let find = |rule: &str| report.findings.iter().find(|f| f.rule == rule).unwrap();
    let banned = find("banned_key");
    assert!(banned.message.contains("learner_id"), "{banned:?}");
    assert!(banned.message.ends_with("; 1440 keys"), "{banned:?}");
    assert!(banned.location.is_some());
    assert!(find("partition_value").message.ends_with("; 720 keys"));
    assert!(find("over_partitioned").message.ends_with("; 720 keys"));
    // No marker closes what lies in no hour.
    assert!(find("stray_key").message.ends_with("; 720 keys"));
}

#[tokio::test]
async fn most_closed_hours_with_one_small_object_are_called_out() {
    let bed = Bed::new(dataset("2026-11-09"), "2026-11-10T14:30:00Z");
    bed.close_days(day("2026-11-09"), day("2026-11-09"), 1)
        .await;
    let finder = bed.finder();
    let window = (day("2026-11-09"), day("2026-11-09"));
    let report = finder.grid(window.0, window.1, Fresh::Known).await.unwrap();
    let found = report
        .findings
        .iter()
        .find(|f| f.rule == "over_partitioned");
    assert!(found.unwrap().message.starts_with("24 of 24 closed hours"));
}

#[tokio::test]
async fn what_a_reader_pays_is_pages_of_parents_against_pages_of_runs() {
    let bed = one_day().await;
    let slot = hour(DAY, 0);
    for n in 0..1_000 {
        let key = format!("{}loose-{n}.parquet", bed.dataset.prefix_of(slot));
        bed.put(&key, "x").await;
    }
    // Loose keys that the run took in were put before it: the marker comes last.
    bed.mark(slot, "r1", 3, "1").await;
    let report = bed
        .finder()
        .grid(day(DAY), day(DAY), Fresh::Known)
        .await
        .unwrap();
    assert_eq!(report.days[0].states, "CCCCOFFFFFFFFFFFFFFFFFFF");
    assert_eq!(report.sizes.lists_of_parents, 5);
    assert_eq!(report.sizes.lists_of_runs, 4);
    assert_eq!(report.sizes.objects, 12);
}

#[tokio::test]
async fn check_lets_a_reader_scan_closed_hours_alone() {
    let bed = one_day().await;
    let finder = bed.finder();
    let closed = finder.check(hour(DAY, 3)).await.unwrap();
    let prefix = "s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=03/run_id=r1/";
    assert_eq!(closed.prefix.as_deref(), Some(prefix));
    assert!(closed.closed && closed.object_count == 3);
    let open = finder.check(hour(DAY, 4)).await.unwrap();
    assert_eq!(
        (open.closed, open.state, open.prefix),
        (false, State::Open, None)
    );

    bed.tick().await;
    let key = format!("{}fourth.parquet", bed.run_prefix(hour(DAY, 3), "r1"));
    bed.put(&key, "more").await;
    let mutated = finder.check(hour(DAY, 3)).await.unwrap();
    assert_eq!((mutated.closed, mutated.state), (false, State::Mutated));
    assert!(mutated.prefix.is_none());
    assert!(
        mutated
            .reasons
            .iter()
            .any(|r| r.key.as_deref() == Some(key.as_str()))
    );

    let day_of_hours = finder.check(Slot::day(day(DAY))).await.unwrap_err();
    assert_eq!(day_of_hours.kind(), Kind::Invalid);
}

#[tokio::test]
async fn a_window_is_closed_where_all_is_and_means_one_thing() {
    let bed = one_day().await;
    let finder = bed.finder();
    let (start, end) = (hour(DAY, 0).start(), hour(DAY, 3).end());
    let all = finder.check_window(start, end).await.unwrap();
    assert!(all.closed, "{:?}", all.refused);
    assert_eq!((all.prefixes.len(), all.hours.len()), (4, 4));
    assert_eq!(all.definition_version.as_deref(), Some("1"));

    // An hour in which nothing happened is passed, with nothing to scan.
    let slot = hour(DAY, 2);
    bed.delete(&Bed::marker_key(slot)).await;
    for part in 0..3 {
        bed.delete(&format!(
            "{}part-{part:05}.parquet",
            bed.run_prefix(slot, "r1")
        ))
        .await;
    }
    let declared = r#"{"reason":"maintenance","declared_at":"2026-11-10T03:10:00Z"}"#;
    let key = "learning/progress/_markers/event_date=2026-11-10/hour=02.empty.json";
    bed.put(key, declared).await;
    let empty = finder.check_window(start, end).await.unwrap();
    assert!(empty.closed, "{:?}", empty.refused);
    assert_eq!((empty.prefixes.len(), empty.hours.len()), (3, 4));
    assert_eq!(empty.hours[2].state, State::Empty);
    assert!(!empty.hours[2].closed);

    bed.mark(hour(DAY, 1), "r1", 3, "2").await;
    let mixed = finder.check_window(start, end).await.unwrap();
    assert!(!mixed.closed);
    assert!(mixed.refused.unwrap().contains("1, 2"));

    let open = finder
        .check_window(start, hour(DAY, 4).end())
        .await
        .unwrap();
    assert!(open.refused.unwrap().contains("04:00 is open"));
}

#[tokio::test]
async fn an_hour_names_its_runs_and_its_loose_keys() {
    let bed = one_day().await;
    let slot = hour(DAY, 3);
    bed.run(slot, "r2", 2).await;
    bed.tick().await;
    let loose = format!("{}late.parquet", bed.dataset.prefix_of(slot));
    bed.put(&loose, "late").await;
    let finder = bed.finder();
    let report = finder.hour(slot, Fresh::Known).await.unwrap();
    assert_eq!(report.row.state, State::Closed);
    assert!(report.row.reasons[0].message.starts_with("late data"));
    assert_eq!(
        (report.loose_total, report.loose[0].key.as_str()),
        (1, "late.parquet")
    );
    assert!(report.loose[0].after_marker);
    let runs: Vec<_> = report
        .runs
        .iter()
        .map(|run| (run.run_id.as_str(), run.objects, run.current, run.matches))
        .collect();
    assert_eq!(runs, [("r1", 3, true, Some(true)), ("r2", 2, false, None)]);

    let open = finder.hour(hour(DAY, 4), Fresh::Known).await.unwrap();
    assert_eq!(open.last_closed, Some(slot));
    assert!(open.scan.is_none() && open.marker_key.is_none());
}

#[tokio::test]
async fn hours_are_rows_counted_from_the_first_day() {
    let bed = Bed::new(dataset("2026-11-08"), "2026-11-10T02:30:00Z");
    bed.close_days(day("2026-11-08"), day(DAY), 1).await;
    bed.delete(&Bed::marker_key(hour("2026-11-08", 7))).await;
    let finder = bed.finder();
    let report = finder
        .hours(day(DAY), day(DAY), Fresh::Known, Gate::Suspect)
        .await
        .unwrap();
    assert_eq!(report.hours.len(), 24);
    assert_eq!(report.closed_up_to, Some(hour("2026-11-08", 7).start()));
    assert_eq!(report.blocked_by.unwrap().state, State::Late);
    assert_eq!(report.counts[&State::Closed], 2);
}

#[tokio::test]
async fn days_with_foreign_commits_read_the_commits() {
    let mut foreign = dataset(DAY);
    foreign.marker.kind = MarkerKind::Committed;
    foreign.marker.whole_day = false;
    foreign.partition.truncate(1);
    foreign.marker.template = "_markers/event_date={event_date}.json".into();
    let bed = Bed::new(foreign, "2026-11-12T00:30:00Z");
    let prefix = "learning/progress/event_date=2026-11-10/";
    bed.put(&format!("{prefix}a.parquet"), "xxxx").await;
    bed.put(&format!("{prefix}extra.parquet"), "xxxx").await;
    bed.put(&format!("{prefix}_started_1"), "").await;
    bed.put(
        &format!("{prefix}_committed_1"),
        r#"{"added":["a.parquet"],"removed":[]}"#,
    )
    .await;
    let finder = bed.finder();
    let report = finder
        .grid(day(DAY), day("2026-11-11"), Fresh::Known)
        .await
        .unwrap();
    let states: Vec<&str> = report.days.iter().map(|d| d.states.as_str()).collect();
    assert_eq!(states, ["C", "T"]);
    let check = finder.check(Slot::day(day(DAY))).await.unwrap();
    assert_eq!((check.closed, check.object_count), (true, 1));
    assert_eq!(
        check.prefix.as_deref(),
        Some("s3://tlp-raw/learning/progress/event_date=2026-11-10/")
    );
}

/// A long list is read once there are loose keys to look up in it, and when it changes.
#[tokio::test]
async fn a_list_of_what_was_taken_in_is_read_where_it_is_needed() {
    use lake::hours::taken::{INLINE, Took};
    let bed = one_day().await;
    let slot = hour(DAY, 3);
    let loose = |n: usize| format!("{}loose-{n:02}.parquet", bed.dataset.prefix_of(slot));
    let mut keys = Vec::new();
    for n in 0..=INLINE {
        let key = Path::parse(loose(n)).unwrap();
        bed.put(key.as_ref(), "ten bytes.").await;
        keys.push(Object::from(bed.counting.head(&key).await.unwrap()));
        bed.delete(key.as_ref()).await;
    }
    let mut took = Took::of(&bed.dataset, slot, "r1", true, &keys);
    let list = "learning/progress/_markers/event_date=2026-11-10/hour=03.taken/r1.json".to_owned();
    bed.put(&list, serde_json::to_vec(&took).unwrap()).await;
    took.keys.clear();
    took.record = Some(list.clone());
    let marker = Bed::marker_key(slot);
    let path = Path::parse(&marker).unwrap();
    let body = bed
        .counting
        .get(&path)
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    let mut body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    body["loose_keys_taken"] = serde_json::to_value(&took).unwrap();
    bed.tick().await;
    bed.put(&marker, body.to_string()).await;

    let finder = bed.finder();
    let report = finder.grid(day(DAY), day(DAY), Fresh::Known).await.unwrap();
    assert_eq!(report.attention_total, 0);
    let said = async || {
        let finder = bed.finder();
        finder.grid(day(DAY), day(DAY), Fresh::Again).await.unwrap();
        let hours = finder.hours(day(DAY), day(DAY), Fresh::Known, Gate::Suspect);
        let hours = hours.await.unwrap();
        let row = hours.hours.iter().find(|row| row.hour == Some(3)).unwrap();
        assert_eq!(row.state, State::Closed);
        let said: Vec<String> = row.reasons.iter().map(|r| r.message.clone()).collect();
        said
    };
    assert_eq!(said().await, [""; 0]);
    // A key of that name, put again: it is looked up now.
    bed.put(&loose(7), "twelve bytes").await;
    let found = said().await;
    assert!(
        found.len() == 1 && found[0].contains("was replaced"),
        "{found:?}"
    );
    bed.delete(&loose(7)).await;
    bed.put(&loose(99), "x").await;
    assert!(said().await[0].starts_with("late data: this key"));
    bed.delete(&list).await;
    let found = said().await;
    assert!(
        found[0].contains("hour=03.taken/r1.json is gone"),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_window_has_an_end() {
    let bed = one_day().await;
    let (from, to) = (day("2026-11-29"), day("2400-01-01"));
    let long = |error: lake::Error| {
        assert_eq!(error.kind(), lake::Kind::Invalid);
        assert!(error.to_string().contains("at most 400 days"), "{error}");
    };
    let finder = bed.finder();
    long(finder.grid(from, to, Fresh::Known).await.unwrap_err());
    long(finder.layout(from, to).await.unwrap_err());
    for (from, to) in [(from, to), (day("0000-01-01"), day("9999-12-31"))] {
        for gate in [Gate::Suspect, Gate::Doubt, Gate::All] {
            long(
                finder
                    .hours(from, to, Fresh::Known, gate)
                    .await
                    .unwrap_err(),
            );
        }
        let window = finder.check_window(from.start(), to.start());
        long(window.await.unwrap_err());
    }
    assert_eq!(bed.counts().requests(), 0);
    let longest = finder.grid(from, from.plus(399), Fresh::Known).await;
    assert_eq!(longest.unwrap().days.len(), 400);
}

#[tokio::test]
async fn data_written_another_way_is_seen_by_everybody() {
    for folder in ["hour=8", "hour=%308"] {
        let mut declared = dataset(DAY);
        declared.every_hour = false;
        let bed = Bed::new(declared, "2026-11-10T14:30:00Z");
        let slot = hour(DAY, 8);
        let key = format!("learning/progress/event_date={DAY}/{folder}/x.parquet");
        bed.put(&key, "0123456789").await;
        let check = bed.finder().check(slot).await.unwrap();
        assert_eq!(
            (check.state, check.passes, check.object_count),
            (State::Late, false, 1),
            "{folder}"
        );
        let report = bed
            .finder()
            .hours(day(DAY), day(DAY), Fresh::Again, Gate::Doubt)
            .await
            .unwrap();
        assert_eq!(
            (report.hours[8].state, report.hours[8].objects),
            (State::Late, 1),
            "{folder}"
        );
        assert_eq!(report.closed_up_to, Some(slot.start()), "{folder}");
        assert!(
            report.findings.iter().any(|f| f.rule == "partition_value"),
            "{folder}"
        );
        // In a closed hour it is outside the run, and changes nothing of it.
        bed.close(slot, 1).await;
        assert!(bed.finder().check(slot).await.unwrap().closed, "{folder}");
    }
    // A whole day written another way.
    let mut declared = dataset(DAY);
    declared.every_hour = false;
    let bed = Bed::new(declared, "2026-11-10T14:30:00Z");
    bed.put(
        "learning/progress/event_date=2026%2D11%2D10/hour=08/x.parquet",
        "0123456789",
    )
    .await;
    let check = bed.finder().check(hour(DAY, 8)).await.unwrap();
    assert_eq!((check.state, check.passes), (State::Late, false));
    let report = bed
        .finder()
        .hours(day(DAY), day(DAY), Fresh::Again, Gate::Doubt)
        .await
        .unwrap();
    assert_eq!(report.hours[8].state, State::Late);
    assert!(report.findings.iter().any(|f| f.rule == "partition_value"));
}

#[tokio::test]
async fn nothing_is_said_of_the_time_before_the_first_day() {
    let bed = one_day().await;
    let before = day(DAY).plus(-1);
    let check = bed.finder().check(Slot::hour(before, 8)).await.unwrap();
    assert_eq!((check.closed, check.passes), (false, false));
    let why = &check.reasons[0].message;
    assert!(
        why.starts_with("before the dataset's first day 2026-11-10"),
        "{why}"
    );
    let window = bed
        .finder()
        .check_window(before.start(), hour(DAY, 1).start())
        .await
        .unwrap();
    assert!(
        window
            .refused
            .unwrap()
            .contains("before the dataset's first day")
    );
    let report = bed
        .finder()
        .hours(before.plus(-3), day(DAY), Fresh::Known, Gate::Doubt)
        .await
        .unwrap();
    assert_eq!(
        report.counts.get(&State::Empty),
        None,
        "{:?}",
        report.counts
    );
    assert_eq!(report.counts.values().sum::<u64>(), 24);
    assert_eq!(report.hours.len(), 5 * 24);
}

#[tokio::test]
async fn a_prefix_without_any_key_is_called_out() {
    let bed = Bed::new(dataset(DAY), "2026-11-10T14:30:00Z");
    let told = async || {
        let report = bed
            .finder()
            .hours(day(DAY), day(DAY), Fresh::Again, Gate::Doubt)
            .await;
        let findings = report.unwrap().findings;
        let found = findings.into_iter().find(|f| f.rule == "nothing_there");
        (
            found.map(|f| f.message),
            bed.finder().nothing_there().await.unwrap(),
        )
    };
    let (message, nothing) = told().await;
    let wanted = "nothing lies under s3://tlp-raw/learning/progress/: is the prefix right?";
    assert_eq!((message.as_deref(), nothing), (Some(wanted), true));
    bed.close(hour(DAY, 0), 1).await;
    assert_eq!(told().await, (None, false));
}
