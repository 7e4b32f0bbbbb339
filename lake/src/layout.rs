//! Partitions, sizes, small files: how a version lies in the store.

mod findings;

use std::cmp::Reverse;

use crate::delta::snapshot::Snapshot;
use crate::wire::{LayoutReport, PartitionLayout, SizeBucket};

/// The size that files are packed to where the table names none, in bytes.
pub const TARGET: u64 = 1024 * MIB;

/// Files below this are small where the table names no target, in bytes.
pub const SMALL: u64 = 100 * MIB;

const MIB: u64 = 1024 * 1024;

/// The size a table's files are packed to, and the size below which one is small: a tenth of a
/// file of the default target, and never more than half of the table's own.
pub fn thresholds(target: Option<u64>) -> (u64, u64) {
    match target {
        Some(target) => (target, SMALL.min(target / 2)),
        None => (TARGET, SMALL),
    }
}

/// Reads a size as table properties spell it: `134217728`, `128mb`, `1 GiB`.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text.get(..end)?.parse().ok()?;
    let unit = match text.get(end..)?.trim() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1024,
        "m" | "mb" | "mib" => MIB,
        "g" | "gb" | "gib" => 1024 * MIB,
        "t" | "tb" | "tib" => 1024 * 1024 * MIB,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Sums up a version's files; at most `cap` partitions, those with most bytes.
pub fn layout(location: &str, snapshot: &Snapshot, cap: Option<usize>) -> LayoutReport {
    let files = &snapshot.files;
    let configured = snapshot
        .state
        .metadata
        .configuration
        .get("delta.targetFileSize");
    let (target, threshold) = thresholds(configured.and_then(|t| parse_size(t)));
    let mut sizes = sizes_by_partition(snapshot);
    let partitions_total = sizes.iter().filter(|g| !g.bytes.is_empty()).count() as u64;
    let mut all: Vec<u64> = Vec::with_capacity(files.len());
    let mut partitions = Vec::with_capacity(sizes.len());
    for (number, group) in sizes.iter_mut().enumerate() {
        if group.bytes.is_empty() {
            continue;
        }
        all.extend_from_slice(&group.bytes);
        let partition = files.partitions().get(number).cloned().unwrap_or_default();
        partitions.push(group.layout(partition, target, threshold));
    }
    partitions.sort_by_key(|partition| Reverse(partition.bytes));
    let small = all.iter().filter(|b| **b < threshold);
    let (small_files, small_bytes) =
        small.fold((0, 0u64), |(n, sum), b| (n + 1, sum.saturating_add(*b)));
    let mut report = LayoutReport {
        location: location.to_owned(),
        version: snapshot.state.version,
        files: all.len() as u64,
        bytes: all.iter().fold(0, |sum, b| sum.saturating_add(*b)),
        rows: sizes
            .iter()
            .try_fold(0u64, |sum, g| sum.checked_add(g.rows?)),
        histogram: histogram(&all, threshold),
        max_bytes: all.iter().copied().max().unwrap_or(0),
        median_bytes: quantile(&mut all, 1, 2),
        p10_bytes: quantile(&mut all, 1, 10),
        p90_bytes: quantile(&mut all, 9, 10),
        small_files,
        small_bytes,
        small_bytes_threshold: threshold,
        target_bytes: target,
        partition_columns: snapshot.state.metadata.partition_columns.clone(),
        partitions,
        partitions_total,
        illegal_keys: Vec::new(),
        findings: Vec::new(),
    };
    report.findings = findings::find(&report, snapshot);
    if let Some(cap) = cap {
        report.partitions.truncate(cap);
    }
    report
}

/// Sizes of one partition's files.
struct Group {
    bytes: Vec<u64>,
    rows: Option<u64>,
}

impl Group {
    fn layout(
        &mut self,
        partition: crate::table::Partition,
        target: u64,
        threshold: u64,
    ) -> PartitionLayout {
        let files = self.bytes.len() as u64;
        let small = self.bytes.iter().filter(|b| **b < threshold);
        let small_files = small.count() as u64;
        let (gone, bytes_to_rewrite) = packed(&mut self.bytes, SMALL.min(target), target);
        PartitionLayout {
            partition,
            files,
            bytes: self.bytes.iter().fold(0, |sum, b| sum.saturating_add(*b)),
            rows: self.rows,
            median_bytes: quantile(&mut self.bytes, 1, 2),
            small_files,
            files_after_packing: files - gone,
            bytes_to_rewrite,
        }
    }
}

/// By how many files packing makes one partition's fewer, and the bytes that it rewrites: as an
/// optimize does it, those below `min` by size, in bins up to the target. One that is alone in its
/// bin stays as it is.
fn packed(sizes: &mut [u64], min: u64, target: u64) -> (u64, u64) {
    sizes.sort_unstable();
    let (mut gone, mut bytes) = (0u64, 0u64);
    let (mut files, mut filled) = (0u64, 0u64);
    let mut close = |files: u64, filled: u64| {
        if files > 1 {
            gone += files - 1;
            bytes = bytes.saturating_add(filled);
        }
    };
    for size in sizes.iter().take_while(|size| **size < min) {
        let with = filled.saturating_add(*size);
        if files > 0 && with <= target {
            (files, filled) = (files + 1, with);
        } else {
            close(files, filled);
            (files, filled) = (1, *size);
        }
    }
    close(files, filled);
    (gone, bytes)
}

fn sizes_by_partition(snapshot: &Snapshot) -> Vec<Group> {
    let count = snapshot.files.partitions().len();
    let mut counts = vec![0usize; count];
    for file in snapshot.files.iter() {
        if let Some(n) = counts.get_mut(file.partition()) {
            *n += 1;
        }
    }
    let group = |n| Group {
        bytes: Vec::with_capacity(n),
        rows: Some(0),
    };
    let mut groups: Vec<Group> = counts.into_iter().map(group).collect();
    for file in snapshot.files.iter() {
        if let Some(group) = groups.get_mut(file.partition()) {
            group.bytes.push(file.bytes());
            group.rows = group.rows.and_then(|sum| sum.checked_add(file.rows()?));
        }
    }
    groups
}

/// The value that `numerator/denominator` of the values do not exceed: the nearest rank.
fn quantile(values: &mut [u64], numerator: usize, denominator: usize) -> u64 {
    if values.is_empty() {
        return 0;
    }
    let rank = (values.len() * numerator).div_ceil(denominator).max(1) - 1;
    *values.select_nth_unstable(rank).1
}

/// Files by size. The threshold of small ones is a bound too, so that no bar holds both kinds.
fn histogram(sizes: &[u64], threshold: u64) -> Vec<SizeBucket> {
    const BOUNDS: [u64; 10] = [
        128 * 1024,
        512 * 1024,
        MIB,
        4 * MIB,
        16 * MIB,
        64 * MIB,
        128 * MIB,
        256 * MIB,
        512 * MIB,
        1024 * MIB,
    ];
    let mut bounds = BOUNDS.to_vec();
    if let Err(at) = bounds.binary_search(&threshold) {
        bounds.insert(at, threshold);
    }
    let all = bounds.iter().copied().map(Some).chain([None]);
    let mut buckets: Vec<SizeBucket> = all
        .map(|under_bytes| SizeBucket {
            under_bytes,
            files: 0,
            bytes: 0,
        })
        .collect();
    for size in sizes {
        let at = bounds.partition_point(|bound| bound <= size);
        if let Some(bucket) = buckets.get_mut(at) {
            bucket.files += 1;
            bucket.bytes = bucket.bytes.saturating_add(*size);
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut values = vec![5, 1, 4, 2, 3];
        assert_eq!(quantile(&mut values, 1, 2), 3);
        assert_eq!(quantile(&mut values, 1, 10), 1);
        assert_eq!(quantile(&mut values, 9, 10), 5);
        assert_eq!(quantile(&mut [], 1, 2), 0);
        assert_eq!(quantile(&mut [7, 9], 1, 2), 7);
    }

    #[test]
    fn packing_is_foretold_as_it_is_done() {
        let foretold = |sizes: &[u64]| packed(&mut sizes.to_vec(), 100, 100);
        // As `bins_are_filled_by_size` of an optimize has it: 5, 10 and 40 become one.
        assert_eq!(foretold(&[50, 10, 40, 60, 5]), (2, 55));
        assert_eq!(foretold(&[100, 1]), (0, 0));
        assert_eq!(foretold(&[60, 30]), (1, 90));
        assert_eq!(foretold(&[60, 50]), (0, 0));
        assert_eq!(foretold(&[10, 10, 90, 90]), (1, 20));
        assert_eq!(foretold(&[]), (0, 0));
        assert_eq!(packed(&mut [u64::MAX; 3], u64::MAX, u64::MAX), (0, 0));
    }

    #[test]
    fn sizes_are_read_as_tables_spell_them() {
        assert_eq!(parse_size("134217728"), Some(128 * MIB));
        assert_eq!(parse_size("128mb"), Some(128 * MIB));
        assert_eq!(parse_size("1 GiB"), Some(1024 * MIB));
        assert_eq!(parse_size("x"), None);
        assert_eq!(parse_size("99999999999t"), None);
    }

    #[test]
    fn a_size_on_a_bound_is_in_the_bucket_above() {
        let buckets = histogram(&[128 * 1024, 128 * 1024 - 1, u64::MAX], 512 * 1024);
        assert_eq!(
            (buckets[0].files, buckets[1].files, buckets[10].files),
            (1, 1, 1)
        );
    }

    #[test]
    fn no_bucket_holds_small_files_and_others() {
        let buckets = histogram(&[65_535, 65_536, 100_000], 64 * 1024);
        let first: Vec<_> = buckets[..2]
            .iter()
            .map(|b| (b.under_bytes, b.files))
            .collect();
        assert_eq!(first, [(Some(64 * 1024), 1), (Some(128 * 1024), 2)]);
    }
}
