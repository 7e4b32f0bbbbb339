//! What is wrong with the zones before any hour is looked at: retention, lifecycle rules, bucket
//! settings, keys. Pure: of what the configuration declares and the text of exported settings.

mod access;
mod bucket;
mod copies;
mod hours;
mod key;
mod lifecycle;
mod named;
mod retention;
mod review;
#[cfg(test)]
mod tests;
mod wanted;

use self::bucket::{Bucket, Places};
use super::dataset::{Dataset, Retention};
use crate::wire::Severity;
use crate::wire::hours::LintFinding;
use crate::wire::zones::{Check, ZoneRow, ZonesReport};

pub use self::copies::{Listed, copies};
pub use self::hours::hours;
pub use self::key::key;
pub use self::named::{Named, expires_runs, named};
pub use self::wanted::{Wanted, lifecycle};

/// A zone as the configuration declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneDecl {
    /// Its name, which says what it is for: landing, raw, conformed, curated.
    pub name: String,
    /// Its URL, which ends with a slash.
    pub url: String,
    /// Who owns it.
    pub owner: Option<String>,
    /// What it holds.
    pub format: Option<String>,
    /// Roles that may read it.
    pub readers: Vec<String>,
    /// Roles that may write it.
    pub writers: Vec<String>,
    /// How long its data is kept.
    pub retention: Retention,
    /// The bucket's lifecycle configuration, as `get-bucket-lifecycle-configuration` gives it.
    pub lifecycle: Option<Export>,
    /// The bucket's policy, as `get-bucket-policy` gives it, or the policy document alone.
    pub policy: Option<Export>,
    /// As `get-bucket-encryption` gives it.
    pub encryption: Option<Export>,
    /// As `get-public-access-block` gives it.
    pub public_access: Option<Export>,
}

/// A file of exported settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name, for findings.
    pub file: String,
    /// What it holds, or why it cannot be read.
    pub text: Result<String, String>,
}

/// What a zone is for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Partner files as received.
    Landing,
    /// Files of the sink, and runs.
    Raw,
    /// Anything else.
    Other,
}

impl ZoneDecl {
    /// What the zone is for: `raw`, `tlp-raw`, `landing_eu`.
    pub fn purpose(&self) -> Purpose {
        let words = words(&self.name);
        match () {
            () if words.iter().any(|word| word == "landing") => Purpose::Landing,
            () if words.iter().any(|word| word == "raw") => Purpose::Raw,
            () => Purpose::Other,
        }
    }

    fn finding(&self, severity: Severity, rule: &str, message: String) -> LintFinding {
        LintFinding {
            severity,
            rule: rule.to_owned(),
            dataset: None,
            zone: Some(self.name.clone()),
            location: None,
            message,
            owner: self.owner.clone(),
        }
    }

    /// A finding about one of the zone's datasets.
    fn about(
        &self,
        dataset: &Dataset,
        severity: Severity,
        rule: &str,
        message: String,
    ) -> LintFinding {
        LintFinding {
            dataset: Some(dataset.name.clone()),
            owner: dataset.owner.clone().or_else(|| self.owner.clone()),
            ..self.finding(severity, rule, message)
        }
    }
}

impl Export {
    /// The text; a finding where it cannot be had.
    fn text<'a>(&'a self, zone: &ZoneDecl, found: &mut Vec<LintFinding>) -> Option<&'a str> {
        match &self.text {
            Ok(text) => Some(text),
            Err(why) => {
                let message = format!("the file cannot be read: {why}");
                found.push(LintFinding {
                    location: Some(self.file.clone()),
                    ..zone.finding(Severity::Error, "unreadable", message)
                });
                None
            }
        }
    }

    /// A line of the file, as findings name it.
    fn line(&self, line: usize) -> Option<String> {
        Some(format!("{}:{line}", self.file))
    }

    /// A finding about text that is not what it should be.
    fn damaged(&self, zone: &ZoneDecl, line: usize, why: impl std::fmt::Display) -> LintFinding {
        let message = format!("this cannot be read: {why}");
        LintFinding {
            location: self.line(line),
            ..zone.finding(Severity::Error, "unreadable", message)
        }
    }
}

/// The words of a name, in small letters: those of `TLP-raw_eu` are `tlp`, `raw` and `eu`.
fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Everything that is wrong by the declarations and the exported settings, errors first.
pub fn lint(zones: &[ZoneDecl], datasets: &[&Dataset]) -> Vec<LintFinding> {
    let mut found = Vec::new();
    for zone in zones {
        retention::retention(zone, datasets, &mut found);
        roles(zone, &mut found);
        landing_tables(zone, datasets, &mut found);
        checks(zone, zones, datasets, &mut found);
    }
    worst_first(&mut found);
    found
}

/// Sorts findings: errors before warnings, the rest as it was.
pub fn worst_first(found: &mut [LintFinding]) {
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// The report of the Zones page.
pub fn zones(zones: &[ZoneDecl], datasets: &[&Dataset]) -> ZonesReport {
    let row = |zone: &ZoneDecl| ZoneRow {
        name: zone.name.clone(),
        url: zone.url.clone(),
        owner: zone.owner.clone(),
        format: zone.format.clone(),
        writers: zone.writers.clone(),
        readers: zone.readers.clone(),
        retention: retention::row(&zone.retention),
        checks: checks(zone, zones, datasets, &mut Vec::new()),
        datasets: of(zone, datasets)
            .map(|dataset| review::review(zone, dataset))
            .collect(),
    };
    ZonesReport {
        zones: zones.iter().map(row).collect(),
        findings: lint(zones, datasets),
    }
}

/// What was checked of a zone's exported settings; what does not hold is added to `found`.
fn checks(
    zone: &ZoneDecl,
    zones: &[ZoneDecl],
    datasets: &[&Dataset],
    found: &mut Vec<LintFinding>,
) -> Vec<Check> {
    vec![
        lifecycle::check(zone, zones, datasets, found),
        access::encryption(zone, zones, found),
        access::public(zone, found),
        access::delete(zone, datasets, found),
    ]
}

/// The datasets of a zone.
fn of<'a>(
    zone: &'a ZoneDecl,
    datasets: &'a [&'a Dataset],
) -> impl Iterator<Item = &'a Dataset> + 'a {
    let all = datasets.iter().copied();
    all.filter(|dataset| dataset.zone == zone.name)
}

/// Landing is read by ingestion alone, raw by nobody who makes reports.
fn roles(zone: &ZoneDecl, found: &mut Vec<LintFinding>) {
    for role in &zone.readers {
        let is = |word: &str| words(role).iter().any(|found| found == word);
        let message = match zone.purpose() {
            Purpose::Landing if !is("ingestion") && !is("ingest") => format!(
                "`{role}` may read landing, which holds partner files as received: only ingestion may"
            ),
            Purpose::Raw if is("bi") => format!(
                "`{role}` may read raw: a report would sum hours that are not closed; it reads curated"
            ),
            _ => continue,
        };
        found.push(LintFinding {
            location: Some("zone.readers".to_owned()),
            ..zone.finding(Severity::Error, "readers", message)
        });
    }
}

/// A table of a catalog never lies in landing.
fn landing_tables(zone: &ZoneDecl, datasets: &[&Dataset], found: &mut Vec<LintFinding>) {
    if zone.purpose() != Purpose::Landing {
        return;
    }
    for dataset in of(zone, datasets) {
        let Some(metastore) = &dataset.metastore else {
            continue;
        };
        let message = format!(
            "the catalog's table {} lies in landing, which holds files as received",
            metastore.table
        );
        found.push(LintFinding {
            location: Some("dataset.metastore.table".to_owned()),
            ..zone.about(dataset, Severity::Error, "catalog_in_landing", message)
        });
    }
}
