//! Up to when a dataset is closed: the instant that a reader may read up to without looking at
//! single hours.

use super::dataset::Dataset;
use super::day::{Day, Slot};
use super::state::State;
use crate::table::Time;
use crate::wire::hours::{Blocked, ClosedReport};

/// What is known of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nobody has looked.
    Unread,
    /// It would pass, and nobody has asked whether it is complete.
    Unchecked,
    /// How it stands, and why.
    Stands(State, String),
}

/// A walk from the dataset's first day to now. It goes on where it stopped: what it has passed is
/// not looked at again.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// The first slot that was not passed.
    next: Option<Slot>,
    up_to: Option<Time>,
}

/// Where a walk stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// At its end.
    There(ClosedReport),
    /// At a day that must be read, as must some until the other one.
    Read(Day, Day),
    /// At slots that must be asked about: the first ones, oldest first.
    Check(Vec<Slot>),
}

/// Slots named at most, where a walk stops at some that were not checked.
const UNCHECKED: usize = 16;

impl Walk {
    /// Goes on as far as may be. `seen` gives what is known of a slot, `read` whether its keys are.
    ///
    /// The answer is the exclusive end of the last slot such that it and all before it are closed or
    /// empty. An hour of which nothing was expected and nothing came is empty, so it holds nobody
    /// back.
    pub fn go(
        &mut self,
        dataset: &Dataset,
        now: Time,
        mut seen: impl FnMut(Slot) -> Seen,
        read: impl Fn(Slot) -> bool,
    ) -> Stop {
        let Some(first) = dataset.first else {
            return Stop::There(ClosedReport {
                unknown: Some(
                    "the configuration names no `first` day of this dataset, so there is nothing to count from"
                        .to_owned(),
                ),
                ..ClosedReport::default()
            });
        };
        let today = Day::of(now);
        let next = self.next;
        let start = next.map_or(first, |slot| slot.day);
        let slots = start
            .to(today.max(start))
            .flat_map(|day| dataset.slots(day))
            .skip_while(|slot| next.is_some_and(|next| *slot < next))
            .take_while(|slot| slot.start() <= now);
        let mut unchecked = Vec::new();
        let mut blocked_by = None;
        for slot in slots {
            match seen(slot) {
                Seen::Unchecked => unchecked.push(slot),
                Seen::Stands(state, _) if state.lets_pass() => {}
                _ if !unchecked.is_empty() => break,
                Seen::Unread => {
                    self.next = Some(slot);
                    let mut last = slot.day.to(today).rev();
                    let unread = last.find(|day| {
                        let mut slots = dataset.slots(*day);
                        slots.any(|slot| slot.start() <= now && !read(slot))
                    });
                    return Stop::Read(slot.day, unread.unwrap_or(slot.day));
                }
                Seen::Stands(state, message) => {
                    blocked_by = Some(Blocked {
                        date: slot.day,
                        hour: slot.hour,
                        state,
                        message,
                    });
                    break;
                }
            }
            match unchecked.len() {
                0 => self.up_to = Some(slot.end()),
                UNCHECKED => break,
                _ => {}
            }
        }
        if let Some(slot) = unchecked.first() {
            self.next = Some(*slot);
            return Stop::Check(unchecked);
        }
        Stop::There(ClosedReport {
            up_to: self.up_to,
            blocked_by,
            ..ClosedReport::default()
        })
    }
}

impl From<Stop> for ClosedReport {
    fn from(stop: Stop) -> Self {
        let unread = match stop {
            Stop::There(report) => return report,
            Stop::Read(first, last) => Some((first, last)),
            Stop::Check(slots) => slots
                .first()
                .zip(slots.last())
                .map(|(first, last)| (first.day, last.day)),
        };
        Self {
            unread,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
