//! `_last_checkpoint`, which never goes back (PROTOCOL, "Last Checkpoint File").

use object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    UpdateVersion,
};
use serde_json::Value;

use crate::delta::log::{Hint, Log};
use crate::delta::path::log_key;
use crate::table::Version;
use crate::{Error, Kind, Result};

use super::super::TRIES;

/// Names the checkpoint of `version`, unless a newer one, or this one, is named already.
///
/// Where the store can replace what was read and nothing else, that is how it is done; elsewhere
/// two writers at once may leave the older name, which is a hint still.
pub(super) async fn point(log: &Log, version: Version, hint: &Value) -> Result<()> {
    let key = log_key(&log.root, "_last_checkpoint");
    let at = |error: StoreError| Error::from(error).at("key", &key);
    let body = hint.to_string();
    let put = |mode: PutMode| {
        let body = PutPayload::from(body.clone());
        log.store.put_opts(&key, body, PutOptions::from(mode))
    };
    for _ in 0..TRIES {
        let mode = match log.store.get(&key).await {
            Err(StoreError::NotFound { .. }) => PutMode::Create,
            Err(error) => return Err(at(error)),
            Ok(answer) => {
                let meta = answer.meta.clone();
                let bytes = answer.bytes().await.map_err(at)?;
                let named = serde_json::from_slice::<Hint>(&bytes);
                if named.is_ok_and(|named| named.version >= version.0) {
                    return Ok(());
                }
                PutMode::Update(UpdateVersion {
                    e_tag: meta.e_tag,
                    version: meta.version,
                })
            }
        };
        match put(mode).await {
            Ok(_) => return Ok(()),
            // Somebody else named one meanwhile.
            Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => {}
            Err(StoreError::NotImplemented { .. } | StoreError::NotSupported { .. }) => {
                return put(PutMode::Overwrite).await.map(|_| ()).map_err(at);
            }
            Err(error) => return Err(at(error)),
        }
    }
    Err(Error::new(Kind::Conflict, "others keep writing it").at("key", &key))
}
