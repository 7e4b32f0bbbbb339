//! The zones of the configuration: a name, an address, and its store once somebody asks for it.

use std::sync::{Arc, OnceLock};

use lake::hours::dataset::Retention;
use lake::{Error, Result};

use crate::stores::{Address, Bucket, Opener, Overrides};

/// One zone. All reads of it are fenced to its address.
pub struct Zone {
    /// Its name in routes and links.
    pub name: String,
    /// Where it lies.
    pub address: Address,
    /// Who owns it.
    pub owner: Option<String>,
    /// What it holds, as the configuration says.
    pub format: Option<String>,
    /// How long its data is kept, and what else is promised.
    pub retention: Retention,
    /// Whether reads are sent to the store with a signed URL.
    pub redirect: bool,
    overrides: Overrides,
    opener: Opener,
    bucket: OnceLock<Bucket>,
}

impl Zone {
    /// A zone that is opened when first asked.
    pub fn new(name: String, address: Address, overrides: Overrides, opener: Opener) -> Self {
        Self {
            name,
            address,
            owner: None,
            format: None,
            retention: Retention::default(),
            redirect: false,
            overrides,
            opener,
            bucket: OnceLock::new(),
        }
    }

    /// A zone over a store that is open already: for tests.
    pub fn over(name: &str, address: Address, bucket: Bucket, opener: Opener) -> Self {
        let zone = Self::new(name.to_owned(), address, Overrides::new(), opener);
        let _ = zone.bucket.set(bucket);
        zone
    }

    /// The zone's store. A zone that cannot be opened now is tried again the next time.
    pub fn bucket(&self) -> Result<&Bucket> {
        if let Some(bucket) = self.bucket.get() {
            return Ok(bucket);
        }
        let bucket = self.opener.open(&self.address, &self.overrides)?;
        Ok(self.bucket.get_or_init(|| bucket))
    }

    /// Whether a read is answered with a signed URL: asked for, and possible.
    pub fn redirects(&self) -> bool {
        self.redirect && self.bucket().is_ok_and(|b| b.signer.is_some())
    }
}

/// All zones, in the configuration's order.
#[derive(Clone, Default)]
pub struct Zones(Vec<Arc<Zone>>);

impl Zones {
    /// Zones whose names differ.
    pub fn new(zones: Vec<Zone>) -> Self {
        Self(zones.into_iter().map(Arc::new).collect())
    }

    /// The zone of a name.
    pub fn get(&self, name: &str) -> Result<&Arc<Zone>> {
        let found = self.0.iter().find(|zone| zone.name == name);
        found.ok_or_else(|| Error::not_found("no such zone").at("zone", name))
    }

    /// The zone that an address lies in, and the rest of the address below it.
    pub fn around(&self, address: &Address) -> Option<(&Arc<Zone>, object_store::path::Path)> {
        self.0
            .iter()
            .find_map(|zone| Some((zone, zone.address.below(address)?)))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Zone>> {
        self.0.iter()
    }
}
