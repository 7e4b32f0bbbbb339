//! `tidemark restore`: what is printed, what is written, and when nothing is.

use super::*;

impl Folder {
    /// The table with all files that its log names.
    pub(super) fn whole() -> Self {
        let folder = Self::new();
        for (key, bytes) in [
            ("region=US/a.parquet", 1000),
            ("region=UK/b c.parquet", 500),
        ] {
            let path = folder.path("lake/users").join(key);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; bytes]).unwrap();
        }
        folder
    }

    pub(super) fn commits(&self) -> usize {
        let log = fs::read_dir(self.path("lake/users/_delta_log")).unwrap();
        log.filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|e| e == "json")
        })
        .count()
    }

    pub(super) fn refused(&self, arguments: &[&str], code: i32, says: &str) {
        let before = self.commits();
        let output = self.run(arguments);
        let line = text(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {output:?}"
        );
        assert!(
            line.starts_with("tidemark: ") && line.lines().count() == 1,
            "{line}"
        );
        assert!(line.contains(says), "{arguments:?}: {line}");
        assert_eq!(self.commits(), before, "{arguments:?}");
    }
}

#[test]
fn a_plan_writes_nothing_and_its_commit_once() {
    let folder = Folder::whole();
    let planned = folder.json(&["restore", "people", "--version", "1"]);
    let wanted = json!({
        "plan": {
            "kind": "restore", "base_version": "2", "target_version": "1", "refused": null,
            "files_to_add": 1, "files_to_remove": 0, "files_to_delete": 0, "files_to_rewrite": 0,
            "files_to_write": 0, "bytes_to_add": 1000, "bytes_to_remove": 0,
            "rows_to_add": 10, "rows_to_remove": 0, "missing_files": [],
            "schema": [], "properties": [], "protocol": [],
            "undone": [{"version": "2"}],
        },
        "applied": null,
    });
    holds(&planned, &wanted, "$");
    let warnings = planned["plan"]["warnings"].to_string();
    assert!(
        warnings.contains("older than the table keeps"),
        "{warnings}"
    );
    assert_eq!(folder.commits(), 3);

    let apply = [
        "restore",
        "people",
        "--version",
        "1",
        "--apply",
        "--expect",
        "2",
        "--reason",
        "wrong region",
    ];
    let done = folder.json(&apply);
    assert_eq!(done["applied"]["version"], "3");
    assert_eq!(done["applied"]["proven_files"], 2);
    assert_eq!(folder.commits(), 4);
    let history = folder.json(&["history", "people", "--limit", "1"]);
    let commit = &history["commits"][0];
    let wanted = json!({
        "operation": "RESTORE", "parameters": {"version": 1, "timestamp": null},
        "reason": "wrong region", "files_added": 1, "files_removed": 0, "rows_added": 10,
        "metrics": {"numRestoredFiles": "1", "restoredFilesSize": "1000", "numOfFilesAfterRestore": "2"},
    });
    holds(commit, &wanted, "$.commits[0]");
    let diff = folder.json(&["diff", "people", "--from", "1", "--to", "3"]);
    assert_eq!(diff["verdict"], "identical");
    // The probe of the store leaves nothing behind.
    assert!(
        !folder.path("lake/users/_tidemark/probe").exists() || {
            fs::read_dir(folder.path("lake/users/_tidemark/probe"))
                .unwrap()
                .next()
                .is_none()
        }
    );

    // The way back, by time and for one partition.
    let back = text(
        &folder
            .run(&["restore", "people", "--version", "2", "--apply"])
            .stdout,
    );
    assert!(back.contains("restored as version 4"), "{back}");
    assert!(
        back.contains("restore people --version 3 --apply"),
        "{back}"
    );
    let some = [
        "restore",
        "people",
        "--at",
        "2026-03-08T11:00:00Z",
        "--partition",
        "region=US",
        "--apply",
    ];
    assert_eq!(folder.json(&some)["applied"]["version"], "5");
}

#[test]
fn what_is_refused_leaves_the_table_alone() {
    let folder = Folder::whole();
    folder.refused(&["restore", "people"], 2, "--version");
    folder.refused(&["restore", "people", "--version", "9", "--apply"], 1, "9");
    folder.refused(
        &["restore", "people", "--version", "2", "--apply"],
        1,
        "nothing to do",
    );
    folder.refused(
        &[
            "restore",
            "people",
            "--version",
            "1",
            "--apply",
            "--expect",
            "1",
        ],
        3,
        "version 2 (DELETE",
    );
    folder.refused(
        &[
            "restore",
            "people",
            "--version",
            "1",
            "--partition",
            "country=US",
        ],
        2,
        "partitioned by region",
    );
    folder.refused(
        &["restore", "people", "--version", "1", "--partition", "US"],
        2,
        "column=value",
    );
    fs::remove_file(folder.path("lake/users/region=US/a.parquet")).unwrap();
    folder.refused(
        &["restore", "people", "--version", "1", "--apply"],
        1,
        "region=US/a.parquet",
    );
    let plan = folder.run(&["restore", "people", "--version", "1", "--json"]);
    assert_eq!(plan.status.code(), Some(1));
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(
        plan["plan"]["missing_files"],
        json!(["region=US/a.parquet"])
    );
    // Left out, there is nothing to bring back.
    let rest = ["restore", "people", "--version", "0", "--allow-missing"];
    let plan = folder.json(&rest);
    assert_eq!(plan["plan"]["files_to_add"], 0);
    assert_eq!(plan["plan"]["files_to_remove"], 1);
    assert!(
        plan["plan"]["warnings"]
            .to_string()
            .contains("10 rows stay lost")
    );
}
