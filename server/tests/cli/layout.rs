//! `tidemark layout` of a dataset: every figure, and what cannot be meant.

use super::*;

const DATASET: &str = r#"
[[dataset]]
name = "learning.progress"
zone = "curated"
prefix = "learning/progress/"
partition = ["event_date", "hour"]
first = "2026-11-10"
definition_version = "7"
banned_keys = ["learner_id"]
[dataset.budget]
median_bytes = "1KiB"
"#;

const DAY: [&str; 4] = ["--from", "2026-11-10", "--to", "2026-11-10"];

fn layout<'a>(location: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["layout", location], more].concat()
}

struct Hours(Folder);

impl Hours {
    /// An hour over its budget, a closed one with keys that its run took in, a late one, a mutated
    /// one; nothing of the others.
    fn new() -> Self {
        let folder = Folder::new();
        let config = folder.path("tidemark.toml");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{text}{DATASET}")).unwrap();
        let hours = Self(folder);
        hours.close(0, &[300, 100, 2000, 200, 400]);
        hours.put(1, "learner_id=5/part.parquet", 7);
        for n in 0..999 {
            hours.put(1, &format!("loose-{n}.parquet"), 1);
        }
        hours.close(1, &[1500]);
        hours.put(2, "loose.parquet", 50);
        hours.close(3, &[10, 20]);
        hours.put(3, "run_id=r1/more.parquet", 30);
        hours
    }

    fn put(&self, hour: u8, name: &str, bytes: usize) {
        let below = format!("lake/learning/progress/event_date=2026-11-10/hour={hour:02}");
        let path = self.0.path(&below).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![b'x'; bytes]).unwrap();
    }

    /// Publishes a run of objects of these sizes.
    fn close(&self, hour: u8, sizes: &[usize]) {
        for (n, bytes) in sizes.iter().enumerate() {
            self.put(hour, &format!("run_id=r1/part-{n}.parquet"), *bytes);
        }
        let newest = format!("2026-11-10T{hour:02}:00:01Z");
        let (hour, count) = (hour.to_string(), sizes.len().to_string());
        let of = ["learning.progress", "--date", "2026-11-10", "--hour", &hour];
        let run = [
            "--run",
            "r1",
            "--count",
            &count,
            "--max-event-time",
            &newest,
        ];
        self.0.json(&[&["publish"], &of[..], &run].concat());
    }
}

#[test]
fn hours_have_their_sizes_and_readers_their_lists() {
    let Hours(folder) = &Hours::new();
    let told = folder.json(&layout("learning.progress", &DAY));
    let lake = folder.path("lake").canonicalize().unwrap();
    let hour = |hour: &str| json!({ "event_date": "2026-11-10", "hour": hour });
    let illegal = "learning/progress/event_date=2026-11-10/hour=01/learner_id=5/part.parquet";
    let wanted = json!({
        "location": format!("file://{}/learning/progress/", lake.display()),
        "version": null, "dataset": "learning.progress", "zone": "curated",
        "from": "2026-11-10", "to": "2026-11-10",
        "files": 10, "bytes": 4610, "median_bytes": 100, "p10_bytes": 10, "p90_bytes": 1500,
        "small_files": 8, "small_bytes_threshold": 1024,
        "partition_columns": ["event_date", "hour"],
        "partitions": [
            { "partition": hour("00"), "state": "over_budget", "files": 5, "bytes": 3000,
              "rows": null, "median_bytes": 300, "p10_bytes": 100, "p90_bytes": 2000,
              "small_files": 4 },
            { "partition": hour("01"), "state": "closed", "files": 1, "bytes": 1500,
              "rows": null, "median_bytes": 1500, "p10_bytes": 1500, "p90_bytes": 1500,
              "small_files": 0 },
            { "partition": hour("02"), "state": "late", "files": 1, "bytes": 50,
              "rows": null, "median_bytes": 50, "p10_bytes": 50, "p90_bytes": 50,
              "small_files": 1 },
            { "partition": hour("03"), "state": "mutated", "files": 3, "bytes": 60,
              "rows": null, "median_bytes": 20, "p10_bytes": 10, "p90_bytes": 30,
              "small_files": 3 },
        ],
        "counts": { "mutated": 1, "late": 21, "over_budget": 1, "closed": 1 },
        // A reader of the parent prefix of 01:00 lists 1,001 keys, and a page has 1,000.
        "lists_of_parents": 3, "lists_of_runs": 2,
        "illegal_keys": [illegal],
    });
    holds(&told, &wanted, "layout");
    assert_eq!(told["partitions"].as_array().unwrap().len(), 4);
    let rules: Vec<&str> = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert!(rules.contains(&"banned_key"), "{rules:?}");

    let output = folder.run(&layout("learning.progress", &DAY));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let out = text(&output.stdout);
    for line in [
        "objects        10\n",
        "object size    median 100 B, p10 10 B, p90 1.5 KiB\n",
        "small objects  8 below 1.0 KiB\n",
        "LIST requests  3 over the closed hours' prefixes, 2 over their runs alone\n",
        "1 mutated, 21 late, 1 over budget, 1 closed\n",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
}

#[test]
fn days_are_for_datasets_and_versions_for_tables() {
    let Hours(folder) = &Hours::new();
    for (arguments, why) in [
        (layout("people", &DAY), "are for datasets"),
        (
            layout("learning.progress", &["--version", "1"]),
            "a dataset has no versions",
        ),
        (
            layout("people", &["--from", "2026-11-10", "--version", "1"]),
            "cannot be used with",
        ),
    ] {
        let output = folder.run(&arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
    // Without days: those of a month up to today, or from the first on.
    let told = folder.json(&layout("learning.progress", &["--to", "2026-11-12"]));
    assert_eq!(told["from"], "2026-11-10");
    let told = folder.json(&layout("learning.progress", &["--to", "2026-12-20"]));
    assert_eq!(told["from"], "2026-11-21");
}
