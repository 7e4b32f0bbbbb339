//! Everything a request may need.

use std::sync::Arc;

use lake::{Error, Result};
use tokio::sync::Semaphore;

use crate::access::{Access, Person};
use crate::acts::Sizes;
use crate::acts::writable::Writable;
use crate::config::ZoneConfig;
use crate::control::Control;
use crate::datasets::Datasets;
use crate::jobs::Jobs;
use crate::metrics::Metrics;
use crate::site::Site;
use crate::tables::Tables;
use crate::zones::{Zone, Zones};

/// The server's state. Any replica has the same, so any can answer any request.
pub struct App {
    /// Where data may be read.
    pub zones: Zones,
    /// Tables, configured and discovered.
    pub tables: Arc<Tables>,
    /// Datasets, as configured.
    pub datasets: Datasets,
    /// The zones as declared, for their review.
    pub declared: Vec<ZoneConfig>,
    /// Who may do what.
    pub access: Access,
    /// What the server remembers of acts.
    pub control: Control,
    /// Acts that are being carried out.
    pub jobs: Arc<Jobs>,
    /// Where can be written.
    pub writable: Writable,
    /// Whether a vacuum's retention may be shorter than a table's own.
    pub allow_short_vacuum: bool,
    /// How large an optimize makes files where nobody else says.
    pub sizes: Sizes,
    /// The built page.
    pub site: Site,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Turns of reading a whole table here: each may hold a snapshot in memory.
    pub table_reads: Semaphore,
}

/// The build that page, worker and server must share.
pub const BUILD: &str = match option_env!("TIDEMARK_BUILD") {
    Some(build) => build,
    None => env!("CARGO_PKG_VERSION"),
};

/// Tables that the server reads at once.
pub const TABLE_READS: usize = 4;

impl App {
    /// A zone that this person may read.
    pub fn zone(&self, person: &Person, name: &str) -> Result<&Arc<Zone>> {
        let zone = self.zones.get(name)?;
        match self.access.may_read(person, zone) {
            true => Ok(zone),
            // Whoever may not read a zone is not told that it exists.
            false => Err(Error::not_found("no such zone").at("zone", name)),
        }
    }
}
