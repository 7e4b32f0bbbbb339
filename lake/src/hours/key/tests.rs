//! Keys, placed and judged.

use super::*;
use crate::hours::judge::tests::dataset;

fn rules(key: &str) -> Vec<String> {
    findings(&dataset(), key)
        .into_iter()
        .map(|finding| finding.rule)
        .collect()
}

#[test]
fn keys_are_placed_by_their_segments() {
    let day: Day = "2026-11-10".parse().unwrap();
    let hour = Some(Slot::hour(day, 8));
    let run = "event_date=2026-11-10/hour=08/run_id=1/".len();
    for (key, bytes, slot, taken, role) in [
        (
            "event_date=2026-11-10/hour=08/a.parquet",
            5,
            hour,
            None,
            Role::Data,
        ),
        (
            "event_date=2026-11-10/hour=08/run_id=1/a",
            5,
            hour,
            Some(run),
            Role::Data,
        ),
        (
            "event_date=2026-11-10/hour=08/run_id=1/_SUCCESS",
            0,
            hour,
            Some(run),
            Role::Hidden,
        ),
        (
            "event_date=2026-11-10/hour=08/_temporary/0/a",
            5,
            hour,
            None,
            Role::Hidden,
        ),
        (
            "event_date=2026-11-10/hour=08/",
            0,
            hour,
            None,
            Role::Folder,
        ),
        ("event_date=2026-11-10/hour=08", 0, hour, None, Role::Folder),
        (
            "event_date=2026-11-10/hour=08_$folder$",
            0,
            None,
            None,
            Role::Folder,
        ),
        ("event_date=2026-11-10/hour=8/a", 5, hour, None, Role::Data),
        // The same hour written another way has no run: no marker can name it.
        (
            "event_date=2026-11-10/hour=%308/run_id=1/a",
            5,
            hour,
            None,
            Role::Data,
        ),
        (
            "event_date=2026-11-10/hour=008/a",
            5,
            None,
            None,
            Role::Data,
        ),
        (
            "event_date=2026-11-10/hour=08/run_id=1/dir",
            0,
            hour,
            Some(run),
            Role::Folder,
        ),
        (
            "event_date=2026-11-10/hour=09/tmp",
            0,
            Some(Slot::hour(day, 9)),
            None,
            Role::Folder,
        ),
        (
            "event_date=2026-11-10/hour=08/run_id=1/x.parquet",
            0,
            hour,
            Some(run),
            Role::Data,
        ),
        ("event_date=2026-11-10/hour=24/a", 5, None, None, Role::Data),
        (
            "event_date=2026-11-10/hour=%3008/a",
            5,
            None,
            None,
            Role::Data,
        ),
        (
            "event_date=2026-11-10/hour=%30%38/a",
            5,
            hour,
            None,
            Role::Data,
        ),
        (
            "event_date=__HIVE_DEFAULT_PARTITION__/hour=08/a",
            5,
            None,
            None,
            Role::Data,
        ),
        ("event_date=2026-11-10/a", 5, None, None, Role::Data),
        ("event_date=2026-11-10/hour=08/é", 5, hour, None, Role::Data),
        ("", 0, None, None, Role::Data),
    ] {
        let placed = place(&dataset(), key, bytes);
        assert_eq!(
            (placed.slot, placed.run, placed.role),
            (slot, taken, role),
            "{key}"
        );
    }
}

#[test]
fn null_is_not_the_empty_string_and_values_are_decoded_once() {
    assert_eq!(
        partition("a=__HIVE_DEFAULT_PARTITION__"),
        Some(("a".into(), None))
    );
    assert_eq!(partition("a="), Some(("a".into(), Some(String::new()))));
    assert_eq!(
        partition("a=b%253D"),
        Some(("a".into(), Some("b%3D".into())))
    );
    assert_eq!(
        partition("a%3Db=c=d"),
        Some(("a=b".into(), Some("c=d".into())))
    );
    assert_eq!(partition("plain"), None);
}

#[test]
fn a_key_may_name_no_one() {
    let hour = "event_date=2026-11-10/hour=08";
    for key in [
        format!("{hour}/part-00012.snappy.parquet"),
        format!("{hour}/run_id=20261110T140500Z/part-0.parquet"),
        format!("{hour}/learning.progress+3+0000012345.parquet"),
    ] {
        assert!(partition_key_allowed(&dataset(), &key), "{key}");
    }
    for key in [
        format!("{hour}/learner_id=7/a"),
        format!("{hour}/X_Learner_ID=7/a"),
        format!("{hour}/%6cearner_id=7/a"),
        format!("{hour}/learner%5Fid%3D7/a"),
        format!("{hour}/email=a@b.example.parquet"),
        "email=x/event_date=2026-11-10/hour=08/a".to_owned(),
    ] {
        assert_eq!(
            rules(&key).first().map(String::as_str),
            Some("banned_key"),
            "{key}"
        );
    }
    assert_eq!(
        rules(&format!("{hour}/country=DE/a")),
        ["undeclared_partition"]
    );
    assert_eq!(rules(&format!("{hour}/minute=05/a")), ["over_partitioned"]);
    assert_eq!(
        rules(&format!("{hour}/8c0a3c4e-7f00-4b5e-9f3a-5b1d6c2f9a11/a")),
        ["identifier"]
    );
    assert_eq!(rules(&format!("{hour}/a.b@c.example/a")), ["identifier"]);
    assert_eq!(rules(&format!("{hour}/4111111111111/a")), ["identifier"]);
    assert_eq!(rules("event_date=2026-11-10/hour=8/a"), ["partition_value"]);
    assert_eq!(
        rules("event_date=10.11.2026/hour=08/a"),
        ["partition_value"]
    );
    assert_eq!(
        rules("hour=08/event_date=2026-11-10/a"),
        ["partition_order"]
    );
}

#[test]
fn a_disk_has_folders_and_needs_no_objects_for_them() {
    let mut disk = dataset();
    disk.url = "file:///lake/raw/".into();
    for name in ["z=1", "dir", "x.parquet"] {
        let key = format!("event_date=2026-11-10/hour=08/run_id=1/{name}");
        assert_eq!(place(&disk, &key, 0).role, Role::Data, "{name}");
    }
}

#[test]
fn a_partition_written_another_way_is_a_finding() {
    for key in [
        "event_date=2026-11-10/hour=%308/a.parquet",
        "event_date=2026%2D11-10/hour=08/a.parquet",
        "event%5Fdate=2026-11-10/hour=08/a.parquet",
    ] {
        assert_eq!(rules(key), ["partition_value"], "{key}");
    }
    let run = "event_date=2026-11-10/hour=08/run_id=14%3A05/a.parquet";
    assert_eq!(rules(run), [] as [&str; 0]);
}
