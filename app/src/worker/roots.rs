//! From a table's name to the store it lies in: one store a zone, kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use lake::answer::{Root, Roots};
use lake::wire::TableRef;
use lake::{Error, Result};
use object_store::ObjectStore;
use object_store::path::Path;

use super::store::HttpStore;

/// Every zone of one server.
#[derive(Debug)]
pub struct ServerRoots {
    base: String,
    zones: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl ServerRoots {
    /// The zones of the server at `base`; see [`HttpStore::new`].
    pub fn new(base: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            zones: Mutex::default(),
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
