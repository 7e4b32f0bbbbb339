//! From a configuration to the server's state, and from a LOCATION to a table.

use std::path::{Path as DiskPath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lake::answer::{Root, Roots as _};
use lake::wire::TableRef;
use lake::{Error, Kind, Result};
use object_store::path::Path;
use tokio::sync::Semaphore;

use crate::access::{Access, Mode};
use crate::acts::writable::Writable;
use crate::app::{App, TABLE_READS};
use crate::config::{Config, ZoneConfig};
use crate::control::Control;
use crate::datasets::{Datasets, Placed};
use crate::jobs::Jobs;
use crate::metrics::Metrics;
use crate::site::{Embedded, Site};
use crate::stores::{Address, Cache, Opener, Scheme};
use crate::tables::Tables;
use crate::zones::{Zone, Zones};

/// Zones and tables of a configuration, each opened when first asked.
pub struct Lake {
    /// The zones.
    pub zones: Zones,
    /// The tables.
    pub tables: Arc<Tables>,
    /// The datasets.
    pub datasets: Datasets,
    /// What their stores count.
    pub metrics: Arc<Metrics>,
}

/// The lake of a configuration.
pub fn lake_of(config: &Config) -> Lake {
    let metrics = Arc::new(Metrics::default());
    let opener = Opener {
        cache: Arc::new(Cache::new(config.cache_bytes, Arc::clone(&metrics))),
        metrics: Arc::clone(&metrics),
    };
    let zones = config.zones.iter().map(|zone| {
        let mut open = Zone::new(
            zone.name.clone(),
            zone.address.clone(),
            zone.store.clone(),
            opener.clone(),
        );
        open.owner.clone_from(&zone.owner);
        open.format.clone_from(&zone.format);
        open.retention.clone_from(&zone.retention);
        open.redirect = config.redirect;
        open
    });
    let zones = Zones::new(zones.collect());
    let datasets = Datasets::new(config.datasets.clone(), zones.clone());
    let tables = Tables::new(
        zones.clone(),
        config.tables.clone(),
        datasets.clone(),
        config.attention.clone(),
        config.discovery,
    );
    Lake {
        zones,
        tables: Arc::new(tables),
        datasets,
        metrics,
    }
}

/// The server's state, with the page that the binary carries.
pub async fn app_of(config: &Config, page: Embedded) -> Result<App> {
    let lake = lake_of(config);
    let control = control_of(config)?;
    let directory = std::env::var_os("TIDEMARK_DIST").map(PathBuf::from);
    let connect = redirect_origins(&lake.zones).await;
    Ok(App {
        zones: lake.zones,
        tables: lake.tables,
        datasets: lake.datasets,
        declared: config.zones.clone(),
        jobs: Arc::new(Jobs::new(control.clone())),
        control,
        writable: Writable::default(),
        sizes: config.sizes,
        access: Access {
            mode: Mode::None,
            public_url: config.public_url.clone(),
        },
        site: Site::new(page, directory, connect),
        metrics: lake.metrics,
        allow_short_vacuum: config.allow_short_vacuum == Some(true),
        table_reads: Semaphore::new(TABLE_READS),
    })
}

/// Where the server keeps what it remembers of acts. Nothing of it is kept in memory.
pub fn control_of(config: &Config) -> Result<Control> {
    let metrics = Arc::new(Metrics::default());
    let opener = Opener {
        cache: Arc::new(Cache::new(0, Arc::clone(&metrics))),
        metrics,
    };
    Control::open(config.control.as_ref(), &opener)
}

/// Origins of the stores that reads are redirected to, which the page's policy must let it fetch.
async fn redirect_origins(zones: &Zones) -> Vec<String> {
    let mut origins = Vec::new();
    for zone in zones.iter().filter(|zone| zone.redirects()) {
        let Some(signer) = zone.bucket().ok().and_then(|b| b.signer.clone()) else {
            continue;
        };
        let method = axum::http::Method::GET;
        let key = Path::from("x");
        let probe = signer.signed_url(method, &key, Duration::from_secs(1));
        match probe.await {
            Ok(url) => origins.push(url.origin().ascii_serialization()),
            Err(error) => {
                tracing::warn!(zone = zone.name, %error, "URLs of this zone cannot be signed");
            }
        }
    }
    origins.sort();
    origins.dedup();
    origins
}

/// Finds the table that a LOCATION means: a configured name, a URL, a path on disk, or a zone and
/// a prefix in it.
pub fn locate(config: &Config, location: &str) -> Result<Root> {
    let named = |root: Root| Root {
        location: location.to_owned(),
        ..root
    };
    let lake = lake_of(config);
    if config.tables.iter().any(|table| table.name == location) {
        return lake.tables.root_of(location);
    }
    let address = match location.contains("://") {
        true => Some(Address::parse(location)?),
        false if DiskPath::new(location).exists() => {
            Some(Address::from_disk(DiskPath::new(location))?)
        }
        false => None,
    };
    let Some(address) = address else {
        return lake.tables.root_of(location).map_err(|_| {
            Error::invalid(
                "this is no configured table, no path that exists, and no URL of a store",
            )
            .at("location", location)
        });
    };
    // A zone around it knows how its store is reached.
    if let Some((zone, prefix)) = lake.zones.around(&address) {
        let table = TableRef {
            zone: zone.name.clone(),
            prefix: prefix.to_string(),
        };
        return lake.tables.root(&table).map(named);
    }
    let alone = Config {
        zones: vec![ZoneConfig::new("location".to_owned(), address)],
        ..Config::default()
    };
    let table = TableRef {
        zone: "location".to_owned(),
        prefix: String::new(),
    };
    lake_of(&alone).tables.root(&table).map(named)
}

/// Finds the dataset that a name of the configuration means.
pub fn dataset(config: &Config, name: &str) -> Result<Placed> {
    let lake = lake_of(config);
    if lake.datasets.get(name).is_err() {
        return Err(no_dataset(config, name));
    }
    lake.datasets.placed(name).map_err(no_store)
}

/// That a name is none of a dataset, and which are.
pub fn no_dataset(config: &Config, name: &str) -> Error {
    let known: Vec<&str> = config.datasets.iter().map(|d| d.name.as_str()).collect();
    let known = match known.as_slice() {
        [] => "it declares none: add a [[dataset]], or name the file with --config".to_owned(),
        names => format!("it declares {}", names.join(", ")),
    };
    Error::invalid(format!(
        "the configuration declares no such dataset; {known}"
    ))
    .at("dataset", name)
}

/// A zone's directory that is not there: no answer about what lies in it, as with a store that
/// cannot be reached.
pub fn no_store(error: Error) -> Error {
    match error.kind() {
        Kind::NotFound => Error::new(Kind::Unreachable, "no such directory").because(error),
        _ => error,
    }
}

/// What kind of place a LOCATION is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Whether it lies on the local disk.
    pub on_disk: bool,
    /// Whether it is a path or a URL, and no name of the configuration.
    pub directly: bool,
}

/// What kind of place [`locate`] finds.
pub fn named(config: &Config, location: &str) -> Named {
    let of_zone = |name: &str| {
        let zone = config.zones.iter().find(|zone| zone.name == name);
        Named {
            on_disk: zone.is_some_and(|zone| zone.address.scheme() == Scheme::File),
            directly: false,
        }
    };
    if let Some(table) = config.tables.iter().find(|table| table.name == location) {
        return of_zone(&table.zone);
    }
    if location.contains("://") {
        let address = Address::parse(location);
        return Named {
            on_disk: address.is_ok_and(|address| address.scheme() == Scheme::File),
            directly: true,
        };
    }
    if DiskPath::new(location).exists() {
        return Named {
            on_disk: true,
            directly: true,
        };
    }
    of_zone(location.split('/').next().unwrap_or(location))
}

/// A configuration that is a zone for each location.
pub fn config_of_locations(base: Config, locations: &[String]) -> Result<Config> {
    let mut zones: Vec<ZoneConfig> = Vec::new();
    for location in locations {
        let address = match location.contains("://") {
            true => Address::parse(location)?,
            false => Address::from_disk(DiskPath::new(location))?,
        };
        if let Some(directory) = address.disk()
            && !directory.is_dir()
        {
            return Err(Error::invalid("there is no such directory").at("location", location));
        }
        let overlaps = zones.iter().any(|zone| {
            zone.address.below(&address).is_some() || address.below(&zone.address).is_some()
        });
        if overlaps {
            return Err(Error::invalid(
                "this location lies inside another one, or another inside it",
            )
            .at("location", location));
        }
        let name = zone_name(&address, &zones);
        let known = base
            .zones
            .iter()
            .find(|z| z.address.below(&address).is_some());
        zones.push(ZoneConfig {
            store: known.map(|z| z.store.clone()).unwrap_or_default(),
            ..ZoneConfig::new(name, address)
        });
    }
    Ok(Config {
        zones,
        tables: Vec::new(),
        datasets: Vec::new(),
        ..base
    })
}

/// The last segment of an address, or its bucket, made different from the names before it.
fn zone_name(address: &Address, zones: &[ZoneConfig]) -> String {
    let last = address.prefix().filename().unwrap_or(address.bucket());
    let plain: String = last
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
            _ => '-',
        })
        .collect();
    let plain = match plain.trim_matches('.') {
        "" => "zone".to_owned(),
        plain => plain.to_owned(),
    };
    let taken = |name: &str| zones.iter().any(|zone| zone.name == name);
    let numbered = (2..).map(|n| format!("{plain}-{n}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or(plain)
}
