//! Does the store keep its promise? Asked on a scratch key before the first write.

use std::sync::Arc;

use object_store::path::Path;
use object_store::{
    ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutResult, UpdateVersion,
};

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
    ask(store, root, scratch, false).await
}

/// The same, and also that the store refuses to replace an object under a tag that it no longer
/// has. Two requests more.
pub async fn probe_swap(
    store: &Arc<dyn ObjectStore>,
    root: &Path,
    scratch: &str,
) -> Result<Probed> {
    ask(store, root, scratch, true).await
}

async fn ask(
    store: &Arc<dyn ObjectStore>,
    root: &Path,
    scratch: &str,
    swap: bool,
) -> Result<Probed> {
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
    let swapped = match (swap, &stamped) {
        (true, Ok(meta)) => swaps(store, &key, meta.e_tag.clone()).await,
        _ => Ok(()),
    };
    // Left behind, it would only be litter in a hidden folder.
    let _ = store.delete(&key).await;
    match again {
        Err(object_store::Error::AlreadyExists { .. }) => {}
        Ok(_) => return Err(ignores(&key)),
        Err(error) => return Err(at(error)),
    }
    swapped?;
    let meta = stamped.map_err(|e| Error::from(e).at("key", &key))?;
    Ok(Probed {
        store_time: Time(meta.last_modified.timestamp_millis()),
    })
}

/// Replaces the scratch key twice under the same tag; the second time must fail.
async fn swaps(store: &Arc<dyn ObjectStore>, key: &Path, e_tag: Option<String>) -> Result<()> {
    let refuses = |why: &str| {
        let what = format!("markers cannot be replaced in this store: {why}");
        Error::new(Kind::Unsupported, what).at("key", key)
    };
    if e_tag.is_none() {
        return Err(refuses("it gives objects no entity tags"));
    }
    let mut answers = Vec::new();
    for body in ["c", "d"] {
        let version = UpdateVersion {
            e_tag: e_tag.clone(),
            version: None,
        };
        let options = PutOptions::from(PutMode::Update(version));
        let put = store.put_opts(key, PutPayload::from_static(body.as_bytes()), options);
        answers.push(put.await);
    }
    let refused = |answer: &object_store::Result<PutResult>| {
        use object_store::Error as E;
        matches!(
            answer,
            Err(E::Precondition { .. } | E::NotFound { .. } | E::AlreadyExists { .. })
        )
    };
    match answers.pop() {
        Some(Ok(_)) => Err(refuses(
            "it replaces an object under a tag that it no longer has (If-Match), so two publishers \
             could both win one hour",
        )),
        // The answer to the first may have been lost on its way; that the second is refused counts.
        Some(answer) if refused(&answer) => Ok(()),
        Some(Err(
            object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. },
        )) => Err(refuses("it knows no If-Match")),
        Some(Err(error)) => Err(Error::from(error).at("key", key)),
        None => Ok(()),
    }
}

fn ignores(key: &Path) -> Error {
    Error::new(
        Kind::Unsupported,
        "this store is read-only here: it does not refuse to create a key that exists \
         (If-None-Match), so two writers could both win one version",
    )
    .at("key", key)
}
