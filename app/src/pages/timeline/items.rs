//! The rows of the list: commits, folded runs, and what is not read yet. Pure.
//!
//! A history of a hundred thousand commits is a handful of segments here; a row is found by
//! bisection, and only rows near the viewport are ever made.

use std::collections::BTreeMap;
use std::sync::Arc;

use lake::wire::CommitRow;

use super::filter::Filter;

/// Fewer commits than this are not worth folding.
const SHORTEST_RUN: usize = 4;

/// An append of at most so many bytes is small.
const SMALL_BYTES: u64 = 64 << 20;

/// Commits by version.
pub(super) type Commits = BTreeMap<u64, Arc<CommitRow>>;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A commit that was read.
    Commit(Arc<CommitRow>),
    /// The log was read here and has no such version.
    Missing(u64),
    /// A version that was not read yet.
    Waiting(u64),
    /// Small commits of one writer, folded.
    Fold(Arc<Run>),
    /// Versions that were not read and so were not searched: newest, oldest.
    Unsearched(u64, u64),
}

/// A folded run of commits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Run {
    /// Newest version.
    pub(super) newest: u64,
    /// Oldest version.
    pub(super) oldest: u64,
    /// Commits in it.
    pub(super) commits: u64,
    /// What they all did, as their writer says.
    pub(super) operation: Option<String>,
    /// Who, with what differs left out: `job 88…`.
    pub(super) by: Option<String>,
    /// Sum, where every commit states it.
    pub(super) files: Option<u64>,
    /// Sum, where every commit states it.
    pub(super) bytes: Option<u64>,
    /// Sum, where every commit states it.
    pub(super) rows: Option<u64>,
    /// Time of the newest.
    pub(super) until: Option<lake::table::Time>,
    /// Time of the oldest.
    pub(super) since: Option<lake::table::Time>,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    One(Item),
    /// Newest and oldest of versions that are rows of their own and not read.
    Waiting(u64, u64),
}

/// All rows, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Items {
    segments: Vec<Segment>,
    /// Row at which each segment starts.
    starts: Vec<usize>,
    len: usize,
    /// Commits that are rows of their own.
    pub(super) shown: u64,
    /// Commits that are in folded runs.
    pub(super) folded: u64,
    /// Commits that were read and are not wanted.
    pub(super) left_out: u64,
}

/// How the rows are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// Which commits are wanted.
    pub(super) filter: Filter,
    /// Whether runs of small commits are folded.
    pub(super) fold: bool,
    /// Newest and oldest versions of runs that were unfolded.
    pub(super) unfolded: Vec<(u64, u64)>,
    /// Versions that stay rows of their own.
    pub(super) kept: Vec<u64>,
}

impl Items {
    /// Makes the rows of versions `oldest..=newest`. `read` says of a version whether the log was
    /// read there.
    pub(super) fn new(
        newest: u64,
        oldest: u64,
        commits: &Commits,
        read: &[(u64, u64)],
        shape: &Shape,
    ) -> Self {
        let mut items = Self::default();
        let mut next = Some(newest);
        // `read` is sorted, newest first, and does not overlap.
        for &(high, low) in read {
            let (high, low) = (high.min(newest), low.max(oldest));
            if high < low {
                continue;
            }
            if let Some(next) = next.filter(|n| *n > high) {
                items.push_unread(next, high + 1, shape);
            }
            items.push_read(high, low, commits, shape);
            next = low.checked_sub(1);
        }
        if let Some(next) = next.filter(|n| *n >= oldest) {
            items.push_unread(next, oldest, shape);
        }
        items
    }

    /// Rows in all.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Rows from the newest before the first that waits to be read.
    pub(super) fn read(&self) -> usize {
        let waits = |s: &Segment| matches!(s, Segment::Waiting(..));
        let first = self.segments.iter().position(waits);
        first
            .and_then(|i| self.starts.get(i).copied())
            .unwrap_or(self.len)
    }

    /// Row `index`.
    pub(super) fn at(&self, index: usize) -> Option<Item> {
        let segment = self
            .starts
            .partition_point(|s| *s <= index)
            .checked_sub(1)?;
        match self.segments.get(segment)? {
            Segment::One(item) => (index < self.len).then(|| item.clone()),
            Segment::Waiting(newest, _) => {
                let within = (index - self.starts.get(segment)?) as u64;
                (index < self.len).then(|| Item::Waiting(newest - within))
            }
        }
    }

    /// The row that shows a version, or the nearest older one where it is left out.
    pub(super) fn index_of(&self, version: u64) -> Option<usize> {
        let segment = self.segments.partition_point(|s| s.oldest() > version);
        let start = *self.starts.get(segment)?;
        match self.segments.get(segment)? {
            Segment::Waiting(newest, _) => Some(start + newest.saturating_sub(version) as usize),
            Segment::One(_) => Some(start),
        }
    }

    fn push(&mut self, segment: Segment) {
        self.starts.push(self.len);
        self.len += segment.rows();
        self.segments.push(segment);
    }

    fn push_unread(&mut self, newest: u64, oldest: u64, shape: &Shape) {
        // A search cannot know what it has not read: one row says so.
        self.push(if shape.filter.all() {
            Segment::Waiting(newest, oldest)
        } else {
            Segment::One(Item::Unsearched(newest, oldest))
        });
    }

    fn push_read(&mut self, high: u64, low: u64, commits: &Commits, shape: &Shape) {
        let mut run: Vec<Arc<CommitRow>> = Vec::new();
        for version in (low..=high).rev() {
            let Some(commit) = commits.get(&version) else {
                self.flush(&mut run, shape);
                if shape.filter.all() {
                    self.push(Segment::One(Item::Missing(version)));
                }
                continue;
            };
            if !shape.filter.takes(commit) {
                self.left_out += 1;
                continue;
            }
            let foldable = shape.fold && small(commit) && !shape.kept.contains(&version);
            let same = run.last().is_none_or(|last| alike(last, commit));
            if !foldable || !same {
                self.flush(&mut run, shape);
            }
            if foldable {
                run.push(Arc::clone(commit));
            } else {
                self.shown += 1;
                self.push(Segment::One(Item::Commit(Arc::clone(commit))));
            }
        }
        self.flush(&mut run, shape);
    }

    fn flush(&mut self, run: &mut Vec<Arc<CommitRow>>, shape: &Shape) {
        let run = std::mem::take(run);
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return;
        };
        let open =
            |(newest, oldest): &(u64, u64)| *oldest <= first.version.0 && last.version.0 <= *newest;
        if run.len() < SHORTEST_RUN || shape.unfolded.iter().any(open) {
            self.shown += run.len() as u64;
            for commit in run {
                self.push(Segment::One(Item::Commit(commit)));
            }
        } else {
            self.folded += run.len() as u64;
            self.push(Segment::One(Item::Fold(Arc::new(Run::new(&run)))));
        }
    }
}

impl Segment {
    fn rows(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Waiting(newest, oldest) => (newest - oldest) as usize + 1,
        }
    }

    fn oldest(&self) -> u64 {
        match self {
            Self::Waiting(_, oldest) | Self::One(Item::Unsearched(_, oldest)) => *oldest,
            Self::One(Item::Commit(commit)) => commit.version.0,
            Self::One(Item::Missing(version) | Item::Waiting(version)) => *version,
            Self::One(Item::Fold(run)) => run.oldest,
        }
    }
}

impl Run {
    fn new(commits: &[Arc<CommitRow>]) -> Self {
        let sum = |figure: fn(&CommitRow) -> Option<u64>| {
            commits
                .iter()
                .try_fold(0_u64, |sum, c| Some(sum.saturating_add(figure(c)?)))
        };
        let (newest, oldest) = (commits.first(), commits.last());
        Self {
            newest: newest.map_or(0, |c| c.version.0),
            oldest: oldest.map_or(0, |c| c.version.0),
            commits: commits.len() as u64,
            operation: newest.and_then(|c| c.operation.clone()),
            by: common(commits.iter().filter_map(|c| c.user.as_deref())),
            files: sum(|c| c.files_added),
            bytes: sum(|c| c.bytes_added),
            rows: sum(|c| c.rows_added),
            until: newest.and_then(|c| c.timestamp),
            since: oldest.and_then(|c| c.timestamp),
        }
    }
}

/// An append that is small, healthy, and changes nothing but rows.
fn small(commit: &CommitRow) -> bool {
    commit.damaged.is_none()
        && commit.reason.is_none()
        && commit.data_change
        && !commit.metadata_change
        && commit.files_removed == Some(0)
        && commit.files_added.is_some_and(|n| n > 0)
        && commit.bytes_added.is_some_and(|n| n <= SMALL_BYTES)
}

/// Whether two commits are the work of one job: same operation, same writer but for its number.
fn alike(a: &CommitRow, b: &CommitRow) -> bool {
    let stem = |c: &CommitRow| {
        let by = c.user.as_ref().or(c.engine.as_ref());
        by.map(|by| by.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned())
    };
    a.operation == b.operation && stem(a) == stem(b)
}

/// What all names have in common: the name, or its beginning and `…`.
fn common<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    let first = names.next()?;
    let (mut kept, mut whole) = (first, true);
    for name in names {
        let same = kept.char_indices().zip(name.chars());
        let same = same.take_while(|((_, a), b)| a == b).last();
        let end = same.map_or(0, |((i, c), _)| i + c.len_utf8());
        whole &= end == kept.len() && end == name.len();
        kept = kept.get(..end).unwrap_or_default();
    }
    Some(if whole {
        kept.to_owned()
    } else {
        format!("{kept}…")
    })
}

#[cfg(test)]
mod tests;
