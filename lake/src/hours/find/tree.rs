//! The marker tree: its listing, and the bodies of markers.

use bytes::Bytes;
use futures::TryStreamExt;
use futures::future::join_all;
use object_store::ObjectStoreExt;

use super::{Days, Source, parse};
use crate::hours::day::Slot;
use crate::hours::listing::Object;
use crate::hours::template::{Template, Tree};
use crate::{Error, Result};

/// Markers read at once: what the server answers in one batch.
const TOGETHER: usize = 1000;

/// An object of the marker tree, and what it is.
pub(super) type Entry = (Slot, Tree, Object);

/// Lists the marker tree of a window, read no further than its last day.
pub(super) async fn list(source: &Source, days: Days) -> Result<Vec<Entry>> {
    let template = Template::of(&source.dataset);
    let root = parse(&template.root())?;
    let after = parse(&template.before(days.from))?;
    let beyond = template.before(days.to.plus(1));
    let mut listed = source.store.list_with_offset(Some(&root), &after);
    let mut entries = Vec::new();
    while let Some(meta) = listed.try_next().await? {
        let object = Object::from(meta);
        if object.key >= beyond {
            break;
        }
        if let Some((slot, tree)) = template.read(&object.key)
            && days.holds(slot.day)
        {
            entries.push((slot, tree, object));
        }
    }
    Ok(entries)
}

/// Reads small objects side by side. One that is gone since it was listed is left out.
pub(super) async fn read(source: &Source, objects: Vec<Object>) -> Result<Vec<(Object, Bytes)>> {
    let mut bodies = Vec::with_capacity(objects.len());
    let mut objects = objects.into_iter().peekable();
    while objects.peek().is_some() {
        let together = objects.by_ref().take(TOGETHER).map(|mut object| async {
            let path = parse(&object.key)?;
            let got = match source.store.get(&path).await {
                Ok(got) => got,
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(Error::from(error).at("key", &object.key)),
            };
            // What is read may be newer than what was listed.
            object = Object::from(got.meta.clone());
            let bytes = got.bytes().await;
            let bytes = bytes.map_err(|e| Error::from(e).at("key", &object.key))?;
            Ok(Some((object, bytes)))
        });
        for read in join_all(together).await {
            bodies.extend(read?);
        }
    }
    Ok(bodies)
}
