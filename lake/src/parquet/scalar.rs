//! Values as text that loses nothing: dates and times of any year, exact decimals, whole binaries.

use std::fmt::Write as _;

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Second,
    Milli,
    Micro,
    Nano,
}

impl Unit {
    fn per_second(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Milli => 1_000,
            Self::Micro => 1_000_000,
            Self::Nano => 1_000_000_000,
        }
    }

    fn digits(self) -> usize {
        match self {
            Self::Second => 0,
            Self::Milli => 3,
            Self::Micro => 6,
            Self::Nano => 9,
        }
    }
}

/// A date from days since 1970, in the proleptic Gregorian calendar. Years outside 0 to 9999 carry
/// a sign, as ISO 8601 wants it.
pub(crate) fn date(days: i64) -> String {
    // Days since 0000-03-01, in eras of 400 years.
    let days = i128::from(days) + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i128::from(month <= 2);
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:+05}-{month:02}-{day:02}"),
    }
}

/// An instant or a local time, in RFC 3339: with `Z` where `utc`, without an offset where not.
pub(crate) fn timestamp(value: i64, unit: Unit, utc: bool) -> String {
    let seconds = value.div_euclid(unit.per_second());
    let fraction = value.rem_euclid(unit.per_second());
    let mut text = date(seconds.div_euclid(86_400));
    text.push('T');
    clock(&mut text, seconds.rem_euclid(86_400), fraction, unit);
    if utc {
        text.push('Z');
    }
    text
}

/// A time of day. A value outside a day is its number with the unit.
pub(crate) fn time(value: i64, unit: Unit) -> String {
    let seconds = value.div_euclid(unit.per_second());
    if !(0..86_400).contains(&seconds) {
        return format!("{value} {}", unit_name(unit));
    }
    let mut text = String::new();
    clock(
        &mut text,
        seconds,
        value.rem_euclid(unit.per_second()),
        unit,
    );
    text
}

fn clock(text: &mut String, seconds: i64, fraction: i64, unit: Unit) {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let _ = write!(text, "{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if fraction == 0 {
        return;
    }
    let digits = format!("{fraction:0width$}", width = unit.digits());
    // In groups of three, as clocks are written.
    let mut shown = digits.as_str();
    while let Some(shorter) = shown.strip_suffix("000") {
        shown = shorter;
    }
    text.push('.');
    text.push_str(shown);
}

/// A length of time: its number with the unit.
pub(crate) fn duration(value: i64, unit: Unit) -> String {
    format!("{value} {}", unit_name(unit))
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Second => "s",
        Unit::Milli => "ms",
        Unit::Micro => "µs",
        Unit::Nano => "ns",
    }
}

/// A decimal from its unscaled digits (with a sign where negative).
pub(crate) fn decimal(unscaled: &str, scale: i64) -> String {
    let (sign, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unscaled),
    };
    if scale <= 0 {
        // No real scale is longer, so a wrong one cannot ask for a gigabyte of zeros.
        let zeros = usize::try_from(scale.unsigned_abs())
            .unwrap_or(1000)
            .min(1000);
        let zeros = if digits == "0" { 0 } else { zeros };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let scale = usize::try_from(scale).unwrap_or(1000).min(1000);
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// The shortest text that reads back as the same number; whole numbers keep `.0`.
pub(crate) fn double(value: f64) -> String {
    special(value).unwrap_or_else(|| format!("{value:?}"))
}

/// As [`double`], for single precision.
pub(crate) fn float(value: f32) -> String {
    special(f64::from(value)).unwrap_or_else(|| format!("{value:?}"))
}

fn special(value: f64) -> Option<String> {
    if value.is_nan() {
        Some("NaN".to_owned())
    } else if value.is_infinite() {
        Some(if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned())
    } else {
        None
    }
}

/// Bytes as lower-case hexadecimal, `limit` of them at most.
pub(crate) fn hex(bytes: &[u8], limit: usize) -> String {
    let mut text = String::with_capacity(2 * bytes.len().min(limit));
    for byte in bytes.iter().take(limit) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Sixteen bytes as a UUID; other lengths as hexadecimal.
pub(crate) fn uuid(bytes: &[u8]) -> String {
    let text = hex(bytes, usize::MAX);
    if bytes.len() != 16 {
        return text;
    }
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts = parts.map(|part| text.get(part).unwrap_or_default());
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_year() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_782, "2024-02-29"),
            (-719_162, "0001-01-01"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (i64::from(i32::MAX), "+5881580-07-11"),
            (i64::from(i32::MIN), "-5877641-06-23"),
        ] {
            assert_eq!(date(days), text);
        }
        assert!(date(i64::MAX).starts_with('+'));
    }

    #[test]
    fn timestamps_with_and_without_a_zone() {
        for (value, unit, text) in [
            (0, Unit::Second, "1970-01-01T00:00:00"),
            (1_709_210_096_789, Unit::Milli, "2024-02-29T12:34:56.789"),
            (-1, Unit::Micro, "1969-12-31T23:59:59.999999"),
            (1, Unit::Nano, "1970-01-01T00:00:00.000000001"),
            (1_500_000, Unit::Micro, "1970-01-01T00:00:01.500"),
            (-62_135_596_800_000_000, Unit::Micro, "0001-01-01T00:00:00"),
            (
                253_402_300_799_999_999,
                Unit::Micro,
                "9999-12-31T23:59:59.999999",
            ),
        ] {
            assert_eq!(timestamp(value, unit, false), text);
            assert_eq!(timestamp(value, unit, true), format!("{text}Z"));
        }
        timestamp(i64::MAX, Unit::Second, true);
        timestamp(i64::MIN, Unit::Second, true);
    }

    #[test]
    fn times_of_day() {
        assert_eq!(time(45_296_000_001, Unit::Micro), "12:34:56.000001");
        assert_eq!(time(86_400, Unit::Second), "86400 s");
        assert_eq!(time(-1, Unit::Milli), "-1 ms");
    }

    #[test]
    fn decimals_are_exact() {
        for (unscaled, scale, text) in [
            ("12345", 2, "123.45"),
            ("-5", 3, "-0.005"),
            ("0", 2, "0.00"),
            ("7", 0, "7"),
            ("7", -2, "700"),
            ("0", -2, "0"),
            (
                "99999999999999999999999999999999999999",
                10,
                "9999999999999999999999999999.9999999999",
            ),
        ] {
            assert_eq!(decimal(unscaled, scale), text);
        }
        assert!(decimal("1", i64::MIN).len() < 2000);
        assert!(decimal("1", i64::MAX).len() < 2000);
    }

    #[test]
    fn numbers_read_back() {
        assert_eq!(double(1.0), "1.0");
        assert_eq!(double(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(double(1e300), "1e300");
        assert_eq!(double(-0.0), "-0.0");
        assert_eq!(double(f64::NAN), "NaN");
        assert_eq!(double(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(f32::INFINITY), "Infinity");
    }

    #[test]
    fn binaries_are_hexadecimal() {
        assert_eq!(hex(&[0, 0xab, 0xff], 9), "00abff");
        assert_eq!(hex(&[0, 0xab, 0xff], 2), "00ab");
        assert_eq!(
            uuid(&[
                0xd2, 0xc6, 0x39, 0xaa, 0x88, 0x16, 0x43, 0x1a, 0xaa, 0xf6, 0xd3, 0xfe, 0x25, 0x12,
                0xff, 0x61
            ]),
            "d2c639aa-8816-431a-aaf6-d3fe2512ff61"
        );
    }
}
