//! `tidemark vacuum` and pins: what is printed, what is deleted, and when nothing is.

use super::*;

/// An hour before the retention of a week is over, and an hour after it.
const YOUNG: u64 = 7 * 24 - 1;
const OLD: u64 = 7 * 24 + 1;

impl Folder {
    /// The table with all files that its log names and some that it does not, `hours` old.
    fn littered(hours: u64) -> Self {
        let folder = Self::whole();
        for (key, bytes) in [
            (
                "region=UK/part-00000-8f3639c5-272a-4b27-9506-e529d3bfe145-c000.snappy.parquet",
                30,
            ),
            ("_hidden/x", 5),
            ("sub/_delta_log/00000000000000000000.json", 5),
            ("sub/f.parquet", 5),
        ] {
            let path = folder.path("lake/users").join(key);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; bytes]).unwrap();
        }
        for key in folder.below(&folder.path("lake/users")) {
            if key.ends_with(".json") {
                continue;
            }
            let file = fs::File::options().write(true).open(&key).unwrap();
            let time = std::time::SystemTime::now() - Duration::from_secs(hours * 3600);
            file.set_modified(time).unwrap();
        }
        folder
    }

    fn below(&self, folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => found.extend(self.below(&path)),
                false => found.push(path.display().to_string()),
            }
        }
        found
    }

    fn has(&self, key: &str) -> bool {
        self.path("lake/users").join(key).exists()
    }
}

const STRAY: &str = "region=UK/part-00000-8f3639c5-272a-4b27-9506-e529d3bfe145-c000.snappy.parquet";

#[test]
fn a_plan_deletes_nothing_and_apply_what_it_named() {
    let folder = Folder::littered(OLD);
    let planned = folder.json(&["vacuum", "people"]);
    let wanted = json!({
        "plan": {
            "kind": "vacuum", "base_version": "2", "target_version": null, "refused": null,
            "files_to_delete": 2, "bytes_to_delete": 1030, "files_to_add": 0, "files_to_remove": 0,
            "vacuum": {
                "retention_ms": 604_800_000, "table_retention_ms": 604_800_000, "quarantine": false,
                "objects": [
                    {"key": STRAY, "bytes": 30, "origin": "uncommitted",
                     "writer": "8f3639c5-272a-4b27-9506-e529d3bfe145"},
                    {"key": "region=US/a.parquet", "bytes": 1000, "origin": "removed", "writer": null},
                ],
                "waiting": [], "unrestorable": ["0", "1"], "pins": [],
                "spared": [{"objects": 1}, {"objects": 2}],
            },
        },
        "applied": null,
    });
    holds(&planned, &wanted, "$");
    assert!(folder.has(STRAY) && folder.has("region=US/a.parquet"));
    assert_eq!(folder.commits(), 3);

    let text_of = text(&folder.run(&["vacuum", "people"]).stdout);
    for words in [
        "7 days; the table asks for 7 days",
        STRAY,
        "`sub` is a table of its own",
        "2 versions can be restored now and cannot afterwards: 0–1",
        "nothing was deleted; --apply",
    ] {
        assert!(text_of.contains(words), "{words}: {text_of}");
    }

    // A pin keeps what its version needs.
    let pin = [
        "pin",
        "people",
        "--version",
        "0",
        "--name",
        "first load",
        "--reason",
        "audit",
    ];
    let pins = folder.json(&pin);
    holds(
        &pins,
        &json!({"pins": [{"name": "first load", "version": "0", "reason": "audit"}]}),
        "$",
    );
    let done = folder.json(&["vacuum", "people", "--apply", "--reason", "tidy"]);
    let wanted = json!({
        "plan": {"files_to_delete": 1, "vacuum": {"pins": [{"name": "first load"}]}},
        "applied": {"version": "4", "deleted": 1, "bytes_deleted": 30, "failed": [], "proven_files": 1},
    });
    holds(&done, &wanted, "$");
    assert!(!folder.has(STRAY) && folder.has("region=US/a.parquet"));
    assert!(folder.has("sub/f.parquet") && folder.has("_hidden/x"));
    let history = folder.json(&["history", "people", "--limit", "2"]);
    let wanted = json!([
        {"operation": "VACUUM END", "parameters": {"status": "COMPLETED"}, "reason": "tidy",
         "metrics": {"numDeletedFiles": "1"}},
        {"operation": "VACUUM START", "parameters": {"retentionCheckEnabled": true, "defaultRetentionMillis": 604_800_000},
         "metrics": {"numFilesToDelete": "1", "sizeOfDataToDelete": "30"}},
    ]);
    holds(&history["commits"], &wanted, "$.commits");

    // Without the pin the rest goes, aside.
    assert_eq!(
        folder.json(&["unpin", "people", "--name", "first load"]),
        json!({"pins": []})
    );
    let aside = folder.run(&["vacuum", "people", "--quarantine", "--apply"]);
    assert_eq!(aside.status.code(), Some(0), "{aside:?}");
    let told = text(&aside.stdout);
    assert!(told.contains("moved aside 1 object, 1000 B"), "{told}");
    assert!(
        told.contains("none of the 1 active files is gone"),
        "{told}"
    );
    assert!(!folder.has("region=US/a.parquet"));
    let kept = folder.below(&folder.path("lake/users/_tidemark/quarantine"));
    assert!(
        kept.len() == 1 && kept[0].ends_with("region=US/a.parquet"),
        "{kept:?}"
    );
    let listed = folder.json(&["quarantine", "people"]);
    assert_eq!(listed["quarantine"][0]["objects"], 1);
    assert_eq!(listed["emptied"], Value::Null);
    // It is younger than a week.
    let young = folder.json(&["quarantine", "people", "--apply"]);
    assert_eq!(young["emptied"]["deleted"], 0);
    assert_eq!(young["quarantine"].as_array().unwrap().len(), 1);
    let now = ["quarantine", "people", "--apply", "--older-than", "0s"];
    let emptied = folder.json(&now);
    assert_eq!(emptied["emptied"]["deleted"], 1);
    assert_eq!(emptied["quarantine"], json!([]));
    folder.refused(&["quarantine", "people", "--older-than", "x"], 2, "168h");
}

#[test]
fn what_may_not_be_deleted_stays() {
    let folder = Folder::littered(YOUNG);
    let young = folder.json_of(&["vacuum", "people"], 1);
    assert_eq!(
        young["plan"]["vacuum"]["waiting"].as_array().unwrap().len(),
        2
    );
    folder.refused(&["vacuum", "people", "--apply"], 1, "nothing to do");
    folder.refused(
        &["vacuum", "people", "--apply", "--retain", "30m"],
        1,
        "shorter than the table's own of 7 days",
    );
    folder.refused(&["vacuum", "people", "--retain", "a while"], 2, "168h");
    folder.refused(
        &["vacuum", "people", "--allow-short-retention"],
        2,
        "--retain",
    );
    let short = ["--retain", "0h", "--allow-short-retention", "--apply"];
    // The configuration allows nothing short, by its name and by its path.
    let path = folder.path("lake/users").display().to_string();
    for location in ["people", path.as_str()] {
        let arguments = [&["vacuum", location][..], &short].concat();
        folder.refused(&arguments, 2, "[vacuum] allow_short = true");
    }
    assert!(folder.has(STRAY) && folder.has("region=US/a.parquet"));

    let config = fs::read_to_string(folder.path("tidemark.toml")).unwrap();
    let allowing = format!("{config}[vacuum]\nallow_short = true\n");
    fs::write(folder.path("allowing.toml"), allowing).unwrap();
    let arguments = [
        &["vacuum", "people", "--config", "allowing.toml"][..],
        &short,
    ]
    .concat();
    let done = folder.json(&arguments);
    assert_eq!(done["applied"]["deleted"], 2);

    // Nobody set a rule.
    let free = Folder::littered(YOUNG);
    fs::remove_file(free.path("tidemark.toml")).unwrap();
    let arguments = [&["vacuum", "lake/users"][..], &short].concat();
    assert_eq!(free.json(&arguments)["applied"]["deleted"], 2);
}

#[test]
fn pins_have_names_of_their_own() {
    let folder = Folder::whole();
    assert_eq!(folder.json(&["pins", "people"]), json!({"pins": []}));
    assert_eq!(text(&folder.run(&["pins", "people"]).stdout), "no pins\n");
    let pin = |version, name| ["pin", "people", "--version", version, "--name", name];
    folder.json(&pin("1", "before/after"));
    folder.refused(&pin("2", "before/after"), 2, "pins version 1 already");
    folder.refused(&pin("9", "far"), 1, "there is no version 9");
    folder.refused(&pin("1", " "), 2, "name");
    folder.refused(
        &["unpin", "people", "--name", "nobody"],
        1,
        "no pin named `nobody`",
    );
    let shown = text(&folder.run(&["pins", "people"]).stdout);
    assert!(
        shown.contains("before/after") && shown.contains("VERSION"),
        "{shown}"
    );
}

/// A start that falls on the table's checkpoint interval gets its checkpoint, as any commit does.
#[test]
fn both_commits_are_looked_after() {
    let folder = Folder::littered(OLD);
    let log = folder.path("lake/users/_delta_log");
    for version in 3..10 {
        let commit = "{\"commitInfo\":{\"operation\":\"NOTHING\"}}\n";
        fs::write(log.join(format!("{version:020}.json")), commit).unwrap();
    }
    let done = folder.json(&["vacuum", "people", "--apply"]);
    assert_eq!(done["applied"]["version"], "11");
    assert!(
        log.join(format!("{:020}.checkpoint.parquet", 10)).exists(),
        "{done}"
    );
    let snapshot = folder.json(&["snapshot", "people"]);
    assert_eq!(snapshot["files"], 1);
}
