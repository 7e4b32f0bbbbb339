//! Statements, to the letter.

use serde_json::Map;

use super::*;
use crate::hours::dataset::Metastore;
use crate::hours::judge::tests::dataset;
use crate::table::Time;
use crate::wire::hours::HourRow;

fn slot() -> Slot {
    Slot::hour("2026-11-10".parse().unwrap(), 8)
}

fn marker(run: &str) -> Marker {
    Marker {
        dataset: "learning.progress".into(),
        zone: "raw".into(),
        event_date: slot().day,
        hour: Some(8),
        prefix: format!(
            "s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id={run}/"
        ),
        object_count: 1,
        bytes: 1,
        max_event_time: Time(0),
        run_id: run.into(),
        definition_version: "1".into(),
        published_at: Time(0),
        supersedes: None,
        extra: Map::new(),
    }
}

fn table(name: &str) -> Dataset {
    Dataset {
        metastore: Some(Metastore {
            uri: "thrift://127.0.0.1:9083".into(),
            table: name.into(),
        }),
        ..dataset()
    }
}

#[test]
fn a_closed_hour_is_registered_at_its_run() {
    let marker = marker("r1");
    for state in [State::Closed, State::OverBudget] {
        assert_eq!(
            add(&dataset(), slot(), state, Some(&marker)).unwrap(),
            "ALTER TABLE learning.progress_raw ADD IF NOT EXISTS PARTITION (event_date='2026-11-10', hour='08') LOCATION 's3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=r1/';"
        );
        assert_eq!(
            set_location(&dataset(), slot(), state, Some(&marker)).unwrap(),
            "ALTER TABLE learning.progress_raw PARTITION (event_date='2026-11-10', hour='08') SET LOCATION 's3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=r1/';"
        );
        assert_eq!(
            analyze(&dataset(), slot(), state).unwrap(),
            "ANALYZE TABLE learning.progress_raw PARTITION (event_date='2026-11-10', hour='08') COMPUTE STATISTICS;"
        );
    }
}

#[test]
fn every_other_state_is_refused_by_its_name() {
    let marker = marker("r1");
    for state in State::ALL.into_iter().filter(|state| !state.is_closed()) {
        let why = format!(
            "2026-11-10 08:00 is {}: only closed hours are registered",
            state.words()
        );
        let made = [
            add(&dataset(), slot(), state, Some(&marker)),
            set_location(&dataset(), slot(), state, Some(&marker)),
            analyze(&dataset(), slot(), state),
        ];
        for made in made {
            assert_eq!(made.unwrap_err(), why);
        }
    }
    let foreign = add(&dataset(), slot(), State::Closed, None).unwrap_err();
    assert_eq!(
        foreign,
        "2026-11-10 08:00 is closed by a marker that names no run, and a location is a run"
    );
    let outside = Marker {
        prefix: "s3://elsewhere/x/".into(),
        ..marker
    };
    assert!(add(&dataset(), slot(), State::Closed, Some(&outside)).is_err());
}

#[test]
fn names_and_values_are_quoted() {
    let odd = Marker {
        prefix: "s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=o'neil\\x/"
            .into(),
        ..marker("x")
    };
    let made = add(
        &table("learning.Progress `raw`"),
        slot(),
        State::Closed,
        Some(&odd),
    );
    assert_eq!(
        made.unwrap(),
        "ALTER TABLE learning.`Progress ``raw``` ADD IF NOT EXISTS PARTITION (event_date='2026-11-10', hour='08') LOCATION 's3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=o\\'neil\\\\x/';"
    );
    let days = Dataset {
        partition: vec!["date".into()],
        ..table("order.1st")
    };
    assert_eq!(
        analyze(&days, Slot::day(slot().day), State::Closed).unwrap(),
        "ANALYZE TABLE `order`.`1st` PARTITION (`date`='2026-11-10') COMPUTE STATISTICS;"
    );
}

#[test]
fn a_table_has_the_declared_columns() {
    let declared = |columns: &[(&str, &str)]| Dataset {
        columns: columns
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned()))
            .collect(),
        ..dataset()
    };
    let columns = declared(&[
        ("event_id", "string"),
        ("amount", "Decimal(10,2)"),
        ("user", "long"),
        ("hour", "int"),
    ]);
    assert_eq!(
        create_table(&columns).unwrap(),
        "CREATE EXTERNAL TABLE IF NOT EXISTS learning.progress_raw (\n  event_id string,\n  amount decimal(10,2),\n  `user` bigint\n)\nPARTITIONED BY (event_date string, hour string)\nSTORED AS PARQUET\nLOCATION 's3://tlp-raw/learning/progress/';"
    );
    assert_eq!(
        create_table(&dataset()).unwrap_err(),
        "learning.progress declares no columns: a table's columns are declared, never crawled"
    );
    assert_eq!(
        create_table(&declared(&[("x", "int); DROP TABLE y; --")])).unwrap_err(),
        "`int); DROP TABLE y; --` of column `x` is not a type that a table can have"
    );
}

#[test]
fn wrong_partitions_are_mended() {
    let registered = |hour: &str, run: &str| Registered {
        values: vec!["2026-11-10".into(), hour.into()],
        location: format!(
            "s3a://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id={run}"
        ),
    };
    let (dataset, marker) = (dataset(), marker("r2"));
    let judge = |registered: &Registered, judged| {
        let slot = slot_of(&dataset, &registered.values);
        judge(&dataset, registered, slot, judged).map(|wrong| (wrong.why, wrong.mend))
    };
    let closed = Some((State::Closed, Some(&marker)));
    assert_eq!(judge(&registered("08", "r2"), closed), None);
    assert_eq!(judge(&registered("8", "r2"), closed), None);

    let (why, mend) = judge(&registered("08", "r1"), closed).unwrap();
    assert_eq!(
        why,
        "it is read from s3a://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=r1, and its marker names s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/run_id=r2/"
    );
    assert!(mend.contains("SET LOCATION"), "{mend}");

    let mutated = Some((State::Mutated, Some(&marker)));
    let drop = "ALTER TABLE learning.progress_raw DROP IF EXISTS PARTITION (event_date='2026-11-10', hour='08');";
    assert_eq!(
        judge(&registered("08", "r2"), mutated).unwrap(),
        (
            "it is registered, and 2026-11-10 08:00 is mutated".to_owned(),
            drop.to_owned()
        )
    );
    assert_eq!(
        judge(&registered("08", "r2"), None).unwrap(),
        (
            "it is registered, and nothing closed it".to_owned(),
            drop.to_owned()
        )
    );
    assert_eq!(
        judge(&registered("2'5", "r2"), closed).unwrap(),
        (
            "the dataset has no such partition".to_owned(),
            "ALTER TABLE learning.progress_raw DROP IF EXISTS PARTITION (event_date='2026-11-10', hour='2\\'5');".to_owned()
        )
    );
    assert!(same_location("file:/a/b", "file:///a/b/"));
    assert!(!same_location("s3://a/b", "s3://a/b1"));
}

#[test]
fn an_hour_that_is_registered_twice_is_read_twice() {
    let dataset = dataset();
    let marker = marker("r1");
    let row = HourRow {
        date: slot().day,
        hour: Some(8),
        state: State::Closed,
        marker: serde_json::from_value(serde_json::to_value(&marker).unwrap()).unwrap(),
        reasons: Vec::new(),
        objects: 1,
        bytes: 1,
        median_bytes: None,
        newest_object: None,
        completeness: None,
        listed_at: None,
        deadline: None,
        owner: None,
    };
    let registered = |values: [&str; 2]| Registered {
        values: values.map(str::to_owned).to_vec(),
        location: marker.prefix.clone(),
    };
    let rows = [row];
    // Alone it is how a column of numbers writes the hour.
    let once = [registered(["2026-11-10", "8"])];
    assert_eq!(wrong(&dataset, &rows, &once), []);
    let all = [
        registered(["2026-11-10", "8"]),
        registered(["2026-11-10", "08"]),
        registered(["2026-11-09", "08"]),
        registered(["2026-11-10", "24"]),
    ];
    let found = wrong(&dataset, &rows, &all);
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|wrong| (wrong.why.as_str(), wrong.mend.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (
                "2026-11-10 08:00 is registered twice, and its rows are read twice",
                "ALTER TABLE learning.progress_raw DROP IF EXISTS PARTITION (event_date='2026-11-10', hour='8');"
            ),
            (
                "the dataset has no such partition",
                "ALTER TABLE learning.progress_raw DROP IF EXISTS PARTITION (event_date='2026-11-10', hour='24');"
            ),
        ]
    );
    assert_eq!(outside(&dataset, &rows, &all), 1);
}
