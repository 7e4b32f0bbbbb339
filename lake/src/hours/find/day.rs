//! The keys of days, from one listing of several days.

use std::collections::BTreeMap;

use futures::TryStreamExt;

use super::{Days, Source, parse};
use crate::Result;
use crate::hours::dataset::join;
use crate::hours::day::Day;
use crate::hours::key;
use crate::hours::listing::{Listing, Object};
use crate::table::Time;
use crate::wire::{Finding, Severity};

/// One day as it was listed.
#[derive(Clone, Debug)]
pub struct ListedDay {
    /// The day.
    pub day: Day,
    /// When.
    pub at: Time,
    /// What was there.
    pub listing: Listing,
    /// Keys that should not be, a line each rule.
    pub findings: Vec<KeyFinding>,
}

/// Keys of one day against which one rule speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFinding {
    /// The first of them.
    pub example: Finding,
    /// How many.
    pub count: u64,
}

/// Lists days that follow each other. The listing is read no further than the last of them.
pub(super) async fn list(source: &Source, days: Days, now: Time) -> Result<Vec<ListedDay>> {
    let dataset = &source.dataset;
    let prefix = parse(&dataset.prefix)?;
    let of_day = |day: Day| format!("{}={day}", dataset.date_column());
    // Everything of a day sorts after its name alone, and before the name of the next.
    let after = parse(&join(&dataset.prefix, &of_day(days.from)))?;
    let beyond = join(&dataset.prefix, &of_day(days.to.plus(1)));
    let mut all: BTreeMap<Day, ListedDay> = days
        .iter()
        .map(|day| {
            (
                day,
                ListedDay {
                    day,
                    at: now,
                    listing: Listing::default(),
                    findings: Vec::new(),
                },
            )
        })
        .collect();
    let mut listed = source.store.list_with_offset(Some(&prefix), &after);
    while let Some(meta) = listed.try_next().await? {
        let object = Object::from(meta);
        if object.key.as_str() >= beyond.as_str() {
            break;
        }
        let Some(day) = day_of(&object.key, days, &of_day, &dataset.prefix) else {
            continue;
        };
        if let Some(listed) = all.get_mut(&day) {
            listed.find(source, &object);
            listed.listing.add(dataset, object);
        }
    }
    Ok(all.into_values().collect())
}

/// The day whose name the key has in the place of the date.
fn day_of(key: &str, days: Days, of_day: &dyn Fn(Day) -> String, prefix: &str) -> Option<Day> {
    let below = match prefix {
        "" => key,
        prefix => key.strip_prefix(prefix)?.strip_prefix('/')?,
    };
    let segment = below.split('/').next()?;
    let day: Day = segment
        .get(segment.len().checked_sub(10)?..)?
        .parse()
        .ok()?;
    (days.holds(day) && segment == of_day(day)).then_some(day)
}

impl ListedDay {
    fn find(&mut self, source: &Source, object: &Object) {
        let start = match source.dataset.prefix.len() {
            0 => 0,
            length => length + 1,
        };
        let below = object.key.get(start..).unwrap_or_default();
        if key::role(below, object.bytes) != key::Role::Data {
            return;
        }
        for mut finding in key::findings(&source.dataset, below) {
            finding.location = Some(object.key.clone());
            let same = |known: &&mut KeyFinding| known.example.rule == finding.rule;
            match self.findings.iter_mut().find(same) {
                Some(known) => known.count += 1,
                None => self.findings.push(KeyFinding {
                    example: finding,
                    count: 1,
                }),
            }
        }
    }
}

/// One finding a rule, with its count, worst first.
pub(crate) fn merged<'a>(days: impl Iterator<Item = &'a ListedDay>) -> Vec<Finding> {
    let mut all: Vec<KeyFinding> = Vec::new();
    for found in days.flat_map(|day| &day.findings) {
        match all
            .iter_mut()
            .find(|known| known.example.rule == found.example.rule)
        {
            Some(known) => known.count += found.count,
            None => all.push(found.clone()),
        }
    }
    all.sort_by_key(|found| {
        (
            found.example.severity != Severity::Error,
            found.example.rule.clone(),
        )
    });
    let worded = all.into_iter().map(|found| {
        let mut finding = found.example;
        if found.count > 1 {
            finding.message = format!("{} ({} keys)", finding.message, found.count);
        }
        finding
    });
    worded.collect()
}
