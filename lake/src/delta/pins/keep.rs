//! Pins made and taken away.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutMode, PutOptions, PutPayload};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{folder, parse, relative};
use crate::answer::Root;
use crate::delta::log::{Head, Log, read_optional};
use crate::delta::path::{Location, locate};
use crate::delta::presence::gone;
use crate::delta::vector;
use crate::delta::write::TRIES;
use crate::error::lasting;
use crate::host::SharedHost;
use crate::plan::Pin;
use crate::table::Version;
use crate::{Error, Kind, Result};

/// Characters of a name at most.
const LONGEST: usize = 100;

/// Bytes of an object's name at most, which a local disk sets.
const LONGEST_KEY: usize = 240;

/// Objects that are looked for one by one; more are found by listing the table.
const LOOKED_FOR: usize = 2_000;

/// What is kept as it is in an object's name.
const SAFE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Pins a version, which must be there and rebuild from the log. A name that is taken is
/// [`Kind::Conflict`], and stays what it was.
pub async fn pin(root: &Root, pin: &Pin, host: &SharedHost) -> Result<()> {
    let key = key(&root.path, &pin.name)?;
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    exists(&head, pin.version)?;
    let rebuilt = log.snapshot(&head, pin.version, host).await;
    rebuilt.map_err(|e| {
        let sentence = format!("version {} cannot be pinned", pin.version);
        e.within(sentence)
    })?;
    let body = serde_json::to_vec_pretty(pin)
        .map_err(|e| Error::new(Kind::Internal, "a pin that JSON cannot hold").because(e))?;
    let mut attempt = 0;
    loop {
        let options = PutOptions::from(PutMode::Create);
        let put = root
            .store
            .put_opts(&key, PutPayload::from(body.clone()), options);
        let error = match put.await {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        // A create can succeed and be answered with an error.
        match read_optional(&root.store, &key).await {
            Ok(Some((_, bytes))) if bytes == body => return Ok(()),
            Ok(Some((_, bytes))) => return Err(taken(pin, &bytes).at("key", &key)),
            Ok(None) | Err(_) if attempt < TRIES && may_pass(&error) => {}
            Ok(None) => return Err(Error::from(error).at("key", &key)),
            Err(_) => {
                let what = format!("nobody knows whether `{}` was pinned", pin.name);
                return Err(Error::new(Kind::Unreachable, what)
                    .because(error)
                    .at("key", &key));
            }
        }
        attempt += 1;
        host.wait(50 << attempt).await;
    }
}

fn exists(head: &Head, version: Version) -> Result<()> {
    match version > head.latest {
        false => Ok(()),
        true => Err(Error::not_found(format!(
            "there is no version {version}: the newest is {}",
            head.latest
        ))),
    }
}

/// Objects that a version needs and the store does not have, relative to the table's root.
pub async fn absent(root: &Root, version: Version, host: &SharedHost) -> Result<Vec<String>> {
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    exists(&head, version)?;
    let snapshot = log.snapshot(&head, version, host).await.map_err(|e| {
        let sentence = format!("version {version} cannot be pinned");
        e.within(sentence)
    })?;
    let mut keys: BTreeSet<Path> = BTreeSet::new();
    for file in snapshot.files.iter() {
        if let Location::Inside(path) = locate(&root.path, file.raw_path())? {
            keys.insert(path);
        }
        // Vectors that lie elsewhere are nobody's to look for.
        if let Some(descriptor) = file.vector()
            && let Ok(Some(path)) = vector::location(&root.path, &descriptor)
        {
            keys.insert(path);
        }
    }
    let absent = match keys.len() > LOOKED_FOR {
        false => gone(&root.store, keys, host).await?,
        true => {
            let mut listed = root.store.list(Some(&root.path));
            while let Some(meta) = listed.try_next().await? {
                keys.remove(&meta.location);
            }
            keys
        }
    };
    let below = |key| relative(&root.path, key);
    Ok(absent.iter().map(below).collect())
}

/// Takes a pin away. [`Kind::NotFound`] where there is none of this name.
pub async fn unpin(root: &Root, name: &str, host: &SharedHost) -> Result<()> {
    let key = key(&root.path, name)?;
    let mut attempt = 0;
    loop {
        let at = |error: object_store::Error| Error::from(error).at("key", &key);
        // Some stores delete what is not there without a word.
        let error = match root.store.head(&key).await {
            Ok(_) => match root.store.delete(&key).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            },
            // The delete before this one was done, and its answer lost.
            Err(object_store::Error::NotFound { .. }) if attempt > 0 => return Ok(()),
            Err(object_store::Error::NotFound { .. }) => {
                let what = format!("there is no pin named `{name}`");
                return Err(Error::not_found(what).at("key", &key));
            }
            Err(error) => error,
        };
        if attempt == TRIES || !may_pass(&error) {
            return Err(at(error));
        }
        attempt += 1;
        host.wait(50 << attempt).await;
    }
}

/// Whether the same call may be answered otherwise later.
fn may_pass(error: &object_store::Error) -> bool {
    use object_store::Error as E;
    matches!(
        error,
        E::Generic { .. } | E::AlreadyExists { .. } | E::Precondition { .. } | E::NotFound { .. }
    ) && !lasting(error)
}

fn taken(wanted: &Pin, bytes: &[u8]) -> Error {
    let what = match parse(bytes) {
        Ok(pin) => format!(
            "`{}` pins version {} already: unpin it first, or choose another name",
            wanted.name, pin.version
        ),
        Err(_) => format!(
            "`{}` is taken by a pin that cannot be read: unpin it first",
            wanted.name
        ),
    };
    Error::new(Kind::Conflict, what)
}

fn key(root: &Path, name: &str) -> Result<Path> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(Error::invalid(
            "a pin's name is text without control characters",
        ));
    }
    let file = format!("{}.json", utf8_percent_encode(name, SAFE));
    if name.chars().count() > LONGEST || file.len() > LONGEST_KEY {
        return Err(Error::invalid(format!(
            "a pin's name has at most {LONGEST} characters, and {LONGEST_KEY} bytes as the name of \
             an object, where each byte of a letter that is not plain counts three times"
        )));
    }
    // As it stands: `join` would encode its percent signs again.
    Path::parse(format!("{}/{file}", folder(root)))
        .map_err(|e| Error::invalid("a pin's name that is no key").because(e))
}
