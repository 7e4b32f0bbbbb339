//! The server's own store: what it remembers of acts. Every replica reads and writes the same.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use lake::{Error, Kind, Result};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::stores::{Address, Opener, Overrides};

/// Records read at once.
const PARALLEL: usize = 16;

/// Records that cannot be read and are passed over in one page.
const MOST_UNREADABLE: u64 = 1_000;

/// Some records.
pub struct RecordPage<T> {
    /// Those that can be read.
    pub records: Vec<T>,
    /// How many cannot.
    pub unreadable: u64,
    /// The key of the last that was looked at.
    pub last: Option<String>,
    /// Whether there are more.
    pub more: bool,
}

/// Records, each an object of JSON.
#[derive(Clone)]
pub struct Control {
    store: Arc<dyn ObjectStore>,
    /// Where they lie, on a disk.
    directory: Option<PathBuf>,
    /// Whether records outlive the server.
    pub kept: bool,
}

impl Control {
    /// The store that the configuration names; one in memory where it names none.
    pub fn open(address: Option<&Address>, opener: &Opener) -> Result<Self> {
        let Some(address) = address else {
            return Ok(Self {
                store: Arc::new(InMemory::new()),
                directory: None,
                kept: false,
            });
        };
        if let Some(directory) = address.disk() {
            std::fs::create_dir_all(&directory).map_err(|e| {
                Error::invalid("the server's own folder (server.control) cannot be made")
                    .because(e)
                    .at("key", directory.display())
            })?;
        }
        Ok(Self {
            store: opener.open(address, &Overrides::new())?.store,
            directory: address.disk(),
            kept: true,
        })
    }

    /// Refuses where the folder went away since: what it held is not known, which is not nothing.
    fn is_there(&self) -> Result<()> {
        match &self.directory {
            Some(directory) if !directory.is_dir() => Err(Error::new(
                Kind::Unreachable,
                "the server's own folder (server.control) is not there",
            )
            .at("key", directory.display())),
            _ => Ok(()),
        }
    }

    /// Writes a new record; [`Kind::Conflict`] where there is one.
    pub async fn create(&self, key: &str, record: &impl Serialize) -> Result<()> {
        self.put(key, record, PutMode::Create).await
    }

    /// Writes a record over the one that there is.
    pub async fn write(&self, key: &str, record: &impl Serialize) -> Result<()> {
        self.put(key, record, PutMode::Overwrite).await
    }

    async fn put(&self, key: &str, record: &impl Serialize, mode: PutMode) -> Result<()> {
        self.is_there()?;
        let body = serde_json::to_vec(record)
            .map_err(|e| Error::new(Kind::Internal, "a record that JSON cannot hold").because(e))?;
        let payload = PutPayload::from(Bytes::from(body));
        let path = Path::from(key);
        match self
            .store
            .put_opts(&path, payload, PutOptions::from(mode))
            .await
        {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::from(error).at("record", key)),
        }
    }

    /// A record; `None` where there is none.
    pub async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let bytes = match self.store.get(&Path::from(key)).await {
            Ok(answer) => answer.bytes().await,
            Err(error) => Err(error),
        };
        match bytes {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|e| Error::damaged("a record of another build").because(e)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(Error::from(error)),
        }
        .map_err(|e| e.at("record", key))
    }

    /// The first `most` of these records, in order. What is gone is left out; what cannot be read is
    /// counted, and takes no good record's place.
    pub async fn read_page<T: DeserializeOwned>(
        &self,
        keys: Vec<String>,
        most: usize,
    ) -> Result<RecordPage<T>> {
        let mut page = RecordPage {
            records: Vec::new(),
            unreadable: 0,
            last: None,
            more: false,
        };
        let mut reads = stream::iter(keys)
            .map(|key| async move {
                let read = self.read::<T>(&key).await;
                (key, read)
            })
            .buffered(PARALLEL);
        while let Some((key, read)) = reads.next().await {
            if page.records.len() == most || page.unreadable == MOST_UNREADABLE {
                page.more = true;
                break;
            }
            match read {
                Ok(record) => page.records.extend(record),
                Err(error) if error.kind() == Kind::Damaged => page.unreadable += 1,
                Err(error) => return Err(error),
            }
            page.last = Some(key);
        }
        Ok(page)
    }

    /// Whether there is a record.
    pub async fn has(&self, key: &str) -> Result<bool> {
        match self.store.head(&Path::from(key)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(Error::from(error).at("record", key)),
        }
    }

    /// Keys below a folder, the last first.
    pub async fn keys(&self, folder: &str) -> Result<Vec<String>> {
        self.is_there()?;
        let prefix = Path::from(folder);
        let listed = self.store.list(Some(&prefix));
        let mut keys: Vec<String> = listed
            .map_ok(|meta| meta.location.to_string())
            .try_collect()
            .await
            .map_err(|e| Error::from(e).at("record", folder))?;
        keys.sort_unstable_by(|a, b| b.cmp(a));
        Ok(keys)
    }

    /// Folders below a folder, the last first.
    pub async fn folders(&self, folder: &str) -> Result<Vec<String>> {
        self.is_there()?;
        let prefix = Path::from(folder);
        let listed = self.store.list_with_delimiter(Some(&prefix)).await;
        let listed = listed.map_err(|e| Error::from(e).at("record", folder))?;
        let mut folders: Vec<String> = listed
            .common_prefixes
            .iter()
            .map(ToString::to_string)
            .collect();
        folders.sort_unstable_by(|a, b| b.cmp(a));
        Ok(folders)
    }
}
