//! The ways in which a store's call goes wrong: each act is tried with each of them at each call.

#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test uses some of it"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lake::store::fault::{Failure, Match, Rule};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode};
use serde_json::Value;

/// How a call goes wrong; one that hangs kills the process in it.
pub(crate) type Fault = (&'static str, fn(Match, &Other) -> Rule);

pub(crate) const FAULTS: [Fault; 12] = [
    ("killed before", |m, _| m.hangs()),
    ("500 or 503", |m, _| m.fails(Failure::Generic)),
    ("409", |m, _| m.fails(Failure::AlreadyExists)),
    ("412", |m, _| m.fails(Failure::Precondition)),
    ("403", |m, _| m.fails(Failure::PermissionDenied)),
    ("404", |m, _| m.fails(Failure::NotFound)),
    ("done but 500", |m, _| m.fails_after(Failure::Generic)),
    ("done but 409", |m, _| m.fails_after(Failure::AlreadyExists)),
    ("done but 412", |m, _| m.fails_after(Failure::Precondition)),
    ("cut", |m, _| m.cuts(10)),
    ("duplicated", |m, _| m.twice()),
    ("delayed", |m, other| m.waits(other.meanwhile())),
];

/// Another writer, who appends a file to the same table past whatever goes wrong.
#[derive(Clone)]
pub(crate) struct Other {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The data file.
    pub(crate) key: Path,
    pub(crate) bytes: Vec<u8>,
    /// The commit that adds it.
    pub(crate) actions: Vec<Value>,
}

impl Other {
    /// A wait in which this writer puts its file and commits it.
    fn meanwhile(&self) -> lake::store::fault::Wait {
        let other = self.clone();
        Arc::new(move || {
            let other = other.clone();
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                other.append().await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            })
        })
    }

    /// A wait in which this writer commits its file if it is there, and does not put it.
    pub(crate) fn adopting(&self) -> lake::store::fault::Wait {
        let other = self.clone();
        Arc::new(move || {
            let other = other.clone();
            Box::pin(async move {
                if other.store.head(&other.key).await.is_ok() {
                    other.commit().await;
                }
            })
        })
    }

    /// Puts the file, and commits it as the next version.
    pub(crate) async fn append(&self) {
        let bytes = self.bytes.clone();
        self.store.put(&self.key, bytes.into()).await.unwrap();
        self.commit().await;
    }

    async fn commit(&self) {
        let lines: String = self.actions.iter().map(|a| format!("{a}\n")).collect();
        for version in 0u64.. {
            let key = log_key(version);
            let create = PutMode::Create.into();
            match self
                .store
                .put_opts(&key, lines.clone().into(), create)
                .await
            {
                Err(Error::AlreadyExists { .. }) => {}
                told => {
                    told.unwrap();
                    return;
                }
            }
        }
    }
}

/// Where the tables of these tests have their commits.
fn log_key(version: u64) -> Path {
    Path::from(format!("t/_delta_log/{version:020}.json"))
}

/// `commitInfo` of every version that has one.
pub(crate) async fn infos(store: &Arc<dyn ObjectStore>) -> BTreeMap<u64, Value> {
    let mut infos = BTreeMap::new();
    for version in 0u64.. {
        let Ok(answer) = store.get(&log_key(version)).await else {
            break;
        };
        let bytes = answer.bytes().await.unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        let lines = text
            .lines()
            .map(|l| serde_json::from_str::<Value>(l).unwrap());
        for line in lines {
            if let Some(info) = line.get("commitInfo") {
                infos.insert(version, info.clone());
            }
        }
    }
    infos
}

/// Versions whose commit says that it did this.
pub(crate) fn versions_of(infos: &BTreeMap<u64, Value>, operation: &str) -> Vec<u64> {
    let of = infos.iter().filter(|(_, i)| i["operation"] == operation);
    of.map(|(version, _)| *version).collect()
}
