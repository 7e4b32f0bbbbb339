//! Which rows of a file a preview shows: those that are not masked, from a position on.

use std::ops::Range;

use roaring::RoaringTreemap;

/// Rows to show, by position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Positions {
    pub(crate) shown: Vec<u64>,
    /// The next row that is not masked; `None` where there is none.
    pub(crate) next: Option<u64>,
}

/// Up to `limit` rows of a file of `rows` rows, from `offset` on.
pub(crate) fn positions(
    masked: Option<&RoaringTreemap>,
    rows: u64,
    offset: u64,
    limit: usize,
) -> Positions {
    let mut gaps = masked.into_iter().flat_map(|m| gaps(m, offset));
    let mut gap = gaps.next();
    let mut shown = Vec::new();
    let mut at = offset;
    while at < rows {
        match &gap {
            // Masked rows come in runs, and a run may be a file long.
            Some(run) if run.contains(&at) => {
                at = run.end;
                gap = gaps.next();
            }
            _ if shown.len() >= limit => {
                return Positions {
                    shown,
                    next: Some(at),
                };
            }
            _ => {
                shown.push(at);
                at += 1;
            }
        }
    }
    Positions { shown, next: None }
}

/// Runs of masked rows that end after `from`, in order.
fn gaps(masked: &RoaringTreemap, from: u64) -> impl Iterator<Item = Range<u64>> + '_ {
    let (high, low) = ((from >> 32) as u32, from as u32);
    let bitmaps = masked.bitmaps().skip_while(move |(key, _)| *key < high);
    bitmaps.flat_map(move |(key, bitmap)| {
        let base = u64::from(key) << 32;
        let mut rows = bitmap.iter();
        if key == high {
            rows.advance_to(low);
        }
        std::iter::from_fn(move || {
            let run = rows.next_range()?;
            Some(base + u64::from(*run.start())..base + u64::from(*run.end()) + 1)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(run: Range<u64>) -> [Range<u64>; 1] {
        [run]
    }

    fn of(masked: &[Range<u64>], rows: u64, offset: u64, limit: usize) -> (Vec<u64>, Option<u64>) {
        let mut map = RoaringTreemap::new();
        for run in masked {
            map.insert_range(run.clone());
        }
        let found = positions(Some(&map), rows, offset, limit);
        (found.shown, found.next)
    }

    #[test]
    fn masked_rows_are_passed() {
        assert_eq!(of(&[], 3, 0, 10), (vec![0, 1, 2], None));
        assert_eq!(of(&one(1..2), 3, 0, 10), (vec![0, 2], None));
        assert_eq!(of(&[0..2, 3..4], 6, 0, 2), (vec![2, 4], Some(5)));
        assert_eq!(of(&[0..2, 3..4], 6, 4, 1), (vec![4], Some(5)));
        assert_eq!(of(&one(2..6), 6, 0, 2), (vec![0, 1], None));
        assert_eq!(of(&one(0..9), 6, 0, 2), (vec![], None));
        assert_eq!(of(&one(1..3), 6, 2, 2), (vec![3, 4], Some(5)));
        assert_eq!(of(&[], 3, 7, 2), (vec![], None));
        assert_eq!(of(&[], 3, 0, 0), (vec![], Some(0)));
    }

    #[test]
    fn a_run_as_long_as_a_file_costs_nothing() {
        let mut map = RoaringTreemap::new();
        map.insert_range(0..1 << 26);
        map.insert_range(1 << 32..(1 << 32) + 3);
        let found = positions(Some(&map), 1 << 40, 5, 1);
        assert_eq!(
            (found.shown, found.next),
            (vec![1 << 26], Some((1 << 26) + 1))
        );
        let found = positions(Some(&map), 1 << 40, (1 << 32) + 1, 1);
        assert_eq!(found.shown, [(1 << 32) + 3]);
    }
}
