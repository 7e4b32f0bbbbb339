//! A long list of which only the pages near the viewport are asked for.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use futures::future::{AbortHandle, LocalBoxFuture, abortable};
use lake::host::Progress;
use lake::{Error, Result};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::parts::Window;
use crate::signals::{RwSignal, StoredValue, effect};

/// Rows of one question.
pub const PAGE: u32 = 200;

/// A list no longer than this is read to its end, so that paper has all of it.
const SHORT: u64 = 2_000;

/// One answer: a page of the list, and how long the list is.
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Rows of the list.
    pub matching: u64,
    /// Rows there would be without a filter.
    pub total: u64,
}

/// Asks for `limit` rows from `offset`.
pub type Fetch<T> = Rc<dyn Fn(u64, u32) -> LocalBoxFuture<'static, Result<Page<T>>>>;

/// The list as far as it was read.
pub struct Paged<T: Send + Sync + 'static> {
    /// Which rows are near the viewport: for the grid.
    pub seen: RwSignal<Window>,
    pages: RwSignal<HashMap<u64, Arc<Vec<T>>>>,
    length: RwSignal<Option<(u64, u64)>>,
    failed: RwSignal<Option<Error>>,
    waiting: RwSignal<usize>,
    progress: RwSignal<Option<Progress>>,
    fetch: StoredValue<Option<Fetch<T>>>,
    asked: StoredValue<HashSet<u64>>,
    running: StoredValue<Vec<AbortHandle>>,
    round: StoredValue<u64>,
    ready: StoredValue<bool>,
    again: Trigger,
}

impl<T: Send + Sync + 'static> Clone for Paged<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Paged<T> {}

impl<T: Clone + Send + Sync + 'static> Paged<T> {
    /// The list that `source` says how to ask for, anew whenever a signal it read changes. The
    /// rows before stay until the first new ones are there.
    pub fn new(source: impl Fn(RwSignal<Option<Progress>>) -> Fetch<T> + 'static) -> Self {
        let list = Self {
            seen: RwSignal::new(Window::default()),
            pages: RwSignal::new(HashMap::new()),
            length: RwSignal::new(None),
            failed: RwSignal::new(None),
            waiting: RwSignal::new(0),
            progress: RwSignal::new(None),
            fetch: StoredValue::new(None),
            asked: StoredValue::new(HashSet::new()),
            running: StoredValue::new(Vec::new()),
            round: StoredValue::new(0),
            ready: StoredValue::new(false),
            again: Trigger::new(),
        };
        effect(move || {
            list.again.track();
            let fetch = source(list.progress);
            list.restart(fetch);
        });
        effect(move || {
            let seen = list.seen.get();
            list.want(seen);
        });
        on_cleanup(move || list.cancel());
        list
    }

    /// Rows of the list, tracked; 0 before it is known.
    pub fn count(self) -> usize {
        let (matching, _) = self.length.get().unwrap_or_default();
        usize::try_from(matching).unwrap_or(usize::MAX)
    }

    /// Rows from the top that were read, tracked.
    pub fn read(self) -> usize {
        let count = self.count();
        let there = self.pages.with(|pages| {
            let missing = (0..).find(|page| !pages.contains_key(page));
            missing.unwrap_or(u64::MAX).saturating_mul(u64::from(PAGE))
        });
        count.min(usize::try_from(there).unwrap_or(usize::MAX))
    }

    /// Rows that match and rows in all, tracked.
    pub fn length(self) -> Option<(u64, u64)> {
        self.length.get()
    }

    /// Row `i` if it was read, tracked.
    pub fn get(self, i: usize) -> Option<T> {
        self.pages.with(|pages| row(pages, i))
    }

    /// Row `i` if it was read.
    pub fn get_untracked(self, i: usize) -> Option<T> {
        self.pages.with_untracked(|pages| row(pages, i))
    }

    /// Why there are no rows, tracked.
    pub fn failed(self) -> Option<Error> {
        self.failed.get()
    }

    /// Whether an answer is waited for, tracked.
    pub fn pending(self) -> bool {
        self.waiting.get() > 0
    }

    /// How far the question has come.
    pub fn progress(self) -> RwSignal<Option<Progress>> {
        self.progress
    }

    /// Asks again.
    pub fn again(self) {
        self.again.notify();
    }

    /// Takes the questions back and says so.
    pub fn stop(self) {
        self.cancel();
        self.waiting.set(0);
        self.failed.set(Some(Error::new(
            lake::Kind::Cancelled,
            "the question was taken back",
        )));
    }

    /// How the list is asked for now: for an export of all of it.
    pub fn source(self) -> Option<Fetch<T>> {
        self.fetch.get_value()
    }

    fn restart(self, fetch: Fetch<T>) {
        self.cancel();
        self.round.update_value(|round| *round += 1);
        self.asked.update_value(HashSet::clear);
        self.fetch.set_value(Some(fetch));
        self.failed.set(None);
        self.waiting.set(0);
        self.ready.set_value(false);
        self.ask(0);
    }

    fn want(self, seen: Window) {
        // Where the list ends is known with the first answer; asking before it would be in vain.
        let length = self.length.get_untracked();
        let (true, Some((matching, _))) = (self.ready.get_value(), length) else {
            return;
        };
        let size = u64::from(PAGE);
        let last = (seen.last as u64).min(matching);
        let first = seen.first as u64 / size;
        for page in first..last.div_ceil(size).max(first) {
            self.ask(page);
        }
    }

    fn ask(self, page: u64) {
        let fresh = self.asked.try_update_value(|asked| asked.insert(page));
        let fetch = self.fetch.try_get_value().flatten();
        let (Some(true), Some(fetch)) = (fresh, fetch) else {
            return;
        };
        let round = self.round.get_value();
        let (answer, handle) = abortable(fetch(page * u64::from(PAGE), PAGE));
        self.running.update_value(|running| {
            running.retain(|h| !h.is_aborted());
            running.push(handle);
        });
        self.waiting.update(|n| *n += 1);
        spawn_local(async move {
            let Ok(answer) = answer.await else { return };
            if self.round.try_get_value() == Some(round) {
                self.finish(page, answer);
            }
        });
    }

    fn finish(self, page: u64, answer: Result<Page<T>>) {
        self.waiting.update(|n| *n = n.saturating_sub(1));
        match answer {
            Ok(answer) => {
                // The first answer of a new list replaces the list before.
                let fresh = page == 0;
                self.pages.update(|pages| {
                    if fresh {
                        pages.clear();
                    }
                    pages.insert(page, Arc::new(answer.items));
                });
                let length = Some((answer.matching, answer.total));
                if self.length.get_untracked() != length {
                    self.length.set(length);
                }
                if fresh {
                    self.ready.set_value(true);
                    self.want(self.seen.get_untracked());
                }
                if answer.matching <= SHORT {
                    // One after the other: what is scrolled to is not kept waiting.
                    let pages = answer.matching.div_ceil(u64::from(PAGE));
                    let next = |asked: &HashSet<u64>| (0..pages).find(|p| !asked.contains(p));
                    if let Some(next) = self.asked.with_value(next) {
                        self.ask(next);
                    }
                }
            }
            Err(error) => {
                self.asked.update_value(|asked| {
                    asked.remove(&page);
                });
                self.failed.set(Some(error));
            }
        }
    }

    fn cancel(self) {
        let running = self.running.try_update_value(std::mem::take);
        for handle in running.unwrap_or_default() {
            handle.abort();
        }
    }
}

fn row<T: Clone>(pages: &HashMap<u64, Arc<Vec<T>>>, i: usize) -> Option<T> {
    let size = u64::from(PAGE);
    let place = i as u64;
    let page = pages.get(&(place / size))?;
    page.get((place % size) as usize).cloned()
}
