//! Pins: versions that our vacuum keeps, by name. Delta has no tags, so each is an object below the
//! table's root, in a folder that every engine takes for hidden. A vacuum by another engine does
//! not know them.

#[cfg(feature = "write")]
mod keep;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;

use super::log::read_optional;
use super::path::OWN;
use crate::answer::Root;
use crate::plan::{Failed, Pin, Pins};
use crate::{Error, Result};
#[cfg(feature = "write")]
pub use keep::{absent, pin, unpin};

/// Pins read at once.
const AHEAD: usize = 16;

/// All pins, by name. One that cannot be read is an error: nobody knows what it keeps.
pub async fn list(root: &Root) -> Result<Vec<Pin>> {
    let mut all = Vec::new();
    for (key, read) in read(root).await? {
        all.push(read.map_err(|e| e.at("key", &key))?);
    }
    all.sort_by(|a: &Pin, b| a.name.cmp(&b.name));
    Ok(all)
}

/// All pins, by name, and those that cannot be read, by key.
pub async fn show(root: &Root) -> Result<Pins> {
    let mut all = Pins::default();
    for (key, read) in read(root).await? {
        match read {
            Ok(pin) => all.pins.push(pin),
            Err(error) => all.unreadable.push(Failed {
                key: relative(&root.path, &key),
                why: error.sentence(),
            }),
        }
    }
    all.pins.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

fn relative(root: &Path, key: &Path) -> String {
    let below = key.as_ref().strip_prefix(root.as_ref());
    let below = below.unwrap_or(key.as_ref());
    below.trim_start_matches('/').to_owned()
}

/// The pins that there are, each read or not.
async fn read(root: &Root) -> Result<Vec<(Path, Result<Pin>)>> {
    let folder = folder(&root.path);
    let listed: Vec<Path> = root
        .store
        .list(Some(&folder))
        .map_ok(|meta| meta.location)
        .try_collect()
        .await?;
    let keys = listed.into_iter().filter(|key| {
        let name = key.filename().unwrap_or_default();
        name.ends_with(".json")
    });
    stream::iter(keys)
        .map(|key| async move {
            let read = read_optional(&root.store, &key).await?;
            // Unpinned since it was listed.
            let Some((_, bytes)) = read else {
                return Ok(None);
            };
            Ok(Some((key, parse(&bytes))))
        })
        .buffered(AHEAD)
        .try_filter_map(|pin| async move { Ok::<_, Error>(pin) })
        .try_collect()
        .await
}

fn parse(bytes: &[u8]) -> Result<Pin> {
    serde_json::from_slice(bytes).map_err(|e| Error::damaged("not a pin").because(e))
}

fn folder(root: &Path) -> Path {
    root.clone().join(OWN).join("pins")
}
