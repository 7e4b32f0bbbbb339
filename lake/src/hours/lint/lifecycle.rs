//! The bucket's lifecycle rules against the datasets whose objects they expire.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::bucket::{Bucket, Places};
use super::retention::{days, needed, whole_days};
use super::{Export, Purpose, ZoneDecl, of};
use crate::hours::dataset::Dataset;
use crate::hours::day::DAY;
use crate::wire::Severity;
use crate::wire::hours::LintFinding;
use crate::wire::zones::{Check, Outcome};

/// Days that landing keeps its files where nobody says.
pub(super) const LANDING: i64 = 7;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Configuration<'a> {
    #[serde(borrow)]
    rules: Vec<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Written {
    #[serde(rename = "ID")]
    id: Option<String>,
    status: String,
    /// Of rules as they were written before filters.
    prefix: Option<String>,
    filter: Option<Filter>,
    expiration: Option<Expiration>,
    #[serde(rename = "AbortIncompleteMultipartUpload")]
    abort: Option<serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Filter {
    prefix: Option<String>,
    and: Option<And>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct And {
    prefix: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Expiration {
    days: Option<i64>,
    date: Option<String>,
}

/// One rule that is enabled. Tags and sizes of its filter are not looked at: it can apply.
struct Rule {
    name: String,
    line: usize,
    prefix: String,
    expires: Option<Expires>,
    aborts: bool,
}

enum Expires {
    /// So many days after the put.
    After(i64),
    /// All of it, on that date.
    On(String),
}

impl Rule {
    /// Whether it can touch keys that begin so.
    fn covers(&self, keys: &str) -> bool {
        keys.starts_with(&self.prefix) || self.prefix.starts_with(keys)
    }

    /// `rule \`old\` (prefix \`learning/\`)`
    fn words(&self) -> String {
        match self.prefix.as_str() {
            "" => format!("rule `{}` for the whole bucket", self.name),
            prefix => format!("rule `{}` for keys from `{prefix}` on", self.name),
        }
    }
}

/// The line of a file on which a part of its text begins.
fn line_of(text: &str, part: &str) -> usize {
    let at = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    let before = text.as_bytes().get(..at).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// The rules that can be read; what cannot is added to `found`.
fn read(zone: &ZoneDecl, export: &Export, text: &str, found: &mut Vec<LintFinding>) -> Vec<Rule> {
    let configuration: Configuration<'_> = match serde_json::from_str(text) {
        Ok(configuration) => configuration,
        Err(e) => {
            found.push(export.damaged(zone, e.line().max(1), e));
            return Vec::new();
        }
    };
    let mut rules = Vec::new();
    for (nth, raw) in configuration.rules.iter().enumerate() {
        let line = line_of(text, raw.get());
        let written: Written = match serde_json::from_str(raw.get()) {
            Ok(written) => written,
            Err(e) => {
                let line = line + e.line().saturating_sub(1);
                found.push(export.damaged(zone, line, e));
                continue;
            }
        };
        if written.status != "Enabled" {
            continue;
        }
        let filter = written.filter.unwrap_or_default();
        let and = filter.and.and_then(|and| and.prefix);
        let expiration = written.expiration.unwrap_or_default();
        rules.push(Rule {
            name: written.id.unwrap_or_else(|| format!("#{}", nth + 1)),
            line,
            prefix: filter.prefix.or(and).or(written.prefix).unwrap_or_default(),
            expires: match (expiration.days, expiration.date) {
                (Some(days), _) => Some(Expires::After(days)),
                (None, Some(date)) => Some(Expires::On(date)),
                (None, None) => None,
            },
            aborts: written.abort.is_some(),
        });
    }
    rules
}

/// A rule that expires keys by their age.
pub(super) struct Expiring {
    pub(super) words: String,
    pub(super) location: Option<String>,
    pub(super) days: i64,
}

/// Those that can touch keys that begin so. What cannot be read is a finding of [`check`].
pub(super) fn expiring(zone: &ZoneDecl, keys: &str) -> Vec<Expiring> {
    let Some(export) = &zone.lifecycle else {
        return Vec::new();
    };
    let Some(text) = export.text(zone, &mut Vec::new()) else {
        return Vec::new();
    };
    let rules = read(zone, export, text, &mut Vec::new()).into_iter();
    let rules = rules.filter(|rule| rule.covers(keys));
    rules
        .filter_map(|rule| match rule.expires {
            Some(Expires::After(days)) => Some(Expiring {
                words: rule.words(),
                location: export.line(rule.line),
                days,
            }),
            _ => None,
        })
        .collect()
}

/// Checks the rules of a zone's bucket, those that can touch the zone.
pub(super) fn check(
    zone: &ZoneDecl,
    zones: &[ZoneDecl],
    datasets: &[&Dataset],
    found: &mut Vec<LintFinding>,
) -> Check {
    let check = |outcome, message: String| Check {
        rule: "lifecycle".to_owned(),
        outcome,
        message,
    };
    let Some(export) = &zone.lifecycle else {
        let message = "not checked: `lifecycle` of the zone names no file";
        return check(Outcome::NotChecked, message.to_owned());
    };
    let before = found.len();
    if let Some(text) = export.text(zone, found) {
        let rules = read(zone, export, text, found);
        // What cannot be read may be the very rule that is missed.
        let whole = found.len() == before;
        let bucket = Bucket::of(zone);
        let near: Vec<&ZoneDecl> = zones
            .iter()
            .filter(|other| Bucket::of(other).id == bucket.id)
            .collect();
        for rule in &rules {
            let at = || export.line(rule.line);
            let found_of = found.len();
            broad(zone, &near, datasets, rule, found);
            early(zone, &bucket, datasets, rule, found);
            for finding in found.iter_mut().skip(found_of) {
                finding.location = at();
            }
        }
        if whole {
            missing(zone, &bucket, datasets, export, &rules, found);
        }
    }
    match found.len() - before {
        0 => check(Outcome::Holds, format!("as {} has it", export.file)),
        1 => check(Outcome::Broken, "1 finding".to_owned()),
        n => check(Outcome::Broken, format!("{n} findings")),
    }
}

/// A rule for more than one zone or dataset, or for markers and runs together.
fn broad(
    zone: &ZoneDecl,
    near: &[&ZoneDecl],
    datasets: &[&Dataset],
    rule: &Rule,
    found: &mut Vec<LintFinding>,
) {
    if rule.expires.is_none() {
        return;
    }
    let bucket = Bucket::of(zone);
    if !rule.covers(&bucket.base) {
        return;
    }
    let zones: Vec<&str> = near
        .iter()
        .filter(|other| rule.covers(&Bucket::of(other).base))
        .map(|other| other.name.as_str())
        .collect();
    let mut covered: Vec<&Dataset> = Vec::new();
    // Landing is one window: all that it holds expires together.
    let kept = near.iter().filter(|z| z.purpose() != Purpose::Landing);
    for other in kept {
        let bucket = Bucket::of(other);
        covered.extend(of(other, datasets).filter(|dataset| {
            let places = Places::of(&bucket, dataset);
            rule.covers(&places.runs) || places.markers.is_some_and(|keys| rule.covers(&keys))
        }));
    }
    let names: Vec<&str> = covered.iter().map(|d| d.name.as_str()).collect();
    let what = match (zones.as_slice(), names.as_slice()) {
        ([_, _, ..], _) => format!("the zones {}", zones.join(", ")),
        (_, [_, _, ..]) => format!("the datasets {}", names.join(", ")),
        _ => String::new(),
    };
    if !what.is_empty() {
        let message = format!(
            "{} expires objects of {what}: each has a retention of its own and needs a rule of its own",
            rule.words()
        );
        return found.push(zone.finding(Severity::Error, "shared_rule", message));
    }
    for dataset in covered.into_iter().filter(|d| d.zone == zone.name) {
        let places = Places::of(&bucket, dataset);
        let both = places.markers.as_ref();
        let both = both.is_some_and(|markers| rule.covers(markers) && rule.covers(&places.runs));
        if both {
            let message = format!(
                "{} expires markers and runs together: runs lie from `{}` on, markers from `{}` on",
                rule.words(),
                places.runs,
                places.markers.unwrap_or_default()
            );
            found.push(zone.about(dataset, Severity::Error, "markers_and_runs", message));
        }
    }
}

/// A rule that can expire what a current marker or an audit window still names.
fn early(
    zone: &ZoneDecl,
    bucket: &Bucket,
    datasets: &[&Dataset],
    rule: &Rule,
    found: &mut Vec<LintFinding>,
) {
    let Some(expires) = &rule.expires else {
        return;
    };
    if zone.purpose() == Purpose::Landing {
        return;
    }
    for dataset in of(zone, datasets) {
        let places = Places::of(bucket, dataset);
        let parts = [
            Some((
                "a run",
                "which a current marker may still name",
                &places.runs,
            )),
            places
                .markers
                .as_ref()
                .map(|keys| ("a marker", "without which its hour is not closed", keys)),
            places.dead_letters.as_ref().map(|keys| {
                (
                    "dead letters",
                    "which the completeness gate of a kept run reads",
                    keys,
                )
            }),
        ];
        let parts = parts.into_iter().flatten();
        let hit: Vec<_> = parts.filter(|(_, _, keys)| rule.covers(keys)).collect();
        // Of one rule the worst is said, which is the first.
        let Some((what, why, _)) = hit.first() else {
            continue;
        };
        let (long, audit) = promised(dataset);
        let message = match (expires, long) {
            (Expires::On(date), _) => format!(
                "{} expires {what} of any age on {date}, {why}",
                rule.words()
            ),
            (Expires::After(after), None) => format!(
                "{} expires {what} after {after}d, {why}: nothing says how long it is kept",
                rule.words()
            ),
            (Expires::After(after), Some(long)) if after.saturating_mul(DAY) < long => {
                let audit = audit.filter(|audit| after.saturating_mul(DAY) < *audit);
                let window = match audit {
                    Some(audit) => format!(", and the audit window is {}", days(audit)),
                    None => String::new(),
                };
                format!(
                    "{} expires {what} after {after}d, {why}: it is kept {}{window}",
                    rule.words(),
                    days(long)
                )
            }
            (Expires::After(_), Some(_)) => continue,
        };
        found.push(zone.about(dataset, Severity::Error, "expires_published", message));
    }
}

/// How long a dataset's runs are kept by promise, and its audit window.
fn promised(dataset: &Dataset) -> (Option<i64>, Option<i64>) {
    let retention = &dataset.retention;
    let keep = retention.keep.as_ref().map(|keep| keep.millis);
    let audit = retention.audit.as_ref().map(|audit| audit.millis);
    let long = [keep, needed(retention), audit];
    (long.into_iter().flatten().max(), audit)
}

/// Rules that should be there.
fn missing(
    zone: &ZoneDecl,
    bucket: &Bucket,
    datasets: &[&Dataset],
    export: &Export,
    rules: &[Rule],
    found: &mut Vec<LintFinding>,
) {
    let whole = |rule: &Rule| bucket.base.starts_with(&rule.prefix);
    let each = |dataset: &Dataset| {
        let runs = Places::of(bucket, dataset).runs;
        let mut aborting = rules.iter().filter(|rule| rule.aborts);
        aborting.any(|rule| runs.starts_with(&rule.prefix))
    };
    let mut all = of(zone, datasets).peekable();
    let some = all.peek().is_some();
    let aborted = rules.iter().any(|rule| rule.aborts && whole(rule)) || some && all.all(each);
    let mut say = |rule: &str, message: String| {
        found.push(LintFinding {
            location: Some(export.file.clone()),
            ..zone.finding(Severity::Warning, rule, message)
        });
    };
    if !aborted {
        say(
            "abort_uploads",
            "no rule aborts incomplete multipart uploads: their parts are paid for and never listed"
                .to_owned(),
        );
    }
    if zone.purpose() != Purpose::Landing {
        return;
    }
    let keep = zone.retention.keep.as_ref();
    let window = keep.map_or(LANDING, |keep| whole_days(keep.millis));
    let longest = rules.iter().filter(|rule| whole(rule));
    let longest = longest.filter_map(|rule| match rule.expires {
        Some(Expires::After(days)) => Some(days),
        _ => None,
    });
    match longest.min() {
        None => say(
            "landing_expiry",
            format!("no rule expires landing, which keeps partner files as received for {window}d"),
        ),
        Some(days) if days > window => say(
            "landing_expiry",
            format!("landing expires after {days}d; its window is {window}d"),
        ),
        Some(_) => {}
    }
}
