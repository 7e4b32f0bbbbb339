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
    let tenths = |tenths: usize| all.get(all.len().saturating_sub(1) * tenths / 10).copied();
    let mut sizes = HourSizes {
        objects: all.len() as u64,
        bytes: all.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        median_bytes: tenths(5),
        p10_bytes: tenths(1),
        p90_bytes: tenths(9),
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
