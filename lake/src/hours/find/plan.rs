//! What must be listed for an answer.

use std::collections::BTreeSet;

use super::list::Piece;
use super::memory::Known;
use crate::hours::dataset::{Dataset, MarkerKind};
use crate::hours::day::Day;
use crate::table::Time;
use crate::wire::hours::Fresh;

/// Days of the marker tree that one listing reads: a month of hours is one page.
const TREE: i32 = 31;

/// Listings that the days of a window are divided among, at most.
const LANES: i32 = 31;

/// The days of a window whose keys must be listed.
pub(super) fn days(
    dataset: &Dataset,
    known: &mut Known,
    from: Day,
    to: Day,
    fresh: Fresh,
    now: Time,
) -> BTreeSet<Day> {
    let mut wanted: BTreeSet<Day> = from
        .to(to)
        .filter(|day| fresh == Fresh::Again || !known.has_day(*day))
        .collect();
    if fresh == Fresh::Refresh {
        wanted.extend(from.to(to).filter(|day| is_open(dataset, *day, now)));
        wanted.extend(known.turn(dataset, from, to, &wanted, now));
    }
    wanted
}

/// Whether a day has a slot that has begun and is not past its deadline.
fn is_open(dataset: &Dataset, day: Day, now: Time) -> bool {
    let mut slots = dataset.slots(day);
    slots.any(|slot| slot.start() <= now && now < dataset.deadline(slot))
}

/// The listings that tell of these days, of the markers of the whole window, and of what lies
/// beside the days.
pub(super) fn pieces(
    dataset: &Dataset,
    known: &Known,
    wanted: &BTreeSet<Day>,
    from: Day,
    to: Day,
    fresh: Fresh,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let beside: Vec<Day> = from
        .to(to)
        .filter(|day| fresh != Fresh::Known || !known.has_tree(*day))
        .collect();
    // The tree first: where requests wait for each other, its answers are needed first.
    if let (Some(first), Some(last)) = (beside.first(), beside.last()) {
        if has_tree(dataset) {
            let mut day = *first;
            while day <= *last {
                let end = day.plus(TREE - 1).min(*last);
                pieces.push(Piece::Tree(day, end));
                day = end.plus(1);
            }
        }
        if dataset
            .complete
            .as_ref()
            .is_some_and(|gate| gate.dead_letters.is_some())
        {
            pieces.push(Piece::Letters(*first, *last));
        }
    }
    if !known.has_root() || fresh == Fresh::Again {
        pieces.push(Piece::Root);
    }
    pieces.extend(chunks(wanted, to.since(from) + 1));
    pieces
}

/// Whether markers lie apart from the data.
pub(super) fn has_tree(dataset: &Dataset) -> bool {
    let ours = matches!(
        dataset.marker.kind,
        MarkerKind::Tidemark | MarkerKind::Custom
    );
    ours && !in_data(dataset)
}

/// Whether markers lie in their day's own folder, so that its listing has them.
pub(super) fn in_data(dataset: &Dataset) -> bool {
    let date = dataset.date_column();
    dataset
        .marker
        .template
        .starts_with(&format!("{date}={{{date}}}/"))
}

/// Neighbouring days share a listing where there are many.
fn chunks(wanted: &BTreeSet<Day>, window: i32) -> Vec<Piece> {
    let size = (window + LANES - 1) / LANES;
    let mut pieces: Vec<Piece> = Vec::new();
    // The newest first: they are looked at first.
    for day in wanted.iter().rev() {
        match pieces.last_mut() {
            Some(Piece::Days(first, last)) if first.since(*day) == 1 && last.since(*day) < size => {
                *first = *day;
            }
            _ => pieces.push(Piece::Days(*day, *day)),
        }
    }
    pieces
}
