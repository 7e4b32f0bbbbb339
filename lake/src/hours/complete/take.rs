//! Lines of files, taken in on every core that the host lends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lines::lines;
use super::orders::{Orders, Side};
use crate::host::{SharedHost, run};
use crate::hours::columns::{Part, Unread};
use crate::hours::listing::Object;
use crate::parquet::batches::Batches;
use crate::{Error, Kind, Result};

/// Batches of one piece of work: some milliseconds.
const BATCHES: usize = 4;

/// The orders seen so far. Each piece of work that runs has some for itself, so that none waits for
/// another; at the end they become one.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Vec<Orders>>>);

impl Shared {
    /// Lends orders to `work`.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Orders) -> T) -> T {
        let mut orders = self.idle().pop().unwrap_or_default();
        let done = work(&mut orders);
        self.idle().push(orders);
        done
    }

    /// All orders as one.
    pub(super) fn gathered(&self) -> Result<Orders> {
        let mut all = std::mem::take(&mut *self.idle());
        all.sort_unstable_by_key(Orders::count);
        let mut one = all.pop().unwrap_or_default();
        all.iter().try_for_each(|other| one.absorb(other))?;
        Ok(one)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Orders>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A row group whose lines are taken in.
pub(super) struct Taken<'a> {
    pub(super) object: &'a Object,
    /// Whether it is the file's last.
    pub(super) last: bool,
    /// Rows that are lines nobody can account for.
    pub(super) bad: u64,
    /// The first of them, by its position in the file.
    pub(super) first_bad: Option<u64>,
    /// Why no more of it was read.
    pub(super) error: Option<Error>,
}

impl<'a> From<Unread<'a>> for Taken<'a> {
    fn from(unread: Unread<'a>) -> Self {
        Self {
            object: unread.object,
            last: unread.last,
            bad: 0,
            first_bad: None,
            error: Some(unread.error),
        }
    }
}

/// Takes in the lines of a row group.
pub(super) async fn take<'a>(
    part: Part<'a>,
    side: Side,
    shared: &Shared,
    host: &SharedHost,
) -> Result<Taken<'a>> {
    let mut taken = Taken {
        object: part.object,
        last: part.last,
        bad: 0,
        first_bad: None,
        error: None,
    };
    let mut turn = Turn {
        batches: part.batches,
        places: part.places,
        row: part.first,
        bad: 0,
        first_bad: None,
        side,
    };
    loop {
        let shared = shared.clone();
        let (back, more) = run(host, move || {
            let more = shared.with(|orders| turn.turn(orders));
            (turn, more)
        })
        .await?;
        turn = back;
        match more {
            Ok(true) => host.pause().await,
            Ok(false) => break,
            Err(error) => {
                taken.error = Some(error);
                break;
            }
        }
    }
    (taken.bad, taken.first_bad) = (turn.bad, turn.first_bad);
    Ok(taken)
}

/// What goes to and fro between the pieces of work of a row group.
struct Turn {
    batches: Batches,
    places: Vec<usize>,
    /// Position in the file of the next row.
    row: u64,
    bad: u64,
    first_bad: Option<u64>,
    side: Side,
}

impl Turn {
    /// Takes some batches in; whether there may be more.
    fn turn(&mut self, orders: &mut Orders) -> Result<bool> {
        for _ in 0..BATCHES {
            let Some(batch) = self.batches.next() else {
                return Ok(false);
            };
            let batch = batch?;
            let columns = batch.columns();
            let column = |at: usize| self.places.get(at).and_then(|at| columns.get(*at));
            let (Some(keys), Some(sequences)) = (column(0), column(1)) else {
                return Err(Error::new(Kind::Internal, "a column that was not read"));
            };
            let Self {
                row,
                bad,
                first_bad,
                ..
            } = self;
            lines(keys, sequences, orders, self.side, |at| {
                *bad += 1;
                first_bad.get_or_insert(*row + at);
            })?;
            self.row += batch.num_rows() as u64;
        }
        Ok(true)
    }
}
