//! Reports that tests start from.

use lake::table::{Partition, Version};
use lake::wire::*;

pub(crate) fn partition(parts: &[(&str, &str)]) -> Partition {
    parts
        .iter()
        .map(|(k, v)| ((*k).to_owned(), Some((*v).to_owned())))
        .collect()
}

pub(crate) fn commit() -> CommitRow {
    CommitRow {
        version: Version(48),
        timestamp: None,
        writer_timestamp: None,
        in_commit: false,
        operation: None,
        parameters: serde_json::Value::Null,
        user: None,
        engine: None,
        reason: None,
        metrics: serde_json::Value::Null,
        files_added: None,
        files_removed: None,
        bytes_added: None,
        bytes_removed: None,
        rows_added: None,
        rows_removed: None,
        data_change: true,
        parent: None,
        refs: Vec::new(),
        damaged: None,
        restorable: None,
        metadata_change: false,
    }
}

pub(crate) fn diff() -> DiffReport {
    DiffReport {
        from: Some(Version(47)),
        to: Version(48),
        verdict: Verdict::Identical,
        totals: Totals::default(),
        partitions: Vec::new(),
        partitions_total: 0,
        schema: Vec::new(),
        properties: Vec::new(),
        protocol: Vec::new(),
        vectors_changed: 0,
        rows_masked: 0,
        from_files: None,
        from_rows: None,
        from_bytes: None,
        columns: 14,
        added: None,
        removed: None,
        warnings: Vec::new(),
    }
}

pub(crate) fn layout() -> LayoutReport {
    LayoutReport {
        location: "s3://lake/t".into(),
        version: Version(8811),
        files: 0,
        bytes: 0,
        rows: None,
        median_bytes: 0,
        p10_bytes: 0,
        p90_bytes: 0,
        max_bytes: 0,
        small_files: 0,
        small_bytes: 0,
        small_bytes_threshold: 32 << 20,
        target_bytes: 128 << 20,
        partition_columns: Vec::new(),
        partitions: Vec::new(),
        partitions_total: 0,
        histogram: Vec::new(),
        illegal_keys: Vec::new(),
        findings: Vec::new(),
    }
}
