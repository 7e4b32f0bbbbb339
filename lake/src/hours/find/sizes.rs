//! Roll-ups of a window.

use super::memory::Standing;
use crate::store::LIST_PAGE;
use crate::wire::hours::HourSizes;

/// Objects and their sizes over all slots, and what readers of the closed ones pay to list them.
pub(super) fn sizes(standings: &[Standing]) -> HourSizes {
    let mut all: Vec<u64> = standings
        .iter()
        .flat_map(|standing| standing.verdict.sizes.iter().copied())
        .collect();
    all.sort_unstable();
    let mut sizes = HourSizes {
        objects: all.len() as u64,
        bytes: all.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        median_bytes: tenths(&all, 5),
        p10_bytes: tenths(&all, 1),
        p90_bytes: tenths(&all, 9),
        ..HourSizes::default()
    };
    let pages = |keys: u64| keys.div_ceil(LIST_PAGE).max(1);
    for standing in standings.iter().filter(|s| s.verdict.state.is_closed()) {
        let objects = &standing.objects;
        let keys = objects.data().count() + objects.hidden.len();
        sizes.lists_of_parents += pages(keys as u64);
        sizes.lists_of_runs += pages(standing.verdict.objects);
    }
    sizes
}

/// The size that so many tenths of the sorted sizes do not exceed: the nearest rank, as tables have
/// it.
pub(super) fn tenths(sorted: &[u64], tenths: usize) -> Option<u64> {
    let rank = (sorted.len() * tenths).div_ceil(10).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::tenths;

    #[test]
    fn quantiles_are_nearest_ranks() {
        assert_eq!(tenths(&[], 5), None);
        let of = |sizes: &[u64]| [1, 5, 9].map(|t| tenths(sizes, t).unwrap());
        assert_eq!(of(&[7]), [7, 7, 7]);
        assert_eq!(of(&[1, 2, 3, 4]), [1, 2, 4]);
        assert_eq!(of(&[1, 2, 3, 4, 5]), [1, 3, 5]);
        assert_eq!(of(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), [2, 6, 10]);
    }
}
