//! The datasets of the configuration, and where each lies.

pub mod hours;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use lake::host::SharedHost;
use lake::hours::Dataset;
use lake::hours::find::Finder;
use lake::wire::http::DatasetEntry;
use lake::{Error, Result};
use object_store::ObjectStore;

use crate::access::Person;
use crate::acts::now;
use crate::app::App;
use crate::failure::Failure;
use crate::segment::Segment;
use crate::zones::Zones;

/// All datasets, in the configuration's order.
#[derive(Clone, Default)]
pub struct Datasets {
    all: Vec<Arc<Dataset>>,
    zones: Zones,
}

/// A dataset and the store of its zone, whose keys its prefix is relative to.
#[derive(Clone)]
pub struct Placed {
    /// What is declared of it.
    pub dataset: Arc<Dataset>,
    /// The store of its zone.
    pub store: Arc<dyn ObjectStore>,
}

impl Placed {
    /// Reads its hours, with nothing remembered: what somebody else changed since is seen.
    pub fn finder(self, host: SharedHost) -> Finder {
        Finder::new(self.dataset, self.store, Arc::default(), host, now())
    }
}

impl Datasets {
    /// Datasets that lie in `zones`.
    pub fn new(all: Vec<Dataset>, zones: Zones) -> Self {
        Self {
            all: all.into_iter().map(Arc::new).collect(),
            zones,
        }
    }

    /// The dataset of a name.
    pub fn get(&self, name: &str) -> Result<&Arc<Dataset>> {
        let found = self.all.iter().find(|dataset| dataset.name == name);
        found.ok_or_else(|| Error::not_found("no such dataset").at("dataset", name))
    }

    /// The dataset of a name, with its store.
    pub fn placed(&self, name: &str) -> Result<Placed> {
        let dataset = Arc::clone(self.get(name)?);
        let store = Arc::clone(&self.zones.get(&dataset.zone)?.bucket()?.store);
        Ok(Placed { dataset, store })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Dataset>> {
        self.all.iter()
    }

    /// What the lake's page knows of those in zones that `seen` lets through.
    pub fn entries(&self, seen: impl Fn(&str) -> bool) -> Vec<DatasetEntry> {
        let all = self.all.iter().filter(|dataset| seen(&dataset.zone));
        all.map(|dataset| DatasetEntry {
            name: dataset.name.clone(),
            zone: dataset.zone.clone(),
            prefix: dataset.prefix.clone(),
            hourly: dataset.hourly(),
            first: dataset.first,
            reads: dataset.reads.clone(),
        })
        .collect()
    }
}

impl App {
    /// A dataset that this person may read.
    pub fn dataset(&self, person: &Person, name: &str) -> Result<Placed> {
        let dataset = self.datasets.get(name)?;
        match self.zone(person, &dataset.zone) {
            Ok(_) => self.datasets.placed(name),
            Err(_) => Err(Error::not_found("no such dataset").at("dataset", name)),
        }
    }
}

/// `GET /api/datasets/{dataset}`: what is declared of it.
pub async fn dataset(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(name): Segment,
) -> Result<Json<Dataset>, Failure> {
    let placed = app.dataset(&person, &name)?;
    Ok(Json(placed.dataset.as_ref().clone()))
}
