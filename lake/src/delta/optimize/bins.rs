//! Which files go together: sorted by size, in bins up to the target.

/// A file that may be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Where the file stands among the others.
    pub(super) at: usize,
    /// Bytes that will remain of it: less what its deletion vector masks.
    pub(super) remains: u64,
    /// Whether it is worth being written again alone, for the rows that are masked in it.
    pub(super) alone: bool,
}

/// Share of masked rows above which a file is written again without them: one in this many.
const MASKED: u64 = 20;

/// Whether a deletion vector masks so many rows that the file is written again without them.
pub(super) fn masked_much(records: Option<u64>, masked: u64) -> bool {
    records.is_some_and(|records| u128::from(masked) * u128::from(MASKED) > u128::from(records))
}

/// Bytes that remain of a file without its masked rows.
pub(super) fn remains(bytes: u64, records: Option<u64>, masked: u64) -> u64 {
    match records {
        Some(records) if records > 0 => {
            let kept = u128::from(records.saturating_sub(masked));
            u64::try_from(u128::from(bytes) * kept / u128::from(records)).unwrap_or(bytes)
        }
        _ => bytes,
    }
}

/// Bins of the files of one partition, and the files that no bin is worth being made for.
pub(super) fn pack(
    mut candidates: Vec<Candidate>,
    target: u64,
) -> (Vec<Vec<Candidate>>, Vec<Candidate>) {
    candidates.sort_by_key(|c| (c.remains, c.at));
    let mut bins: Vec<Vec<Candidate>> = Vec::new();
    let mut filled = 0u64;
    for candidate in candidates {
        let with = filled.saturating_add(candidate.remains);
        match bins.last_mut() {
            Some(bin) if with <= target => {
                filled = with;
                bin.push(candidate);
            }
            _ => {
                filled = candidate.remains;
                bins.push(vec![candidate]);
            }
        }
    }
    let (worth, not) = bins
        .into_iter()
        .partition(|bin| bin.len() > 1 || bin.iter().any(|c| c.alone));
    (worth, not.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: &[u64]) -> Vec<Candidate> {
        let one = |(at, remains): (usize, &u64)| Candidate {
            at,
            remains: *remains,
            alone: false,
        };
        sizes.iter().enumerate().map(one).collect()
    }

    fn sizes(bins: &[Vec<Candidate>]) -> Vec<Vec<u64>> {
        let of = |bin: &Vec<Candidate>| bin.iter().map(|c| c.remains).collect();
        bins.iter().map(of).collect()
    }

    #[test]
    fn bins_are_filled_by_size() {
        let (bins, left) = pack(of(&[50, 10, 40, 60, 5]), 100);
        assert_eq!(sizes(&bins), [vec![5, 10, 40],]);
        assert_eq!(sizes(&[left]), [vec![50, 60]]);
        let (bins, left) = pack(of(&[100, 1]), 100);
        assert!(bins.is_empty());
        assert_eq!(left.len(), 2);
        let (bins, _) = pack(of(&[u64::MAX, u64::MAX]), u64::MAX - 1);
        assert!(bins.is_empty());
    }

    #[test]
    fn a_file_of_masked_rows_is_packed_alone() {
        let mut files = of(&[500]);
        files[0].alone = true;
        assert_eq!(sizes(&pack(files, 100).0), [vec![500]]);
    }

    #[test]
    fn masked_rows_count_above_a_twentieth() {
        assert!(!masked_much(Some(100), 5));
        assert!(masked_much(Some(100), 6));
        assert!(!masked_much(Some(0), 0));
        assert!(!masked_much(None, 6));
        assert_eq!(remains(1000, Some(100), 25), 750);
        assert_eq!(remains(1000, None, 25), 1000);
        assert_eq!(remains(1000, Some(0), 0), 1000);
    }
}
