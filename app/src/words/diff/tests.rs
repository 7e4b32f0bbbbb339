use lake::table::Version;
use lake::wire::{PartitionDiff, Totals};

use crate::words::Part;
use crate::words::samples::{diff, partition};

use super::*;

#[test]
fn a_restore_is_called_by_its_name() {
    let commit = |operation: &str, parameters| CommitRow {
        operation: Some(operation.to_owned()),
        parameters,
        ..crate::words::samples::commit()
    };
    let back = DiffReport {
        verdict: Verdict::Append,
        totals: Totals {
            files_added: 38,
            rows_added: Some(40_000),
            rows_removed: Some(0),
            ..Totals::default()
        },
        ..diff()
    };
    let said =
        |operation, parameters| verdict_of(&commit(operation, parameters), &back).to_string();
    let spark = serde_json::json!({ "version": "47", "timestamp": null });
    assert_eq!(
        said("RESTORE", spark.clone()),
        "Restore to version 47. 38 files came and brought 40,000 rows. Nothing left. Schema and \
         properties are the same."
    );
    let by_time = serde_json::json!({ "version": null, "timestamp": "2026-11-29T03:00:00Z" });
    assert!(
        said("RESTORE", by_time).starts_with("Restore to the version of 2026-11-29T03:00:00Z.")
    );
    assert!(said("RESTORE", serde_json::Value::Null).starts_with("Restore. 38 files"));
    assert!(said("WRITE", spark).starts_with("Append. 38 files"));
}

fn said(diff: &DiffReport) -> String {
    verdict(diff).to_string()
}

fn under(parts: &[&[(&str, &str)]]) -> Vec<PartitionDiff> {
    parts
        .iter()
        .map(|p| PartitionDiff {
            partition: partition(p),
            totals: Totals::default(),
        })
        .collect()
}

#[test]
fn a_delete_says_what_went_and_where() {
    let diff = DiffReport {
        verdict: Verdict::Delete,
        totals: Totals {
            files_removed: 962,
            bytes_removed: 2_684_354_560,
            rows_added: Some(0),
            rows_removed: Some(6_411_904),
            ..Totals::default()
        },
        from_files: Some(1202),
        partitions: under(&[
            &[("region", "US"), ("signup_date", "2026-11-09")],
            &[("region", "US"), ("signup_date", "2026-11-08")],
        ]),
        partitions_total: 2,
        ..diff()
    };
    assert_eq!(
        said(&diff),
        "Delete. 962 of 1,202 files left the table and took 6,411,904 rows with them, all under \
         region=US. Nothing came. Schema and properties are the same."
    );
    assert!(verdict(&diff).0.contains(&Part::Code("region=US".into())));
}

#[test]
fn a_list_that_was_cut_proves_no_common_partition() {
    let diff = DiffReport {
        verdict: Verdict::Append,
        totals: Totals {
            files_added: 3,
            rows_added: Some(9001),
            ..Totals::default()
        },
        partitions: under(&[&[("region", "US")]]),
        partitions_total: 2,
        ..diff()
    };
    assert_eq!(
        said(&diff),
        "Append. 3 files came and brought 9,001 rows, in 2 regions. Nothing left. Schema and \
         properties are the same."
    );
}

#[test]
fn deletion_vectors_are_not_files_that_left() {
    let diff = DiffReport {
        verdict: Verdict::Delete,
        totals: Totals {
            files_added: 2,
            files_removed: 2,
            rows_added: Some(10),
            rows_removed: Some(54),
            ..Totals::default()
        },
        vectors_changed: 2,
        rows_masked: 44,
        ..diff()
    };
    assert_eq!(
        said(&diff),
        "Delete. Deletion vectors mask 44 rows more in 2 files; the files stay. Schema and \
         properties are the same."
    );
}

#[test]
fn unknown_rows_are_not_made_up() {
    let diff = DiffReport {
        verdict: Verdict::Append,
        totals: Totals {
            files_added: 1,
            bytes_added: 2048,
            ..Totals::default()
        },
        ..diff()
    };
    assert_eq!(
        said(&diff),
        "Append. 1 file came with 2.0 KiB. Nothing left. Schema and properties are the same."
    );
}

#[test]
fn a_change_nets_its_rows() {
    let mut diff = DiffReport {
        verdict: Verdict::Change,
        totals: Totals {
            files_added: 14,
            files_removed: 14,
            rows_added: Some(101_230),
            rows_removed: Some(99_120),
            ..Totals::default()
        },
        from_files: Some(200),
        ..diff()
    };
    assert_eq!(
        said(&diff),
        "Change. 14 of 200 files left and 14 files came. +2,110 rows in all. Schema and \
         properties are the same."
    );
    diff.totals.rows_added = Some(99_120);
    assert!(said(&diff).contains("As many rows as before."));
}

#[test]
fn rewrites_and_overwrites_name_both_sides() {
    let totals = Totals {
        files_added: 4,
        files_removed: 60,
        bytes_added: 1 << 20,
        bytes_removed: 2 << 20,
        rows_added: Some(7),
        rows_removed: Some(9),
    };
    let mut diff = DiffReport {
        verdict: Verdict::Rewrite,
        totals,
        ..diff()
    };
    assert!(
        said(&diff)
            .starts_with("Rewrite. 60 files became 4: 2.0 MiB became 1.0 MiB. No row changed."),
        "{}",
        said(&diff)
    );
    diff.verdict = Verdict::Overwrite;
    assert!(
        said(&diff)
            .starts_with("Overwrite. All 60 files left and 4 others came: 9 rows before, 7 after."),
        "{}",
        said(&diff)
    );
}

#[test]
fn the_first_version_is_created() {
    let diff = DiffReport {
        from: None,
        verdict: Verdict::Append,
        columns: 14,
        totals: Totals {
            files_added: 3,
            bytes_added: 3 << 20,
            rows_added: Some(12),
            ..Totals::default()
        },
        ..diff()
    };
    assert_eq!(
        said(&diff),
        "Created. The first version has 14 columns and 3 files with 12 rows (3.0 MiB)."
    );
}

#[test]
fn metadata_changes_are_named_while_they_are_few() {
    let change = |change, field: &str, from: Option<&str>, to: Option<&str>| SchemaChange {
        change,
        field: field.into(),
        from: from.map(Into::into),
        to: to.map(Into::into),
    };
    let diff = DiffReport {
        verdict: Verdict::Metadata,
        schema: vec![
            change(SchemaChangeKind::Added, "score", None, Some("double")),
            change(SchemaChangeKind::Renamed, "b", Some("a"), Some("b")),
        ],
        properties: vec![KeyChange {
            key: "delta.appendOnly".into(),
            from: None,
            to: Some("true".into()),
        }],
        ..diff()
    };
    assert_eq!(
        said(&diff),
        "Metadata only. No file came or went. 1 column added: score. 1 column renamed: a to b. \
         1 property set: delta.appendOnly."
    );
}

#[test]
fn the_same_version_twice_is_identical() {
    let mut diff = DiffReport {
        verdict: Verdict::Identical,
        from: Some(Version(5)),
        to: Version(5),
        ..diff()
    };
    assert_eq!(said(&diff), "Identical. Both ends are version 5.");
    diff.from = Some(Version(3));
    assert_eq!(
        said(&diff),
        "Identical. No file, column, property or protocol entry differs."
    );
}
