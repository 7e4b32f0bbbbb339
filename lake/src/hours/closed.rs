//! Up to when a dataset is closed.

use super::dataset::Dataset;
use super::day::{Day, Slot};
use super::find::{Memory, Source, Window};
use super::judge::Verdict;
use crate::table::Time;
use crate::wire::hours::{Blocked, ClosedReport};

/// Walks from the dataset's first hour to the first that is neither closed nor empty. `verdict` is
/// asked for each hour in order, and `unread` names the first day that nobody has looked at.
pub fn closed_up_to(
    dataset: &Dataset,
    now: Time,
    unread: Option<Day>,
    verdict: impl Fn(Slot) -> Verdict,
) -> ClosedReport {
    let Some(first) = dataset.first else {
        return ClosedReport {
            unknown: Some(
                "the configuration names no `first` day for this dataset, so there is nothing to count from"
                    .to_owned(),
            ),
            ..ClosedReport::default()
        };
    };
    let mut up_to = None;
    let today = Day::of(now);
    for day in first.to(today.max(first).plus(1)) {
        if unread.is_some_and(|unread| day >= unread) {
            return ClosedReport {
                unread: Some((day, today)),
                ..ClosedReport::default()
            };
        }
        for slot in dataset.slots(day) {
            let verdict = verdict(slot);
            if verdict.state.lets_pass() {
                up_to = Some(slot.end());
                continue;
            }
            let message = verdict
                .reasons
                .first()
                .map(|r| r.message.clone())
                .unwrap_or_default();
            return ClosedReport {
                up_to,
                blocked_by: Some(Blocked {
                    date: slot.day,
                    hour: slot.hour,
                    state: verdict.state,
                    message,
                }),
                ..ClosedReport::default()
            };
        }
    }
    ClosedReport {
        up_to,
        ..ClosedReport::default()
    }
}

/// The same from what is known: of days before the window only from memory.
pub fn closed_from(source: &Source, memory: &Memory, window: &Window) -> ClosedReport {
    let dataset = &source.dataset;
    let today = Day::of(window.now);
    let first = dataset.first.unwrap_or(today);
    let unread = memory.unread_from(first, today.max(first));
    let all = memory.window(
        source,
        super::find::Days::new(first, today.max(first).plus(1)),
        window.now,
    );
    closed_up_to(dataset, window.now, unread, |slot| all.verdict(slot))
}

#[cfg(test)]
mod tests;
