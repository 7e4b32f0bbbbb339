//! Which version a time means (PROTOCOL, "In-Commit Timestamps"; else the commit files' own times).

use futures::future;

use super::commit::commit_times;
use super::history::monotone;
use super::log::{Head, Log, PARALLEL};
use crate::table::{At, Time, Version};
use crate::{Error, Result};

/// A time that is this far in the future was meant in another unit.
const IMPLAUSIBLE: i64 = 7_258_118_400_000;

impl Log {
    /// Finds the version that is meant. A time means the newest version committed at or before it.
    pub(crate) async fn resolve(&self, head: &Head, at: At) -> Result<Version> {
        match at {
            At::Latest => Ok(head.latest),
            At::Version(version) if version <= head.latest => Ok(version),
            At::Version(version) => Err(Error::not_found(format!(
                "there is no version {version}: the newest is {}",
                head.latest
            ))),
            At::Time(time) if time.0 > IMPLAUSIBLE => Err(Error::invalid(format!(
                "`{time}` lies after the year 2200: give seconds as seconds and milliseconds as milliseconds"
            ))),
            At::Time(time) => self.version_at(head, time).await,
        }
    }

    async fn version_at(&self, head: &Head, time: Time) -> Result<Version> {
        let first = head.extent().first_commit.unwrap_or(head.latest).0;
        let (mut low, mut high) = (first, head.latest.0);
        // Narrow by parallel probes while the span is wide; times of commits rise but for noise.
        while high - low > 4 * PARALLEL as u64 {
            let step = (high - low).div_ceil(PARALLEL as u64);
            let at: Vec<u64> = (1..PARALLEL as u64)
                .map(|i| low + step * i)
                .filter(|v| *v < high)
                .collect();
            let times = self.times(head, &at).await?;
            let mut next_low = low;
            let mut next_high = high;
            for (version, when) in &times {
                if when.0 <= time {
                    next_low = version.0
                } else {
                    next_high = version.0;
                    break;
                }
            }
            if (next_low, next_high) == (low, high) {
                break;
            }
            (low, high) = (next_low, next_high);
        }
        // A margin, so that times out of order by a few commits are put in order before judging.
        let margin = 2 * PARALLEL as u64;
        let from = low.saturating_sub(margin).max(first);
        let upto = high.saturating_add(margin).min(head.latest.0);
        let listed = head.listed();
        let versions: Vec<u64> = match listed.is_empty() {
            false => {
                let inside = |v: &u64| (from..=upto).contains(v);
                listed.iter().map(|(v, _)| v.0).filter(inside).collect()
            }
            true if upto - from > 8 * PARALLEL as u64 => {
                return Err(Error::damaged(format!(
                    "the log lacks versions between {low} and {high}, so nobody can tell which one was the newest at {time}"
                )));
            }
            true => (from..=upto).collect(),
        };
        let read = self.times(head, &versions).await?;
        let put: Vec<(Version, Time)> = read.iter().map(|(v, (t, _))| (*v, *t)).collect();
        let adjusted = monotone(&put);
        let mut answer = None;
        for ((version, (_, in_commit)), (_, put)) in read.iter().zip(&adjusted) {
            let when = if *in_commit {
                read.iter()
                    .find(|(v, _)| v == version)
                    .map_or(*put, |(_, (t, _))| *t)
            } else {
                *put
            };
            if when <= time {
                answer = Some(*version);
            }
        }
        answer.ok_or_else(|| {
            let oldest = adjusted
                .first()
                .map(|(v, t)| format!(": the oldest commit, version {v}, is of {t}"));
            Error::not_found(format!(
                "there was no version at {time}{}",
                oldest.unwrap_or_default()
            ))
        })
    }

    /// Times of commits that are there, and whether each is in-commit.
    async fn times(&self, head: &Head, versions: &[u64]) -> Result<Vec<(Version, (Time, bool))>> {
        let reads = versions.iter().map(|v| self.read_commit(Version(*v)));
        let read = future::try_join_all(reads).await?;
        let put_times = head.times();
        let time = |(version, read): (&u64, Option<(object_store::ObjectMeta, bytes::Bytes)>)| {
            let (meta, bytes) = read?;
            let (put, in_commit) = commit_times(&meta, &bytes);
            let put = put_times.put(Version(*version)).unwrap_or(put);
            Some((
                Version(*version),
                (in_commit.unwrap_or(put), in_commit.is_some()),
            ))
        };
        Ok(versions.iter().zip(read).filter_map(time).collect())
    }
}
