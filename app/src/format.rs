//! How figures, times and hostile text are written for people.

mod text;
mod time;

pub use lake::figures::decimal;
use lake::figures::share;
pub use lake::figures::size as bytes;
pub use text::{capital, lower, shorten, shorten_middle, visible};
pub use time::{ago, clock, day, duration, minute, minute_with_year, month_day, spaced, utc};

/// What stands where a figure is not known. Goes with [`UNKNOWN_WHY`] on hover.
pub const UNKNOWN: &str = "?";

/// The reason behind [`UNKNOWN`].
pub const UNKNOWN_WHY: &str = "Not known: what was read of the log does not state it";

/// The minus sign of figures; a hyphen is no minus.
pub const MINUS: char = '\u{2212}';

/// A count with thousands separators: `1,603,221`.
pub fn count(n: u64) -> String {
    lake::figures::grouped(n)
}

/// A count, or [`UNKNOWN`].
pub fn count_or_unknown(n: Option<u64>) -> String {
    n.map_or_else(|| UNKNOWN.to_owned(), count)
}

/// A count with its noun: `1 file`, `1,204 files`. The plural is the singular with an `s`.
pub fn counted(n: u64, singular: &str) -> String {
    lake::figures::counted(n, singular)
}

/// A size, or [`UNKNOWN`].
pub fn bytes_or_unknown(n: Option<u64>) -> String {
    n.map_or_else(|| UNKNOWN.to_owned(), bytes)
}

/// The exact size, for hover: `2,684,354,560 bytes`.
pub fn exact_bytes(n: u64) -> String {
    counted(n, "byte")
}

/// What came: `+962`; `0` without a sign.
pub fn plus(n: u64) -> String {
    if n == 0 {
        "0".to_owned()
    } else {
        format!("+{}", count(n))
    }
}

/// What went: `−962`; `0` without a sign.
pub fn minus(n: u64) -> String {
    if n == 0 {
        "0".to_owned()
    } else {
        format!("{MINUS}{}", count(n))
    }
}

/// The difference of what came and what went: `+12`, `−6,411,904`, `0`.
pub fn net(came: u64, went: u64) -> String {
    if came >= went {
        plus(came - went)
    } else {
        minus(went - came)
    }
}

/// The same in IEC units: `−2.5 GiB`.
pub fn net_bytes(came: u64, went: u64) -> String {
    match came.cmp(&went) {
        std::cmp::Ordering::Equal => "0 B".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", bytes(came - went)),
        std::cmp::Ordering::Less => format!("{MINUS}{}", bytes(went - came)),
    }
}

/// A share as whole percent; never `100 %` or `0 %` unless it is: `80 %`, `> 99 %`, `< 1 %`.
pub fn percent(part: u64, whole: u64) -> String {
    share(part, whole).unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_603_221, "1,603,221"),
        ];
        for (n, text) in cases {
            assert_eq!(count(n), text);
        }
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(0, "file"), "0 files");
    }

    #[test]
    fn sizes_never_say_1024() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_023_487, "999 KiB"),
            (1_044_480, "1.0 MiB"),
            (1_048_575, "1.0 MiB"),
            (137_363_456, "131 MiB"),
            (2_684_354_560, "2.5 GiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (n, text) in cases {
            assert_eq!(bytes(n), text, "{n}");
        }
        assert_eq!(exact_bytes(1), "1 byte");
        assert_eq!(exact_bytes(2_684_354_560), "2,684,354,560 bytes");
    }

    #[test]
    fn signs_are_real() {
        assert_eq!(plus(962), "+962");
        assert_eq!(minus(6_411_904), "\u{2212}6,411,904");
        assert_eq!(net(3, 3), "0");
        assert_eq!(net(0, u64::MAX), "\u{2212}18,446,744,073,709,551,615");
        assert_eq!(net_bytes(0, 2_684_354_560), "\u{2212}2.5 GiB");
        assert_eq!(net_bytes(5, 5), "0 B");
    }

    #[test]
    fn percents_do_not_round_to_all_or_nothing() {
        assert_eq!(percent(4, 5), "80 %");
        assert_eq!(percent(0, 5), "0 %");
        assert_eq!(percent(5, 5), "100 %");
        assert_eq!(percent(999, 1000), "> 99 %");
        assert_eq!(percent(1, 1000), "< 1 %");
        assert_eq!(percent(1, 0), UNKNOWN);
    }
}
