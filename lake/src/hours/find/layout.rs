//! How the hours of a window lie in the store: object sizes, states, what readers pay.

use super::grid::{SMALL, counts};
use super::memory::Standing;
use super::row::declared;
use super::sizes::{sizes, tenths};
use super::{Finder, Gate, bounded};
use crate::Result;
use crate::hours::dataset::Dataset;
use crate::hours::day::Day;
use crate::hours::statement::values_of;
use crate::wire::Severity;
use crate::wire::hours::{DatasetLayout, Fresh, HourLayout};

/// Findings whose place is a key that should not be.
const OF_KEYS: [&str; 6] = [
    "banned_key",
    "identifier",
    "partition_order",
    "partition_value",
    "stray_key",
    "undeclared_partition",
];

impl Finder {
    /// How the hours from `from` to `to` lie in the store, both included.
    pub async fn layout(&self, from: Day, to: Day) -> Result<DatasetLayout> {
        bounded(from, to)?;
        let _held = self.hold(from, to);
        self.window(from, to, Fresh::Known, Gate::Suspect).await?;
        let known = self.memory.lock();
        let standings = self.standings(&known, from, to);
        let dataset = &self.dataset;
        let threshold = dataset.budget.median_bytes.unwrap_or(SMALL);
        let all = sizes(&standings);
        let hours = standings.iter().filter(|s| s.verdict.objects > 0);
        let hours: Vec<HourLayout> = hours.map(|s| hour(dataset, s, threshold)).collect();
        let findings = self.findings(&known, &standings, from, to);
        let illegal = findings.iter().filter(|finding| {
            finding.severity == Severity::Error && OF_KEYS.contains(&finding.rule.as_str())
        });
        let mut illegal: Vec<String> = illegal.filter_map(|f| f.location.clone()).collect();
        illegal.sort();
        illegal.dedup();
        Ok(DatasetLayout {
            location: declared(dataset).location,
            version: None,
            dataset: dataset.name.clone(),
            zone: dataset.zone.clone(),
            from,
            to,
            files: all.objects,
            bytes: all.bytes,
            median_bytes: all.median_bytes,
            p10_bytes: all.p10_bytes,
            p90_bytes: all.p90_bytes,
            small_files: hours.iter().map(|hour| hour.small_files).sum(),
            small_bytes_threshold: threshold,
            partition_columns: dataset.partition.clone(),
            partitions: hours,
            counts: counts(dataset, &standings).into_iter().collect(),
            lists_of_parents: all.lists_of_parents,
            lists_of_runs: all.lists_of_runs,
            illegal_keys: illegal,
            findings,
        })
    }
}

fn hour(dataset: &Dataset, standing: &Standing, threshold: u64) -> HourLayout {
    let verdict = &standing.verdict;
    let values = values_of(dataset, standing.slot).into_iter().map(Some);
    HourLayout {
        partition: dataset.partition.iter().cloned().zip(values).collect(),
        state: verdict.state,
        files: verdict.objects,
        bytes: verdict.bytes,
        rows: None,
        median_bytes: verdict.median_bytes,
        p10_bytes: tenths(&verdict.sizes, 1),
        p90_bytes: tenths(&verdict.sizes, 9),
        small_files: verdict.sizes.iter().take_while(|n| **n < threshold).count() as u64,
    }
}
