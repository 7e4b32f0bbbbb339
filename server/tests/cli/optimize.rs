//! `tidemark optimize`: what is printed, what is written, and when nothing is.

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;

use super::*;

/// Adds a table `events` of two partitions with three files each.
fn events() -> Folder {
    let folder = Folder::new();
    let root = folder.path("lake/events");
    fs::create_dir_all(root.join("_delta_log")).unwrap();
    let schema = r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},{"name":"day","type":"string","nullable":true,"metadata":{}}]}"#;
    let mut log = vec![
        json!({ "protocol": { "minReaderVersion": 1, "minWriterVersion": 2 } }),
        json!({ "metaData": { "id": "e", "format": { "provider": "parquet", "options": {} },
            "schemaString": schema, "partitionColumns": ["day"], "configuration": {} } }),
    ];
    for n in 0..6i64 {
        let ids = Int64Array::from_iter_values(n * 100..n * 100 + 100);
        let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let (day, name) = (if n < 3 { "a" } else { "b" }, format!("f{n}.parquet"));
        fs::write(root.join(&name), &bytes).unwrap();
        log.push(
            json!({ "add": { "path": name, "partitionValues": { "day": day },
            "size": bytes.len(), "modificationTime": 1, "dataChange": true,
            "stats": "{\"numRecords\":100}" } }),
        );
    }
    let lines: Vec<String> = log.iter().map(Value::to_string).collect();
    fs::write(
        root.join("_delta_log").join(format!("{:020}.json", 0)),
        lines.join("\n"),
    )
    .unwrap();
    folder
}

fn data_files(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        files += match path.is_dir() {
            true => data_files(&path),
            false => usize::from(path.extension().is_some_and(|e| e == "parquet")),
        };
    }
    files
}

#[test]
fn a_plan_writes_nothing_and_apply_packs_once() {
    let folder = events();
    let root = folder.path("lake/events");
    let planned = folder.json(&["optimize", "lake/events"]);
    let plan = &planned["plan"];
    let wanted = json!({
        "kind": "optimize", "base_version": "0", "target_version": null, "refused": null,
        "files_to_rewrite": 6, "files_to_write": 2, "files_to_add": 2, "files_to_remove": 6,
        "files_to_delete": 0, "rows_to_add": 0, "rows_to_remove": 0, "missing_files": [],
        "optimize": {"min_bytes": 104_857_600, "target_bytes": 1_073_741_824, "passed": []},
    });
    holds(plan, &wanted, "$.plan");
    assert_eq!(plan["bytes_to_rewrite"], plan["optimize"]["table_bytes"]);
    assert_eq!(
        plan["optimize"]["bins"][1]["partition"],
        json!({ "day": "b" })
    );
    assert_eq!(planned["applied"], Value::Null);
    assert_eq!(data_files(&root), 6);

    let one = [
        "optimize",
        "lake/events",
        "--partition",
        "day=a",
        "--apply",
        "--reason",
        "many",
    ];
    let done = folder.json(&one);
    assert_eq!(done["applied"]["version"], "1");
    assert_eq!(done["applied"]["attempts"], 1);
    assert_eq!(done["applied"]["proven_files"], 4);
    let said = text(&folder.run(&["optimize", "lake/events", "--apply"]).stdout);
    assert!(said.contains("packed as version 2"), "{said}");
    let snapshot = folder.json(&["snapshot", "lake/events", "--files"]);
    assert_eq!(
        (&snapshot["files"], &snapshot["rows"]),
        (&json!(2), &json!(600))
    );
    let path = snapshot["paths"][0]["path"].as_str().unwrap();
    assert!(
        path.starts_with("day=a/part-00000-") && path.ends_with("-c000.snappy.parquet"),
        "{path}"
    );
    assert_eq!(data_files(&root), 8);
    let history = folder.json(&["history", "lake/events", "--limit", "2"]);
    let wanted = json!({
        "operation": "OPTIMIZE", "reason": "many", "files_added": 1, "files_removed": 3,
        "rows_added": 100 * 3, "rows_removed": 300, "data_change": false,
        "metrics": {"numAddedFiles": "1", "numRemovedFiles": "3", "numDeletionVectorsRemoved": "0"},
    });
    holds(&history["commits"][1], &wanted, "$.commits[1]");
    let diff = folder.json(&["diff", "lake/events", "--from", "0", "--to", "2"]);
    assert_eq!(diff["verdict"], "rewrite");
}

#[test]
fn what_cannot_be_packed_is_refused_in_one_line() {
    let folder = events();
    let cases: [(&[&str], i32, &str); 5] = [
        (
            &["optimize", "lake/events", "--target-size", "huge"],
            2,
            "is not a size",
        ),
        (
            &["optimize", "lake/events", "--target-size", "0"],
            2,
            "is not a size",
        ),
        (
            &["optimize", "lake/events", "--partition", "day"],
            2,
            "column=value",
        ),
        (
            &["optimize", "lake/events", "--partition", "week=1"],
            2,
            "partitioned by day",
        ),
        (
            &["optimize", "lake/events", "--partition", "day=c", "--apply"],
            1,
            "nothing to do",
        ),
    ];
    for (arguments, code, says) in cases {
        let output = folder.run(arguments);
        let line = text(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {output:?}"
        );
        assert!(line.contains(says), "{arguments:?}: {line}");
    }
    // Files that are not there are left alone.
    let plan = folder.run(&["optimize", "people", "--apply"]);
    assert_eq!(plan.status.code(), Some(1), "{plan:?}");
    assert_eq!(data_files(&folder.path("lake/events")), 6);
}

#[test]
fn the_configuration_says_how_large_files_should_be() {
    let folder = events();
    let path = folder.path("tidemark.toml");
    let config = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        config + "\n[optimize]\nmin = \"2KiB\"\ntarget = \"3KiB\"\n",
    )
    .unwrap();
    let detail = folder.json(&["optimize", "lake/events"])["plan"]["optimize"].clone();
    assert_eq!(
        (&detail["min_bytes"], &detail["target_bytes"]),
        (&json!(2048), &json!(3072))
    );
    let asked = folder.json(&["optimize", "lake/events", "--target-size", "1MiB"]);
    assert_eq!(asked["plan"]["optimize"]["target_bytes"], json!(1 << 20));
}
