//! Up to when a dataset is closed: the instant that a reader may read up to without looking at
//! single hours.

use super::dataset::Dataset;
use super::day::{Day, Slot};
use super::state::State;
use crate::table::Time;
use crate::wire::hours::{Blocked, ClosedReport};

/// Walks from the dataset's first day to now. `state` gives how a slot stands and why, or `None`
/// where nobody has looked.
///
/// The answer is the exclusive end of the last slot such that it and all before it are closed or
/// empty. An hour of which nothing was expected and nothing came is empty, so it holds nobody back.
pub fn up_to(
    dataset: &Dataset,
    now: Time,
    mut state: impl FnMut(Slot) -> Option<(State, String)>,
) -> ClosedReport {
    let Some(first) = dataset.first else {
        return ClosedReport {
            unknown: Some(
                "the configuration names no `first` day of this dataset, so there is nothing to count from"
                    .to_owned(),
            ),
            ..ClosedReport::default()
        };
    };
    let today = Day::of(now);
    let mut up_to = None;
    for slot in first
        .to(today.max(first))
        .flat_map(|day| dataset.slots(day))
    {
        if slot.start() > now {
            break;
        }
        match state(slot) {
            None => {
                let last = slot.day.to(today).rev();
                let mut unread = last.filter(|day| {
                    let mut slots = dataset.slots(*day);
                    slots.any(|slot| slot.start() <= now && state(slot).is_none())
                });
                return ClosedReport {
                    unread: Some((slot.day, unread.next().unwrap_or(slot.day))),
                    ..ClosedReport::default()
                };
            }
            Some((found, _)) if found.lets_pass() => up_to = Some(slot.end()),
            Some((found, message)) => {
                return ClosedReport {
                    up_to,
                    blocked_by: Some(Blocked {
                        date: slot.day,
                        hour: slot.hour,
                        state: found,
                        message,
                    }),
                    ..ClosedReport::default()
                };
            }
        }
    }
    ClosedReport {
        up_to,
        ..ClosedReport::default()
    }
}

#[cfg(test)]
mod tests;
