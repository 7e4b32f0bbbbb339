//! The commits of a log, newest first, without loading the log.

use chrono::{DateTime, Utc};
use futures::{StreamExt, stream};
use serde_json::Value;

use super::commit::{Summary, commit_times};
use super::log::{Head, Listed, Log};
use super::path::LogFile;
use super::removed::Removed;
use super::segment::checkpoints;
use crate::host::{Progress, SharedHost};
use crate::table::{Time, Version};
use crate::wire::{CommitRow, HistoryQuery};
use crate::{Kind, Result};

/// Commits fetched at once.
const AHEAD: usize = 64;

/// More commits than this are never read for one page.
const LARGEST_PAGE: u32 = 5_000;

/// A log with at most this many commits after its newest checkpoint is short.
const SHORT: u64 = 200;

/// A page of history.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) rows: Vec<CommitRow>,
    pub(crate) next_before: Option<Version>,
    pub(crate) warnings: Vec<String>,
}

/// What the log still holds, as far as the listings at hand tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The oldest version that can be rebuilt.
    pub(crate) earliest: Option<Version>,
    /// The oldest commit.
    pub(crate) first_commit: Option<Version>,
    /// Versions that are missing between commits, where the whole log was listed: at most a few.
    pub(crate) holes: Vec<Version>,
}

impl Head {
    /// What can be rebuilt. Exact where the whole log was listed; else judged by its first page.
    pub(crate) fn extent(&self) -> Extent {
        let first_commit = self.first.commits().next().map(|(v, _)| v);
        let from_start = first_commit == Some(Version(0));
        let oldest = checkpoints(&self.first.entries, Version(u64::MAX))
            .last()
            .map(|c| c.version);
        let earliest = if from_start { Some(Version(0)) } else { oldest };
        let mut holes = Vec::new();
        let mut before: Option<Version> = None;
        for (version, _) in self.first.commits() {
            if let Some(before) = before {
                holes.extend((before.0 + 1..version.0).take(20).map(Version));
            }
            before = Some(version);
            if holes.len() > 20 {
                break;
            }
        }
        Extent {
            earliest,
            first_commit,
            holes,
        }
    }

    /// Whether a version can be rebuilt; `None` where the listings at hand do not tell.
    pub(crate) fn rebuildable(&self, version: Version) -> Option<bool> {
        if version > self.latest {
            return Some(false);
        }
        if !self.first.end {
            let earliest = self.extent().earliest?;
            return if version < earliest {
                Some(false)
            } else {
                None
            };
        }
        let base = checkpoints(&self.first.entries, version)
            .first()
            .map(|c| c.version);
        let after = base.map_or(0, |v| v.0 + 1);
        let wanted = (version.0 + 1).saturating_sub(after);
        let inside = |v: Version| v.0 >= after && v <= version;
        let there = self.first.commits().filter(|(v, _)| inside(*v)).count() as u64;
        Some(there == wanted)
    }

    /// What tells a version's commit file from another of its name, where a listing at hand has it.
    pub(crate) fn identity(&self, version: Version) -> Option<String> {
        let meta =
            commit_meta(&self.last, version).or_else(|| commit_meta(&self.first, version))?;
        let tag = meta.e_tag.clone().unwrap_or_default();
        Some(format!(
            "{tag} {} {}",
            meta.last_modified.timestamp_micros(),
            meta.size
        ))
    }

    /// Commits after the newest checkpoint that a listing at hand shows.
    pub(crate) fn tail_length(&self) -> u64 {
        let base = checkpoints(&self.last.entries, self.latest)
            .first()
            .map_or(0, |c| c.version.0);
        self.latest.0.saturating_sub(base)
    }

    /// Whether the log is short enough that a version is rebuilt only to count or to look up.
    pub(crate) fn is_short(&self) -> bool {
        self.first.end && self.tail_length() <= SHORT
    }

    /// Marks versions that a damaged commit stands before, with no checkpoint between.
    fn mark_unrebuildable(&self, rows: &mut [CommitRow]) {
        if !self.first.end {
            return;
        }
        let damaged: Vec<Version> = rows
            .iter()
            .filter(|row| row.damaged.is_some())
            .map(|row| row.version)
            .collect();
        if damaged.is_empty() {
            return;
        }
        for row in rows {
            let found = checkpoints(&self.first.entries, row.version);
            let base = found.first().map(|c| c.version);
            let between = |v: &Version| base.is_none_or(|base| *v > base) && *v <= row.version;
            if damaged.iter().any(between) {
                row.restorable = Some(false);
            }
        }
    }

    /// Commits of a log that was listed whole, with the time that counts for each: never standing
    /// still from version to version. Empty for a longer log.
    pub(crate) fn listed(&self) -> Vec<(Version, Time)> {
        match self.first.end {
            true => self.times().0,
            false => Vec::new(),
        }
    }

    /// When commits were put, as far as a listing at hand tells.
    pub(crate) fn times(&self) -> PutTimes {
        let listed = if self.first.end {
            &self.first
        } else {
            &self.last
        };
        let times: Vec<(Version, Time)> = listed
            .commits()
            .map(|(v, m)| (v, millis(m.last_modified)))
            .collect();
        PutTimes(monotone(&times))
    }
}

/// Times of commit files made monotone, as every engine does that resolves by them: a commit put
/// no later than the one before it counts as put a millisecond after it.
#[derive(Clone, Debug)]
pub(crate) struct PutTimes(Vec<(Version, Time)>);

impl PutTimes {
    /// The time that counts for a version; `None` where its file was not listed.
    pub(crate) fn put(&self, version: Version) -> Option<Time> {
        let at = self.0.binary_search_by_key(&version, |(v, _)| *v).ok()?;
        self.0.get(at).map(|(_, time)| *time)
    }
}

impl Log {
    /// Reads a page of history: one GET a commit, in parallel.
    pub(crate) async fn history(
        &self,
        head: &Head,
        query: &HistoryQuery,
        host: &SharedHost,
    ) -> Result<Page> {
        self.page(head, query, None, host).await
    }

    /// As [`Log::history`], with the rows of removed files from the page's own adds where the
    /// removes do not state them.
    pub(crate) async fn history_with_removed(
        &self,
        head: &Head,
        query: &HistoryQuery,
        host: &SharedHost,
    ) -> Result<Page> {
        let mut removed = Removed::default();
        let mut page = self.page(head, query, Some(&mut removed), host).await?;
        for row in &mut page.rows {
            row.rows_removed = row.rows_removed.or_else(|| removed.rows(row.version));
        }
        Ok(page)
    }

    async fn page(
        &self,
        head: &Head,
        query: &HistoryQuery,
        mut removed: Option<&mut Removed>,
        host: &SharedHost,
    ) -> Result<Page> {
        let limit = query.limit.clamp(1, LARGEST_PAGE) as usize;
        let before = query.before.map_or(head.latest.0.saturating_add(1), |v| {
            v.0.min(head.latest.0.saturating_add(1))
        });
        let extent = head.extent();
        let first = extent.first_commit.map_or(u64::MAX, |v| v.0);
        let wanted: Vec<Version> = if head.first.end {
            head.first
                .commits()
                .rev()
                .map(|(v, _)| v)
                .filter(|v| v.0 < before)
                .take(limit)
                .collect()
        } else {
            (first..before).rev().take(limit).map(Version).collect()
        };
        let all = wanted.len() as u64;
        let mut rows: Vec<CommitRow> = Vec::with_capacity(wanted.len());
        let mut warnings = Vec::new();
        let mut fetched = stream::iter(wanted.iter().copied())
            .map(|version| async move { (version, self.read_commit(version).await) })
            .buffered(AHEAD);
        while let Some((version, read)) = fetched.next().await {
            match read {
                // The others can be shown all the same.
                Err(error) if error.kind() == Kind::Denied => {
                    let summary = Summary {
                        damaged: Some(error),
                        ..Summary::default()
                    };
                    let put = Time(0);
                    let row = row(version, (put, None), &summary);
                    rows.push(CommitRow {
                        timestamp: None,
                        ..row
                    });
                }
                Err(error) => return Err(error),
                Ok(Some((meta, bytes))) => {
                    let summary = Summary::read(&bytes);
                    if let Some(removed) = &mut removed {
                        removed.take(version, &summary, &bytes);
                    }
                    rows.push(row(version, commit_times(&meta, &bytes), &summary));
                }
                Ok(None) => warnings.push(format!("version {version} is missing from the log")),
            }
            let done = (rows.len() + warnings.len()) as u64;
            if done.is_multiple_of(64) {
                host.progress(Progress {
                    step: "reading commits".to_owned(),
                    done,
                    of: Some(all),
                });
                host.pause().await;
            }
        }
        if let [hole, ..] = extent.holes.as_slice() {
            warnings.push(format!("version {hole} is missing from the log: versions after it can only be rebuilt from a later checkpoint"));
        }
        head.mark_unrebuildable(&mut rows);
        let times = head.times();
        for row in rows.iter_mut().filter(|row| !row.in_commit) {
            row.timestamp = times.put(row.version).or(row.timestamp);
        }
        for row in &mut rows {
            row.restorable = row
                .restorable
                .or_else(|| head.rebuildable(row.version).filter(|can| !can));
            row.parent = row.version.previous().filter(|v| v.0 >= first);
        }
        let next_before = wanted.last().copied().filter(|v| v.0 > first);
        Ok(Page {
            rows,
            next_before,
            warnings,
        })
    }
}

fn millis(time: DateTime<Utc>) -> Time {
    Time(time.timestamp_millis())
}

/// Times that never stand still, in the order of versions.
pub(crate) fn monotone(times: &[(Version, Time)]) -> Vec<(Version, Time)> {
    let mut last: Option<i64> = None;
    let mut adjusted = Vec::with_capacity(times.len());
    for (version, time) in times {
        let at = last.map_or(time.0, |last| time.0.max(last.saturating_add(1)));
        last = Some(at);
        adjusted.push((*version, Time(at)));
    }
    adjusted
}

/// One commit as a history shows it.
pub(crate) fn row(
    version: Version,
    (put, in_commit): (Time, Option<Time>),
    summary: &Summary,
) -> CommitRow {
    let whole = summary.damaged.is_none();
    let known = |n: u64| whole.then_some(n);
    CommitRow {
        version,
        timestamp: Some(in_commit.unwrap_or(put)),
        in_commit: in_commit.is_some(),
        writer_timestamp: summary.info_time("timestamp"),
        operation: summary.info_text("operation"),
        parameters: summary.info_value("operationParameters"),
        user: user(summary),
        engine: summary
            .info_text("engineInfo")
            .or_else(|| summary.info_text("clientVersion")),
        reason: summary.info_text("userMetadata"),
        metrics: summary.info_value("operationMetrics"),
        files_added: known(summary.files_added),
        files_removed: known(summary.files_removed),
        bytes_added: summary.bytes_added.0.filter(|_| whole),
        bytes_removed: summary.bytes_removed.0.filter(|_| whole),
        rows_added: summary.rows_added.0.filter(|_| whole),
        rows_removed: summary.rows_removed.0.filter(|_| whole),
        data_change: summary.data_change,
        parent: version.previous(),
        refs: Vec::new(),
        damaged: summary.damaged.as_ref().map(ToString::to_string),
        restorable: None,
        metadata_change: summary.metadata_change,
    }
}

fn user(summary: &Summary) -> Option<String> {
    let named = summary
        .info_text("userName")
        .or_else(|| summary.info_text("userId"));
    named.or_else(|| {
        let job = summary.info_value("job");
        let name = ["jobName", "jobId"]
            .iter()
            .find_map(|k| job.get(k).and_then(Value::as_str))?;
        Some(format!("job {name}"))
    })
}

fn commit_meta(listed: &Listed, version: Version) -> Option<&object_store::ObjectMeta> {
    listed
        .entries
        .iter()
        .find(|e| e.file == LogFile::Commit(version))
        .map(|e| &e.meta)
}
