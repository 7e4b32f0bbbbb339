//! `tidemark hours` and `check`: what a script reads, and how each ends.

use super::*;

const DATASETS: &str = r#"
[[dataset]]
name = "learning.progress"
zone = "curated"
prefix = "learning/progress/"
partition = ["event_date", "hour"]
first = "2026-11-10"
definition_version = "7"
publisher = "airflow:progress"

[[dataset]]
name = "curated.daily"
zone = "curated"
prefix = "daily/"
partition = ["event_date"]
first = "2026-11-10"
"#;

const HOURS: &str = "lake/learning/progress/event_date=2026-11-10";

impl Folder {
    fn with_datasets() -> Self {
        let folder = Self::new();
        let config = folder.path("tidemark.toml");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{text}{DATASETS}")).unwrap();
        folder
    }

    fn part(&self, hour: u8, run: &str, part: u32) {
        let path = self.path(&format!(
            "{HOURS}/hour={hour:02}/run_id={run}/part-{part}.parquet"
        ));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "0123456789").unwrap();
    }

    /// An hour with a run of three objects, published.
    fn close(&self, hour: u8, version: &str) {
        for part in 0..3 {
            self.part(hour, "r1", part);
        }
        let newest = format!("2026-11-10T{hour:02}:00:01Z");
        let hour = hour.to_string();
        self.json(&[
            "publish",
            "learning.progress",
            "--date",
            "2026-11-10",
            "--hour",
            &hour,
            "--run",
            "r1",
            "--count",
            "3",
            "--max-event-time",
            &newest,
            "--definition-version",
            version,
        ]);
    }

    fn prefix(&self, hour: u8) -> String {
        let lake = self.path("lake").canonicalize().unwrap();
        format!(
            "file://{}/learning/progress/event_date=2026-11-10/hour={hour:02}/run_id=r1/",
            lake.display()
        )
    }
}

fn check(hour: &str) -> Vec<&str> {
    vec![
        "check",
        "learning.progress",
        "--date",
        "2026-11-10",
        "--hour",
        hour,
    ]
}

const WINDOW: [&str; 6] = [
    "check",
    "learning.progress",
    "--from",
    "2026-11-10T00:00:00Z",
    "--to",
    "2026-11-10T02:00:00Z",
];

fn fails(folder: &Folder, arguments: &[&str], code: i32, why: &str) {
    let output = folder.run(arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert!(
        said.starts_with("tidemark: ") && said.contains(why),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_shell_takes_the_prefix_of_a_closed_hour_and_stops_at_any_other() {
    let folder = Folder::with_datasets();
    folder.close(0, "7");
    let output = folder.run(&check("0"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout), format!("{}\n", folder.prefix(0)));
    assert_eq!(text(&output.stderr), "");
    let wanted = json!({
        "dataset": "learning.progress", "date": "2026-11-10", "hour": 0, "closed": true,
        "state": "closed", "reasons": [], "prefix": folder.prefix(0), "object_count": 3,
        "bytes": 30, "run_id": "r1", "definition_version": "7",
    });
    holds(&folder.json(&check("0")), &wanted, "check");

    fails(
        &folder,
        &check("1"),
        1,
        "2026-11-10 01:00 is late: no object",
    );
    fails(
        &folder,
        &check("1"),
        1,
        "; if nothing happened, declare it empty",
    );
    folder.part(2, "r1", 0);
    fails(
        &folder,
        &check("2"),
        1,
        "`publish` the run, with its writer's count",
    );
    let loose = folder.path(&format!("{HOURS}/hour=02/loose.parquet"));
    fs::write(loose, "0").unwrap();
    fails(
        &folder,
        &check("2"),
        1,
        "writer's count, or `compact --apply`",
    );
    folder.part(0, "r1", 3);
    fails(&folder, &check("0"), 1, "2026-11-10 00:00 is mutated");
    let told = folder.json_of(&check("0"), 1);
    let wanted = json!({ "closed": false, "state": "mutated", "prefix": null });
    holds(&told, &wanted, "mutated");
    let named = told["reasons"].as_array().unwrap().iter();
    let keys: Vec<&str> = named.filter_map(|reason| reason["key"].as_str()).collect();
    assert!(
        keys.iter().any(|key| key.ends_with("part-3.parquet")),
        "{keys:?}"
    );

    let open = [
        "check",
        "learning.progress",
        "--date",
        "2999-01-01",
        "--hour",
        "1",
    ];
    fails(&folder, &open, 1, "is future");
}

#[test]
fn a_window_is_all_or_nothing() {
    let folder = Folder::with_datasets();
    folder.close(0, "7");
    fails(&folder, &WINDOW, 1, "2026-11-10 01:00 is late");
    folder.close(1, "8");
    fails(
        &folder,
        &WINDOW,
        1,
        "more than one definition_version: 7, 8",
    );
    let told = folder.json_of(&WINDOW, 1);
    assert_eq!(told["prefixes"].as_array().unwrap().len(), 2);

    let folder = Folder::with_datasets();
    folder.close(0, "7");
    folder.json(&[
        "publish",
        "learning.progress",
        "--date",
        "2026-11-10",
        "--hour",
        "1",
        "--empty",
        "--reason",
        "maintenance",
    ]);
    let output = folder.run(&WINDOW);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout), format!("{}\n", folder.prefix(0)));
    // The empty hour alone: nothing to scan, and nothing that stops a job.
    let output = folder.run(&check("1"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stdout), "");
    let empty = json!({ "closed": false, "state": "empty", "prefix": null });
    holds(&folder.json(&check("1")), &empty, "empty");
}

#[test]
fn what_cannot_be_meant_is_a_usage_error() {
    let folder = Folder::with_datasets();
    let day = ["check", "learning.progress", "--date", "2026-11-10"];
    fails(&folder, &day, 2, "say which one is meant");
    fails(&folder, &check("24"), 2, "no hour from 0 to 23");
    let daily = [
        "check",
        "curated.daily",
        "--date",
        "2026-11-10",
        "--hour",
        "3",
    ];
    fails(&folder, &daily, 2, "a whole day is meant");
    fails(&folder, &["check", "learning.progress"], 2, "--date");
    let mut window = WINDOW;
    window[5] = "2026-11-10T02:00:00";
    fails(&folder, &window, 2, "offset");
    window[5] = "2026-11-09T00:00:00Z";
    fails(&folder, &window, 2, "is not before");
    fails(
        &folder,
        &["hours", "other"],
        2,
        "declares learning.progress, curated.daily",
    );
    let back = [
        "hours",
        "curated.daily",
        "--from",
        "2026-11-11",
        "--to",
        "2026-11-10",
    ];
    fails(&folder, &back, 2, "is after");
}

#[test]
fn hours_are_counted_from_the_first_and_shown_as_a_grid() {
    let folder = Folder::with_datasets();
    folder.close(0, "7");
    folder.close(1, "7");
    folder.part(2, "r1", 0);
    let day = [
        "hours",
        "learning.progress",
        "--from",
        "2026-11-10",
        "--to",
        "2026-11-10",
    ];
    let told = folder.json(&day);
    let wanted = json!({
        "dataset": "learning.progress", "zone": "curated",
        "from": "2026-11-10", "to": "2026-11-10",
        "closed_up_to": "2026-11-10T02:00:00.000Z",
        "counts": { "closed": 2, "late": 22 },
        "blocked_by": { "date": "2026-11-10", "hour": 2, "state": "late" },
    });
    holds(&told, &wanted, "hours");
    let hours = told["hours"].as_array().unwrap();
    assert_eq!(hours.len(), 24);
    let first = json!({
        "date": "2026-11-10", "hour": 0, "state": "closed", "objects": 3, "bytes": 30,
        "median_bytes": 10, "completeness": null, "marker": { "run_id": "r1" },
    });
    holds(&hours[0], &first, "hours[0]");
    // A later window is held back by the same hour.
    let later = [
        "hours",
        "learning.progress",
        "--from",
        "2026-11-11",
        "--to",
        "2026-11-11",
    ];
    assert_eq!(
        folder.json(&later)["closed_up_to"],
        "2026-11-10T02:00:00.000Z"
    );

    let output = folder.run(&day);
    let out = text(&output.stdout);
    assert!(
        out.contains("2026-11-10  CCTTTT TTTTTT TTTTTT TTTTTT\n"),
        "{out}"
    );
    assert!(out.contains("closed up to  2026-11-10 02:00:00Z"), "{out}");
    assert!(
        out.contains("held back by  2026-11-10 02:00 late: 1 object without a marker"),
        "{out}"
    );
    assert!(out.contains("T late 22   C closed 2"), "{out}");
    assert!(out.contains("2026-11-10 23:00  late"), "{out}");
    let row = "2026-11-11 00:15:00Z  airflow:progress  ";
    assert!(out.contains(row), "{out}");
    let late = &hours[23];
    let wanted = json!({ "owner": "airflow:progress", "deadline": "2026-11-11T00:15:00.000Z" });
    holds(late, &wanted, "hours[23]");

    let failing = [&day[..], &["--fail-on-exceptions"]].concat();
    let output = folder.run(&failing);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stderr);
    assert!(
        said.contains("22 hours of 2026-11-10 to 2026-11-10 are late or worse"),
        "{said}"
    );
}

#[test]
fn late_data_on_a_closed_hour_is_listed_and_nothing_is_cut() {
    let folder = Folder::with_datasets();
    folder.close(0, "7");
    let name = format!("{}.parquet", "x".repeat(200));
    std::thread::sleep(Duration::from_millis(20));
    fs::write(folder.path(&format!("{HOURS}/hour=00/{name}")), "0").unwrap();
    let output = folder.run(&[
        "hours",
        "learning.progress",
        "--from",
        "2026-11-10",
        "--to",
        "2026-11-10",
    ]);
    let out = text(&output.stdout);
    assert!(out.contains("2026-11-10 00:00  closed, late data"), "{out}");
    assert!(out.contains(&name), "{out}");
}

#[test]
fn a_window_is_no_longer_than_an_answer() {
    let folder = Folder::with_datasets();
    let of = |command: &str, from: &str, to: &str| {
        let arguments = [command, "learning.progress", "--from", from, "--to", to];
        fails(&folder, &arguments, 2, "at most 400 days");
    };
    for command in ["hours", "partitions", "check"] {
        of(command, "2026-11-29", "9999-12-31");
        of(command, "0000-01-01", "2400-01-01");
    }
}

#[test]
fn before_the_first_day_and_without_a_key_check_says_so() {
    let folder = Folder::with_datasets();
    folder.close(0, "7");
    let day = |date: &'static str| {
        let of = ["check", "learning.progress", "--date", date, "--hour", "1"];
        of.to_vec()
    };
    let why = "before the dataset's first day 2026-11-10";
    fails(&folder, &day("2026-11-09"), 1, why);
    let daily = ["check", "curated.daily", "--date", "2026-11-10"];
    fails(&folder, &daily, 1, "is the prefix right?");
}

#[test]
fn a_zone_that_is_not_there_is_no_dataset_that_is_not_declared() {
    let folder = Folder::with_datasets();
    fs::remove_dir_all(folder.path("lake")).unwrap();
    let date = ["--date", "2026-11-10", "--hour", "1"];
    fails(
        &folder,
        &[&["check", "learning.progress"], date.as_slice()].concat(),
        4,
        "no such directory",
    );
    fails(
        &folder,
        &["hours", "learning.progress"],
        4,
        "no such directory",
    );
    fails(&folder, &["lint"], 4, "no such directory");
    fails(
        &folder,
        &["lint", "learning.progress"],
        4,
        "no such directory",
    );
    fails(
        &folder,
        &["hours", "learning.nothing"],
        2,
        "declares no such dataset",
    );
}
