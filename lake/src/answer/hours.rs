//! Questions about the hours of a dataset.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Datasets, Roots};
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::hours::find::{Finder, Memory};
use crate::wire::TableRef;
use crate::{Error, Result};

/// Datasets remembered at most; the one that was asked about longest ago is forgotten first.
const REMEMBERED: usize = 8;

/// Where datasets are found, where anybody said, and what is remembered of them.
#[derive(Default)]
pub(super) struct Hours {
    datasets: Option<Arc<dyn Datasets>>,
    memories: Mutex<Vec<(Arc<Dataset>, Arc<Memory>)>>,
}

impl Hours {
    pub(super) fn of(datasets: Arc<dyn Datasets>) -> Self {
        Self {
            datasets: Some(datasets),
            memories: Mutex::default(),
        }
    }

    /// One dataset, to be asked.
    pub(super) async fn dataset(
        &self,
        roots: &dyn Roots,
        name: &str,
        host: &SharedHost,
    ) -> Result<Finder> {
        let none = || Error::not_found("no such dataset").at("dataset", name);
        let datasets = self.datasets.as_ref().ok_or_else(none)?;
        let dataset = datasets.dataset(name).await?;
        let zone = TableRef {
            zone: dataset.zone.clone(),
            prefix: String::new(),
        };
        let store = roots.root(&zone)?.store;
        let memory = self.memory(&dataset);
        Ok(Finder::new(
            dataset,
            store,
            memory,
            Arc::clone(host),
            datasets.now(),
        ))
    }

    /// What is remembered of a dataset. One that is declared otherwise now is another.
    fn memory(&self, dataset: &Arc<Dataset>) -> Arc<Memory> {
        let mut memories = self.memories.lock().unwrap_or_else(PoisonError::into_inner);
        let known = memories.iter().position(|(known, _)| known == dataset);
        let entry = match known {
            Some(at) => memories.remove(at),
            None => (Arc::clone(dataset), Arc::default()),
        };
        memories.retain(|(known, _)| known.name != dataset.name);
        let memory = Arc::clone(&entry.1);
        memories.push(entry);
        let over = memories.len().saturating_sub(REMEMBERED);
        memories.drain(..over);
        memory
    }
}
