//! The datasets of the sample lake: four days of hours, in every state that an hour can have.

mod lines;
mod others;
mod progress;
mod rows;
mod settings;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use lake::hours::listing::Object;
use lake::hours::taken::{TAKEN, Took};
use lake::hours::template::Template;
use lake::hours::{Dataset, Day, Marker, Slot};
use lake::table::Time;
use lake::{Error, Kind, Result};
use serde_json::{Map, Value};

use super::config::DAYS;
use super::data::{Packing, parquet_bytes};
use super::table::put;
use crate::config::Config;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// Writes the datasets of a configuration, and the exported settings that it names.
pub(super) fn write(dir: &Path, config: &Config, now: Time) -> Result<()> {
    settings::write(dir, now)?;
    let writer = |name: &str| Writer::new(config, name, now);
    progress::write(&writer("learning.progress")?)?;
    lines::write(&writer("commerce.purchase_line")?)?;
    others::events(&writer("learning.progress_event")?)?;
    others::daily(&writer("learning.progress_daily")?)?;
    others::enrollment(&writer("partner.enrollment")?)
}

/// Whoever writes one dataset.
#[derive(Clone)]
struct Writer {
    /// What is declared of it.
    dataset: Dataset,
    /// Folder of its zone.
    folder: PathBuf,
    now: Time,
    /// The loose keys of which the next run is made.
    taken: Vec<Object>,
}

/// What lies below a run.
#[derive(Clone, Debug)]
struct Run {
    slot: Slot,
    id: String,
    objects: u64,
    bytes: u64,
    newest_event: Time,
}

impl Writer {
    fn new(config: &Config, name: &str, now: Time) -> Result<Self> {
        let missing = || {
            Error::new(Kind::Internal, "the sample lake declares no such dataset")
                .at("dataset", name)
        };
        let dataset = config.datasets.iter().find(|d| d.name == name);
        let dataset = dataset.ok_or_else(missing)?.clone();
        let zone = config.zones.iter().find(|zone| zone.name == dataset.zone);
        let folder = zone.and_then(|zone| zone.address.disk());
        Ok(Self {
            folder: folder.ok_or_else(missing)?.to_owned(),
            dataset,
            now,
            taken: Vec::new(),
        })
    }

    fn today(&self) -> Day {
        Day::of(self.now)
    }

    /// The slots that have begun, oldest first, each with how many days ago its day was.
    fn slots(&self) -> impl Iterator<Item = (i32, Slot)> + '_ {
        let today = self.today();
        let days = today.plus(-DAYS).to(today);
        days.flat_map(|day| self.dataset.slots(day))
            .filter(|slot| slot.start() <= self.now)
            .map(move |slot| (today.since(slot.day), slot))
    }

    /// Puts an object, unless that is yet to come.
    fn put(&self, key: &str, bytes: &[u8], at: Time) -> Result<()> {
        match at <= self.now {
            true => put(&self.folder, key, bytes, at),
            false => Ok(()),
        }
    }

    /// Puts rows as an object below a slot.
    fn rows(&self, slot: Slot, name: &str, batch: &RecordBatch, at: Time) -> Result<u64> {
        let key = format!("{}{name}", self.dataset.prefix_of(slot));
        let bytes = parquet_bytes(batch, Packing::Written("event_id"))?;
        self.put(&key, &bytes, at)?;
        Ok(bytes.len() as u64)
    }

    /// Writes a run, whose last object is put at `at`.
    fn run(&self, slot: Slot, parts: &[(RecordBatch, Time)], at: Time) -> Result<Run> {
        let id = stamp(at);
        let mut run = Run {
            slot,
            id: id.clone(),
            objects: 0,
            bytes: 0,
            newest_event: slot.start(),
        };
        for (nth, (batch, newest)) in parts.iter().enumerate() {
            let name = format!("run_id={id}/part-{nth:05}.snappy.parquet");
            let put = Time(at.0 - (parts.len() - 1 - nth) as i64 * 1_700);
            run.bytes += self.rows(slot, &name, batch, put)?;
            run.objects += 1;
            run.newest_event = run.newest_event.max(*newest);
        }
        Ok(run)
    }

    /// The marker of a run.
    fn marker(&self, run: &Run, at: Time) -> Marker {
        let prefix = self.dataset.prefix_of(run.slot);
        Marker {
            dataset: self.dataset.name.clone(),
            zone: self.dataset.zone.clone(),
            event_date: run.slot.day,
            hour: run.slot.hour,
            prefix: self.dataset.url_of(&format!("{prefix}run_id={}/", run.id)),
            object_count: run.objects,
            bytes: run.bytes,
            max_event_time: run.newest_event,
            run_id: run.id.clone(),
            definition_version: self.dataset.definition_version.clone().unwrap_or_default(),
            published_at: at,
            supersedes: None,
            extra: self.took(run),
        }
    }

    /// What compaction says of the loose keys that it took in.
    fn took(&self, run: &Run) -> Map<String, Value> {
        if self.taken.is_empty() {
            return Map::new();
        }
        let took = Took::of(&self.dataset, run.slot, &run.id, true, &self.taken);
        let took = serde_json::to_value(took).unwrap_or_default();
        [(TAKEN.to_owned(), took)].into_iter().collect()
    }

    /// Puts a marker as the current one of its slot.
    fn publish(&self, marker: &Marker) -> Result<()> {
        let key = Template::of(&self.dataset).current(slot_of(marker));
        self.put(&key, &json(marker)?, marker.published_at)
    }

    /// Puts a marker beside the current one, as one that was.
    fn supersede(&self, marker: &Marker, at: Time) -> Result<()> {
        let key = Template::of(&self.dataset).superseded(slot_of(marker), &marker.run_id);
        self.put(&key, &json(marker)?, at)
    }
}

fn slot_of(marker: &Marker) -> Slot {
    Slot {
        day: marker.event_date,
        hour: marker.hour,
    }
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec_pretty(value)
        .map_err(|e| Error::new(Kind::Internal, "a marker is not JSON").because(e))
}

/// When the hour's run is written: five minutes after its end, give or take.
fn packed(slot: Slot) -> Time {
    let hour = i64::from(slot.hour.unwrap_or(0));
    Time(slot.end().0 + 4 * MINUTE + hour * 37 % 5 * MINUTE + hour * 11 % 60 * 1_000)
}

/// When its marker is put.
fn published(slot: Slot) -> Time {
    Time(packed(slot).0 + 40_000)
}

/// `20261110T140500Z`
fn stamp(at: Time) -> String {
    let text = at.to_string();
    let second = text.get(..19).unwrap_or(&text);
    format!("{}Z", second.replace(['-', ':'], ""))
}

/// What a publish of ours writes into its marker of the gate.
fn complete(orders: u64, landed: u64) -> Map<String, Value> {
    let found = serde_json::json!({
        "orders": orders, "landed": landed, "dead_lettered": 0, "missing": 0,
    });
    [("completeness".to_owned(), found)].into_iter().collect()
}
