//! The statements of a window of hours, and what is wrong with the partitions that are registered.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Registered, add, analyze, judge, repeated, set_location, slot_of, values_of};
use crate::hours::dataset::Dataset;
use crate::hours::day::Slot;
use crate::hours::marker::Marker;
use crate::wire::hours::HourRow;
use crate::wire::zones::{PartitionStatement, WrongPartition};

fn slot(row: &HourRow) -> Slot {
    Slot {
        day: row.date,
        hour: row.hour,
    }
}

/// The row's marker, where it is one of ours.
fn marker(row: &HourRow) -> Option<Marker> {
    let marker = row.marker.clone()?;
    serde_json::from_value(Value::Object(marker)).ok()
}

/// What registers each slot. One that `registered` has already is moved, where it must be.
pub fn statements(
    dataset: &Dataset,
    rows: &[HourRow],
    registered: Option<&[Registered]>,
) -> Vec<PartitionStatement> {
    let known: BTreeMap<Slot, &Registered> = registered
        .unwrap_or_default()
        .iter()
        .filter_map(|partition| Some((slot_of(dataset, &partition.values)?, partition)))
        .collect();
    let statement = |row: &HourRow| {
        let (slot, marker) = (slot(row), marker(row));
        let made = match known.contains_key(&slot) {
            true => set_location(dataset, slot, row.state, marker.as_ref()),
            false => add(dataset, slot, row.state, marker.as_ref()),
        };
        let analyze = made.is_ok().then(|| analyze(dataset, slot, row.state).ok());
        PartitionStatement {
            date: row.date,
            hour: row.hour,
            state: row.state,
            analyze: analyze.flatten(),
            refused: made.as_ref().err().cloned(),
            statement: made.ok(),
        }
    };
    rows.iter().map(statement).collect()
}

/// Registered partitions that are wrong, those of slots outside the rows left out: nothing was
/// looked at that would tell. What is no slot of the dataset is always wrong, and so is a second
/// partition of a slot, whose rows are read twice.
pub fn wrong(
    dataset: &Dataset,
    rows: &[HourRow],
    registered: &[Registered],
) -> Vec<WrongPartition> {
    let rows: BTreeMap<Slot, &HourRow> = rows.iter().map(|row| (slot(row), row)).collect();
    let written = |slot| {
        let values = values_of(dataset, slot);
        registered.iter().any(|other| other.values == values)
    };
    let found = registered.iter().filter_map(|partition| {
        let Some(slot) = slot_of(dataset, &partition.values) else {
            return judge(dataset, partition, None, None);
        };
        let row = rows.get(&slot)?;
        if partition.values != values_of(dataset, slot) && written(slot) {
            return Some(repeated(dataset, partition, slot));
        }
        let marker = marker(row);
        judge(
            dataset,
            partition,
            Some(slot),
            Some((row.state, marker.as_ref())),
        )
    });
    found.collect()
}

/// Registered partitions of the dataset's hours that are not among the rows.
pub fn outside(dataset: &Dataset, rows: &[HourRow], registered: &[Registered]) -> u64 {
    let rows: BTreeSet<Slot> = rows.iter().map(slot).collect();
    let slots = registered
        .iter()
        .filter_map(|partition| slot_of(dataset, &partition.values));
    slots.filter(|slot| !rows.contains(slot)).count() as u64
}
