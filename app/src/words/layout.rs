//! The headline of a layout: where the small files are, and what packing them would do.

use lake::wire::{LayoutReport, PartitionLayout};

use crate::format;
use crate::order::sorted;

use super::Sentence;
use super::figure::{count_of, number_word, plural};

/// So many partitions can be counted in a sentence and found in a table.
const FEW: usize = 12;

/// The finding, with the figures that made it.
pub fn headline(layout: &LayoutReport) -> Sentence {
    if layout.files == 0 {
        return Sentence::new().text("This version has no files.");
    }
    if layout.small_files == 0 {
        return Sentence::new().strong("No small files.").text(format!(
            " {} hold {}; none is under {}.",
            count_of(layout.files, "file"),
            format::bytes(layout.bytes),
            format::bytes(layout.small_bytes_threshold),
        ));
    }
    where_they_are(layout).text(" ").and(packing(layout))
}

/// What packing would leave and cost.
pub fn packing(layout: &LayoutReport) -> Sentence {
    let gain = |p: &&PartitionLayout| p.files_after_packing < p.files;
    let packable: Vec<&PartitionLayout> = layout.partitions.iter().filter(gain).collect();
    if packable.is_empty() {
        let why = if layout.partition_columns.is_empty() || layout.small_files == 1 {
            "Packing would change nothing."
        } else {
            "Packing would change nothing: no two of one partition fit into one file."
        };
        return Sentence::new().text(why);
    }
    let left: u64 = packable.iter().map(|p| p.files_after_packing).sum();
    let before: u64 = packable.iter().map(|p| p.files).sum();
    let bytes: u64 = packable.iter().map(|p| p.bytes_to_rewrite).sum();
    // Partitions that were cut off the list could be packed too.
    let least = if (layout.partitions.len() as u64) < layout.partitions_total {
        "at least "
    } else {
        ""
    };
    Sentence::new().text(format!(
        "Packing them leaves {} of {} and rewrites {least}{}.",
        format::count(left),
        count_of(before, "file"),
        format::bytes(bytes),
    ))
}

fn where_they_are(layout: &LayoutReport) -> Sentence {
    let small = count_of(layout.small_files, "small file");
    let shares = format!(
        ": {} of the files, {} of the bytes.",
        format::percent(layout.small_files, layout.files),
        format::percent(layout.small_bytes, layout.bytes),
    );
    if layout.partition_columns.is_empty() {
        return Sentence::new()
            .text("The table holds ")
            .strong(small)
            .text(shares);
    }
    let noun = match layout.partition_columns.as_slice() {
        [one] => one.replace('_', " "),
        _ => "partition".to_owned(),
    };
    let (holders, held) = fewest_holders(layout);
    if held == layout.small_files && holders <= FEW {
        let verb = if holders == 1 { "holds" } else { "hold" };
        return Sentence::new()
            .text(format!("{} {verb} ", named_count(holders as u64, &noun)))
            .strong(small)
            .text(shares);
    }
    let out = Sentence::new()
        .strong(crate::format::capital(&small))
        .text(shares);
    if holders <= FEW {
        let verb = if holders == 1 { "holds" } else { "hold" };
        return out.text(format!(
            " {} {verb} {} of them.",
            named_count(holders as u64, &noun),
            format::percent(held, layout.small_files),
        ));
    }
    let with = layout.partitions.iter().filter(|p| p.small_files > 0);
    let with = with.count() as u64;
    if (layout.partitions.len() as u64) < layout.partitions_total {
        return out.text(format!(" They lie in at least {}.", count_of(with, &noun)));
    }
    out.text(format!(
        " They lie in {} of {}.",
        format::count(with),
        count_of(layout.partitions_total, &noun)
    ))
}

/// The fewest partitions that hold nine tenths of the small files, or all where those are few,
/// and how many they hold.
fn fewest_holders(layout: &LayoutReport) -> (usize, u64) {
    let counts: Vec<u64> = layout
        .partitions
        .iter()
        .map(|p| p.small_files)
        .filter(|n| *n > 0)
        .collect();
    let counts = sorted(counts, |a, b| b.cmp(a));
    let all: u64 = counts.iter().sum();
    if counts.len() <= FEW && all == layout.small_files {
        return (counts.len(), all);
    }
    let mut held = 0;
    for (i, count) in counts.iter().enumerate() {
        held += count;
        if held * 10 >= layout.small_files * 9 {
            return (i + 1, held);
        }
    }
    (usize::MAX, held)
}

fn named_count(n: u64, noun: &str) -> String {
    let noun = if n == 1 {
        noun.to_owned()
    } else {
        plural(noun)
    };
    crate::format::capital(&format!("{} {noun}", number_word(n)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::samples::{layout, partition};

    fn of(date: &str, files: u64, small: u64, after: u64, rewrite: u64) -> PartitionLayout {
        PartitionLayout {
            partition: partition(&[("date", date)]),
            files,
            bytes: 1 << 30,
            rows: None,
            median_bytes: 1 << 20,
            small_files: small,
            files_after_packing: after,
            bytes_to_rewrite: rewrite,
        }
    }

    fn said(layout: &LayoutReport) -> String {
        headline(layout).to_string()
    }

    #[test]
    fn the_finding_names_partitions_shares_and_the_gain() {
        let layout = LayoutReport {
            files: 41_206,
            bytes: 100 << 30,
            small_files: 38_904,
            small_bytes: 11 << 30,
            partition_columns: vec!["date".into()],
            partitions: vec![
                of("2026-11-10", 20_000, 20_000, 100, 12 << 30),
                of("2026-11-09", 18_910, 18_904, 88, 11 << 30),
                of("2026-11-01", 2_296, 0, 2_296, 0),
            ],
            partitions_total: 3,
            ..layout()
        };
        assert_eq!(
            said(&layout),
            "Two dates hold 38,904 small files: 94 % of the files, 11 % of the bytes. Packing \
             them leaves 188 of 38,910 files and rewrites 23.0 GiB."
        );
    }

    #[test]
    fn many_partitions_are_named_by_those_that_hold_most() {
        let mut partitions: Vec<_> = (0..20).map(|_| of("x", 2, 1, 2, 0)).collect();
        partitions.push(of("y", 1000, 980, 10, 5 << 20));
        let layout = LayoutReport {
            files: 1040,
            bytes: 100,
            small_files: 1000,
            small_bytes: 50,
            partition_columns: vec!["event_date".into()],
            partitions_total: 21,
            partitions,
            ..layout()
        };
        assert_eq!(
            said(&layout),
            "1,000 small files: 96 % of the files, 50 % of the bytes. One event date holds 98 % \
             of them. Packing them leaves 10 of 1,000 files and rewrites 5.0 MiB."
        );
    }

    #[test]
    fn small_files_everywhere_are_counted_by_partition() {
        let mut partitions: Vec<_> = (0..20).map(|_| of("x", 3, 3, 1, 10)).collect();
        partitions.push(of("y", 3, 0, 3, 0));
        let layout = LayoutReport {
            files: 63,
            bytes: 100,
            small_files: 60,
            small_bytes: 50,
            partition_columns: vec!["date".into()],
            partitions_total: 21,
            partitions,
            ..layout()
        };
        assert_eq!(
            said(&layout),
            "60 small files: 95 % of the files, 50 % of the bytes. They lie in 20 of 21 dates. \
             Packing them leaves 20 of 60 files and rewrites 200 B."
        );
    }

    #[test]
    fn lone_files_cannot_be_packed() {
        let layout = LayoutReport {
            files: 2,
            bytes: 20,
            small_files: 2,
            small_bytes: 20,
            partition_columns: vec!["date".into()],
            partitions: vec![of("a", 1, 1, 1, 0), of("b", 1, 1, 1, 0)],
            partitions_total: 2,
            ..layout()
        };
        assert_eq!(
            said(&layout),
            "Two dates hold 2 small files: 100 % of the files, 100 % of the bytes. Packing would \
             change nothing: no two of one partition fit into one file."
        );
    }

    #[test]
    fn nothing_small_and_nothing_at_all_are_said() {
        assert_eq!(said(&layout()), "This version has no files.");
        let layout = LayoutReport {
            files: 240,
            bytes: 3 << 30,
            ..layout()
        };
        assert_eq!(
            said(&layout),
            "No small files. 240 files hold 3.0 GiB; none is under 32.0 MiB."
        );
    }
}
