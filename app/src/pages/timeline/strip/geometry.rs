//! Where each bar of the strip stands: pure.

use lake::table::Time;

use crate::format;
use crate::parts::bar::share;

use super::super::items::Commits;
use super::super::measure::Measure;

/// Most bars at once.
pub(super) const MOST: u64 = 100;

/// Pixels to the left of the first bar, for the signs.
pub(super) const LEFT: f64 = 24.0;
/// The line from which bars grow up and down.
pub(super) const BASE: f64 = 62.0;
/// Height of a full bar.
pub(super) const FULL: f64 = 46.0;
/// Height of the picture.
pub(super) const HEIGHT: f64 = 118.0;

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) version: u64,
    pub(super) x: f64,
    pub(super) up: f64,
    pub(super) down: f64,
    pub(super) kind: Kind,
    /// It cannot be rebuilt any more.
    pub(super) dim: bool,
}

/// How a bar is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows came and went.
    Change,
    /// The same rows in other files: hollow.
    Rewrite,
    /// Neither: a dot on the line.
    Metadata,
    /// A figure is not known: hatched, of no height.
    Unknown,
    /// It cannot be read.
    Damaged,
    /// The log was not read here, or has no such version.
    Unread,
}

/// The strip.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Strip {
    /// Width of the picture in pixels.
    pub(super) width: f64,
    pub(super) marks: Vec<Mark>,
    /// Width of a bar.
    pub(super) bar: f64,
    /// From one bar to the next.
    pub(super) step: f64,
    /// Where the restorable past begins: between two bars.
    pub(super) line: Option<f64>,
    /// Dates below the bars.
    pub(super) dates: Vec<(f64, String)>,
}

/// Newest and oldest version of the strip that shows `version`: it moves by half its width, so
/// that it stands still while the list moves a little.
pub(super) fn range(version: u64, latest: u64, first: u64) -> (u64, u64) {
    let back = latest.saturating_sub(version) / (MOST / 2) * (MOST / 2);
    let oldest = (latest - back).saturating_sub(MOST - 1).max(first);
    let newest = (oldest + MOST - 1).min(latest);
    (newest, oldest)
}

impl Strip {
    /// Lays the strip out in `width` pixels.
    pub(super) fn new(
        (newest, oldest): (u64, u64),
        commits: &Commits,
        measure: Measure,
        earliest: Option<u64>,
        width: f64,
    ) -> Self {
        let bars = (newest - oldest + 1) as f64;
        let step = ((width - LEFT - 8.0) / bars).clamp(2.0, 22.0);
        let bar = (step * 0.75).max(1.5);
        let figures = |v: u64| commits.get(&v).and_then(|c| measure.of(c));
        let largest = (oldest..=newest)
            .filter_map(figures)
            .map(|(came, went)| came.max(went))
            .max()
            .unwrap_or(0);
        let x = |version: u64| LEFT + 6.0 + (version - oldest) as f64 * step;
        let marks = (oldest..=newest).map(|version| {
            let kind = kind(commits, measure, version);
            let (came, went) = figures(version).unwrap_or_default();
            let high = |n| share(n, largest) * FULL;
            Mark {
                version,
                x: x(version),
                up: high(came),
                down: high(went),
                kind,
                dim: earliest.is_some_and(|e| version < e),
            }
        });
        let line = earliest.filter(|e| oldest < *e && *e <= newest);
        Self {
            width,
            marks: marks.collect(),
            bar,
            step,
            line: line.map(|e| x(e) - (step - bar) / 2.0),
            dates: dates(commits, oldest, newest, x),
        }
    }

    /// The version at a place.
    pub(super) fn at(&self, x: f64) -> Option<u64> {
        let first = self.marks.first()?;
        let last = self.marks.last()?;
        let steps = ((x - first.x + (self.step - self.bar) / 2.0) / self.step).floor();
        let version = first.version as f64 + steps;
        Some((version.max(first.version as f64) as u64).min(last.version))
    }
}

fn kind(commits: &Commits, measure: Measure, version: u64) -> Kind {
    let Some(commit) = commits.get(&version) else {
        return Kind::Unread;
    };
    if commit.damaged.is_some() {
        return Kind::Damaged;
    }
    match measure.of(commit) {
        None => Kind::Unknown,
        Some((0, 0)) => Kind::Metadata,
        Some(_) if !commit.data_change => Kind::Rewrite,
        Some(_) => Kind::Change,
    }
}

/// The first bar of each day, where there is room for its name.
fn dates(
    commits: &Commits,
    oldest: u64,
    newest: u64,
    x: impl Fn(u64) -> f64,
) -> Vec<(f64, String)> {
    const ROOM: f64 = 64.0;
    let mut dates: Vec<(f64, String)> = Vec::new();
    let mut today = None;
    for (version, commit) in commits.range(oldest..=newest) {
        let Some(time) = commit.timestamp else {
            continue;
        };
        let day = time.0.div_euclid(86_400_000);
        let place = x(*version);
        let room = dates.last().is_none_or(|(last, _)| place - last >= ROOM);
        if today != Some(day) && room {
            dates.push((place, format::month_day(Time(time.0))));
            today = Some(day);
        }
    }
    dates
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::commit;
    use super::*;
    use std::sync::Arc;

    fn commits() -> Commits {
        let mut all: Commits = (0..50).map(|v| (v, Arc::new(commit(v, "WRITE")))).collect();
        let mut delete = commit(48, "DELETE");
        (delete.rows_added, delete.rows_removed) = (Some(0), Some(1_000));
        all.insert(48, Arc::new(delete));
        let mut optimize = commit(40, "OPTIMIZE");
        optimize.data_change = false;
        all.insert(40, Arc::new(optimize));
        all.remove(&7);
        all
    }

    #[test]
    fn another_width_is_another_picture() {
        let of = |width| Strip::new((3, 0), &commits(), Measure::Rows, None, width);
        assert_eq!(of(900.0).step, of(1_200.0).step);
        assert_ne!(of(900.0), of(1_200.0));
    }

    #[test]
    fn bars_grow_from_the_line_and_small_ones_are_seen() {
        let strip = Strip::new((49, 0), &commits(), Measure::Rows, Some(9), 1000.0);
        assert_eq!(strip.marks.len(), 50);
        let of = |v: u64| strip.marks.iter().find(|m| m.version == v).unwrap();
        assert_eq!((of(48).up, of(48).down), (0.0, FULL));
        assert!(of(47).up > 1.0 && of(47).up < 10.0);
        assert_eq!(of(40).kind, Kind::Rewrite);
        assert_eq!(of(7).kind, Kind::Unread);
        assert!(of(8).dim && !of(9).dim);
        assert!(of(8).x < strip.line.unwrap() && strip.line.unwrap() < of(9).x);
        for mark in &strip.marks {
            assert_eq!(strip.at(mark.x + 1.0), Some(mark.version));
            assert!(mark.x + strip.bar <= 1000.0);
        }
        assert_eq!(strip.at(-5.0), Some(0));
        assert_eq!(strip.at(1e9), Some(49));
    }

    #[test]
    fn the_strip_follows_the_list_in_steps() {
        assert_eq!(range(48, 48, 0), (48, 0));
        assert_eq!(range(99_999, 99_999, 0), (99_999, 99_900));
        assert_eq!(range(99_960, 99_999, 0), (99_999, 99_900));
        assert_eq!(range(99_940, 99_999, 0), (99_949, 99_850));
        assert_eq!(range(3, 99_999, 0), (99, 0));
        for version in (0..1_000).step_by(7) {
            let (newest, oldest) = range(version, 999, 0);
            assert!(oldest <= version && version <= newest, "{version}");
        }
    }

    #[test]
    fn days_have_room() {
        let strip = Strip::new((49, 0), &commits(), Measure::Rows, None, 1000.0);
        assert!(strip.dates.windows(2).all(|d| d[1].0 - d[0].0 >= 64.0));
        assert!(!strip.dates.is_empty());
        assert_eq!(strip.line, None);
    }
}
