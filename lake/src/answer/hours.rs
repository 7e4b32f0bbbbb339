//! The hours of a dataset: a window as a grid or row by row, one hour with its evidence, and up to
//! when the dataset is closed.

mod grid;
mod hour;
mod rows;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Datasets, Roots};
use crate::host::SharedHost;
use crate::hours::closed::closed_from;
use crate::hours::dataset::MarkerKind;
use crate::hours::find::{Days, Memory, Source, Window, window};
use crate::hours::{Dataset, Day, Slot};
use crate::table::Time;
use crate::wire::TableRef;
use crate::wire::hours::{ClosedReport, DatasetReport, Fresh, GridReport, HourReport};
use crate::{Error, Result};

pub use grid::grid;
pub use hour::hour;
pub use rows::{check, hours, row};

/// Where datasets are found, where anybody said, and what is remembered of them.
#[derive(Default)]
pub(super) struct Hours {
    datasets: Option<Arc<dyn Datasets>>,
    memories: Mutex<HashMap<String, Arc<Memory>>>,
}

/// A dataset at one instant.
pub(super) struct Asked {
    source: Source,
    memory: Arc<Memory>,
    host: SharedHost,
    now: Time,
}

impl Hours {
    pub(super) fn of(datasets: Arc<dyn Datasets>) -> Self {
        Self {
            datasets: Some(datasets),
            ..Self::default()
        }
    }

    /// One dataset, to be asked.
    pub(super) async fn dataset(
        &self,
        roots: &dyn Roots,
        name: &str,
        host: &SharedHost,
    ) -> Result<Asked> {
        let none = || Error::not_found("no such dataset").at("dataset", name);
        let datasets = self.datasets.as_ref().ok_or_else(none)?;
        let dataset = datasets.dataset(name).await?;
        let zone = TableRef {
            zone: dataset.zone.clone(),
            prefix: String::new(),
        };
        let store = roots.root(&zone)?.store;
        Ok(Asked {
            source: Source { dataset, store },
            memory: self.memory(name),
            host: Arc::clone(host),
            now: datasets.now(),
        })
    }

    fn memory(&self, dataset: &str) -> Arc<Memory> {
        let mut all = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(dataset.to_owned()).or_default())
    }
}

impl Asked {
    pub(super) async fn grid(&self, from: Day, to: Day, fresh: Fresh) -> Result<GridReport> {
        let days = Days::new(from, to);
        grid(
            &self.source,
            &self.memory,
            days,
            fresh,
            self.now,
            &self.host,
        )
        .await
    }

    pub(super) async fn hour(&self, slot: Slot, fresh: Fresh) -> Result<HourReport> {
        hour(
            &self.source,
            &self.memory,
            slot,
            fresh,
            self.now,
            &self.host,
        )
        .await
    }

    pub(super) async fn closed(&self) -> Result<ClosedReport> {
        closed(&self.source, &self.memory, self.now, &self.host).await
    }
}

/// Up to when a dataset is closed: everything from its first day on is read, as far as it is not
/// remembered.
pub async fn closed(
    source: &Source,
    memory: &Memory,
    now: Time,
    host: &SharedHost,
) -> Result<ClosedReport> {
    let window = from_first(source, memory, now, host).await?;
    Ok(closed_from(source, memory, &window))
}

/// Days that are read at a time on the way from the dataset's first day to today.
const STEP: i32 = 92;

/// Reads from the first day on until today, and stops after the first part that is not closed to
/// its end: what comes after it cannot matter.
async fn from_first(
    source: &Source,
    memory: &Memory,
    now: Time,
    host: &SharedHost,
) -> Result<Window> {
    let today = Day::of(now);
    let mut from = source.dataset.first.unwrap_or(today).min(today);
    loop {
        let to = from.plus(STEP - 1).min(today);
        let days = Days::new(from, to);
        let part = window(source, memory, days, Fresh::Known, now, host).await?;
        let blocked = part
            .verdicts()
            .iter()
            .any(|(_, verdict)| !verdict.state.lets_pass());
        if blocked || to >= today {
            return Ok(part);
        }
        from = to.plus(1);
    }
}

/// A declaration as pages show it.
fn declared(dataset: &Dataset) -> DatasetReport {
    DatasetReport {
        name: dataset.name.clone(),
        zone: dataset.zone.clone(),
        location: dataset.url_of(&match dataset.prefix.as_str() {
            "" => String::new(),
            prefix => format!("{prefix}/"),
        }),
        partition: dataset.partition.clone(),
        ours: dataset.marker.kind == MarkerKind::Tidemark,
        grace: dataset.grace,
        every_hour: dataset.every_hour,
        first: dataset.first,
        budget_objects: dataset.budget.objects,
        budget_median_bytes: dataset.budget.median_bytes,
        gated: dataset.complete.is_some(),
        owner: dataset.owner.clone(),
        publisher: dataset.publisher.clone(),
        compaction_owner: dataset.compaction_owner.clone(),
        stream: dataset
            .stream
            .as_ref()
            .map(|s| (s.name.clone(), s.url.clone())),
        definition_version: dataset.definition_version.clone(),
        columns: dataset
            .columns
            .iter()
            .map(|(n, t)| (n.clone(), t.clone()))
            .collect(),
    }
}
