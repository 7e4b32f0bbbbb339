//! `tidemark.toml`, read once at the start.

use std::net::{Ipv4Addr, SocketAddr};

use lake::wire::http::AttentionConfig;
use url::Url;

use crate::stores::{Address, Overrides};
use crate::tables::{Configured, Discovery};

/// Everything the configuration says, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Whether reads are sent to the store with a signed URL, where it can sign.
    pub redirect: bool,
    /// Where the server is reached, if not where it listens.
    pub public_url: Option<Url>,
    /// Bytes of small immutable objects that are kept.
    pub cache_bytes: u64,
    /// Zones in their order.
    pub zones: Vec<ZoneConfig>,
    /// Tables the configuration names.
    pub tables: Vec<Configured>,
    /// What is called out.
    pub attention: AttentionConfig,
    /// How tables are searched for.
    pub discovery: Discovery,
}

/// One zone.
#[derive(Clone, Debug)]
pub struct ZoneConfig {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub address: Address,
    /// Who owns it.
    pub owner: Option<String>,
    /// What it holds.
    pub format: Option<String>,
    /// How long its data is kept.
    pub keep: Option<String>,
    /// object_store's own settings.
    pub store: Overrides,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4800)),
            redirect: false,
            public_url: None,
            cache_bytes: 64 * 1024 * 1024,
            zones: Vec::new(),
            tables: Vec::new(),
            attention: AttentionConfig::default(),
            discovery: Discovery::default(),
        }
    }
}

impl ZoneConfig {
    /// A zone that is only a name and an address.
    pub fn new(name: String, address: Address) -> Self {
        Self {
            name,
            address,
            owner: None,
            format: None,
            keep: None,
            store: Overrides::new(),
        }
    }
}
