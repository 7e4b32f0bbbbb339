//! One key put under a condition, and what came of it when the answer does not say.

use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, PutMode, PutOptions, PutPayload, UpdateVersion};

use crate::delta::log::read_optional;
use crate::delta::write::TRIES;
use crate::host::SharedHost;
use crate::{Error, Kind, Result};

/// What stands under a key.
pub(crate) enum Stands {
    /// Exactly the bytes that were put.
    Ours,
    /// Somebody else's.
    Theirs(Bytes),
}

/// Creates an object unless there is one.
pub(crate) async fn create(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
    body: &Bytes,
    host: &SharedHost,
) -> Result<Stands> {
    put(store, key, body, None, host).await
}

/// Replaces the object that has the tag and the bytes of `over`.
pub(super) async fn swap(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
    body: &Bytes,
    over: (&str, &Bytes),
    host: &SharedHost,
) -> Result<Stands> {
    put(store, key, body, Some(over), host).await
}

/// A put can succeed and be answered with an error, by the store or by a client that tried again; so
/// every answer, a yes too, is settled by reading the key. An error means that nothing was put,
/// unless it says that nobody knows.
async fn put(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
    body: &Bytes,
    over: Option<(&str, &Bytes)>,
    host: &SharedHost,
) -> Result<Stands> {
    let mut last: Option<object_store::Error> = None;
    let mut gone = false;
    for attempt in 0..TRIES {
        if attempt > 0 {
            host.wait(50 << attempt).await;
        }
        let mode = match over {
            None => PutMode::Create,
            Some((tag, _)) => PutMode::Update(UpdateVersion {
                e_tag: Some(tag.to_owned()),
                version: None,
            }),
        };
        let options = PutOptions::from(mode);
        let put = store.put_opts(key, PutPayload::from(body.clone()), options);
        let error = put.await.err();
        match (settle(store, key, host).await?, over) {
            (Some(bytes), _) if bytes == *body => return Ok(Stands::Ours),
            // As it was: the put did not come through.
            (Some(bytes), Some((_, before))) if bytes == *before => gone = false,
            (Some(bytes), _) => return Ok(Stands::Theirs(bytes)),
            (None, _) => gone = over.is_some(),
        }
        match error {
            // A yes, and it does not stand: some stores take a moment.
            None => {}
            Some(error) if retryable(&error) => last = Some(error),
            Some(error) => return Err(Error::from(error).at("key", key)),
        }
    }
    if gone {
        let what = "the marker that was to be replaced is gone: look again, then publish";
        return Err(Error::new(Kind::Conflict, what).at("key", key));
    }
    let what = format!("nothing was put: the store refused it {TRIES} times");
    let error = Error::new(Kind::Unreachable, what);
    Err(match last {
        Some(last) => error.because(last),
        None => error,
    }
    .at("key", key))
}

/// What stands there.
async fn settle(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
    host: &SharedHost,
) -> Result<Option<Bytes>> {
    let mut last = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            host.wait(50 << attempt).await;
        }
        match read_optional(store, key).await {
            Ok(read) => return Ok(read.map(|(_, bytes)| bytes)),
            Err(error) => last = Some(error),
        }
    }
    let what = "nobody knows whether it was put, for the store does not answer: look again";
    let error = Error::new(Kind::Unreachable, what).at("key", key);
    Err(match last {
        Some(last) => error.because(last),
        None => error,
    })
}

fn retryable(error: &object_store::Error) -> bool {
    use object_store::Error as E;
    !matches!(
        error,
        E::PermissionDenied { .. }
            | E::Unauthenticated { .. }
            | E::NotImplemented { .. }
            | E::NotSupported { .. }
            | E::InvalidPath { .. }
            | E::UnknownConfigurationKey { .. }
    )
}
