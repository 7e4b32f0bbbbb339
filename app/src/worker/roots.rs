//! From a table's name to the store it lies in: one store a zone, kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use gloo_net::http::Request;
use lake::answer::{Datasets, Root, Roots};
use lake::hours::Dataset;
use lake::table::Time;
use lake::wire::{ErrorReport, TableRef};
use lake::{Error, Kind, Result};
use object_store::ObjectStore;
use object_store::path::Path;
use send_wrapper::SendWrapper;
use serde::Deserialize;

use super::store::{HttpStore, encode};

/// Every zone of one server.
#[derive(Debug)]
pub struct ServerRoots {
    base: String,
    zones: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
    datasets: Mutex<HashMap<String, Arc<Dataset>>>,
}

impl ServerRoots {
    /// The zones of the server at `base`; see [`HttpStore::new`].
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            zones: Mutex::default(),
            datasets: Mutex::default(),
        }
    }
}

impl Roots for ServerRoots {
    fn root(&self, table: &TableRef) -> Result<Root> {
        let path = Path::parse(&table.prefix).map_err(|e| {
            Error::invalid("not a prefix of keys")
                .because(e)
                .at("prefix", &table.prefix)
        })?;
        let mut zones = self.zones.lock().unwrap_or_else(PoisonError::into_inner);
        let zone = zones
            .entry(table.zone.clone())
            .or_insert_with(|| Arc::new(HttpStore::new(&self.base, &table.zone)));
        let location = match table.prefix.as_str() {
            "" => table.zone.clone(),
            prefix => format!("{}/{prefix}", table.zone),
        };
        Ok(Root {
            store: Arc::clone(zone),
            path,
            location,
        })
    }
}

impl Datasets for ServerRoots {
    fn dataset<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<Dataset>>> {
        Box::pin(SendWrapper::new(async move {
            if let Some(known) = self.datasets().get(name) {
                return Ok(Arc::clone(known));
            }
            let url = format!("{}/api/datasets/{}", self.base, encode(name));
            let declared = Arc::new(declared(&url).await?);
            self.datasets()
                .insert(name.to_owned(), Arc::clone(&declared));
            Ok(declared)
        }))
    }

    fn now(&self) -> Time {
        Time(js_sys::Date::now() as i64)
    }
}

impl ServerRoots {
    fn datasets(&self) -> MutexGuard<'_, HashMap<String, Arc<Dataset>>> {
        self.datasets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the configuration declares of a dataset. It stands as long as the worker does: a server of
/// another configuration is another build or another page.
async fn declared(url: &str) -> Result<Dataset> {
    #[derive(Deserialize)]
    struct Refused {
        error: ErrorReport,
    }
    let silent = |_| Error::new(Kind::Unreachable, "Tidemark's own server does not answer");
    let response = Request::get(url).send().await.map_err(silent)?;
    let text = response.text().await.map_err(silent)?;
    let unread = |e| Error::new(Kind::Internal, "the server's answer").because(e);
    if response.ok() {
        return serde_json::from_str(&text).map_err(unread);
    }
    let refused: Refused = serde_json::from_str(&text).map_err(unread)?;
    Err(Error::from(refused.error))
}
