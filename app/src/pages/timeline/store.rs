//! The history as far as it was read: what is known, what is wanted, what is on its way.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::{AbortHandle, abortable};
use lake::host::Progress;
use lake::table::Version;
use lake::wire::{Format, HistoryQuery, HistoryReport, TableRef};
use lake::{Error, Result};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::order::sorted;
use crate::session::Session;
use crate::signals::{RwSignal, StoredValue};

use super::items::Commits;

/// Commits asked for at once.
pub(super) const CHUNK: u64 = 100;

/// Questions on their way at once.
const AT_ONCE: usize = 2;

/// Chunks read for one look at the page without a person scrolling: folding can make a hundred
/// commits one row, and a history must not be read to its end to fill a screen.
const WITHOUT_SCROLLING: u32 = 6;

/// What the first answer said about the whole history.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) location: String,
    pub(super) format: Format,
    pub(super) latest: u64,
    pub(super) first: u64,
    /// The oldest version that can be rebuilt from the log.
    pub(super) earliest: Option<u64>,
    pub(super) warnings: Vec<String>,
}

/// A history that is read in chunks, counted from its newest version.
#[derive(Clone, Copy)]
pub(super) struct Store {
    session: Session,
    pub(super) known: RwSignal<Option<Known>>,
    pub(super) commits: RwSignal<Arc<Commits>>,
    /// Newest and oldest version of each stretch that was read, newest first.
    pub(super) read: RwSignal<Vec<(u64, u64)>>,
    /// Why a chunk could not be read.
    pub(super) failed: RwSignal<BTreeMap<u64, Error>>,
    pub(super) progress: RwSignal<Option<Progress>>,
    pub(super) flying: RwSignal<BTreeMap<u64, ()>>,
    aborts: StoredValue<BTreeMap<u64, AbortHandle>>,
    wanted: StoredValue<Vec<u64>>,
    budget: StoredValue<u32>,
}

impl Store {
    /// Starts with the newest commits.
    pub(super) fn new(session: Session) -> Self {
        let store = Self {
            session,
            known: RwSignal::new(None),
            commits: RwSignal::new(Arc::default()),
            read: RwSignal::new(Vec::new()),
            failed: RwSignal::new(BTreeMap::new()),
            progress: RwSignal::new(None),
            flying: RwSignal::new(BTreeMap::new()),
            aborts: StoredValue::new(BTreeMap::new()),
            wanted: StoredValue::new(vec![0]),
            budget: StoredValue::new(WITHOUT_SCROLLING),
        };
        on_cleanup(move || store.stop());
        store.pump();
        store
    }

    /// Commits of the whole history.
    pub(super) fn total(self) -> u64 {
        self.known
            .with(|k| k.as_ref().map_or(0, |k| k.latest - k.first + 1))
    }

    /// Versions that were read.
    pub(super) fn read_total(self) -> u64 {
        self.read
            .with(|r| r.iter().map(|(newest, oldest)| newest - oldest + 1).sum())
    }

    /// The chunk that holds a version.
    pub(super) fn chunk_of(self, version: u64) -> Option<u64> {
        let latest = self
            .known
            .with_untracked(|k| k.as_ref().map(|k| k.latest))?;
        Some(latest.checked_sub(version)? / CHUNK)
    }

    /// A person moved: what is seen next may be read.
    pub(super) fn scrolled(self) {
        self.budget.set_value(WITHOUT_SCROLLING);
    }

    /// These chunks are seen; others need not be read any more.
    pub(super) fn want(self, chunks: Vec<u64>) {
        let mut taken_back = Vec::new();
        self.aborts.update_value(|aborts| {
            aborts.retain(|chunk, handle| {
                let keep = chunks.contains(chunk) || *chunk == 0;
                if !keep {
                    handle.abort();
                    taken_back.push(*chunk);
                }
                keep
            });
        });
        if !taken_back.is_empty() {
            self.flying
                .update(|f| f.retain(|c, ()| !taken_back.contains(c)));
        }
        self.wanted.set_value(chunks);
        self.pump();
    }

    /// Reads the newest `chunks` that are not read yet: a search goes on.
    pub(super) fn read_more(self, chunks: u64) {
        let Some(last) = self.last_chunk() else {
            return;
        };
        let unread = (0..=last).filter(|c| !self.is_read(*c));
        let next: Vec<u64> = unread.take(chunks as usize).collect();
        self.budget.set_value(next.len() as u32);
        self.failed.update(|f| f.retain(|c, _| !next.contains(c)));
        self.want(next);
    }

    /// Reads a chunk again that could not be read.
    pub(super) fn again(self, chunk: u64) {
        self.failed.update(|f| {
            f.remove(&chunk);
        });
        self.budget.set_value(WITHOUT_SCROLLING);
        self.want(vec![chunk]);
    }

    /// Takes all questions back.
    pub(super) fn stop(self) {
        self.wanted.set_value(Vec::new());
        self.aborts.try_update_value(|aborts| {
            for (_, handle) in std::mem::take(aborts) {
                handle.abort();
            }
        });
        self.flying.try_set(BTreeMap::new());
        self.progress.try_set(None);
    }

    fn last_chunk(self) -> Option<u64> {
        self.known
            .with_untracked(|k| k.as_ref().map(|k| (k.latest - k.first) / CHUNK))
    }

    fn is_read(self, chunk: u64) -> bool {
        let Some(latest) = self.known.with_untracked(|k| k.as_ref().map(|k| k.latest)) else {
            return false;
        };
        let newest = latest.saturating_sub(chunk * CHUNK);
        self.read.with_untracked(|r| {
            r.iter()
                .any(|(high, low)| *low <= newest && newest <= *high)
        })
    }

    /// Asks for the next wanted chunks, as many as may be on their way.
    fn pump(self) {
        let wanted = self.wanted.get_value();
        for chunk in wanted {
            let flying = self
                .aborts
                .with_value(|a| (a.len(), a.contains_key(&chunk)));
            let failed = self.failed.with_untracked(|f| f.contains_key(&chunk));
            if flying.0 >= AT_ONCE || self.budget.get_value() == 0 {
                return;
            }
            if !flying.1 && !failed && !self.is_read(chunk) {
                self.budget.update_value(|b| *b = b.saturating_sub(1));
                self.ask(chunk);
            }
        }
    }

    fn ask(self, chunk: u64) {
        let Some(table) = untrack(|| self.session.table_ref()) else {
            return;
        };
        let (question, handle) = abortable(self.question(table, chunk));
        self.aborts.update_value(|a| {
            a.insert(chunk, handle);
        });
        self.flying.update(|f| {
            f.insert(chunk, ());
        });
        spawn_local(async move {
            let Ok(answer) = question.await else { return };
            if self.aborts.try_update_value(|a| a.remove(&chunk)).is_none() {
                return;
            }
            match answer {
                Ok(report) => self.take(chunk, report),
                Err(error) => self.failed.update(|f| {
                    f.insert(chunk, error);
                }),
            }
            self.flying.update(|f| {
                f.remove(&chunk);
            });
            self.pump();
        });
    }

    fn question(
        self,
        table: TableRef,
        chunk: u64,
    ) -> impl Future<Output = Result<HistoryReport>> + use<> {
        let latest = self.known.with_untracked(|k| k.as_ref().map(|k| k.latest));
        let before = match (chunk, latest) {
            // New commits may arrive while the page is open; its rows are counted from this head.
            (0, None) | (_, None) => None,
            (chunk, Some(latest)) => Some(Version(latest.saturating_sub(chunk * CHUNK) + 1)),
        };
        let query = HistoryQuery {
            limit: CHUNK as u32,
            before,
        };
        let engine = self.session.engine().watched(self.progress);
        async move { engine.history(table, query).await }
    }

    fn take(self, chunk: u64, report: HistoryReport) {
        let latest = self.known.with_untracked(|k| k.as_ref().map(|k| k.latest));
        let latest = latest.unwrap_or(report.latest_version.0);
        let lowest = report.commits.iter().map(|c| c.version.0).min();
        let first = report.first_commit.map(|v| v.0);
        let first = first.or(lowest).unwrap_or(latest).min(latest);
        let newest = latest.saturating_sub(chunk * CHUNK);
        let oldest = newest.saturating_sub(CHUNK - 1).max(first);
        let mut commits = self.commits.with_untracked(|c| c.as_ref().clone());
        commits.extend(
            report
                .commits
                .into_iter()
                .map(|c| (c.version.0, Arc::new(c))),
        );
        let known = Known {
            location: report.location,
            format: report.format,
            latest,
            first,
            earliest: report.earliest_version.map(|v| v.0),
            warnings: report.warnings,
        };
        self.commits.set(Arc::new(commits));
        self.read.update(|read| add_stretch(read, (newest, oldest)));
        if self.known.with_untracked(|k| k.as_ref() != Some(&known)) {
            self.known.set(Some(known));
        }
    }
}

/// Adds a stretch to those that were read; neighbours become one.
fn add_stretch(read: &mut Vec<(u64, u64)>, new: (u64, u64)) {
    read.push(new);
    *read = sorted(std::mem::take(read), |a, b| b.cmp(a));
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(read.len());
    for &(high, low) in read.iter() {
        match joined.last_mut() {
            Some(last) if high + 1 >= last.1 => last.1 = last.1.min(low),
            _ => joined.push((high, low)),
        }
    }
    *read = joined;
}

#[cfg(test)]
mod tests {
    use super::add_stretch;

    #[test]
    fn neighbours_become_one() {
        let mut read = Vec::new();
        for stretch in [(299, 200), (99, 0), (499, 400), (199, 100)] {
            add_stretch(&mut read, stretch);
        }
        assert_eq!(read, [(499, 400), (299, 0)]);
        add_stretch(&mut read, (450, 420));
        assert_eq!(read, [(499, 400), (299, 0)]);
    }
}
