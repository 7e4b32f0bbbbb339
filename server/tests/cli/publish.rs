//! `tidemark publish`, `repoint`, `expire-runs` and pins of runs: what a script reads, and how each
//! ends.

use super::*;

const MORE: &str = r#"
[[dataset]]
name = "learning.progress"
zone = "curated"
prefix = "learning/progress/"
partition = ["event_date", "hour"]
definition_version = "7"
[dataset.retention]
audit = { keep = "0s", source = "the test" }
"#;

const HOUR: &str = "lake/learning/progress/event_date=2026-11-10/hour=08";

impl Folder {
    fn with_runs(runs: &[(&str, u32)]) -> Self {
        let folder = Self::new();
        let config = folder.path("tidemark.toml");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{text}{MORE}")).unwrap();
        for (run, count) in runs {
            folder.add_run(run, *count);
        }
        folder
    }

    fn add_run(&self, run: &str, count: u32) {
        for n in 0..count {
            let path = self
                .path(HOUR)
                .join(format!("run_id={run}/part-{n}.parquet"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "0123456789").unwrap();
        }
    }
}

const OF: [&str; 5] = ["learning.progress", "--date", "2026-11-10", "--hour", "8"];

fn publish<'a>(run: &'a str, count: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let newest = ["--max-event-time", "2026-11-10T08:59:59Z"];
    let run = ["--run", run, "--count", count];
    [&["publish"], &OF[..], &run, &newest, more].concat()
}

#[test]
fn three_objects_then_a_fourth_then_a_new_run() {
    let folder = Folder::with_runs(&[("r1", 3)]);
    let told = folder.json(&publish("r1", "3", &[]));
    let wanted = json!({
        "dataset": "learning.progress", "date": "2026-11-10", "hour": 8,
        "outcome": "published", "refused": null, "superseded_run": null,
        "registered": null, "registration_error": null, "state": "closed",
        "marker": {
            "zone": "curated", "object_count": 3, "bytes": 30, "run_id": "r1",
            "definition_version": "7", "max_event_time": "2026-11-10T08:59:59.000Z",
        },
    });
    holds(&told, &wanted, "publish");
    let told = folder.json(&publish("r1", "3", &[]));
    holds(
        &told,
        &json!({ "outcome": "unchanged", "state": "closed" }),
        "again",
    );

    folder.add_run("r1", 4);
    let told = folder.json_of(&publish("r1", "4", &[]), 1);
    assert_eq!(told["outcome"], "refused");
    assert!(told["refused"].as_str().unwrap().contains("never edited"));
    assert_eq!(told["state"], "mutated");

    folder.add_run("r2", 4);
    let told = folder.json(&publish("r2", "4", &[]));
    holds(
        &told,
        &json!({ "outcome": "published", "superseded_run": "r1" }),
        "r2",
    );
    assert_eq!(told["way_back"], Value::Null, "r1 was mutated");
    let short = folder.json_of(&publish("r2", "9", &["--replace"]), 0);
    assert_eq!(short["outcome"], "unchanged");
}

#[test]
fn another_run_waits_for_replace_and_the_way_back_is_a_command() {
    let folder = Folder::with_runs(&[("r08a", 2), ("r08b", 3)]);
    folder.json(&publish("r08a", "2", &[]));
    let says = "the hour is closed under run r08a; run r08b was not published: --replace does that";
    let told = folder.json(&publish("r08b", "3", &[]));
    holds(
        &told,
        &json!({ "outcome": "unchanged", "refused": null }),
        "r08b",
    );
    assert!(
        told["message"].as_str().unwrap().starts_with(says),
        "{told}"
    );
    let out = text(&folder.run(&publish("r08b", "3", &[])).stdout);
    assert!(out.contains(says), "{out}");

    let out = folder.run(&publish("r08b", "3", &["--replace"])).stdout;
    let out = text(&out);
    assert!(out.contains("replaced   run r08a\n"), "{out}");
    let (_, command) = out.split_once("the way back: tidemark ").unwrap();
    let command: Vec<&str> = command.lines().next().unwrap().split(' ').collect();
    let told = folder.json(&command);
    let wanted = json!({
        "outcome": "published", "superseded_run": "r08b",
        "way_back": "tidemark repoint learning.progress --date 2026-11-10 --hour 8 --run r08b",
    });
    holds(&told, &wanted, "back");
}

#[test]
fn repeated_rows_are_told_by_publish_and_check() {
    let folder = Folder::with_runs(&[]);
    let config = folder.path("tidemark.toml");
    let declared = fs::read_to_string(&config).unwrap();
    let declared = declared.replace("\"curated\"", "\"raw\"");
    let grain = "event_time = \"event_time\"\ngrain = [\"event_time\"]\n[dataset.retention]";
    fs::write(&config, declared.replace("[dataset.retention]", grain)).unwrap();
    let run = folder.path(HOUR).join("run_id=r1");
    fs::create_dir_all(&run).unwrap();
    crate::readme::file(&run, "a.parquet", 8);
    crate::readme::file(&run, "b.parquet", 8);
    let one = [&["publish"], &OF[..], &["--run", "r1", "--count", "2"]].concat();
    let output = folder.run(&one);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let out = text(&output.stdout);
    let says = "warning: 2 rows repeat the grain (event_time) of a row before them";
    assert!(out.contains(says), "{out}");
    let check = [&["check"], &OF[..]].concat();
    assert_eq!(folder.json(&check)["repeated_rows"], 2);
    let output = folder.run(&check);
    assert_eq!(text(&output.stdout).lines().count(), 1, "{output:?}");
    let note = text(&output.stderr);
    assert!(
        note.starts_with("note: 2 rows of 2026-11-10 08:00 repeat"),
        "{note}"
    );
}

#[test]
fn what_is_refused_makes_no_noise() {
    let folder = Folder::with_runs(&[("r1", 1)]);
    let config = folder.path("tidemark.toml");
    let declared = fs::read_to_string(&config).unwrap();
    let bare = declared.split("[dataset.retention]").next().unwrap();
    fs::write(&config, bare).unwrap();
    let fails = |arguments: &[&str], code: i32, says: &str| {
        let output = folder.run(arguments);
        let (out, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
        out
    };
    let expire = ["expire-runs", "learning.progress"];
    assert_eq!(fails(&expire, 1, "no audit window is declared"), "");
    let out = fails(
        &[&["compact"], &OF[..]].concat(),
        1,
        "there are no loose keys",
    );
    assert!(!out.contains("plan"), "{out}");
    let open = [
        "compact",
        "learning.progress",
        "--date",
        "2999-01-01",
        "--hour",
        "1",
    ];
    let out = fails(&open, 1, "is open");
    assert!(!out.contains("state") && !out.contains("plan"), "{out}");
    let pin = |more: &[&'static str]| [&["pin"], &OF[..], &["--name", "x"], more].concat();
    fails(&pin(&["--run", "r1"]), 2, "--until");
    fails(&pin(&["--run", "r1"]), 2, "see `tidemark pin --help`");
    let past = ["--run", "r1", "--until", "2020-01-01T00:00:00Z"];
    fails(&pin(&past), 2, "name an instant to come");
    let name = ["learning.progress", "--name", "x"];
    fails(
        &[&["unpin"], &name[..]].concat(),
        2,
        "with --date and --hour",
    );
    let version = ["--version", "1"];
    fails(
        &[&["pin"], &name[..], &version].concat(),
        2,
        "has no versions",
    );
}

#[test]
fn what_is_not_published_ends_with_its_own_code() {
    let folder = Folder::with_runs(&[("r1", 1)]);
    for (arguments, code, why) in [
        (publish("r1", "2", &[]), 1, "its writer says 2"),
        (
            [&["publish"], &OF[..], &["--run", "r1"]].concat(),
            2,
            "--count",
        ),
        (
            [&["publish"], &OF[..], &["--empty"]].concat(),
            2,
            "--reason",
        ),
        (
            vec![
                "publish",
                "other",
                "--date",
                "2026-11-10",
                "--run",
                "r1",
                "--count",
                "1",
            ],
            2,
            "declares learning.progress",
        ),
        (
            vec![
                "publish",
                "learning.progress",
                "--date",
                "2026-13-10",
                "--run",
                "r1",
                "--count",
                "1",
            ],
            2,
            "is not a date",
        ),
        (
            [&["repoint"], &OF[..], &["--run", "r1"]].concat(),
            1,
            "never published",
        ),
    ] {
        let output = folder.run(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            said.starts_with("tidemark: ") && said.contains(why),
            "{said}"
        );
    }
    let today = lake::hours::Day::of(lake::table::Time(chrono_now())).to_string();
    let open = [
        "publish",
        "learning.progress",
        "--date",
        &today,
        "--hour",
        "23",
        "--empty",
        "--reason",
        "x",
    ];
    let output = folder.run(&open);
    // In the last second of a day the hour may end while this runs.
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        text(&output.stderr).contains("is open: it ends at"),
        "{output:?}"
    );
}

fn chrono_now() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

#[test]
fn runs_are_pinned_pointed_back_to_and_expired() {
    let folder = Folder::with_runs(&[("r1", 2), ("r2", 3)]);
    folder.json(&publish("r1", "2", &[]));
    folder.json(&publish("r2", "3", &["--replace"]));
    let back = [
        &["repoint"],
        &OF[..],
        &["--run", "r1", "--reason", "r2 lacks a region"],
    ]
    .concat();
    let told = folder.json(&back);
    let wanted = json!({
        "outcome": "published", "superseded_run": "r2",
        "marker": { "run_id": "r1", "supersedes": "r2", "reason": "r2 lacks a region" },
    });
    holds(&told, &wanted, "repoint");

    let pin = [
        "--run",
        "r2",
        "--name",
        "board",
        "--until",
        "2100-01-01T00:00:00Z",
        "--reason",
        "quarter",
    ];
    let pins = folder.json(&[&["pin"], &OF[..], &pin].concat());
    let wanted = json!({ "pins": [{
        "name": "board", "date": "2026-11-10", "hour": 8, "run_id": "r2",
        "until": "2100-01-01T00:00:00.000Z", "reason": "quarter",
    }]});
    holds(&pins, &wanted, "pins");
    let expire = ["expire-runs", "learning.progress"];
    let planned = folder.json(&expire);
    assert_eq!(planned["plan"]["files_to_delete"], 0);
    let why = planned["plan"]["hours"]["expire"]["spared"][0]["why"].as_str();
    assert!(why.unwrap().starts_with("pinned by"), "{planned}");
    let until = &planned["plan"]["hours"]["expire"]["spared"][0]["until"];
    assert_eq!(until[0], "2100-01-01T00:00:00.000Z", "{planned}");
    let out = text(&folder.run(&expire).stdout);
    assert!(out.contains("2100-01-01 00:00:00Z"), "{out}");

    folder.json(&[&["unpin"], &OF[..], &["--name", "board"]].concat());
    assert_eq!(
        folder.json(&["pins", "learning.progress"])["pins"],
        json!([])
    );
    let planned = folder.json(&expire);
    assert_eq!(
        (&planned["plan"]["files_to_delete"], &planned["applied"]),
        (&json!(3 + 1), &Value::Null),
        "the run and its marker"
    );
    let done = folder.json(&[&expire[..], &["--apply"]].concat());
    assert_eq!(done["applied"]["deleted"], 3 + 1);
    assert!(!folder.path(HOUR).join("run_id=r2/part-0.parquet").exists());
    assert!(folder.path(HOUR).join("run_id=r1/part-0.parquet").exists());
    let markers = folder.path("lake/learning/progress/_markers/event_date=2026-11-10/hour=08");
    assert!(!markers.join("r2.json").exists());
    // The run that is current again keeps both of its markers.
    assert!(markers.join("r1.json").exists());
    let told = folder.json(&[&["check"], &OF[..]].concat());
    holds(
        &told,
        &json!({ "state": "closed", "run_id": "r1" }),
        "check",
    );
}
