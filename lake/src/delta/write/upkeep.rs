//! What a writer owes a table after a commit: a checkpoint where the table's interval is reached,
//! the hint that names it, and the version checksum where the table has them.

mod base;
mod checkpoint;
mod checksum;
mod chunks;
mod commits;
mod files;
mod hint;
mod other;
mod tally;
mod typed;

use std::sync::Arc;

use object_store::ObjectStoreExt;

use super::duration;
use crate::answer::Root;
use crate::delta::action::Metadata;
use crate::delta::log::Log;
use crate::delta::path::checksum_key;
use crate::host::SharedHost;
use crate::table::{Time, Version};
use crate::{Error, Result};

/// Commits between two checkpoints of a table that does not say.
const INTERVAL: u64 = 10;

/// Looks after a table once `version` was committed. Answers what a person should know: that one
/// of these files was not written, and why.
///
/// Nothing here can undo the commit or harm the table: readers do without these files, and each is
/// written whole or not at all. `ids` gives a new UUID with every call.
pub async fn upkeep(
    root: &Root,
    version: Version,
    now: Time,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Err(error) = look_after(root, version, now, ids, host, &mut warnings).await {
        warnings.push(format!("the log was not looked after: {error}"));
    }
    warnings
}

/// Writes a checkpoint of a version, due or not. Answers what a person should know.
pub async fn checkpoint(
    root: &Root,
    version: Version,
    now: Time,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Result<Vec<String>> {
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    let snapshot = log.snapshot(&head, version, host).await?;
    let mut warnings = Vec::new();
    checkpoint::write(&log, &head, &snapshot, now, ids, host, &mut warnings).await?;
    Ok(warnings)
}

async fn look_after(
    root: &Root,
    version: Version,
    now: Time,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    let metadata = log.state(&head, version, host).await?.metadata;
    let due = version.0.is_multiple_of(interval(&metadata, warnings));
    let summed = has_checksum(&log, version).await.unwrap_or_else(|error| {
        warnings.push(format!(
            "nobody knows whether the table has version checksums: {error}"
        ));
        false
    });
    if !due && !summed {
        return Ok(());
    }
    let snapshot = log.snapshot(&head, version, host).await?;
    if summed && let Err(error) = checksum::write(&log, &snapshot).await {
        warnings.push(format!(
            "the checksum of version {version} was not written: {error}"
        ));
    }
    if due {
        let written = checkpoint::write(&log, &head, &snapshot, now, ids, host, warnings).await;
        if let Err(error) = written {
            warnings.push(format!(
                "the checkpoint of version {version} was not written: {error}"
            ));
        }
    }
    Ok(())
}

/// Whether the version before has a checksum.
async fn has_checksum(log: &Log, version: Version) -> Result<bool> {
    let Some(before) = version.0.checked_sub(1) else {
        return Ok(false);
    };
    let key = checksum_key(&log.root, Version(before));
    match log.store.head(&key).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(Error::from(error).at("key", &key)),
    }
}

/// Commits from one checkpoint to the next.
fn interval(metadata: &Metadata, warnings: &mut Vec<String>) -> u64 {
    const NAME: &str = "delta.checkpointInterval";
    let Some(text) = metadata.configuration.get(NAME) else {
        return INTERVAL;
    };
    match text.trim().parse() {
        Ok(interval) if interval > 0 => interval,
        _ => {
            warnings.push(format!(
                "{NAME} = `{text}` is no number of commits: a checkpoint is written every {INTERVAL}"
            ));
            INTERVAL
        }
    }
}

/// The instant before which something is forgotten, by a property that holds a duration; `None`
/// where nothing is: the property is not set and has no default, or holds no duration.
fn forgotten_before(
    metadata: &Metadata,
    name: &str,
    default: Option<i64>,
    now: Time,
    warnings: &mut Vec<String>,
) -> Option<i64> {
    let length = match metadata.configuration.get(name) {
        None => default?,
        Some(text) => match duration(text) {
            Some(length) => length,
            None => {
                warnings.push(format!(
                    "{name} = `{text}` is no duration: nothing was forgotten in the checkpoint"
                ));
                return None;
            }
        },
    };
    Some(now.0.saturating_sub(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_is_none_is_ten() {
        let of = |text: Option<&str>| {
            let mut metadata = Metadata::default();
            if let Some(text) = text {
                let name = "delta.checkpointInterval".to_owned();
                metadata.configuration.insert(name, text.to_owned());
            }
            let mut warnings = Vec::new();
            (interval(&metadata, &mut warnings), warnings.len())
        };
        assert_eq!(of(None), (10, 0));
        assert_eq!(of(Some("3")), (3, 0));
        for odd in ["0", "-1", "ten", "", "1.5", "99999999999999999999"] {
            assert_eq!(of(Some(odd)), (10, 1), "{odd}");
        }
    }

    #[test]
    fn what_is_no_duration_forgets_nothing() {
        let mut metadata = Metadata::default();
        let mut warnings = Vec::new();
        let mut of = |metadata: &Metadata, default| {
            forgotten_before(metadata, "p", default, Time(1_000), &mut warnings)
        };
        assert_eq!(of(&metadata, None), None);
        assert_eq!(of(&metadata, Some(400)), Some(600));
        let mut set = |text: &str| {
            metadata
                .configuration
                .insert("p".to_owned(), text.to_owned())
        };
        set("interval 1 second");
        assert_eq!(of(&metadata, Some(400)), Some(0));
        let mut set = |text: &str| {
            metadata
                .configuration
                .insert("p".to_owned(), text.to_owned())
        };
        set("interval 1 month");
        assert_eq!(of(&metadata, Some(400)), None);
        assert_eq!(warnings.len(), 1);
    }
}
