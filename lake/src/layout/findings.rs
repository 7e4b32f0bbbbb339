//! What about a layout is worth acting on: each fact with its figures and the threshold beside it.

use crate::delta::snapshot::Snapshot;
use crate::figures::{share, size};
use crate::table::partition_label;
use crate::wire::{Finding, LayoutReport, Severity};

/// Findings, worst first.
pub(super) fn find(report: &LayoutReport, snapshot: &Snapshot) -> Vec<Finding> {
    let found = [
        small_files(report),
        skew(report),
        thin_partitions(report),
        masked_rows(snapshot),
        unknown_rows(report, snapshot),
        default_partition(report),
    ];
    found.into_iter().flatten().collect()
}

fn warning(rule: &str, location: Option<String>, message: String) -> Option<Finding> {
    Some(Finding {
        severity: Severity::Warning,
        rule: rule.to_owned(),
        location,
        message,
    })
}

fn percent(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        0
    } else {
        (u128::from(part) * 100 / u128::from(whole)) as u64
    }
}

/// At least ten files and half of all could be packed together.
fn small_files(report: &LayoutReport) -> Option<Finding> {
    // Partitions that packing leaves as they are are no part of what it would do.
    let packed = report.partitions.iter();
    let packed = packed.filter(|p| p.files_after_packing < p.files);
    let (before, after) = packed.fold((0, 0), |(before, after), p| {
        (before + p.files, after + p.files_after_packing)
    });
    let saved = before - after;
    if saved < 10 || saved * 2 < report.files {
        return None;
    }
    let rewrite: u64 = report.partitions.iter().map(|p| p.bytes_to_rewrite).sum();
    warning(
        "small_files",
        None,
        format!(
            "{} of {} files ({}) are smaller than {}; packing to {} makes {before} files {after} and rewrites {}",
            report.small_files,
            report.files,
            share(report.small_files, report.files).unwrap_or_default(),
            size(report.small_bytes_threshold),
            size(report.target_bytes),
            size(rewrite),
        ),
    )
}

/// One partition holds ten times the median partition, and more than one target file.
fn skew(report: &LayoutReport) -> Option<Finding> {
    let largest = report.partitions.first()?;
    let median = report.partitions.get(report.partitions.len() / 2)?;
    if report.partitions.len() < 4
        || largest.bytes < report.target_bytes
        || largest.bytes < median.bytes.saturating_mul(10)
    {
        return None;
    }
    warning(
        "skew",
        Some(partition_label(&largest.partition)),
        format!(
            "{} of {} lie in one of {} partitions; the median partition holds {} (called out from 10 times the median)",
            size(largest.bytes),
            size(report.bytes),
            report.partitions.len(),
            size(median.bytes),
        ),
    )
}

/// Many partitions that hold one small file each.
fn thin_partitions(report: &LayoutReport) -> Option<Finding> {
    let thin = report
        .partitions
        .iter()
        .filter(|p| p.files == 1 && p.small_files == 1)
        .count() as u64;
    if thin < 100 || thin * 2 < report.partitions.len() as u64 {
        return None;
    }
    warning(
        "over_partitioned",
        None,
        format!(
            "{thin} of {} partitions hold one small file each (called out from 100 and half of all)",
            report.partitions.len()
        ),
    )
}

/// A fifth of the records are masked and still read.
fn masked_rows(snapshot: &Snapshot) -> Option<Finding> {
    let (records, masked) = snapshot
        .files
        .iter()
        .filter_map(|f| Some((f.records()?, f.deleted_rows())))
        .fold((0u64, 0u64), |(r, m), (records, masked)| {
            (r.saturating_add(records), m.saturating_add(masked))
        });
    if masked == 0 || percent(masked, records) < 20 {
        return None;
    }
    warning(
        "masked_rows",
        None,
        format!(
            "{masked} of {records} records ({}) are masked by deletion vectors and still read (called out from 20 %)",
            share(masked, records).unwrap_or_default()
        ),
    )
}

fn unknown_rows(report: &LayoutReport, snapshot: &Snapshot) -> Option<Finding> {
    let unknown = snapshot
        .files
        .iter()
        .filter(|f| f.records().is_none())
        .count() as u64;
    if unknown == 0 {
        return None;
    }
    warning(
        "no_statistics",
        None,
        format!(
            "{unknown} of {} files do not say how many records they hold, so rows are unknown",
            report.files
        ),
    )
}

/// A null that a writer spelled as Hive spells it in a folder's name.
fn default_partition(report: &LayoutReport) -> Option<Finding> {
    let hive = |v: &Option<String>| v.as_deref() == Some("__HIVE_DEFAULT_PARTITION__");
    let partition = report
        .partitions
        .iter()
        .find(|p| p.partition.values().any(hive))?;
    warning(
        "hive_default_partition",
        Some(partition_label(&partition.partition)),
        "a partition value is the text __HIVE_DEFAULT_PARTITION__, which Delta does not read as null".to_owned(),
    )
}
