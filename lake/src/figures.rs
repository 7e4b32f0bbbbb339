//! Sizes and shares as people read them, alike on the page, in the command line and in findings.

/// A size in IEC units with at most three digits: `2.5 GiB`, `131 MiB`, `812 B`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = "KiB";
    for next in UNITS.into_iter().skip(1) {
        // What would be written with four digits belongs to the next unit.
        if value < 999.5 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if value < 99.95 {
        format!("{} {unit}", decimal(value, 1))
    } else {
        format!("{} {unit}", decimal(value, 0))
    }
}

/// A count with its noun: `1 object`, `2 objects`.
pub fn counted(number: u64, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{} {one}s", grouped(number)),
    }
}

/// `45,571`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with so many digits after the point. By whole numbers: the standard library's way of
/// printing a float is exact to the last bit, and eight kilobytes of a page that rounds to one digit.
pub fn decimal(value: f64, digits: u32) -> String {
    let scale = 10u64.saturating_pow(digits);
    let scaled = (value.abs() * scale as f64).round() as u64;
    let sign = if value < 0.0 && scaled > 0 { "-" } else { "" };
    let (whole, rest) = (scaled / scale, scaled % scale);
    match digits {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{rest:0width$}", width = digits as usize),
    }
}

/// A share in whole per cent that is never nothing or all unless it is; `None` of nothing.
pub fn share(part: u64, whole: u64) -> Option<String> {
    if whole == 0 {
        return None;
    }
    let rounded = (part as f64 / whole as f64 * 100.0).round();
    Some(if part > 0 && rounded < 1.0 {
        "< 1 %".to_owned()
    } else if part < whole && rounded >= 100.0 {
        "> 99 %".to_owned()
    } else {
        format!("{} %", decimal(rounded, 0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_044_378, "1.0 MiB"),
            (300 << 10, "300 KiB"),
            (1024 * 1024 - 1, "1.0 MiB"),
            (9_751_000, "9.3 MiB"),
            (131 << 20, "131 MiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn decimals_are_rounded() {
        let cases = [
            (0.0, 1, "0.0"),
            (2.25, 1, "2.3"),
            (9.96, 1, "10.0"),
            (-1.05, 2, "-1.05"),
            (-0.001, 2, "0.00"),
            (1e300, 1, "1844674407370955161.5"),
            (f64::NAN, 1, "0.0"),
        ];
        for (value, digits, text) in cases {
            assert_eq!(decimal(value, digits), text);
        }
    }

    #[test]
    fn shares_do_not_round_to_all_or_nothing() {
        let cases = [
            (4, 5, "80 %"),
            (67, 70, "96 %"),
            (0, 5, "0 %"),
            (5, 5, "100 %"),
            (345, 346, "> 99 %"),
            (1, 1000, "< 1 %"),
        ];
        for (part, whole, text) in cases {
            assert_eq!(share(part, whole).as_deref(), Some(text));
        }
        assert_eq!(share(1, 0), None);
    }
}
