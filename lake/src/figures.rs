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
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
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
        format!("{rounded:.0} %")
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
