//! Does the store keep its promise? Asked on a scratch key before the first write.

use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::delta::path::OWN;
use crate::table::Time;
use crate::{Error, Kind, Result};

/// What a probe learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The store's clock, as it stamped the scratch key.
    pub store_time: Time,
}

/// Creates a scratch key below `root` twice; the second time must fail. A store that lets it pass
/// would let two writers win one version, and is [`Kind::Unsupported`].
///
/// `scratch` is a random name. Three requests and a delete.
pub async fn probe(store: &Arc<dyn ObjectStore>, root: &Path, scratch: &str) -> Result<Probed> {
    let key = root.clone().join(OWN).join("probe").join(scratch);
    let create = |body: &'static str| {
        let options = PutOptions::from(PutMode::Create);
        store.put_opts(&key, PutPayload::from_static(body.as_bytes()), options)
    };
    let at = |error: object_store::Error| match error {
        object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. } => {
            ignores(&key)
        }
        other => Error::from(other).at("key", &key),
    };
    match create("a").await {
        Ok(_) => {}
        // The answer to the first create may have been lost on its way.
        Err(object_store::Error::AlreadyExists { .. }) => {}
        Err(error) => return Err(at(error)),
    }
    let again = create("b").await;
    let stamped = store.head(&key).await;
    // Left behind, it would only be litter in a hidden folder.
    let _ = store.delete(&key).await;
    match again {
        Err(object_store::Error::AlreadyExists { .. }) => {}
        Ok(_) => return Err(ignores(&key)),
        Err(error) => return Err(at(error)),
    }
    let meta = stamped.map_err(|e| Error::from(e).at("key", &key))?;
    Ok(Probed {
        store_time: Time(meta.last_modified.timestamp_millis()),
    })
}

fn ignores(key: &Path) -> Error {
    Error::new(
        Kind::Unsupported,
        "this store is read-only here: it does not refuse to create a key that exists \
         (If-None-Match), so two writers could both win one version",
    )
    .at("key", key)
}
