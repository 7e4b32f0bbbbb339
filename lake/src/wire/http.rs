//! The server's answers outside a table: the lake, listings, batches.

use serde::{Deserialize, Serialize};

use super::{ErrorReport, Format};
use crate::hours::{Day, State};
use crate::table::Time;

/// `GET /api/lake`: what this person may see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LakeReport {
    /// Zones in the configuration's order.
    pub zones: Vec<ZoneReport>,
    /// Tables, configured and discovered, in one list sorted by zone and name.
    pub tables: Vec<TableEntry>,
    /// Datasets in the configuration's order.
    #[serde(default)]
    pub datasets: Vec<DatasetEntry>,
    /// Thresholds of what is called out.
    pub attention: AttentionConfig,
    /// Whether every zone was searched to its depth.
    pub discovered: bool,
    /// The server's build, which the page's must equal.
    pub build: String,
}

/// One zone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZoneReport {
    /// Its name.
    pub name: String,
    /// Its URL, without credentials.
    pub url: String,
    /// Who owns it.
    pub owner: Option<String>,
    /// Its format, as the configuration says.
    pub format: Option<String>,
    /// How long its data is kept, as the configuration says: `400d`.
    pub keep: Option<String>,
    /// `proxy` or `redirect`.
    pub reads: String,
    /// Why it could not be searched for tables.
    pub error: Option<ErrorReport>,
}

/// One table of the lake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Configured name, or `<zone>/<prefix>`.
    pub name: String,
    /// The zone it lies in.
    pub zone: String,
    /// Prefix of its root in the zone, without a slash at either end.
    pub prefix: String,
    /// Its format.
    pub format: Format,
    /// Whether the configuration names it.
    pub configured: bool,
    /// Datasets that it is built from: it waits while their hours are not closed.
    #[serde(default)]
    pub reads: Vec<String>,
}

/// One dataset of the lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetEntry {
    /// Its name.
    pub name: String,
    /// The zone it lies in.
    pub zone: String,
    /// Its prefix in the zone, without a slash at either end.
    pub prefix: String,
    /// Whether a partition is an hour, and not a day.
    pub hourly: bool,
    /// Before it nothing is expected.
    pub first: Option<Day>,
    /// Datasets that it is built from: it waits while their hours are not closed.
    #[serde(default)]
    pub reads: Vec<String>,
}

/// Thresholds of what is called out: `[attention]` of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttentionConfig {
    /// Share of a table's rows that one commit may remove unremarked.
    pub rows_removed: f64,
    /// An hour in this state or a worse one is called out.
    #[serde(default = "late")]
    pub hour: State,
}

fn late() -> State {
    State::Late
}

impl Default for AttentionConfig {
    fn default() -> Self {
        Self {
            rows_removed: 0.2,
            hour: late(),
        }
    }
}

/// `GET /api/zones/{zone}/list`: one page of a listing, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ListPage {
    /// Objects.
    pub objects: Vec<ObjectEntry>,
    /// Common prefixes, each without its trailing slash; only with `delimiter`.
    pub prefixes: Vec<String>,
    /// Pass as `after` to go on; `None` at the end.
    pub next: Option<String>,
}

/// One object of a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectEntry {
    /// Key relative to the zone.
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// When it was put, as the store says.
    pub modified: Time,
    /// The store's entity tag.
    pub etag: Option<String>,
}

/// `POST /api/zones/{zone}/batch`: many keys or ranges at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BatchRequest {
    /// Answered in any order, each frame with its index here.
    pub reads: Vec<BatchRead>,
}

/// One read of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchRead {
    /// Key relative to the zone.
    pub key: String,
    /// `bytes=0-99`, `bytes=100-` or `bytes=-8`; the whole object if absent.
    pub range: Option<String>,
}
