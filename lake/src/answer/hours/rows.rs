//! Hours row by row: for scripts, for a check, and for what a grid calls out.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{closed, closed_from};
use crate::figures::size;
use crate::host::SharedHost;
use crate::hours::find::{Days, Memory, Source, Window, merged, window};
use crate::hours::judge::{Completeness, Verdict};
use crate::hours::listing::Object;
use crate::hours::{Marker, Slot, State};
use crate::store::LIST_PAGE;
use crate::table::Time;
use crate::wire::hours::{CheckReport, CompletenessReport, Fresh, HourRow, HourSizes, HoursReport};
use crate::wire::{Finding, Severity};
use crate::{Error, Kind, Result};

/// Every hour of a window, and up to when the dataset is closed.
pub async fn hours(
    source: &Source,
    memory: &Memory,
    days: Days,
    now: Time,
    host: &SharedHost,
) -> Result<HoursReport> {
    let window = window(source, memory, days, Fresh::Known, now, host).await?;
    let closed = match source.dataset.first {
        Some(_) => closed(source, memory, now, host).await?,
        None => closed_from(source, memory, &window),
    };
    let verdicts = window.verdicts();
    let mut counts = IndexMap::new();
    for state in State::ALL {
        let count = verdicts
            .iter()
            .filter(|(_, verdict)| verdict.state == state)
            .count();
        if count > 0 {
            counts.insert(state, count as u64);
        }
    }
    Ok(HoursReport {
        dataset: source.dataset.name.clone(),
        zone: source.dataset.zone.clone(),
        from: days.from,
        to: days.to,
        closed_up_to: closed.up_to,
        counts,
        hours: verdicts
            .iter()
            .map(|(slot, verdict)| row_of(&window, *slot, verdict))
            .collect(),
        blocked_by: closed.blocked_by,
        sizes: sizes(&window, &verdicts),
        findings: findings(&window, &verdicts),
        now,
    })
}

/// One hour, read anew.
pub async fn row(
    source: &Source,
    memory: &Memory,
    slot: Slot,
    now: Time,
    host: &SharedHost,
) -> Result<HourRow> {
    let window = one(source, memory, slot, Fresh::Again, now, host).await?;
    let verdict = window.verdict(slot);
    Ok(row_of(&window, slot, &verdict))
}

/// The window of one hour's day. An hour of another grain than the dataset's is refused.
pub(super) async fn one(
    source: &Source,
    memory: &Memory,
    slot: Slot,
    fresh: Fresh,
    now: Time,
    host: &SharedHost,
) -> Result<Window> {
    let dataset = &source.dataset;
    if slot.hour.is_some() != dataset.hourly() {
        let message = match dataset.hourly() {
            true => "this dataset has hours: name one, from 0 to 23",
            false => "this dataset has whole days and no hours",
        };
        return Err(Error::new(Kind::Invalid, message).at("dataset", &dataset.name));
    }
    window(
        source,
        memory,
        Days::new(slot.day, slot.day),
        fresh,
        now,
        host,
    )
    .await
}

/// Whether a reader may scan an hour.
pub async fn check(
    source: &Source,
    memory: &Memory,
    slot: Slot,
    now: Time,
    host: &SharedHost,
) -> Result<CheckReport> {
    let window = one(source, memory, slot, Fresh::Again, now, host).await?;
    let verdict = window.verdict(slot);
    Ok(checked(&window, slot, verdict))
}

/// What a check says of a slot of a window.
pub(super) fn checked(window: &Window, slot: Slot, verdict: Verdict) -> CheckReport {
    let dataset = &window.dataset;
    let closed = verdict.state.is_closed();
    let marker = window.markers(slot).marker();
    CheckReport {
        dataset: dataset.name.clone(),
        date: slot.day,
        hour: slot.hour,
        closed,
        state: verdict.state,
        reasons: verdict.reasons,
        prefix: closed.then(|| scan(window, slot)),
        object_count: verdict.objects,
        bytes: verdict.bytes,
        run_id: marker.map(|marker| marker.run_id.clone()),
        definition_version: marker.map(|marker| marker.definition_version.clone()),
        published_at: marker.map(|marker| marker.published_at),
    }
}

/// URL of what a reader may scan of a closed slot: the run, or the slot's own folder where markers
/// name none.
pub(super) fn scan(window: &Window, slot: Slot) -> String {
    let dataset = &window.dataset;
    let run = window
        .markers(slot)
        .marker()
        .and_then(|marker| marker.scan(dataset));
    dataset.url_of(&run.unwrap_or_else(|| dataset.prefix_of(slot)))
}

/// A slot's row.
pub(super) fn row_of(window: &Window, slot: Slot, verdict: &Verdict) -> HourRow {
    HourRow {
        date: slot.day,
        hour: slot.hour,
        state: verdict.state,
        reasons: verdict.reasons.clone(),
        marker: window.markers(slot).marker().and_then(written),
        objects: verdict.objects,
        bytes: verdict.bytes,
        median_bytes: verdict.median_bytes,
        newest_object: verdict.newest,
        completeness: window.dataset.complete.as_ref().map(|_| {
            window
                .gates
                .get(&slot)
                .map_or_else(CompletenessReport::default, |found| found_by(found))
        }),
        listed_at: window.listed.get(&slot.day).map(|listed| listed.at),
    }
}

fn written(marker: &Marker) -> Option<Map<String, Value>> {
    match serde_json::to_value(marker) {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    }
}

fn found_by(found: &Completeness) -> CompletenessReport {
    CompletenessReport {
        checked: true,
        orders: found.orders,
        landed: found.landed,
        dead_lettered: found.dead_lettered,
        missing: found.missing,
        examples: found.examples.clone(),
    }
}

/// Sizes over a window, and what a reader pays to list it.
pub(super) fn sizes(window: &Window, verdicts: &[(Slot, Verdict)]) -> HourSizes {
    let all = || {
        window
            .listed
            .values()
            .flat_map(|day| day.listing.slots.values())
    };
    let mut sizes: Vec<u64> = all()
        .flat_map(|slot| slot.data())
        .map(|o: &Object| o.bytes)
        .collect();
    sizes.sort_unstable();
    let at = |share: usize| {
        sizes
            .get(sizes.len().saturating_sub(1) * share / 100)
            .copied()
    };
    let pages = |objects: u64| objects.div_ceil(LIST_PAGE).max(1);
    HourSizes {
        objects: sizes.len() as u64,
        bytes: sizes
            .iter()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        median_bytes: at(50),
        p10_bytes: at(10),
        p90_bytes: at(90),
        lists_of_parents: all()
            .map(|slot| pages((slot.data().count() + slot.hidden.len()) as u64))
            .sum(),
        lists_of_runs: verdicts
            .iter()
            .filter(|(_, verdict)| verdict.state.is_closed())
            .map(|(_, verdict)| pages(verdict.objects))
            .sum(),
    }
}

/// An object smaller than this is alone in its hour for no good reason.
const THIN: u64 = 16 << 20;

/// Findings of a window, errors first.
pub(super) fn findings(window: &Window, verdicts: &[(Slot, Verdict)]) -> Vec<Finding> {
    let mut found = merged(window.listed.values().map(AsRef::as_ref));
    let stray: Vec<&Object> = window
        .listed
        .values()
        .flat_map(|day| &day.listing.stray)
        .collect();
    if let Some(first) = stray.first() {
        found.push(Finding {
            severity: Severity::Error,
            rule: "stray_keys".to_owned(),
            location: Some(first.key.clone()),
            message: format!(
                "{} lie in no {} of the declared partitions: no marker can close them",
                stray.len(),
                if window.dataset.hourly() {
                    "hour"
                } else {
                    "day"
                }
            ),
        });
    }
    let closed = verdicts
        .iter()
        .filter(|(_, verdict)| verdict.state.is_closed());
    let (closed, thin) = closed.fold((0usize, 0usize), |(closed, thin), (_, verdict)| {
        let alone = verdict.objects == 1 && verdict.bytes < THIN;
        (closed + 1, thin + usize::from(alone))
    });
    if window.dataset.hourly() && closed >= 24 && thin * 2 > closed {
        found.push(Finding {
            severity: Severity::Warning,
            rule: "over_partitioned".to_owned(),
            location: None,
            message: format!(
                "{thin} of {closed} closed hours hold one object smaller than {}: days would do",
                size(THIN)
            ),
        });
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}
