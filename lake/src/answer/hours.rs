//! Questions about the hours of a dataset.

use std::sync::Arc;

use super::{Datasets, Root, Roots};
use crate::host::SharedHost;
use crate::hours::{Dataset, Day, Slot};
use crate::table::Time;
use crate::wire::TableRef;
use crate::wire::hours::{ClosedReport, Fresh, GridReport, HourReport};
use crate::{Error, Result};

/// Where datasets are found, where anybody said.
#[derive(Default)]
pub(super) struct Hours {
    datasets: Option<Arc<dyn Datasets>>,
}

impl Hours {
    pub(super) fn of(datasets: Arc<dyn Datasets>) -> Self {
        Self {
            datasets: Some(datasets),
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
        Ok(Asked {
            root: roots.root(&zone)?,
            dataset,
            host: Arc::clone(host),
            now: datasets.now(),
        })
    }
}

/// A dataset at one instant.
#[expect(dead_code, reason = "read by the finder, which comes next")]
pub(super) struct Asked {
    dataset: Arc<Dataset>,
    root: Root,
    host: SharedHost,
    now: Time,
}

impl Asked {
    pub(super) async fn grid(&self, _: Day, _: Day, _: Fresh) -> Result<GridReport> {
        Err(Error::unsupported("hours cannot be found yet"))
    }

    pub(super) async fn hour(&self, _: Slot, _: Fresh) -> Result<HourReport> {
        Err(Error::unsupported("hours cannot be found yet"))
    }

    pub(super) async fn closed(&self) -> Result<ClosedReport> {
        Err(Error::unsupported("hours cannot be found yet"))
    }
}
