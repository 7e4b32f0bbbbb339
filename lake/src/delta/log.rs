//! The log as a listing: which files there are, and the newest version, without walking it.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, future, stream};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use serde::Deserialize;

use super::path::{LOG, LogFile, commit_key, log_key};
use super::segment::checkpoints;
use crate::table::Version;
use crate::{Error, Kind, Result};

/// Keys that one request of a listing answers on every store.
pub(crate) const PAGE: usize = 1000;

/// Keys that a probe looks at: too many to come sorted by chance from a store that does not sort.
const PROBE: usize = 64;

/// Requests in flight at once.
pub(crate) const PARALLEL: usize = 16;

/// A file of the log.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) file: LogFile,
    pub(crate) meta: ObjectMeta,
}

/// A Delta log in a store.
#[derive(Clone, Debug)]
pub struct Log {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) root: Path,
}

/// Some of a listing, sorted by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    pub(crate) entries: Vec<Entry>,
    /// Whether nothing follows.
    pub(crate) end: bool,
}

impl Listed {
    pub(crate) fn commits(&self) -> impl DoubleEndedIterator<Item = (Version, &ObjectMeta)> {
        self.entries.iter().filter_map(|e| match e.file {
            LogFile::Commit(version) => Some((version, &e.meta)),
            _ => None,
        })
    }

    /// Highest version that a commit or a complete checkpoint proves.
    pub(crate) fn newest(&self) -> Option<Version> {
        let commit = self.commits().map(|(version, _)| version).max();
        let complete = checkpoints(&self.entries, Version(u64::MAX));
        let written = complete
            .iter()
            .find(|c| c.files.iter().all(|file| file.size > 0));
        commit.max(written.map(|c| c.version))
    }

    /// Version of the last file, whatever it is.
    pub(crate) fn last_name_version(&self) -> Option<Version> {
        self.entries.iter().rev().find_map(|e| match e.file {
            LogFile::Commit(v) | LogFile::Checkpoint(v) | LogFile::Checksum(v) => Some(v),
            LogFile::Part { version, .. } | LogFile::Uuid { version, .. } => Some(version),
            LogFile::Compacted { low, .. } => Some(low),
            LogFile::Other => None,
        })
    }
}

/// `_last_checkpoint`: a hint and no more (PROTOCOL, "Last Checkpoint File").
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Hint {
    pub(crate) version: u64,
}

/// What was learnt while looking for the newest version.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) latest: Version,
    /// The first page of the log; the whole log where its `end` is true.
    pub(crate) first: Listed,
    /// The page that holds the newest version.
    pub(crate) last: Listed,
    /// The hint, if there is a readable one.
    pub(crate) hint: Option<Hint>,
    pub(crate) warnings: Vec<String>,
}

impl Head {
    /// The lowest version that a file of the log belongs to.
    #[cfg(feature = "write")]
    pub(crate) fn first_listed(&self) -> Version {
        let mut versions = self
            .first
            .entries
            .iter()
            .filter_map(|e| version_of(&e.file));
        versions.next().unwrap_or_default()
    }
}

impl Log {
    /// The log of the table at `root`.
    pub fn new(store: Arc<dyn ObjectStore>, root: Path) -> Self {
        Self { store, root }
    }

    /// Files from `version` on, at most about `limit`. One request where `limit` is at most a page.
    pub(crate) async fn list(&self, from: Version, limit: usize) -> Result<Listed> {
        self.list_until(from, Version(u64::MAX), limit).await
    }

    /// As [`Log::list`], and no further than the first file of a version after `high`.
    async fn list_until(&self, from: Version, high: Version, limit: usize) -> Result<Listed> {
        let folder = self.root.clone().join(LOG);
        // A bare number sorts before every name that starts with it.
        let offset = folder.clone().join(format!("{:020}", from.0));
        let prefix = format!("{folder}/");
        let mut stream = self.store.list_with_offset(Some(&folder), &offset);
        let mut listed = Listed {
            entries: Vec::new(),
            end: true,
        };
        let mut seen = 0usize;
        let mut sorted = true;
        let mut past_numbers = false;
        let mut before: Option<Path> = None;
        while let Some(meta) = stream.try_next().await? {
            seen += 1;
            sorted &= before
                .as_ref()
                .is_none_or(|b| b.as_ref() < meta.location.as_ref());
            let name = meta.location.as_ref().strip_prefix(&prefix).unwrap_or("");
            // Everything after the numbers belongs to folders and hints. A store that does not sort
            // may name one of them first, so the rest of the page is still looked at.
            past_numbers |= name.as_bytes().first().is_some_and(|b| *b > b'9');
            before = Some(meta.location.clone());
            if meta.location <= offset {
                // A store that ignores the offset.
                continue;
            }
            let file = LogFile::parse(name);
            let beyond = version_of(&file).is_some_and(|v| v > high);
            if file != LogFile::Other {
                listed.entries.push(Entry { file, meta });
            }
            if sorted && (seen >= limit || beyond) {
                listed.end = past_numbers;
                break;
            }
        }
        if !sorted {
            listed
                .entries
                .sort_by(|a, b| a.meta.location.as_ref().cmp(b.meta.location.as_ref()));
            listed
                .entries
                .dedup_by(|a, b| a.meta.location == b.meta.location);
        }
        Ok(listed)
    }

    /// Everything in `low..=high`: windows listed at once, each followed to its end.
    pub(crate) async fn list_range(&self, low: Version, high: Version) -> Result<Vec<Entry>> {
        const WINDOW: u64 = 500;
        // A log has no more files than it has; versions it may name without end.
        const WINDOWS: u64 = 1_000;
        if high.0.saturating_sub(low.0) > WINDOW * WINDOWS {
            return self.list_window(low, high).await;
        }
        let starts = (low.0..=high.0).step_by(WINDOW as usize);
        let windows = stream::iter(starts).map(|start| {
            let end = start.saturating_add(WINDOW - 1).min(high.0);
            self.list_window(Version(start), Version(end))
        });
        let listed: Vec<Vec<Entry>> = windows.buffered(PARALLEL).try_collect().await?;
        Ok(listed.into_iter().flatten().collect())
    }

    async fn list_window(&self, low: Version, high: Version) -> Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut from = low;
        loop {
            let page = self.list_until(from, high, PAGE).await?;
            let reached = page.last_name_version();
            for entry in page.entries {
                let known = entries
                    .last()
                    .is_some_and(|e| e.meta.location >= entry.meta.location);
                if version_of(&entry.file).is_some_and(|v| v <= high) && !known {
                    entries.push(entry);
                }
            }
            match reached {
                Some(last) if !page.end && last <= high => {
                    // A page full of one version's files would not move on by itself.
                    from = if last > from { last } else { last.next() };
                }
                _ => return Ok(entries),
            }
        }
    }

    pub(crate) async fn hint(&self) -> Result<Result<Hint, Error>> {
        let key = log_key(&self.root, "_last_checkpoint");
        let bytes = match self.store.get(&key).await {
            Ok(answer) => answer.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => {
                return Ok(Err(Error::not_found("no _last_checkpoint").at("key", &key)));
            }
            Err(error) => return Err(Error::from(error).at("key", &key)),
        };
        let hint = serde_json::from_slice::<Hint>(&bytes);
        Ok(hint.map_err(|e| {
            Error::damaged("_last_checkpoint is not readable")
                .because(e)
                .at("key", &key)
        }))
    }

    /// The newest version. [`Kind::NotFound`] where there is no table.
    pub async fn newest(&self) -> Result<Version> {
        Ok(self.head().await?.latest)
    }

    /// Finds the newest version: the first page and the hint at once; then, in a long log,
    /// parallel probes that leap ahead and close in.
    pub(crate) async fn head(&self) -> Result<Head> {
        let (first, hint) = future::try_join(self.list(Version(0), PAGE), self.hint()).await?;
        let mut warnings = Vec::new();
        let hint = match hint {
            Ok(hint) => Some(hint),
            Err(error) if error.kind() == Kind::NotFound => None,
            Err(error) => {
                warnings.push(format!("{error}; the log was listed instead"));
                None
            }
        };
        let last = if first.end {
            first.clone()
        } else {
            self.last_page(&first, hint.as_ref()).await?
        };
        let latest = last.newest().or_else(|| first.newest());
        let Some(latest) = latest else {
            let key = self.root.clone().join(LOG);
            return Err(
                Error::not_found("no Delta table here: the log has no commit").at("key", key),
            );
        };
        if let Some(hint) = &hint
            && hint.version > latest.0
        {
            warnings.push(format!(
                "_last_checkpoint names version {}, but the newest version is {latest}; the log was listed instead",
                hint.version
            ));
        }
        Ok(Head {
            latest,
            first,
            last,
            hint,
            warnings,
        })
    }

    /// The page that holds the newest commit.
    async fn last_page(&self, first: &Listed, hint: Option<&Hint>) -> Result<Listed> {
        let mut low = first.last_name_version().unwrap_or_default().0;
        let mut page = first.clone();
        if let Some(hint) = hint.filter(|h| h.version > low) {
            let listed = self.list(Version(hint.version), PAGE).await?;
            if listed.newest().is_some() {
                low = listed.last_name_version().unwrap_or_default().0;
                if listed.end {
                    return Ok(listed);
                }
                page = listed;
            }
        }
        // Leap: each probe eight times as far as the one before, all at once.
        let leaps: Vec<u64> = (1..=18u32)
            .map_while(|i| low.checked_add(500 << (3 * i)))
            .collect();
        let found = self.probe(&leaps, PROBE).await?;
        let mut high = u64::MAX;
        for (at, listed) in leaps.iter().zip(&found) {
            match listed.newest() {
                Some(newest) => low = low.max(newest.0),
                None => {
                    high = *at;
                    break;
                }
            }
        }
        // Close in: the span shrinks by the number of probes each round.
        let probes = PARALLEL as u64;
        while high - low > probes * 250 {
            let step = (high - low).div_ceil(probes + 1);
            let at: Vec<u64> = (1..=probes)
                .map_while(|i| low.checked_add(step * i))
                .filter(|v| *v < high)
                .collect();
            let found = self.probe(&at, PROBE).await?;
            for (at, listed) in at.iter().zip(&found) {
                match listed.newest() {
                    Some(newest) => low = low.max(newest.0),
                    None => {
                        high = *at;
                        break;
                    }
                }
            }
        }
        // The span fits in a few pages: read them all.
        let at: Vec<u64> = (low..high).step_by(400).collect();
        for listed in self.probe(&at, PAGE).await?.into_iter().rev() {
            if listed.newest().is_some() {
                page = listed;
                break;
            }
        }
        while !page.end {
            let Some(last) = page.last_name_version() else {
                break;
            };
            let more = self.list(last, PAGE).await?;
            if more
                .last_name_version()
                .is_none_or(|v| v <= last && !more.end)
            {
                let beyond = self.list(last.next(), PAGE).await?;
                if beyond.newest().is_none() {
                    page.end = true;
                    break;
                }
                page = beyond;
                continue;
            }
            page = more;
        }
        Ok(page)
    }

    async fn probe(&self, at: &[u64], limit: usize) -> Result<Vec<Listed>> {
        let probes = at.iter().map(|v| self.list(Version(*v), limit));
        future::try_join_all(probes).await
    }

    /// Reads a commit file; `None` where there is none.
    pub(crate) async fn read_commit(
        &self,
        version: Version,
    ) -> Result<Option<(ObjectMeta, bytes::Bytes)>> {
        read_optional(&self.store, &commit_key(&self.root, version)).await
    }
}

/// Reads an object; `None` where there is none.
pub(crate) async fn read_optional(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
) -> Result<Option<(ObjectMeta, bytes::Bytes)>> {
    match store.get(key).await {
        Ok(answer) => {
            let meta = answer.meta.clone();
            let bytes = answer
                .bytes()
                .await
                .map_err(|e| Error::from(e).at("key", key))?;
            Ok(Some((meta, bytes)))
        }
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(Error::from(error).at("key", key)),
    }
}

/// The version that a file's name starts with.
pub(crate) fn version_of(file: &LogFile) -> Option<Version> {
    match file {
        LogFile::Commit(v) | LogFile::Checkpoint(v) | LogFile::Checksum(v) => Some(*v),
        LogFile::Part { version, .. } | LogFile::Uuid { version, .. } => Some(*version),
        LogFile::Compacted { low, .. } => Some(*low),
        LogFile::Other => None,
    }
}
