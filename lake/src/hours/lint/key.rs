//! A key judged without a store, for the check of a sink's configuration.

use crate::hours::dataset::Dataset;
use crate::hours::key::findings;
use crate::wire::Finding;
use crate::wire::hours::LintFinding;

/// Why a key should not exist: of the dataset whose prefix it lies below, longest first, else of
/// `other`, whose prefix is taken to be all before the first partition. The key may be a URL.
pub fn key(datasets: &[&Dataset], other: &Dataset, key: &str) -> Vec<LintFinding> {
    let below = |dataset: &Dataset| -> Option<usize> {
        let mut rest = key.strip_prefix(&dataset.url).unwrap_or(key);
        if !dataset.prefix.is_empty() {
            rest = rest.strip_prefix(&dataset.prefix)?.strip_prefix('/')?;
        }
        Some(rest.len())
    };
    let placed = datasets
        .iter()
        .filter_map(|dataset| Some((below(dataset)?, *dataset)))
        .min_by_key(|(rest, _)| *rest);
    let (rest, dataset) = match placed {
        Some((length, dataset)) => (&key[key.len() - length..], Some(dataset)),
        None => (guessed(key), None),
    };
    let found = findings(dataset.unwrap_or(other), rest);
    of_dataset(dataset, found, key)
}

/// A key from its first partition on; without one, its last segments as they are.
fn guessed(key: &str) -> &str {
    let path = key.split_once("://").map_or(key, |(_, rest)| rest);
    let start = path.find('=').map_or(0, |equals| {
        path[..equals].rfind('/').map_or(0, |slash| slash + 1)
    });
    &path[start..]
}

/// Findings about keys, as a lint has them.
fn of_dataset(dataset: Option<&Dataset>, found: Vec<Finding>, key: &str) -> Vec<LintFinding> {
    let lint = |finding: Finding| LintFinding {
        severity: finding.severity,
        rule: finding.rule,
        dataset: dataset.map(|dataset| dataset.name.clone()),
        zone: dataset.map(|dataset| dataset.zone.clone()),
        location: Some(key.to_owned()),
        message: finding.message,
        owner: dataset.and_then(|dataset| dataset.owner.clone()),
    };
    found.into_iter().map(lint).collect()
}
