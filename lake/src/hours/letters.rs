//! The dead letters of an hour, and such that are in none, so that any hour may be the one that lacks
//! them.

use std::sync::Arc;

#[cfg(feature = "write")]
use futures::try_join;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

use super::dataset::Dataset;
use super::day::Day;
#[cfg(feature = "write")]
use super::day::Slot;
#[cfg(feature = "write")]
use super::key::misspelt;
use super::key::{Role, partition, role};
#[cfg(feature = "write")]
use super::listing::Object;
use super::listing::prefix_path;
#[cfg(feature = "write")]
use super::publish::look::objects;
#[cfg(feature = "write")]
use crate::Kind;
use crate::{Error, Result};

/// What lies directly below the prefix of dead letters and is no day: the first such key or folder.
/// Hidden names are nobody's letters. `letters` is what [`Dataset::letters`] gives.
pub(crate) async fn beside(
    letters: &Dataset,
    store: &Arc<dyn ObjectStore>,
) -> Result<Option<String>> {
    let prefix = prefix_path(&letters.prefix)?;
    let level = store.list_with_delimiter(prefix.as_ref()).await;
    let level = level.map_err(|e| Error::from(e).at("prefix", &letters.prefix))?;
    let day = |name: &str| {
        let value = partition(name).filter(|(column, _)| *column == letters.date_column());
        let value = value.and_then(|(_, value)| value);
        let day: Option<Day> = value.as_deref().and_then(|value| value.parse().ok());
        day.is_some_and(|day| name == format!("{}={day}", letters.date_column()))
    };
    let folders = level.common_prefixes.iter().filter(|folder| {
        let name = folder.filename().unwrap_or_default();
        role(&format!("{name}/x"), 1) == Role::Data && !day(name)
    });
    Ok(first(folders, &level.objects))
}

/// The first of these folders, or of the keys that are data.
fn first<'a>(mut folders: impl Iterator<Item = &'a Path>, keys: &[ObjectMeta]) -> Option<String> {
    let key = || {
        let mut data = keys.iter().filter(|object| {
            let name = object.location.filename().unwrap_or_default();
            role(name, object.size) == Role::Data
        });
        data.next().map(|object| object.location.to_string())
    };
    folders
        .next()
        .map(|folder| format!("{folder}/"))
        .or_else(key)
}

/// What lies directly below a day of dead letters and is no hour of it.
#[cfg(feature = "write")]
async fn beside_hours(
    letters: &Dataset,
    store: &Arc<dyn ObjectStore>,
    day: Day,
) -> Result<Option<String>> {
    let Some(column) = letters.hour_column() else {
        return Ok(None);
    };
    let prefix = letters.prefix_of(Slot::day(day));
    let below = prefix_path(&prefix)?;
    let level = store.list_with_delimiter(below.as_ref()).await;
    let level = level.map_err(|e| Error::from(e).at("prefix", &prefix))?;
    let hour = |name: &str| {
        let mut hours = 0..24;
        hours.any(|hour| name == format!("{column}={hour:02}"))
            || misspelt(letters, day, name).is_some()
    };
    let folders = level.common_prefixes.iter().filter(|folder| {
        let name = folder.filename().unwrap_or_default();
        role(&format!("{name}/x"), 1) == Role::Data && !hour(name)
    });
    Ok(first(folders, &level.objects))
}

/// The dead letters of one hour, as the gate is to be told of them.
#[cfg(feature = "write")]
pub(crate) enum Letters {
    /// Those that landed.
    Listed(Vec<Object>),
    /// There is no prefix, or it may not be listed.
    Unlisted,
    /// There is one that may be this hour's, or another's.
    Stray(String),
}

#[cfg(feature = "write")]
impl Letters {
    /// Lists those of a slot.
    pub(crate) async fn of(
        dataset: &Dataset,
        store: &Arc<dyn ObjectStore>,
        slot: Slot,
    ) -> Result<Self> {
        let Some(letters) = dataset.letters() else {
            return Ok(Self::Unlisted);
        };
        let found = try_join!(
            objects(&letters, store, slot),
            beside(&letters, store),
            beside_hours(&letters, store, slot.day)
        );
        match found {
            Ok((listed, None, None)) => Ok(Self::Listed(listed.data().cloned().collect())),
            Ok((_, days, hours)) => Ok(Self::Stray(days.or(hours).unwrap_or_default())),
            Err(error) if error.kind() == Kind::Denied => Ok(Self::Unlisted),
            Err(error) => Err(error),
        }
    }

    /// Those that are surely the hour's; `None` where nobody can say.
    pub(crate) fn objects(&self) -> Option<&[Object]> {
        match self {
            Self::Listed(objects) => Some(objects),
            Self::Unlisted | Self::Stray(_) => None,
        }
    }
}

/// Why the gate cannot say anything where there is such a key.
pub(crate) fn stray(key: &str) -> String {
    format!("dead letters lie in no hour, and nobody can say whose they are: {key}")
}
