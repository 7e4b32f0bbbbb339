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
use crate::plan::Pin;
use crate::{Error, Result};
#[cfg(feature = "write")]
pub use keep::{pin, unpin};

/// Pins read at once.
const AHEAD: usize = 16;

/// All pins, by name. One that cannot be read is an error: nobody knows what it keeps.
pub async fn list(root: &Root) -> Result<Vec<Pin>> {
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
    let mut pins: Vec<Pin> = stream::iter(keys)
        .map(|key| async move {
            let read = read_optional(&root.store, &key).await?;
            // Unpinned since it was listed.
            let Some((_, bytes)) = read else {
                return Ok(None);
            };
            parse(&bytes).map_err(|e| e.at("key", &key)).map(Some)
        })
        .buffered(AHEAD)
        .try_filter_map(|pin| async move { Ok::<_, Error>(pin) })
        .try_collect()
        .await?;
    pins.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pins)
}

fn parse(bytes: &[u8]) -> Result<Pin> {
    serde_json::from_slice(bytes).map_err(|e| Error::damaged("not a pin").because(e))
}

fn folder(root: &Path) -> Path {
    root.clone().join(OWN).join("pins")
}
