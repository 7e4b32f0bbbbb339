//! The put of a commit, and what came of it when the answer does not say.

use bytes::Bytes;
use object_store::{ObjectStore, PutMode, PutOptions, PutPayload};

use crate::delta::log::{Log, read_optional};
use crate::delta::path::commit_key;
use crate::error::lasting;
use crate::host::SharedHost;
use crate::table::Version;
use crate::{Error, Kind, Result};

/// Times that a put is tried whose key is not there afterwards, and a question that is not answered.
pub(crate) const TRIES: u32 = 5;

/// Whose commit stands under a version.
pub(crate) enum Stands {
    /// Ours: exactly these bytes.
    Ours,
    /// Another writer's.
    Theirs,
}

/// Creates the file of `version`, unless there is one.
///
/// A create can succeed and be answered with an error, by the store or by a client that tried
/// again; so every answer but a plain yes is settled by reading the key. Nothing is ever
/// overwritten. An error means that the version is not ours, unless it is of
/// [`Kind::Unreachable`] and says that nobody knows.
pub(crate) async fn put_commit(
    log: &Log,
    version: Version,
    body: Bytes,
    txn_id: &str,
    host: &SharedHost,
) -> Result<Stands> {
    if version.0 > i64::MAX as u64 {
        return Err(Error::unsupported("versions end where a signed long does"));
    }
    let key = commit_key(&log.root, version);
    let mut last: Option<object_store::Error> = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            host.wait(50 << attempt).await;
        }
        let options = PutOptions::from(PutMode::Create);
        let put = log
            .store
            .put_opts(&key, PutPayload::from(body.clone()), options);
        let error = put.await.err();
        // Read even after a yes: a store with a race in its create says yes twice.
        if let Some(stands) = settle(log, version, &body, txn_id, host).await? {
            return Ok(stands);
        }
        match error {
            // A yes, and nothing there: some stores take a moment. Creating again does no harm.
            None => {}
            // A create that was refused while another one was in flight may be tried again.
            Some(error) if !lasting(&error) => last = Some(error),
            Some(error) => return Err(Error::from(error).at("key", &key)),
        }
    }
    let error = Error::new(
        Kind::Unreachable,
        format!("version {version} was not written: the store refused it {TRIES} times"),
    );
    Err(match last {
        Some(last) => error.because(last),
        None => error,
    }
    .at("key", &key))
}

/// Whose commit is there; `None` where there is none.
async fn settle(
    log: &Log,
    version: Version,
    body: &Bytes,
    txn_id: &str,
    host: &SharedHost,
) -> Result<Option<Stands>> {
    let key = commit_key(&log.root, version);
    let mut last = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            host.wait(50 << attempt).await;
        }
        match read_optional(&log.store, &key).await {
            Ok(None) => return Ok(None),
            Ok(Some((_, bytes))) if bytes == *body => return Ok(Some(Stands::Ours)),
            Ok(Some((_, bytes))) => {
                let ours = memchr::memmem::find(&bytes, txn_id.as_bytes()).is_some();
                return match ours {
                    false => Ok(Some(Stands::Theirs)),
                    true => Err(Error::damaged(format!(
                        "version {version} carries our txnId {txn_id} and other bytes than we wrote"
                    ))
                    .at("key", &key)),
                };
            }
            Err(error) => last = Some(error),
        }
    }
    let error = Error::new(
        Kind::Unreachable,
        format!(
            "nobody knows whether version {version} was written, for the store does not answer: \
             it was if the commit holds txnId {txn_id}"
        ),
    )
    .at("key", &key);
    Err(match last {
        Some(last) => error.because(last),
        None => error,
    })
}
