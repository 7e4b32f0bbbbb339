//! A store for a URL: fenced to the URL's prefix, counted, and listed a page at a time.

mod address;
mod azure;
mod cached;
mod local;
mod metered;
mod pages;
mod single;

use std::collections::BTreeMap;
use std::sync::Arc;

use lake::{Error, Kind, Result};
use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::memory::InMemory;
use object_store::prefix::PrefixStore;
use object_store::signer::Signer;

pub use self::address::{Address, Scheme};
pub use self::cached::Cache;
pub use self::local::LocalStore;
pub use self::pages::{Page, PageQuery, Pages};
use crate::metrics::Metrics;

/// object_store's own keys and values, over what the environment says.
pub type Overrides = BTreeMap<String, String>;

/// An open store, rooted at an address: no key reaches outside it.
#[derive(Clone)]
pub struct Bucket {
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// Its listings, page by page.
    pub pages: Arc<dyn Pages>,
    /// Signs URLs, where the store can.
    pub signer: Option<Arc<dyn Signer>>,
}

/// What every opened store shares.
#[derive(Clone)]
pub struct Opener {
    /// Counts requests.
    pub metrics: Arc<Metrics>,
    /// Keeps small immutable objects of stores across a network.
    pub cache: Arc<Cache>,
}

/// Names the code that encrypts what travels to stores, once for the process: ring, which needs
/// seconds of a C compiler where reqwest's own choice needs a minute and a half.
pub fn encryption() {
    // A second call finds the first one's choice.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Opener {
    /// Opens the store of `address`. Nothing is asked of it yet, but a directory must exist.
    pub fn open(&self, address: &Address, overrides: &Overrides) -> Result<Bucket> {
        encryption();
        match address.scheme() {
            Scheme::File => self.open_disk(address),
            Scheme::Memory => Ok(self.memory(Arc::new(InMemory::new()))),
            Scheme::S3 => {
                let builder = AmazonS3Builder::from_env().with_url(address.bucket_url());
                let builder = configure(builder, overrides, |builder, key, value| {
                    let key: AmazonS3ConfigKey = key.parse().ok()?;
                    Some(builder.with_config(key, value))
                })?;
                let store = single::Single {
                    many: Arc::new(builder.clone().build()?),
                    one: Arc::new(builder.with_disable_bulk_delete(true).build()?),
                };
                Ok(self.cloud(address, store))
            }
            Scheme::Gs => {
                let builder = GoogleCloudStorageBuilder::from_env().with_url(address.bucket_url());
                let builder = configure(builder, overrides, |builder, key, value| {
                    let key: GoogleConfigKey = key.parse().ok()?;
                    Some(builder.with_config(key, value))
                })?;
                Ok(self.cloud(address, builder.build()?))
            }
            Scheme::Azure => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(address.bucket_url());
                let builder = configure(builder, overrides, |builder, key, value| {
                    let key: AzureConfigKey = key.parse().ok()?;
                    Some(builder.with_config(key, value))
                })?;
                Ok(self.cloud(address, azure::Azure(Arc::new(builder.build()?))))
            }
        }
    }

    fn open_disk(&self, address: &Address) -> Result<Bucket> {
        let Some(directory) = address.disk() else {
            return Err(Error::new(Kind::Internal, "not a directory"));
        };
        let store = LocalStore::new(&directory).map_err(|e| match e {
            object_store::Error::NotFound { .. } => {
                Error::not_found("no such directory").at("path", directory.display())
            }
            other => Error::from(other),
        })?;
        let pages: Arc<dyn Pages> = Arc::new(metered::MeteredPages {
            inner: Arc::new(store.clone()),
            metrics: Arc::clone(&self.metrics),
        });
        Ok(Bucket {
            store: Arc::new(metered::Metered::new(
                Arc::new(store),
                Arc::clone(&self.metrics),
            )),
            pages,
            signer: None,
        })
    }

    /// A bucket over a store in memory.
    pub fn memory(&self, store: Arc<dyn ObjectStore>) -> Bucket {
        let store: Arc<dyn ObjectStore> =
            Arc::new(metered::Metered::new(store, Arc::clone(&self.metrics)));
        Bucket {
            pages: Arc::new(pages::StreamPages(Arc::clone(&store))),
            store,
            signer: None,
        }
    }

    fn cloud<S>(&self, address: &Address, store: S) -> Bucket
    where
        S: ObjectStore + PaginatedListStore + Signer,
    {
        let store = Arc::new(store);
        let prefix = address.prefix().clone();
        let metrics = Arc::clone(&self.metrics);
        let pages = pages::CloudPages::new(
            Arc::clone(&store),
            prefix.clone(),
            Arc::new(move || metrics.store_lists.one()),
        );
        let signer = Signing {
            store: Arc::clone(&store),
            prefix: prefix.clone(),
        };
        let fenced: Arc<dyn ObjectStore> = Arc::new(PrefixStore::new(store, prefix));
        let metered: Arc<dyn ObjectStore> =
            Arc::new(metered::Metered::new(fenced, Arc::clone(&self.metrics)));
        Bucket {
            store: self.cache.wrap(metered, &address.to_string()),
            pages: Arc::new(pages),
            signer: Some(Arc::new(signer)),
        }
    }
}

/// Signs keys below a prefix.
#[derive(Debug)]
struct Signing<S> {
    store: Arc<S>,
    prefix: object_store::path::Path,
}

#[async_trait::async_trait]
impl<S: Signer> Signer for Signing<S> {
    async fn signed_url(
        &self,
        method: object_store::signer::Method,
        path: &object_store::path::Path,
        expires_in: std::time::Duration,
    ) -> object_store::Result<url::Url> {
        let full = self.prefix.parts().chain(path.parts()).collect();
        self.store.signed_url(method, &full, expires_in).await
    }
}

/// Applies overrides; a key that the store does not know is an error.
fn configure<B>(
    builder: B,
    overrides: &Overrides,
    apply: impl Fn(B, &str, &str) -> Option<B>,
) -> Result<B> {
    overrides.iter().try_fold(builder, |builder, (key, value)| {
        apply(builder, &key.to_ascii_lowercase(), value).ok_or_else(|| {
            Error::invalid(format!("`{key}` is not a setting of this store")).at("key", key)
        })
    })
}

/// Whether a store of this kind knows the setting.
pub fn knows(scheme: Scheme, key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    match scheme {
        Scheme::File | Scheme::Memory => false,
        Scheme::S3 => key.parse::<AmazonS3ConfigKey>().is_ok(),
        Scheme::Gs => key.parse::<GoogleConfigKey>().is_ok(),
        Scheme::Azure => key.parse::<AzureConfigKey>().is_ok(),
    }
}
