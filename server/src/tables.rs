//! The tables of the lake: configured, discovered, and by name.

mod answers;
mod discover;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lake::answer::{Root, Roots};
use lake::wire::Format;
use lake::wire::http::{AttentionConfig, LakeReport, TableEntry, ZoneReport};
use lake::wire::{ErrorReport, TableRef};
use lake::{Error, Result};

pub use self::answers::{Located, Yielding, aside, diff, history, layout, root, snapshot};
use crate::app::BUILD;
use crate::datasets::Datasets;
use crate::reads::key::prefix_key;
use crate::zones::{Zone, Zones};

/// A table that the configuration names.
#[derive(Clone, Debug)]
pub struct Configured {
    /// Its name in routes and links.
    pub name: String,
    /// The zone's name.
    pub zone: String,
    /// Prefix of its root in the zone, without a slash at either end.
    pub prefix: String,
    /// Its format, where the configuration says; Delta otherwise.
    pub format: Option<Format>,
    /// Datasets that it is built from.
    pub reads: Vec<String>,
}

/// How tables are searched for.
#[derive(Clone, Copy, Debug)]
pub struct Discovery {
    /// Levels of prefixes below a zone that are looked into.
    pub depth: usize,
    /// How long what was found is good for.
    pub every: Duration,
}

impl Default for Discovery {
    fn default() -> Self {
        Self {
            depth: 4,
            every: Duration::from_secs(300),
        }
    }
}

/// How long what was found is good for where a zone could not be searched.
const AFTER_ERROR: Duration = Duration::from_secs(15);

/// All tables of all zones.
pub struct Tables {
    zones: Zones,
    configured: Vec<Configured>,
    datasets: Datasets,
    attention: AttentionConfig,
    discovery: Discovery,
    found: Mutex<Option<Arc<Found>>>,
    searching: tokio::sync::Mutex<()>,
}

/// What one search of all zones found.
#[derive(Debug)]
struct Found {
    tables: Vec<TableEntry>,
    errors: BTreeMap<String, ErrorReport>,
    complete: bool,
    at: Instant,
}

impl Tables {
    /// Tables of `zones`; nothing is searched yet.
    pub fn new(
        zones: Zones,
        configured: Vec<Configured>,
        datasets: Datasets,
        attention: AttentionConfig,
        discovery: Discovery,
    ) -> Self {
        Self {
            zones,
            configured,
            datasets,
            attention,
            discovery,
            found: Mutex::new(None),
            searching: tokio::sync::Mutex::new(()),
        }
    }

    /// The table a name means: configured, or `<zone>/<prefix>`, or a zone that is a table.
    pub fn resolve(&self, name: &str) -> Result<TableRef> {
        if let Some(table) = self.configured.iter().find(|t| t.name == name) {
            return Ok(TableRef {
                zone: table.zone.clone(),
                prefix: table.prefix.clone(),
            });
        }
        let (zone, prefix) = name.split_once('/').unwrap_or((name, ""));
        if self.zones.get(zone).is_err() {
            return Err(Error::not_found("no such table").at("table", name));
        }
        Ok(TableRef {
            zone: zone.to_owned(),
            prefix: prefix_key(prefix)?.to_string(),
        })
    }

    /// The one name of a table, however it is spelled: the configured one where it has one. A name
    /// that means no table stays as it is.
    pub fn canonical(&self, name: &str) -> String {
        let Ok(place) = self.resolve(name) else {
            return name.to_owned();
        };
        let same = |t: &&Configured| (&t.zone, &t.prefix) == (&place.zone, &place.prefix);
        match self.configured.iter().find(same) {
            Some(table) => table.name.clone(),
            None if place.prefix.is_empty() => place.zone,
            None => format!("{}/{}", place.zone, place.prefix),
        }
    }

    /// Root of a table by name, which its reports repeat.
    pub fn root_of(&self, name: &str) -> Result<Root> {
        let mut root = self.root(&self.resolve(name)?)?;
        root.location = name.to_owned();
        Ok(root)
    }

    /// What the lake holds, for somebody who may see the zones that `sees` lets through. The first
    /// call searches; later ones are answered at once, and search again in the background when what
    /// was found is old.
    pub async fn report(self: &Arc<Self>, sees: impl Fn(&Zone) -> bool) -> LakeReport {
        let found = match self.known() {
            Some(found) => {
                if self.is_old(&found) {
                    let tables = Arc::clone(self);
                    tokio::spawn(async move { tables.search().await });
                }
                found
            }
            None => self.search().await,
        };
        let zones: Vec<&Arc<Zone>> = self.zones.iter().filter(|zone| sees(zone)).collect();
        let seen = |name: &str| zones.iter().any(|zone| zone.name == name);
        let tables = self.merged(&found);
        LakeReport {
            tables: tables.into_iter().filter(|t| seen(&t.zone)).collect(),
            zones: zones
                .iter()
                .map(|zone| zone_report(zone, found.errors.get(&zone.name)))
                .collect(),
            datasets: self.datasets.entries(seen),
            attention: self.attention.clone(),
            discovered: found.complete,
            build: BUILD.to_owned(),
        }
    }

    /// Configured and discovered tables in one list; a table that is both is configured.
    fn merged(&self, found: &Found) -> Vec<TableEntry> {
        let mut tables: Vec<TableEntry> = self
            .configured
            .iter()
            .map(|table| TableEntry {
                name: table.name.clone(),
                zone: table.zone.clone(),
                prefix: table.prefix.clone(),
                format: table.format.unwrap_or(Format::Delta),
                configured: true,
                reads: table.reads.clone(),
            })
            .collect();
        for table in &found.tables {
            let known = tables.iter().any(|t| {
                (&t.zone, &t.prefix) == (&table.zone, &table.prefix) || t.name == table.name
            });
            if !known {
                tables.push(table.clone());
            }
        }
        let order = |name: &str| self.zones.iter().position(|zone| zone.name == name);
        tables.sort_by(|a, b| (order(&a.zone), &a.name).cmp(&(order(&b.zone), &b.name)));
        tables
    }

    /// Whether it is time to search again; sooner where a zone could not be searched.
    fn is_old(&self, found: &Found) -> bool {
        let good_for = match found.errors.is_empty() {
            true => self.discovery.every,
            false => self.discovery.every.min(AFTER_ERROR),
        };
        found.at.elapsed() > good_for
    }

    fn known(&self) -> Option<Arc<Found>> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.clone()
    }

    /// Searches all zones, unless a search that began after this call is done already.
    async fn search(&self) -> Arc<Found> {
        let asked = Instant::now();
        let _one = self.searching.lock().await;
        if let Some(found) = self.known()
            && (found.at >= asked || !self.is_old(&found))
        {
            return found;
        }
        let searches = self
            .zones
            .iter()
            .map(|zone| discover::search(zone, self.discovery.depth));
        let results = futures::future::join_all(searches).await;
        let mut found = Found {
            tables: Vec::new(),
            errors: BTreeMap::new(),
            complete: true,
            at: Instant::now(),
        };
        for (zone, result) in self.zones.iter().zip(results) {
            found.complete &= result.complete && result.error.is_none();
            found.tables.extend(result.tables);
            if let Some(error) = result.error {
                tracing::warn!(zone = zone.name, %error, "zone cannot be searched for tables");
                found
                    .errors
                    .insert(zone.name.clone(), ErrorReport::from(&error));
            }
        }
        let found = Arc::new(found);
        let mut slot = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(Arc::clone(&found));
        found
    }
}

impl Roots for Tables {
    fn root(&self, table: &TableRef) -> Result<Root> {
        let zone = self.zones.get(&table.zone)?;
        let prefix = prefix_key(&table.prefix)?;
        Ok(Root {
            store: Arc::clone(&zone.bucket()?.store),
            location: zone.address.join(&prefix).to_string(),
            path: prefix,
        })
    }
}

fn zone_report(zone: &Zone, error: Option<&ErrorReport>) -> ZoneReport {
    ZoneReport {
        name: zone.name.clone(),
        url: zone.address.to_string(),
        owner: zone.owner.clone(),
        format: zone.format.clone(),
        keep: zone.retention.keep.as_ref().map(|keep| keep.text.clone()),
        reads: if zone.redirects() {
            "redirect"
        } else {
            "proxy"
        }
        .to_owned(),
        error: error.cloned(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
