//! One slot with all its evidence.

use std::collections::BTreeMap;

use super::list::Piece;
use super::memory::{Known, Standing};
use super::plan::has_tree;
use super::row::{declared, row};
use super::{Finder, Gate};
use crate::hours::day::Slot;
use crate::hours::key::{RUN, partition};
use crate::hours::listing::Object;
use crate::hours::marker::{Marker, publication_ok};
use crate::hours::statement;
use crate::hours::template::Template;
use crate::hours::{contract, foreign};
use crate::wire::Finding;
use crate::wire::hours::{Fresh, HourReport, ObjectRow, RunRow};
use crate::{Kind, Result};

/// Keys of each kind that are named.
const NAMED: usize = 1_000;

/// Hours that the gate is asked about, on the way back to the last one that is closed.
const UNCHECKED: usize = 8;

/// Files whose footers are read for an hour's page: two reads each.
const FOOTERS: usize = 64;

impl Finder {
    /// One slot with its evidence. The gate is asked, and remembered.
    pub async fn hour(&self, slot: Slot, fresh: Fresh) -> Result<HourReport> {
        self.fits(slot)?;
        let _held = self.hold(slot.day.plus(-1), slot.day);
        self.look_at(slot, fresh).await?;
        let standing = self.gated(slot).await?;
        // Readers that cannot wait are told where they can read: it was yesterday at the latest, or
        // something is wrong anyway.
        if !standing.verdict.state.is_closed() {
            self.window(slot.day.plus(-1), slot.day, Fresh::Known, Gate::Suspect)
                .await?;
            for _ in 0..UNCHECKED {
                let before = self.before(&self.memory.lock(), slot);
                let Some(before) = before.filter(|before| before.unchecked(&self.dataset)) else {
                    break;
                };
                self.gates(&[before.slot], Gate::Doubt).await?;
            }
        }
        let contract = self.contract(&standing).await?;
        let known = self.memory.lock();
        Ok(HourReport {
            contract,
            ..self.evidence(&known, &standing)
        })
    }

    /// What the footers of the slot's data say against the contract; `None` where nothing is
    /// declared, there is nothing to look at or too much, or the files may not be read.
    async fn contract(&self, standing: &Standing) -> Result<Option<Vec<Finding>>> {
        let dataset = &self.dataset;
        let declares = dataset.event_time.is_some()
            || !dataset.prohibited_columns.is_empty()
            || !dataset.columns.is_empty();
        let scan = standing.markers.marker().and_then(|m| m.scan(dataset));
        let objects: Vec<Object> = match &scan {
            Some(scan) => standing.objects.below(scan).cloned().collect(),
            None => standing.objects.data().cloned().collect(),
        };
        if !declares || objects.is_empty() || objects.len() > FOOTERS {
            return Ok(None);
        }
        let found = contract::check(dataset, &self.store, standing.slot, &objects, &self.host);
        match found.await {
            Ok(found) => Ok(Some(found.findings)),
            Err(error) if error.kind() == Kind::Denied => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sees to it that a slot is known: its keys, its markers with pins, its dead letters.
    pub(super) async fn look_at(&self, slot: Slot, fresh: Fresh) -> Result<()> {
        let day = slot.day;
        let pieces = {
            let known = self.memory.lock();
            let again = fresh != Fresh::Known;
            let mut pieces = Vec::new();
            if (again || !known.has_tree(day)) && has_tree(&self.dataset) {
                pieces.push(Piece::Tree(day, day));
            }
            if again || !known.slots.contains_key(&slot) {
                pieces.push(match self.dataset.marker.whole_day {
                    true => Piece::Days(day, day),
                    false => Piece::Slot(slot),
                });
            }
            let letters = self.dataset.complete.as_ref();
            if letters.is_some_and(|gate| gate.dead_letters.is_some()) {
                pieces.push(Piece::Letters(day, day));
            }
            pieces
        };
        let listed = pieces.iter().any(|piece| !matches!(piece, Piece::Tree(..)));
        let changed = self.list(pieces).await?;
        let of_slot = |of: Slot| of == slot;
        self.bodies_of(of_slot, true).await?;
        let raced = self.raced(&self.memory.lock(), slot.day);
        if (changed.contains(&day) && !listed) || raced {
            self.list(vec![Piece::Slot(slot)]).await?;
            self.bodies_of(of_slot, true).await?;
        }
        Ok(())
    }

    fn evidence(&self, known: &Known, standing: &Standing) -> HourReport {
        let dataset = &self.dataset;
        let slot = standing.slot;
        let current = standing.markers.current.as_ref().map(|(object, _)| object);
        let scan = standing.markers.marker().and_then(|m| m.scan(dataset));
        let prefix = dataset.prefix_of(slot);
        let rows = |objects: &mut dyn Iterator<Item = &Object>| -> Vec<ObjectRow> {
            let rows = objects.take(NAMED).map(|object| ObjectRow {
                key: object
                    .key
                    .strip_prefix(&prefix)
                    .unwrap_or(&object.key)
                    .to_owned(),
                bytes: object.bytes,
                put: object.put,
                after_marker: current.is_some_and(|marker| object.put > marker.put),
            });
            rows.collect()
        };
        let run = scan.as_deref().unwrap_or("\0");
        HourReport {
            dataset: declared(dataset),
            row: row(dataset, standing),
            scan: self.scan(known, standing),
            marker_key: current.map(|object| object.key.clone()).or_else(|| {
                let known = known.markers.get(&slot)?.tree.first()?;
                (known.1.key == Template::of(dataset).current(slot)).then(|| known.1.key.clone())
            }),
            marker_put: current.map(|object| object.put),
            closed_by: {
                let evidence = known.foreign(dataset, slot, &standing.objects, self.now);
                let object = foreign::marker(dataset, evidence);
                object.map(|object| (object.key.clone(), object.put))
            },
            runs: self.runs(standing),
            loose: rows(&mut standing.objects.loose.iter()),
            loose_total: standing.objects.loose.len() as u64,
            objects: rows(&mut standing.objects.below(run)),
            replay_until: dataset
                .retention
                .topic
                .as_ref()
                .map(|topic| crate::table::Time(slot.end().0.saturating_add(topic.millis))),
            contract: None,
            statement: statement::add(
                dataset,
                slot,
                standing.verdict.state,
                standing.markers.marker(),
            )
            .ok(),
            last_closed: self
                .before(known, slot)
                .filter(|before| !before.unchecked(dataset))
                .map(|before| before.slot),
            now: self.now,
            prefix,
        }
    }

    /// The last closed slot before this one, as far as is known.
    fn before(&self, known: &Known, slot: Slot) -> Option<Standing> {
        let before = known.slots.range(..slot).rev().map(|(slot, _)| *slot);
        let mut standings = before.filter_map(|b| known.standing(&self.dataset, b, self.now));
        standings.find(|standing| standing.verdict.state.is_closed())
    }

    /// The runs that markers name, newest marker first, and those that none names.
    fn runs(&self, standing: &Standing) -> Vec<RunRow> {
        let mut listed: BTreeMap<String, Vec<&Object>> = BTreeMap::new();
        for (prefix, objects) in &standing.objects.runs {
            listed.insert(prefix.clone(), objects.iter().collect());
        }
        let markers = &standing.markers;
        let mut marked: Vec<(&Object, &Marker, bool)> = Vec::new();
        let current = markers.current.iter().map(|read| (read, true));
        let superseded = markers.superseded.iter().map(|read| (read, false));
        for ((object, read), is_current) in current.chain(superseded) {
            let Ok(marker) = read else { continue };
            // A copy of the current marker, kept for the time after it.
            let copy = marked
                .iter()
                .any(|(_, known, _)| known.run_id == marker.run_id);
            if !copy {
                marked.push((object, marker, is_current));
            }
        }
        marked.sort_by_key(|(_, marker, current)| {
            (!*current, std::cmp::Reverse(marker.published_at))
        });
        let folders: BTreeMap<String, String> = marked
            .iter()
            .filter_map(|(_, marker, _)| {
                Some((marker.run_id.clone(), id(&marker.scan(&self.dataset)?)))
            })
            .collect();
        let mut runs: Vec<RunRow> = marked
            .into_iter()
            .map(|(_, marker, current)| {
                let scan = marker.scan(&self.dataset).unwrap_or_default();
                let objects: Vec<&Object> = match listed.remove(&scan) {
                    Some(objects) => objects,
                    None if scan.is_empty() => Vec::new(),
                    None => standing.objects.below(&scan).collect(),
                };
                let keys = objects.iter().map(|o| (o.key.as_str(), o.bytes));
                RunRow {
                    matches: Some(publication_ok(marker, &scan, keys)),
                    marked_objects: Some(marker.object_count),
                    published_at: Some(marker.published_at),
                    current,
                    ..run(marker.run_id.clone(), &objects)
                }
            })
            .collect();
        let mut others: Vec<RunRow> = listed
            .iter()
            .map(|(prefix, objects)| run(id(prefix), objects))
            .collect();
        others.sort_by_key(|run| std::cmp::Reverse(run.newest));
        runs.extend(others);
        for (_, pin) in &markers.pins {
            let Ok(pin) = pin else { continue };
            // A pin names a run as its marker does, or as its folder does.
            let folder = |run: &RunRow| folders.get(&run.run_id) == Some(&pin.run_id);
            let runs = runs.iter_mut();
            for run in runs.filter(|run| run.run_id == pin.run_id || folder(run)) {
                run.pins.push((pin.reader.clone(), pin.until));
            }
        }
        runs
    }
}

fn run(run_id: String, objects: &[&Object]) -> RunRow {
    RunRow {
        run_id,
        objects: objects.len() as u64,
        bytes: objects
            .iter()
            .fold(0, |sum, object| sum.saturating_add(object.bytes)),
        newest: objects.iter().map(|object| object.put).max(),
        current: false,
        marked_objects: None,
        matches: None,
        published_at: None,
        pins: Vec::new(),
    }
}

/// The run of a run's key prefix.
fn id(prefix: &str) -> String {
    let segment = prefix
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    match partition(segment) {
        Some((name, Some(value))) if name == RUN => value,
        _ => segment.to_owned(),
    }
}
