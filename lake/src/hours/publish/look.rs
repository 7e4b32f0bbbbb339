//! One slot, read whole: its part of the marker tree and its keys.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::ObjectStore;
use serde::de::DeserializeOwned;

use crate::delta::log::read_optional;
use crate::delta::write::TRIES;
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::judge::{Markers, Read};
use crate::hours::listing::{Listing, Object, SlotObjects, path, prefix_path};
use crate::hours::marker::Marker;
use crate::hours::spelled::keys_of;
use crate::hours::template::{Template, Tree};
use crate::{Error, Result};

/// Objects of the marker tree read at once.
const AHEAD: usize = 16;

/// What is known of a slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look {
    /// Its markers.
    pub(crate) markers: Markers,
    /// The current marker's bytes, as they stand.
    pub(crate) current: Option<Bytes>,
    /// Its keys.
    pub(crate) objects: SlotObjects,
}

/// Reads markers first and lists keys then: a key that comes between is seen, as one that the
/// markers do not know.
pub(crate) async fn look(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
) -> Result<Look> {
    let (markers, current) = markers(dataset, store, slot).await?;
    Ok(Look {
        markers,
        current,
        objects: objects(dataset, store, slot).await?,
    })
}

/// The keys of a slot.
pub(crate) async fn objects(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
) -> Result<SlotObjects> {
    let mut listing = Listing::default();
    let mut keys = keys_of(dataset, store, slot).await?;
    while let Some(meta) = keys.next().await {
        let meta = meta.map_err(|e| Error::from(e).at("key", dataset.prefix_of(slot)))?;
        listing.add(dataset, Object::from(meta));
    }
    Ok(listing.slots.remove(&slot).unwrap_or_default())
}

/// The markers of a slot, with the bytes of the current one.
///
/// Their times are those of the listing, as the keys' are: a store may tell a time more exactly in
/// the one answer than in the other. Tags and bytes are of one read.
pub(crate) async fn markers(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
) -> Result<(Markers, Option<Bytes>)> {
    let mut attempt = 0;
    loop {
        let listed = tree(dataset, store, slot).await?;
        let read = read_all(store, listed).await?;
        let moved =
            |listed: &Object, read: &Object| listed.etag.is_some() && listed.etag != read.etag;
        let whole = !read.iter().any(|(_, listed, read, _)| moved(listed, read));
        // A marker that was replaced between the two has a new time.
        attempt += 1;
        if whole || attempt == TRIES {
            return Ok(sorted(dataset, slot, read));
        }
    }
}

/// One object of the marker tree: as it was listed, as it was read, and its bytes.
pub(crate) type Seen = (Tree, Object, Object, Bytes);

/// Reads objects of the marker tree; those that have gone since are left out.
pub(crate) async fn read_all(
    store: &Arc<dyn ObjectStore>,
    listed: Vec<(Tree, Object)>,
) -> Result<Vec<Seen>> {
    stream::iter(listed)
        .map(|(tree, listed)| async move {
            let read = read_optional(store, &path(&listed.key)?).await?;
            Ok::<_, Error>(read.map(|(meta, bytes)| (tree, listed, Object::from(meta), bytes)))
        })
        .buffered(AHEAD)
        .try_filter_map(|read| async move { Ok(read) })
        .try_collect()
        .await
}

/// Objects of a slot's marker tree, each in its place; with the bytes of the current marker.
pub(crate) fn sorted(dataset: &Dataset, slot: Slot, read: Vec<Seen>) -> (Markers, Option<Bytes>) {
    let mut markers = Markers::default();
    let mut current = None;
    for (tree, listed, read, bytes) in read {
        let object = Object {
            put: listed.put,
            ..read
        };
        match tree {
            Tree::Current => {
                let marker = Marker::parse(dataset, slot, &bytes);
                markers.current = Some((object, marker));
                current = Some(bytes);
            }
            Tree::Superseded(_) => {
                let marker = Marker::parse(dataset, slot, &bytes);
                markers.superseded.push((object, marker));
            }
            Tree::Empty => markers.declared = Some(json(object, &bytes, "the declaration")),
            Tree::Pin(_) => markers.pins.push(json(object, &bytes, "the pin")),
            Tree::Taken(_) => markers.taken.push(json(object, &bytes, "the list")),
        }
    }
    (markers, current)
}

fn json<T: DeserializeOwned>(object: Object, bytes: &[u8], what: &str) -> Read<T> {
    let read = serde_json::from_slice(bytes).map_err(|e| format!("{what} cannot be read: {e}"));
    (object, read)
}

/// The marker tree of a slot, as it is listed.
async fn tree(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
) -> Result<Vec<(Tree, Object)>> {
    let template = Template::of(dataset);
    let before = template.before(slot.day);
    let root = prefix_path(&template.root())?;
    let offset = path(&template.start_after(slot.day))?;
    let mut keys = store.list_with_offset(root.as_ref(), &offset);
    let mut found = Vec::new();
    while let Some(meta) = keys.next().await {
        let object = Object::from(meta.map_err(|e| Error::from(e).at("key", &offset))?);
        // Keys of one day are side by side.
        if !object.key.starts_with(&before) && object.key > before {
            break;
        }
        match template.read(&object.key) {
            Some((of, tree)) if of == slot => found.push((tree, object)),
            _ => {}
        }
    }
    Ok(found)
}
