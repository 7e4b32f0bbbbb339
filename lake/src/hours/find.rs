//! Finding how the hours of a dataset stand, for as few requests as that takes.
//!
//! Days are listed side by side, and beside them the marker tree and the dead letters; then all
//! markers that are not remembered are read at once. What was found is kept in a [`Memory`]: a day
//! is listed again and a marker read again only where [`Fresh`] asks for it, or where its marker
//! changed.

mod bodies;
mod check;
mod forget;
mod gates;
mod grid;
mod hour;
mod layout;
mod list;
mod memory;
mod plan;
mod row;
mod sizes;
mod tally;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::TryStreamExt;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, StreamExt};
use object_store::ObjectStore;

use super::dataset::Dataset;
use super::day::Day;
use super::judge::SKEW;
use super::state::State;
use crate::host::{Progress, SharedHost};
use crate::table::Time;
use crate::wire::hours::Fresh;
use crate::{Error, Result};
pub use check::sentence;
pub use grid::nothing_lies;
use list::Piece;
pub use memory::Memory;
use memory::{Known, Standing};

/// Listings under way at once, where nobody says otherwise: those of a month and what goes beside.
const LISTINGS: usize = 40;

/// Days of one answer at most: listing more belongs to several questions.
pub const LONGEST: i32 = 400;

/// Reads the hours of one dataset.
pub struct Finder {
    dataset: Arc<Dataset>,
    /// The store of its zone.
    store: Arc<dyn ObjectStore>,
    memory: Arc<Memory>,
    host: SharedHost,
    now: Time,
}

/// Refuses a window that is none, or that is longer than an answer may be: before anything is made
/// of its days.
fn bounded(from: Day, to: Day) -> Result<()> {
    if from > to {
        return Err(Error::invalid(format!("{from} is after {to}")));
    }
    match to.since(from) {
        days if days >= LONGEST => Err(Error::invalid(format!(
            "{} days are asked for: at most {LONGEST} days at once",
            days + 1
        ))),
        _ => Ok(()),
    }
}

/// Whose completeness is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Of a few closed hours of which it is not known, the newest.
    Suspect,
    /// Of every closed hour of which it is not known.
    Doubt,
    /// Of every closed hour that is not remembered.
    All,
}

impl Finder {
    /// A reader of `dataset`, whose zone is `store`, at the instant `now`.
    pub fn new(
        dataset: Arc<Dataset>,
        store: Arc<dyn ObjectStore>,
        memory: Arc<Memory>,
        host: SharedHost,
        now: Time,
    ) -> Self {
        Self {
            dataset,
            store,
            memory,
            host,
            now,
        }
    }

    /// Sees to it that all days of a window are known, as fresh as asked. Days that lie more than
    /// one in the future are not looked at.
    async fn look(&self, from: Day, to: Day, fresh: Fresh) -> Result<()> {
        let to = to.min(Day::of(self.now).plus(1));
        if from > to {
            return Ok(());
        }
        let (wanted, plan) = {
            let mut known = self.memory.lock();
            let wanted = plan::days(&self.dataset, &mut known, from, to, fresh, self.now);
            let plan = plan::pieces(&self.dataset, &known, &wanted, from, to, fresh);
            (wanted, plan)
        };
        let changed = self.list(plan).await?;
        self.bodies(from, to).await?;
        // A marker that came since a day was listed names keys that the listing does not have.
        let again: BTreeSet<Day> = {
            let known = self.memory.lock();
            let stale = changed.into_iter().filter(|day| !wanted.contains(day));
            stale
                .filter(|day| (from..=to).contains(day))
                .chain(
                    wanted
                        .iter()
                        .copied()
                        .filter(|day| self.raced(&known, *day)),
                )
                .collect()
        };
        let again = again.into_iter().map(|day| Piece::Days(day, day));
        self.list(again.collect()).await?;
        // Foreign commits are found by listings.
        self.bodies(from, to).await
    }

    /// Whether a day has a marker so young that the day's listing may have been taken before it.
    fn raced(&self, known: &Known, day: Day) -> bool {
        self.dataset.slots(day).any(|slot| {
            let standing = known.standing(&self.dataset, slot, self.now);
            let broken = matches!(
                standing.as_ref().map(|s| s.verdict.state),
                Some(State::Lost | State::Mutated)
            );
            broken
                && known
                    .marker_put(slot)
                    .is_some_and(|put| put.0 + SKEW >= self.now.0)
        })
    }

    /// Takes listings, and gives the days whose markers are not what was known.
    async fn list(&self, pieces: Vec<Piece>) -> Result<BTreeSet<Day>> {
        let of = pieces.len() as u64;
        let mut changed = BTreeSet::new();
        let listings: Vec<BoxFuture<'_, Result<_>>> = pieces
            .into_iter()
            .map(|piece| async move { Ok((piece, self.piece(piece).await?)) }.boxed())
            .collect();
        let mut listings = stream::iter(listings).buffer_unordered(LISTINGS);
        let mut done = 0;
        while let Some((piece, listed)) = listings.try_next().await? {
            done += 1;
            self.host.progress(Progress {
                step: "listing days".to_owned(),
                done,
                of: Some(of),
            });
            let mut known = self.memory.lock();
            changed.extend(known.take(&self.dataset, piece, listed, self.now));
        }
        Ok(changed)
    }

    /// How each slot of a window stands, oldest first. The window must have been looked at.
    fn standings(&self, known: &Known, from: Day, to: Day) -> Vec<Standing> {
        from.to(to)
            .flat_map(|day| self.dataset.slots(day))
            .map(|slot| known.standing_or_empty(&self.dataset, slot, self.now))
            .collect()
    }
}
