//! What is wrong with keys, counted: a month of bad keys is one finding with an example.

use std::collections::BTreeMap;

use crate::hours::dataset::Dataset;
use crate::hours::key::findings;
use crate::hours::listing::Object;
use crate::wire::{Finding, Severity};

/// Findings told apart at most; the rest is one.
const MOST: usize = 50;

/// Findings with how often each was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    found: BTreeMap<(String, String), Counted>,
    /// The folder of the last key and what is wrong with it: neighbours share it.
    last: Option<(String, Vec<Finding>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Counted {
    severity: Severity,
    message: String,
    example: String,
    count: u64,
}

impl Tally {
    /// Looks at one key of the dataset.
    pub(super) fn key(&mut self, dataset: &Dataset, object: &Object) {
        let start = match dataset.prefix.len() {
            0 => 0,
            length => length + 1,
        };
        let below = object.key.get(start..).unwrap_or_default();
        let (folder, file) = below.rsplit_once('/').unwrap_or(("", below));
        if file.contains('=') {
            return self.add_all(&findings(dataset, below), object);
        }
        let known = self.last.as_ref().filter(|(last, _)| last == folder);
        let found = match known {
            Some((_, found)) => found.clone(),
            None => {
                let found = findings(dataset, below);
                self.last = Some((folder.to_owned(), found.clone()));
                found
            }
        };
        self.add_all(&found, object);
    }

    /// Counts a key that lies in no slot.
    pub(super) fn stray(&mut self, object: &Object) {
        self.add(
            Severity::Error,
            "stray_key",
            "data in no partition that the dataset declares: no marker can close it",
            &object.key,
        );
    }

    fn add_all(&mut self, found: &[Finding], object: &Object) {
        for finding in found {
            self.add(
                finding.severity,
                &finding.rule,
                &finding.message,
                &object.key,
            );
        }
    }

    /// Counts one finding about a key.
    pub(super) fn add(&mut self, severity: Severity, rule: &str, message: &str, key: &str) {
        self.count(severity, rule, message, key, 1);
    }

    fn count(&mut self, severity: Severity, rule: &str, message: &str, key: &str, count: u64) {
        // Each wrong value has a sentence of its own.
        let group = if rule == "partition_value" {
            ""
        } else {
            message
        };
        let group = (rule.to_owned(), group.to_owned());
        let group = match self.found.len() >= MOST && !self.found.contains_key(&group) {
            true => (rule.to_owned(), String::new()),
            false => group,
        };
        let found = self.found.entry(group).or_insert_with(|| Counted {
            severity,
            message: message.to_owned(),
            example: key.to_owned(),
            count: 0,
        });
        found.severity = found.severity.max(severity);
        found.count += count;
    }

    /// Adds what another tally counted.
    pub(super) fn merge(&mut self, other: &Self) {
        for ((rule, _), found) in &other.found {
            let Counted {
                severity,
                message,
                example,
                count,
            } = found;
            self.count(*severity, rule, message, example, *count);
        }
    }

    /// The findings, worst first, each with its count.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut all: Vec<(&str, &Counted)> = self
            .found
            .iter()
            .map(|((rule, _), found)| (rule.as_str(), found))
            .collect();
        all.sort_by_key(|(_, found)| std::cmp::Reverse((found.severity, found.count)));
        all.into_iter()
            .map(|(rule, found)| Finding {
                severity: found.severity,
                rule: rule.to_owned(),
                location: Some(found.example.clone()),
                message: match found.count {
                    1 => found.message.clone(),
                    n => format!("{}; {n} keys", found.message),
                },
            })
            .collect()
    }
}
