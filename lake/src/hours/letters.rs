//! Dead letters that are in no hour, so that any hour may be the one that lacks them.

use std::sync::Arc;

use object_store::ObjectStore;

use super::dataset::Dataset;
use super::day::Day;
use super::key::{Role, partition, role};
use super::listing::prefix_path;
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
    let keys = level.objects.iter().filter(|object| {
        let name = object.location.filename().unwrap_or_default();
        role(name, object.size) == Role::Data
    });
    let keys = keys.map(|object| object.location.to_string());
    Ok(folders
        .map(|folder| format!("{folder}/"))
        .chain(keys)
        .next())
}

/// Why the gate cannot say anything where there is such a key.
pub(crate) fn stray(key: &str) -> String {
    format!("dead letters lie in no hour, and nobody can say whose they are: {key}")
}
