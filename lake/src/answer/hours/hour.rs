//! One hour with all its evidence.

use std::collections::BTreeMap;

use super::declared;
use super::rows::{one, row_of, scan};
use crate::Result;
use crate::host::SharedHost;
use crate::hours::find::{Days, Memory, Source, Window, window};
use crate::hours::judge::Markers;
use crate::hours::key::RUN;
use crate::hours::listing::Object;
use crate::hours::marker::{Marker, publication_ok};
use crate::hours::{Slot, State};
use crate::table::Time;
use crate::wire::hours::{Fresh, HourReport, ObjectRow, RunRow};

/// Objects that are listed one by one.
const LISTED: usize = 1000;

/// How far back a closed hour is looked for.
const BACK: i32 = 7;

/// One hour of a dataset.
pub async fn hour(
    source: &Source,
    memory: &Memory,
    slot: Slot,
    fresh: Fresh,
    now: Time,
    host: &SharedHost,
) -> Result<HourReport> {
    let window = one(source, memory, slot, fresh, now, host).await?;
    let dataset = &source.dataset;
    let verdict = window.verdict(slot);
    let markers = window.markers(slot);
    let objects = window.objects(slot);
    let closed = verdict.state.is_closed();
    let current = markers
        .current
        .as_ref()
        .map(|(object, _)| object)
        .or(markers.plain.as_ref());
    let run = markers.marker().and_then(|marker| marker.scan(dataset));
    let prefix = dataset.prefix_of(slot);
    let after = |object: &Object| current.is_some_and(|marker| object.put > marker.put);
    let row = |object: &Object| ObjectRow {
        key: object
            .key
            .strip_prefix(&prefix)
            .unwrap_or(&object.key)
            .to_owned(),
        bytes: object.bytes,
        put: object.put,
        after_marker: after(object),
    };
    let of_run: Vec<&Object> = match &run {
        Some(run) => objects.below(run).collect(),
        None => objects.runs.values().flatten().collect(),
    };
    let topic = dataset.retention.topic.as_ref();
    let last_closed = match verdict.state {
        State::Open | State::Late | State::Future => {
            last_closed(source, memory, slot, now, host).await?
        }
        _ => None,
    };
    Ok(HourReport {
        dataset: declared(dataset),
        row: row_of(&window, slot, &verdict),
        scan: closed.then(|| scan(&window, slot)),
        marker_key: current.map(|object| object.key.clone()),
        marker_put: current.map(|object| object.put),
        runs: runs(&window, slot, markers),
        loose_total: objects.loose.len() as u64,
        loose: newest_first(objects.loose.iter().collect())
            .map(&row)
            .collect(),
        objects: newest_first(of_run).map(&row).collect(),
        replay_until: topic.map(|topic| Time(slot.end().0.saturating_add(topic.millis))),
        contract: None,
        statement: None,
        last_closed,
        prefix,
        now,
    })
}

fn newest_first(mut objects: Vec<&Object>) -> impl Iterator<Item = &Object> {
    objects.sort_by(|a, b| (b.put, &a.key).cmp(&(a.put, &b.key)));
    objects.into_iter().take(LISTED)
}

/// The newest closed hour before this one, of the last days.
async fn last_closed(
    source: &Source,
    memory: &Memory,
    slot: Slot,
    now: Time,
    host: &SharedHost,
) -> Result<Option<Slot>> {
    let days = Days::new(slot.day.plus(-BACK), slot.day);
    let window = window(source, memory, days, Fresh::Known, now, host).await?;
    let mut before = window.slots().rev().filter(|other| other < &slot);
    Ok(before.find(|other| window.verdict(*other).state.is_closed()))
}

/// Every run that is or was: those that markers name, newest first, then the others.
fn runs(window: &Window, slot: Slot, markers: &Markers) -> Vec<RunRow> {
    let dataset = &window.dataset;
    let objects = window.objects(slot);
    let mut rows: BTreeMap<String, RunRow> = BTreeMap::new();
    for (prefix, objects) in &objects.runs {
        rows.insert(prefix.clone(), listed(run_id(prefix), objects.iter()));
    }
    let marked = markers.current.iter().map(|read| (true, read));
    let marked = marked.chain(markers.superseded.iter().map(|read| (false, read)));
    for (current, (_, read)) in marked {
        let Ok(marker) = read else { continue };
        let Some(scan) = marker.scan(dataset) else {
            continue;
        };
        let below: Vec<&Object> = objects.below(&scan).collect();
        let row = rows.entry(scan.clone());
        let row = row.or_insert_with(|| listed(marker.run_id.clone(), below.iter().copied()));
        // The same run may have been superseded and be current again.
        if row.current {
            continue;
        }
        row.run_id.clone_from(&marker.run_id);
        row.current = current;
        row.marked_objects = Some(marker.object_count);
        row.matches = Some(whole(marker, &scan, &below));
        row.published_at = Some(marker.published_at);
    }
    let mut rows: Vec<RunRow> = rows.into_values().collect();
    for row in &mut rows {
        let pins = markers
            .pins
            .iter()
            .filter_map(|(_, read)| read.as_ref().ok());
        let pins = pins.filter(|pin| pin.run_id == row.run_id);
        row.pins = pins.map(|pin| (pin.reader.clone(), pin.until)).collect();
    }
    rows.sort_by_key(|row| {
        (
            !row.current,
            row.published_at.is_none(),
            std::cmp::Reverse(row.published_at),
        )
    });
    rows
}

fn whole(marker: &Marker, scan: &str, below: &[&Object]) -> bool {
    publication_ok(
        marker,
        scan,
        below
            .iter()
            .map(|object| (object.key.as_str(), object.bytes)),
    )
}

fn listed<'a>(run_id: String, objects: impl Iterator<Item = &'a Object>) -> RunRow {
    let mut row = RunRow {
        run_id,
        objects: 0,
        bytes: 0,
        newest: None,
        current: false,
        marked_objects: None,
        matches: None,
        published_at: None,
        pins: Vec::new(),
    };
    for object in objects {
        row.objects += 1;
        row.bytes = row.bytes.saturating_add(object.bytes);
        row.newest = row.newest.max(Some(object.put));
    }
    row
}

/// The run that a prefix is named after.
fn run_id(prefix: &str) -> String {
    let last = prefix
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let run = last
        .strip_prefix(RUN)
        .and_then(|rest| rest.strip_prefix('='));
    run.unwrap_or(last).to_owned()
}
