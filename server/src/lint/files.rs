//! The files of a dataset's newest hour against its contract.

use std::sync::Arc;

use futures::TryStreamExt as _;
use lake::host::SharedHost;
use lake::hours::find::{Finder, Gate, Memory};
use lake::hours::listing::{Listing, Object};
use lake::hours::{Day, Marker, Slot, contract};
use lake::table::Time;
use lake::wire::Severity;
use lake::wire::hours::{Fresh, LintFinding};
use lake::{Error, Result};
use object_store::path::Path;

use super::{DAYS, of};
use crate::datasets::Placed;

/// Files whose footers are read, by two reads each.
const FOOTERS: usize = 64;

/// What the contract has against the files of the newest hour that has any: those of the run that is
/// published, else all. That there was nothing to read, or too much, is a finding too.
pub async fn files(placed: &Placed, now: Time, host: &SharedHost) -> Vec<LintFinding> {
    let dataset = &placed.dataset;
    let declares = dataset.event_time.is_some()
        || !dataset.prohibited_columns.is_empty()
        || !dataset.columns.is_empty();
    if !declares {
        return Vec::new();
    }
    match check(placed, now, host).await {
        Ok(found) => found,
        Err(error) => vec![unread(placed, format!("no file was looked at: {error}"))],
    }
}

fn unread(placed: &Placed, message: String) -> LintFinding {
    of(&placed.dataset, Severity::Warning, "not_checked", message)
}

async fn check(placed: &Placed, now: Time, host: &SharedHost) -> Result<Vec<LintFinding>> {
    let Placed { dataset, store } = placed;
    let today = Day::of(now);
    let finder = Finder::new(
        Arc::clone(dataset),
        Arc::clone(store),
        Arc::new(Memory::default()),
        Arc::clone(host),
        now,
    );
    let report = finder.hours(today.plus(-DAYS), today, Fresh::Known, Gate::Suspect);
    let report = report.await?;
    let Some(row) = report.hours.iter().rev().find(|row| row.objects > 0) else {
        let message = format!(
            "no file was looked at: the last {} days have none",
            DAYS + 1
        );
        return Ok(vec![unread(placed, message)]);
    };
    let slot = Slot {
        day: row.date,
        hour: row.hour,
    };
    let marker = row.marker.clone().map(serde_json::Value::Object);
    let marker = marker.and_then(|marker| serde_json::from_value::<Marker>(marker).ok());
    let scan = marker.and_then(|marker| marker.scan(dataset));
    let prefix = dataset.prefix_of(slot);
    let folder = Path::parse(prefix.trim_end_matches('/'))
        .map_err(|e| Error::invalid("this prefix cannot be listed").because(e))?;
    let listed: Vec<_> = store.list(Some(&folder)).try_collect().await?;
    let mut listing = Listing::default();
    for meta in listed {
        listing.add(dataset, Object::from(meta));
    }
    let slots = listing.slots.remove(&slot).unwrap_or_default();
    let mut objects: Vec<Object> = match &scan {
        Some(scan) => slots.below(scan).cloned().collect(),
        None => slots.data().cloned().collect(),
    };
    let all = objects.len();
    objects.truncate(FOOTERS);
    let found = contract::check(dataset, store, slot, &objects, host).await?;
    let mut found: Vec<LintFinding> = found
        .findings
        .into_iter()
        .map(|finding| LintFinding {
            location: finding.location.or_else(|| Some(slot.to_string())),
            owner: dataset.publisher.clone().or_else(|| dataset.owner.clone()),
            ..of(dataset, finding.severity, &finding.rule, finding.message)
        })
        .collect();
    if all > FOOTERS {
        let message = format!("{FOOTERS} of the {all} files of {slot} were looked at");
        found.push(unread(placed, message));
    }
    Ok(found)
}
