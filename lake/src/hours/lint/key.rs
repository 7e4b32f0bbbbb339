//! A key judged without a store, for the check of a sink's configuration.

use crate::hours::dataset::Dataset;
use crate::hours::key::{Role, findings, place};
use crate::hours::marker::below;
use crate::hours::template::Template;
use crate::wire::hours::LintFinding;
use crate::wire::{Finding, Severity};

/// Why a key should not exist: of the dataset whose prefix it lies below, longest first, else of
/// `other`, whose prefix is taken to be all before the first partition. The key may be a URL. That it
/// lies below no dataset is an error where some are declared.
pub fn key(datasets: &[&Dataset], other: &Dataset, key: &str) -> Vec<LintFinding> {
    let rest = |dataset: &Dataset| -> Option<usize> {
        let mut rest = match key.contains("://") {
            true => below(key, &dataset.url)?,
            false => key,
        };
        if !dataset.prefix.is_empty() {
            rest = rest.strip_prefix(&dataset.prefix)?.strip_prefix('/')?;
        }
        Some(rest.len())
    };
    let placed = datasets
        .iter()
        .filter_map(|dataset| Some((rest(dataset)?, *dataset)))
        .min_by_key(|(rest, _)| *rest);
    let Some((length, dataset)) = placed else {
        let mut found = of_dataset(None, findings(other, guessed(key)), key);
        if found.is_empty() && !datasets.is_empty() {
            let prefixes: Vec<String> = datasets
                .iter()
                .map(|dataset| format!("{}{}/", dataset.url, dataset.prefix))
                .collect();
            let message = format!("this key lies below no dataset: {}", prefixes.join(", "));
            found.extend(of_dataset(None, vec![error("no_dataset", message)], key));
        }
        return found;
    };
    let rest = &key[key.len() - length..];
    let mut found = findings(dataset, rest);
    let at = place(dataset, rest, 1);
    let marker = Template::of(dataset).read(&key_of(dataset, rest)).is_some();
    if found.is_empty() && at.slot.is_none() && at.role == Role::Data && !marker {
        let message = format!(
            "this key lies in no partition of the dataset, which are {}: no marker can close it",
            dataset.partition.join(", ")
        );
        found.push(error("missing_partition", message));
    }
    of_dataset(Some(dataset), found, key)
}

fn key_of(dataset: &Dataset, rest: &str) -> String {
    match dataset.prefix.as_str() {
        "" => rest.to_owned(),
        prefix => format!("{prefix}/{rest}"),
    }
}

fn error(rule: &str, message: String) -> Finding {
    Finding {
        severity: Severity::Error,
        rule: rule.to_owned(),
        location: None,
        message,
    }
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
