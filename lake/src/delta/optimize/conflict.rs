//! Somebody committed while files were packed: may the commit still be made after theirs?

use hashbrown::{HashMap, HashSet};

use super::Optimize;
use super::input::Input;
use crate::delta::commit::{lines, parse_line};
use crate::delta::files::FileRef;
use crate::delta::key::{Key, key};
use crate::delta::log::{Head, Log};
use crate::delta::path::shown;
use crate::delta::snapshot::Snapshot;
use crate::delta::verbatim::Fields;
use crate::delta::write::{BASE_ROW_ID, SINCE_VERSION, commit_in_words};
use crate::host::SharedHost;
use crate::table::Version;
use crate::wire::{CommitRow, HistoryQuery};
use crate::{Error, Kind, Result};

/// The newest version, where every file that was packed is still part of it as it was, and the table
/// is what it was. [`Kind::Conflict`] that names the version otherwise.
pub(super) async fn rebase(optimize: &Optimize, host: &SharedHost) -> Result<Snapshot> {
    let log = &optimize.log;
    let head = log.head().await?;
    let now = log.snapshot(&head, head.latest, host).await?;
    let Some(what) = unfit(optimize, &head, &now, host).await? else {
        return Ok(now);
    };
    let inputs = optimize.bins.iter().flat_map(|bin| &bin.inputs);
    let keys: HashSet<&Key> = inputs.map(|input| &input.key).collect();
    let (from, to) = (optimize.base.state.version, now.state.version);
    let by = culprit(log, from, to, &keys, host).await;
    Err(Error::new(
        Kind::Conflict,
        format!("{by} came first: {what}; nothing was committed"),
    ))
}

/// Why the new files do not fit the table as it is now.
async fn unfit(
    optimize: &Optimize,
    head: &Head,
    now: &Snapshot,
    host: &SharedHost,
) -> Result<Option<String>> {
    let (old, new) = (&optimize.base.state, &now.state);
    let inputs = || optimize.bins.iter().flat_map(|bin| &bin.inputs);
    let live: HashMap<Key, FileRef<'_>> = now.files.iter().map(|f| (f.key(), f)).collect();
    if let Some(input) = inputs().find(|input| !live.contains_key(&input.key)) {
        let path = shown(&input.raw_path);
        return Ok(Some(format!("`{path}` is no longer as it was")));
    }
    if old.metadata != new.metadata {
        return Ok(Some("the table's metadata changed".to_owned()));
    }
    if old.protocol != new.protocol {
        return Ok(Some("the table's protocol changed".to_owned()));
    }
    // Row ids can be given to a file that stays.
    let files = inputs().filter_map(|input| live.get(&input.key).copied());
    let files: Vec<FileRef<'_>> = files.collect();
    let adds = optimize.log.adds(head, now, &files, host).await?;
    let same = |input: &Input| {
        let add = adds.get(&input.key);
        add.is_some_and(|add| ids(add) == ids(&input.remove))
    };
    Ok((!inputs().all(same)).then(|| "its rows got other ids".to_owned()))
}

fn ids(add: &Fields) -> [Option<&str>; 2] {
    [BASE_ROW_ID, SINCE_VERSION].map(|name| add.get(name).map(|value| value.get()))
}

/// The first commit that took a packed file away, or changed what the table is, in words.
async fn culprit(
    log: &Log,
    from: Version,
    to: Version,
    keys: &HashSet<&Key>,
    host: &SharedHost,
) -> String {
    for version in from.next().0..=to.0 {
        let version = Version(version);
        let Ok(Some((_, bytes))) = log.read_commit(version).await else {
            continue;
        };
        let guilty = lines(&bytes)
            .filter_map(|(_, text)| parse_line(text).ok())
            .any(|line| {
                let removed = line.remove.as_ref().is_some_and(|remove| {
                    keys.contains(&key(&remove.path, remove.deletion_vector.as_ref()))
                });
                removed || line.meta_data.is_some() || line.protocol.is_some()
            });
        if guilty {
            let row = row(log, version, host).await;
            return row.map_or_else(|| format!("version {version}"), |row| commit_in_words(&row));
        }
    }
    format!("a commit after version {from}")
}

async fn row(log: &Log, version: Version, host: &SharedHost) -> Option<CommitRow> {
    let query = HistoryQuery {
        limit: 1,
        before: Some(version.next()),
    };
    let head = log.head().await.ok()?;
    let page = log.history(&head, &query, host).await.ok()?;
    page.rows.into_iter().find(|row| row.version == version)
}
