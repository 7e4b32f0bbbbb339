//! What README says of hours, run as it stands there against the sample lake: the script of a job,
//! the DAG's commands, the cron lines.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use tests::place;
use tests::script::Script;

/// Where README says that the configuration lies.
const CONFIG: &str = "/etc/tidemark.toml";

/// The code block of README that says `has`.
fn block(has: &str) -> String {
    let text = fs::read_to_string(place::repository().join("README.md")).unwrap();
    let parts: Vec<&str> = text.split("\n```").collect();
    // Every second part lies between fences; its first line names the language.
    let blocks = parts.iter().skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| block.split_once('\n'));
    let mut found = blocks
        .map(|(_, code)| code)
        .filter(|code| code.contains(has));
    let block = found
        .next()
        .unwrap_or_else(|| panic!("README says `{has}` in no block"));
    assert!(
        found.next().is_none(),
        "README says `{has}` in several blocks"
    );
    format!("{block}\n")
}

/// An hour of the sample lake: its dataset, date and number.
type Hour = [String; 3];

/// Hours of a dataset by state, the newest first.
fn hours(demo: &Script, dataset: &str, wanted: &str) -> Vec<Hour> {
    let told = demo.json(&["hours", dataset, "--complete"], 0);
    let rows = told["hours"].as_array().unwrap().iter().rev();
    let of = |row: &Value| {
        let date = row["date"].as_str().unwrap().to_owned();
        [dataset.to_owned(), date, row["hour"].to_string()]
    };
    let hours: Vec<Hour> = rows.filter(|row| row["state"] == wanted).map(of).collect();
    assert!(!hours.is_empty(), "no hour of {dataset} is {wanted}");
    hours
}

#[test]
fn a_job_reads_closed_hours_passes_over_empty_ones_and_stops_on_any_other() {
    let demo = Script::demo();
    let script = block("prefix=$(tidemark check");
    assert!(script.lines().count() <= 10, "{script}");
    fs::write(demo.folder().join("read-hour"), script).unwrap();
    let read = |hour: &Hour| {
        let [dataset, date, hour] = hour.each_ref().map(String::as_str);
        demo.started("sh", &["read-hour", dataset, date, hour])
    };
    const PROGRESS: &str = "learning.progress";
    for state in ["closed", "over budget"] {
        let of = &hours(&demo, PROGRESS, &state.replace(' ', "_"))[0];
        let told = read(of);
        assert_eq!((told.code, told.err.as_str()), (0, ""), "{state}: {told:?}");
        let hour = format!("event_date={}/hour={:0>2}/run_id=", of[1], of[2]);
        assert!(
            told.out.starts_with("reading file:///"),
            "{state}: {told:?}"
        );
        assert!(told.out.contains(&hour), "{state}: {told:?}");
        assert_eq!(told.out.lines().count(), 1, "{state}: {told:?}");
    }
    let told = read(&hours(&demo, PROGRESS, "empty")[0]);
    assert_eq!(
        (told.code, told.out.as_str()),
        (0, "nothing happened\n"),
        "{told:?}"
    );
    let stops = [
        (PROGRESS, "open"),
        (PROGRESS, "future"),
        (PROGRESS, "late"),
        (PROGRESS, "mutated"),
        (PROGRESS, "racing"),
        (PROGRESS, "invalid"),
        (PROGRESS, "lost"),
        ("commerce.purchase_line", "incomplete"),
    ];
    for (dataset, state) in stops {
        let hours = hours(&demo, dataset, state);
        // The newest of the open hours stays open for as long as the test takes.
        let told = read(hours.first().unwrap());
        assert_eq!((told.code, told.out.as_str()), (1, ""), "{state}: {told:?}");
        assert!(
            told.err.contains(&format!("is {state}")),
            "{state}: {told:?}"
        );
        assert_eq!(told.err.lines().count(), 1, "{state}: {told:?}");
    }
    // Nor does it read what nobody declared.
    let other = [
        "nothing".to_owned(),
        "2026-11-10".to_owned(),
        "0".to_owned(),
    ];
    let told = read(&other);
    assert_eq!((told.code, told.out.as_str()), (2, ""), "{told:?}");
}

/// The tasks that the example would run for an hour, each its DAG, its name and its command.
fn tasks(date: &str, hour: &str) -> Vec<[String; 3]> {
    let peer = place::repository().join("tests/peers/dag.py");
    let mut python = Command::new(place::venv("python"))
        .arg(peer)
        .args([date, hour])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    stdin.write_all(block("with DAG(").as_bytes()).unwrap();
    drop(stdin);
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let field = |task: &Value, name: &str| task[name].as_str().unwrap().to_owned();
    let tasks = told.as_array().unwrap().iter();
    tasks
        .map(|task| ["dag", "task", "command"].map(|name| field(task, name)))
        .collect()
}

/// A command of a scheduler, which runs it in some folder and is told where the configuration is.
fn run(demo: &Script, command: &str) -> tests::script::Ended {
    assert!(command.contains(CONFIG), "{command}");
    let config = demo.folder().join("tidemark.toml");
    let command = command.replace(CONFIG, config.to_str().unwrap());
    let elsewhere = format!("cd / && {command}");
    demo.started("bash", &["-c", &elsewhere])
}

#[test]
fn the_dag_publishes_an_hour_once_and_refuses_one_that_is_open() {
    let demo = Script::demo();
    let late = &hours(&demo, "learning.progress", "late")[0];
    let [_, date, hour] = late;
    let all = tasks(date, hour);
    let names: Vec<(&str, &str)> = all.iter().map(|[dag, task, _]| (&**dag, &**task)).collect();
    let wanted = [
        ("learning_progress", "sink_has_left"),
        ("learning_progress", "publish"),
        ("learning_progress", "ready"),
        ("nightly", "optimize"),
        ("nightly", "vacuum"),
    ];
    assert_eq!(names, wanted);
    let mut prefixes = Vec::new();
    // The second time, nothing has to be done.
    for time in 0..2 {
        for [_, task, command] in &all {
            let told = run(&demo, command);
            assert_eq!(told.code, 0, "{time} {task}: {told:?}");
            match task.as_str() {
                "publish" => {
                    let outcome = ["published", "unchanged"][time];
                    let line = told.out.lines().find(|line| line.starts_with("outcome"));
                    let line = line.unwrap();
                    assert!(line.ends_with(outcome), "{told:?}");
                }
                "ready" => prefixes.push(told.out),
                _ => {}
            }
        }
    }
    assert!(prefixes[0].starts_with("file:///"), "{prefixes:?}");
    assert_eq!(prefixes[0], prefixes[1]);
    // Of an hour that runs, the sensor says: not yet.
    let [_, date, hour] = &hours(&demo, "learning.progress", "open")[0];
    for [dag, task, command] in tasks(date, hour) {
        if dag == "learning_progress" {
            let told = run(&demo, &command);
            assert_eq!(told.code, 1, "{task}: {told:?}");
        }
    }
    // An hour that was declared empty holds nothing up.
    let [_, date, hour] = &hours(&demo, "learning.progress", "empty")[0];
    for [dag, task, command] in tasks(date, hour) {
        if dag == "learning_progress" {
            let told = run(&demo, &command);
            assert_eq!(told.code, 0, "{task}: {told:?}");
        }
    }
}

#[test]
fn the_cron_lines_say_what_the_commands_take() {
    let demo = Script::demo();
    let lines = block("20 * * * *");
    let mut commands = 0;
    for line in lines.lines() {
        let mut command = line.trim_start();
        for _ in 0..5 {
            command = command.split_once(' ').unwrap().1.trim_start();
        }
        // Cron ends a line at a percent sign, and a shell must not be given what cron takes away.
        let plain = command.replace("\\%", "");
        assert!(!plain.contains('%'), "{line}");
        let told = run(&demo, &command.replace("\\%", "%"));
        assert!((0..=1).contains(&told.code), "{line}: {told:?}");
        commands += 1;
    }
    assert_eq!(commands, 3);
}
