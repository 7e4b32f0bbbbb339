//! Whether the sentence is the right one; that it is true, Spark says.

use serde_json::json;

use super::streams;
use crate::delta::action::Metadata;
use crate::plan::{Act, Plan};
use crate::table::{Time, Version};
use crate::wire::{SchemaChange, SchemaChangeKind};

fn metadata(id: &str, mode: &str) -> Metadata {
    let configuration = json!({ "delta.columnMapping.mode": mode });
    serde_json::from_value(json!({ "id": id, "configuration": configuration })).unwrap()
}

fn plan(come: u64, go: u64, changes: &[(SchemaChangeKind, &str)]) -> Plan {
    let mut plan = Plan::new(Act::Restore, String::new(), Time(0), Version(3));
    (plan.files_to_add, plan.files_to_remove) = (come, go);
    plan.schema = changes
        .iter()
        .map(|(kind, to)| SchemaChange {
            change: *kind,
            field: "a".to_owned(),
            from: None,
            to: Some((*to).to_owned()),
        })
        .collect();
    plan
}

fn said(plan: &Plan, mode: &str) -> String {
    let metadata = metadata("one", mode);
    streams(plan, &metadata, Some(&metadata)).unwrap_or_default()
}

#[test]
fn files_decide_where_the_schema_stays() {
    assert_eq!(said(&plan(0, 0, &[]), "none"), "");
    assert!(said(&plan(2, 0, &[]), "none").ends_with("once more"));
    let removes = said(&plan(0, 2, &[]), "none");
    assert!(removes.contains("DELTA_SOURCE_IGNORE_DELETE, unless ignoreDeletes,"));
    let both = said(&plan(1, 2, &[]), "none");
    assert!(both.contains("DELTA_SOURCE_TABLE_IGNORE_CHANGES, unless skipChangeCommits ("));
}

#[test]
fn a_schema_that_changes_stops_whom_it_does_not_fit() {
    use SchemaChangeKind::{Added, Nullability, Removed, Renamed, Type};

    for narrower in [(Removed, ""), (Nullability, "not null")] {
        let said = said(&plan(0, 1, &[narrower]), "none");
        assert!(said.contains("IGNORE_DELETE, unless"), "{said}");
        assert!(
            said.contains("; one that starts again stops for good with"),
            "{said}"
        );
    }
    for wider in [(Added, ""), (Nullability, "nullable")] {
        let said = said(&plan(0, 0, &[wider]), "name");
        assert!(
            said.starts_with("readers of the stream go on; one that runs stops with"),
            "{said}"
        );
    }
    for neither in [&[(Type, "int")][..], &[(Added, ""), (Removed, "")]] {
        let said = said(&plan(1, 0, neither), "none");
        assert!(
            said.contains("stop for good with DELTA_SCHEMA_CHANGED_WITH_VERSION:"),
            "{said}"
        );
    }
    for mapped in [(Renamed, "b"), (Removed, "")] {
        let said = said(&plan(1, 0, &[mapped]), "id");
        assert!(
            said.contains("INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG:"),
            "{said}"
        );
    }
}

#[test]
fn another_id_stops_all_but_only_where_it_is_committed() {
    let (one, two) = (metadata("one", "none"), metadata("two", "none"));
    let removes = plan(0, 1, &[]);
    let said = streams(&removes, &one, Some(&two)).unwrap();
    assert!(
        said.contains("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"),
        "{said}"
    );
    // Some partitions come back: the metadata stays the newest version's.
    let said = streams(&removes, &one, None).unwrap();
    assert!(said.contains("DELTA_SOURCE_IGNORE_DELETE"), "{said}");
}
