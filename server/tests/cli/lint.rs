//! `tidemark lint`, over the sample lake and without any store.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::Folder;

/// Rule and dataset of each finding.
fn rules(report: &Value) -> Vec<(&str, &str)> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|f| {
            let of = f["dataset"].as_str().or(f["zone"].as_str());
            (f["rule"].as_str().unwrap(), of.unwrap_or(""))
        })
        .collect()
}

#[test]
fn the_sample_lake_has_the_faults_that_it_should_have() {
    let folder = Folder::new();
    let told = folder.json(&["demo", "--dir", "sample", "--no-serve"]);
    assert_eq!(told["datasets"].as_array().map(Vec::len), Some(5));
    let config = told["config"].as_str().unwrap().to_owned();
    let with = |arguments: &[&str], code| {
        let arguments = [arguments, &["--config", &config]].concat();
        folder.json_of(&arguments, code)
    };
    let all = with(&["lint"], 1);
    assert_eq!(
        rules(&all),
        [
            ("retention_short", "commerce.purchase_line"),
            ("shared_rule", "raw"),
            ("expires_published", "learning.progress"),
            ("expires_published", "commerce.purchase_line"),
            ("banned_key", "learning.progress"),
            ("abort_uploads", "raw"),
            ("over_budget", "learning.progress"),
        ]
    );
    let shared = &all["findings"][1];
    let location = shared["location"].as_str().unwrap();
    assert!(location.ends_with("raw-lifecycle.json:3"), "{location}");
    assert_eq!(shared["owner"], "platform");
    let one = with(&["lint", "learning.progress"], 1);
    assert_eq!(
        rules(&one),
        [
            ("shared_rule", "raw"),
            ("expires_published", "learning.progress"),
            ("banned_key", "learning.progress"),
            ("abort_uploads", "raw"),
            ("over_budget", "learning.progress"),
        ]
    );
    let key = one["findings"][2]["location"].as_str().unwrap();
    assert!(key.contains("/hour=09/learner_id=48213/"), "{key}");
    // A file of its newest day says more than its keys.
    let landing = with(&["lint", "partner.enrollment"], 1);
    assert_eq!(
        rules(&landing),
        [("prohibited_column", "partner.enrollment")]
    );
    let told = folder.run(&["lint", "--config", &config]);
    let said = super::text(&told.stderr);
    assert!(said.contains("lint DATASET` reads"), "{said}");

    // What the lint writes for raw passes it.
    let right = with(&["lint", "--lifecycle", "raw"], 0);
    let file = folder.path("sample/settings/raw-lifecycle.json");
    std::fs::write(file, right.to_string()).unwrap();
    assert_eq!(
        rules(&with(&["lint"], 1)),
        [
            ("retention_short", "commerce.purchase_line"),
            ("banned_key", "learning.progress"),
            ("over_budget", "learning.progress"),
        ]
    );
    folder.json_of(&["lint", "nothing", "--config", &config], 2);
}

/// Makes an object as old as so many days.
fn age(path: &std::path::Path, days: u64) {
    let put = SystemTime::now() - Duration::from_secs(days * 86_400);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(put).unwrap();
}

#[test]
fn a_rule_that_can_delete_what_a_marker_names_is_an_error() {
    let folder = Folder::new();
    let config = folder.path("tidemark.toml");
    let text = fs::read_to_string(&config).unwrap().replace(
        "[[table]]",
        "lifecycle = \"rules.json\"\n[zone.retention]\nkeep = \"20d\"\naudit = \"20d\"\n[[table]]",
    );
    let dataset = "[[dataset]]\nname = \"learning.progress\"\nzone = \"curated\"\n\
        prefix = \"learning/progress/\"\npartition = [\"event_date\", \"hour\"]\n\
        definition_version = \"7\"\n";
    fs::write(&config, format!("{text}{dataset}")).unwrap();
    let rule = json!({"Rules": [
        {"ID": "runs", "Status": "Enabled", "Expiration": {"Days": 30},
         "Filter": {"Prefix": "learning/progress/event_date="}},
        {"ID": "uploads", "Status": "Enabled", "Filter": {"Prefix": ""},
         "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}},
    ]});
    fs::write(folder.path("rules.json"), rule.to_string()).unwrap();
    let close = |hour: &str, run: &str| {
        let below =
            format!("lake/learning/progress/event_date=2026-11-10/hour={hour}/run_id={run}/a");
        let path = folder.path(&below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "0123456789").unwrap();
        let of = [
            "--date",
            "2026-11-10",
            "--hour",
            hour,
            "--run",
            run,
            "--count",
            "1",
            "--replace",
        ];
        let newest = format!("2026-11-10T{hour}:00:00Z");
        let newest = ["--max-event-time", &newest];
        folder.json(&[&["publish", "learning.progress"], &of[..], &newest].concat());
        path
    };
    let named = || {
        let told = folder.run(&["lint", "learning.progress", "--json"]);
        let told: Value = serde_json::from_slice(&told.stdout).unwrap();
        let all = told["findings"].as_array().unwrap().iter();
        let mut named = all.filter(|finding| finding["rule"] == "expires_named");
        let message = named
            .next()
            .map(|f| f["message"].as_str().unwrap().to_owned());
        assert!(named.next().is_none());
        message
    };
    let first = close("08", "r1");
    close("09", "r1");
    // The rule keeps what was promised, and nothing is as old as it.
    assert_eq!(named(), None);
    // A run from before the rule's days, superseded just now: its audit window has begun.
    age(&first, 31);
    close("08", "r2");
    let told = named().unwrap();
    let wanted = "1 run is older and a marker still names it, \
                  1 of them superseded and within the audit window: 2026-11-10 08:00 first";
    assert!(told.ends_with(wanted), "{told}");
    let marker = "lake/learning/progress/_markers/event_date=2026-11-10/hour=09.json";
    age(&folder.path(marker), 30);
    let told = named().unwrap();
    assert!(
        told.contains("2 runs are older and markers still name them"),
        "{told}"
    );
}

#[test]
fn a_key_is_judged_without_a_store_or_a_configuration() {
    let folder = Folder::new();
    let good = "topics/progress/event_date=2026-11-10/hour=08/progress+0+0000000042.parquet";
    assert_eq!(
        folder.json(&["lint", "--key", good]),
        json!({"findings": []})
    );
    let bad = "topics/progress/event_date=2026-11-10/x_LEARNER_ID%3D5/a.parquet";
    let report = folder.json_of(&["lint", "--key", bad], 1);
    assert_eq!(rules(&report), [("banned_key", "")]);
    assert_eq!(report["findings"][0]["location"], bad);
    let both = folder.json_of(&["lint", "--key", good, "--key", bad], 1);
    assert_eq!(rules(&both), [("banned_key", "")]);
    let none = folder.json_of(&["lint", "--key", ""], 2);
    assert!(
        none["error"].is_object() || none["error"].is_string(),
        "{none}"
    );
}

#[test]
fn closed_hours_of_the_sample_lake_have_statements() {
    let folder = Folder::new();
    let told = folder.json(&["demo", "--dir", "sample", "--no-serve"]);
    let config = told["config"].as_str().unwrap().to_owned();
    let with = |arguments: &[&str]| {
        let arguments = [arguments, &["--config", &config]].concat();
        folder.json(&arguments)
    };
    let report = with(&["partitions", "learning.progress", "--create-table"]);
    assert_eq!(report["wrong"], Value::Null);
    let table = report["create_table"].as_str().unwrap();
    assert!(table.starts_with("CREATE EXTERNAL TABLE IF NOT EXISTS learning.progress_raw (\n"));
    let mut states = std::collections::BTreeSet::new();
    for slot in report["statements"].as_array().unwrap() {
        let state = slot["state"].as_str().unwrap();
        states.insert(state);
        let closed = matches!(state, "closed" | "over_budget");
        assert_eq!(slot["statement"].is_string(), closed, "{slot}");
        assert_eq!(slot["refused"].is_string(), !closed, "{slot}");
        if let Some(statement) = slot["statement"].as_str() {
            let (date, hour) = (
                slot["date"].as_str().unwrap(),
                slot["hour"].as_u64().unwrap(),
            );
            let add = format!(
                "ALTER TABLE learning.progress_raw ADD IF NOT EXISTS PARTITION (event_date='{date}', hour='{hour:02}') LOCATION 'file://"
            );
            assert!(statement.starts_with(&add), "{statement}");
            assert!(statement.contains("/run_id="), "{statement}");
        }
    }
    for state in [
        "closed",
        "over_budget",
        "lost",
        "mutated",
        "racing",
        "invalid",
        "late",
    ] {
        assert!(states.contains(state), "{states:?}");
    }
    let lines = with(&["partitions", "commerce.purchase_line"]);
    let refused: Vec<&str> = lines["statements"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|slot| slot["state"] == "incomplete")
        .map(|slot| slot["refused"].as_str().unwrap())
        .collect();
    assert_eq!(refused.len(), 2, "{refused:?}");
}
