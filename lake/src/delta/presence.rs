//! Are files still in the store?

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::host::{Progress, SharedHost};
use crate::{Error, Result};

/// HEADs in flight at once.
const PARALLEL: usize = 32;

/// Which of these keys the store does not have, asked twice: one that is there, and is answered
/// otherwise once, is there.
#[cfg(feature = "write")]
pub(crate) async fn gone(
    store: &Arc<dyn ObjectStore>,
    keys: BTreeSet<Path>,
    host: &SharedHost,
) -> Result<BTreeSet<Path>> {
    let first = missing(store, keys, host).await?;
    if first.is_empty() {
        return Ok(first);
    }
    host.wait(100).await;
    missing(store, first, host).await
}

/// Which of these keys the store does not have: one HEAD each. A store that refuses to say is
/// neither yes nor no, and an error.
pub(crate) async fn missing(
    store: &Arc<dyn ObjectStore>,
    keys: BTreeSet<Path>,
    host: &SharedHost,
) -> Result<BTreeSet<Path>> {
    let of = keys.len() as u64;
    let mut heads = stream::iter(keys)
        .map(|key| async move { (store.head(&key).await, key) })
        .buffer_unordered(PARALLEL);
    let mut missing = BTreeSet::new();
    let mut done = 0;
    while let Some((answer, key)) = heads.next().await {
        match answer {
            Ok(_) => {}
            Err(object_store::Error::NotFound { .. }) => {
                missing.insert(key);
            }
            Err(error) => return Err(Error::from(error).at("key", key)),
        }
        done += 1;
        host.progress(Progress {
            step: "looking for data files".to_owned(),
            done,
            of: Some(of),
        });
    }
    Ok(missing)
}
