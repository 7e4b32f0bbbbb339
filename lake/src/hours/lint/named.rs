//! Runs that markers name and that a lifecycle rule may delete: judged by markers that are there,
//! and not by what was promised.

use super::lifecycle::Expiring;
use super::{Bucket, Places, ZoneDecl};
use crate::hours::dataset::Dataset;
use crate::hours::day::{DAY, Slot};
use crate::table::Time;
use crate::wire::Severity;
use crate::wire::hours::LintFinding;

/// A run that a marker names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The hour.
    pub slot: Slot,
    /// Whether another run took its place, and its audit window is not over.
    pub superseded: bool,
    /// When its oldest object was put: at the latest, when its marker was.
    pub put: Time,
}

/// Whether some rule of a zone's bucket expires runs of a dataset by their age: only then are its
/// markers worth a look.
pub fn expires_runs(zone: &ZoneDecl, dataset: &Dataset) -> bool {
    !expiring(zone, dataset).is_empty()
}

/// Rules that expire runs and leave the markers that name them.
fn expiring(zone: &ZoneDecl, dataset: &Dataset) -> Vec<Expiring> {
    let places = Places::of(&Bucket::of(zone), dataset);
    let mut rules = super::lifecycle::expiring(zone, &places.runs);
    let markers = places.markers.as_ref();
    let markers = markers.map(|keys| super::lifecycle::expiring(zone, keys));
    // A marker that goes as soon as its run leaves nothing behind that names it.
    let soonest = markers.iter().flatten().map(|rule| rule.days).min();
    rules.retain(|rule| soonest.is_none_or(|days| days > rule.days));
    rules
}

/// What the rules can delete of the runs that markers name, at the time `now`.
pub fn named(zone: &ZoneDecl, dataset: &Dataset, runs: &[Named], now: Time) -> Vec<LintFinding> {
    let rules = expiring(zone, dataset);
    let found = rules.iter().filter_map(|rule| {
        let old = |run: &&Named| run.put.0.saturating_add(rule.days * DAY) <= now.0;
        let first = runs.iter().filter(old).min_by_key(|run| run.slot)?;
        let all = runs.iter().filter(old).count();
        let superseded = runs.iter().filter(old).filter(|run| run.superseded).count();
        let audit = match superseded {
            0 => String::new(),
            n => format!(", {n} of them superseded and within the audit window"),
        };
        let runs = match all {
            1 => "1 run is older and a marker still names it".to_owned(),
            n => format!("{n} runs are older and markers still name them"),
        };
        let message = format!(
            "{} expires runs after {}d, and {runs}{audit}: {} first",
            rule.words, rule.days, first.slot
        );
        Some(LintFinding {
            location: rule.location.clone(),
            ..zone.about(dataset, Severity::Error, "expires_named", message)
        })
    });
    found.collect()
}
