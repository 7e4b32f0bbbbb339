//! The keys of one slot, however its folders are written.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

use super::dataset::Dataset;
use super::day::{Day, Slot};
use super::key::{misspelt, partition};
use crate::hours::listing::path;
use crate::{Error, Result};

/// The keys of a slot: those below its own prefix, and those of folders beside it that are the same
/// partition written another way.
pub(crate) async fn keys_of(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
) -> Result<BoxStream<'static, object_store::Result<ObjectMeta>>> {
    let own = path(&dataset.prefix_of(slot))?;
    let mut keys = store.list(Some(&own));
    if dataset.hourly() {
        let day = path(&dataset.prefix_of(Slot::day(slot.day)))?;
        for folder in folders(store, &day).await? {
            let name = folder.filename().unwrap_or_default();
            if misspelt(dataset, slot.day, name) == Some(slot) {
                keys = keys.chain(store.list(Some(&folder))).boxed();
            }
        }
    }
    Ok(keys)
}

/// A folder that is the day of a slot written another way.
#[cfg(feature = "write")]
pub(crate) async fn day_of(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    day: Day,
) -> Result<Option<String>> {
    let folders = folders(store, &path(&dataset.prefix)?).await?;
    let mut other = folders.into_iter().map(String::from);
    Ok(other.find(|folder| is_day(dataset, day, folder)))
}

/// Whether a folder directly below the dataset's prefix is a day written another way.
pub(super) fn is_day(dataset: &Dataset, day: Day, folder: &str) -> bool {
    let name = folder.rsplit('/').next().unwrap_or_default();
    let written = partition(name).filter(|(column, _)| column == dataset.date_column());
    let its = written.and_then(|(_, value)| value?.parse::<Day>().ok());
    its == Some(day) && name != dataset.partition_of(Slot::day(day))
}

async fn folders(store: &Arc<dyn ObjectStore>, prefix: &Path) -> Result<Vec<Path>> {
    let whole = prefix.as_ref().is_empty();
    let level = store.list_with_delimiter(Some(prefix).filter(|_| !whole));
    let level = level
        .await
        .map_err(|e| Error::from(e).at("prefix", prefix))?;
    Ok(level.common_prefixes)
}
