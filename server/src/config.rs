//! `tidemark.toml`, read once at the start.

mod check;
mod dataset;
mod file;
mod later;
mod source;
mod value;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use lake::hours::Dataset;
use lake::hours::dataset::Retention;
use lake::wire::http::AttentionConfig;
use lake::{Error, Result};
use url::Url;

pub use self::dataset::BANNED;
pub use self::source::Variables;
pub use self::value::{Size, Span};
use crate::acts::Sizes;
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
    /// Where audit records and jobs are kept.
    pub control: Option<Address>,
    /// Bytes of small immutable objects that are kept.
    pub cache_bytes: u64,
    /// Zones in their order.
    pub zones: Vec<ZoneConfig>,
    /// Tables the configuration names.
    pub tables: Vec<Configured>,
    /// Datasets the configuration declares.
    pub datasets: Vec<Dataset>,
    /// What is called out.
    pub attention: AttentionConfig,
    /// Whether a vacuum's retention may be shorter than a table's own; `None` without a file.
    pub allow_short_vacuum: Option<bool>,
    /// How tables are searched for.
    pub discovery: Discovery,
    /// How large an optimize makes files where nobody else says.
    pub sizes: Sizes,
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
    /// How long its data is kept, and what else is promised.
    pub retention: Retention,
    /// Roles that may read it.
    pub readers: Vec<String>,
    /// Roles that may write it.
    pub writers: Vec<String>,
    /// The bucket's lifecycle rules, as exported.
    pub lifecycle: Option<PathBuf>,
    /// The bucket's policy, as exported.
    pub policy: Option<PathBuf>,
    /// The bucket's encryption, as exported.
    pub encryption: Option<PathBuf>,
    /// The bucket's public-access settings, as exported.
    pub public_access: Option<PathBuf>,
    /// object_store's own settings.
    pub store: Overrides,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4800)),
            redirect: false,
            public_url: None,
            control: None,
            cache_bytes: 64 * 1024 * 1024,
            zones: Vec::new(),
            tables: Vec::new(),
            datasets: Vec::new(),
            allow_short_vacuum: None,
            attention: AttentionConfig::default(),
            discovery: Discovery::default(),
            sizes: Sizes::default(),
        }
    }
}

/// The file that is read where none is named.
const DEFAULT_FILE: &str = "tidemark.toml";

impl Config {
    /// Reads the file that was named, or `./tidemark.toml` if it exists, or nothing.
    pub fn load(file: Option<&Path>) -> Result<Self> {
        let path = match file {
            Some(path) => path,
            None if Path::new(DEFAULT_FILE).is_file() => Path::new(DEFAULT_FILE),
            None => return Ok(Self::default()),
        };
        let text = std::fs::read_to_string(path).map_err(|e| {
            Error::invalid("the configuration cannot be read")
                .because(e)
                .at("key", path.display())
        })?;
        Self::parse(&path.display().to_string(), &text, &|name| {
            std::env::var(name).ok()
        })
    }

    /// Reads a configuration's text. `name` is its file's, for errors and for relative paths.
    pub fn parse(name: &str, text: &str, variables: Variables<'_>) -> Result<Self> {
        let source = source::Source {
            name: name.to_owned(),
            text,
            directory: Path::new(name).parent().unwrap_or(Path::new("")).to_owned(),
            variables,
        };
        let file = source.read()?;
        check::check(&source, file)
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
            retention: Retention::default(),
            readers: Vec::new(),
            writers: Vec::new(),
            lifecycle: None,
            policy: None,
            encryption: None,
            public_access: None,
            store: Overrides::new(),
        }
    }
}

#[cfg(test)]
mod tests;
