//! Durations: as table properties spell them (`interval 7 days`, `interval 1 week 2 hours`) and as
//! people do (`7d`, `168h`, `30m`).

/// Milliseconds of a duration; `None` where it is none, is below zero, or has months or years, whose
/// length varies.
pub fn duration(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let mut words = text.split_whitespace().peekable();
    if words.peek() == Some(&"interval") {
        words.next();
    }
    let mut total: i64 = 0;
    let mut any = false;
    while let Some(word) = words.next() {
        let word = word.trim_matches('\'');
        let digits = word.strip_prefix('-').unwrap_or(word);
        let digits = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        let (number, unit) = word.split_at_checked(word.len() - digits.len())?;
        let number: i64 = number.parse().ok()?;
        let unit = match unit {
            "" => words.next()?.trim_matches('\''),
            unit => unit,
        };
        total = total.checked_add(number.checked_mul(millis(unit)?)?)?;
        any = true;
    }
    (any && total >= 0).then_some(total)
}

/// Milliseconds of a unit, in a letter or in words. One letter means what it means to `sleep`.
fn millis(unit: &str) -> Option<i64> {
    Some(match unit {
        "w" | "week" | "weeks" => 7 * 24 * 3_600_000,
        "d" | "day" | "days" => 24 * 3_600_000,
        "h" | "hour" | "hours" => 3_600_000,
        "m" | "min" | "minute" | "minutes" => 60_000,
        "s" | "sec" | "second" | "seconds" => 1_000,
        "ms" | "millisecond" | "milliseconds" => 1,
        _ => return None,
    })
}

/// A duration in words, in the largest unit that holds it whole: `7 days`, `90 minutes`.
pub fn duration_in_words(of: i64) -> String {
    const UNITS: [(&str, i64); 5] = [
        ("day", 24 * 3_600_000),
        ("hour", 3_600_000),
        ("minute", 60_000),
        ("second", 1_000),
        ("millisecond", 1),
    ];
    let fits = |(_, millis): &&(&str, i64)| of % millis == 0 && (of != 0 || *millis == 3_600_000);
    let (name, millis) = UNITS.iter().find(fits).unwrap_or(&UNITS[4]);
    match of / millis {
        1 => format!("1 {name}"),
        n => format!("{n} {name}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, duration_in_words};

    const DAY: i64 = 24 * 3_600_000;

    #[test]
    fn properties_spell_durations_in_words() {
        assert_eq!(duration("interval 7 days"), Some(7 * DAY));
        assert_eq!(duration("interval 1 week"), Some(7 * DAY));
        assert_eq!(
            duration("INTERVAL 1 week 2 hours"),
            Some(7 * DAY + 7_200_000)
        );
        assert_eq!(duration("interval '5' seconds"), Some(5_000));
        assert_eq!(duration("interval 1 month"), None);
        assert_eq!(duration("interval"), None);
        assert_eq!(duration("interval -1 days"), None);
        assert_eq!(duration("interval 9223372036854775807 weeks"), None);
    }

    #[test]
    fn people_spell_them_in_letters() {
        assert_eq!(duration("7d"), Some(7 * DAY));
        assert_eq!(duration("168h"), Some(7 * DAY));
        assert_eq!(duration("30m"), Some(1_800_000));
        assert_eq!(duration(" 1d 12h "), Some(DAY + DAY / 2));
        assert_eq!(duration("0h"), Some(0));
        for text in ["", "7", "d", "-1d", "1.5h", "7 parsecs", "1y", "7d-", "é"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn words_are_exact() {
        assert_eq!(duration_in_words(7 * DAY), "7 days");
        assert_eq!(duration_in_words(DAY), "1 day");
        assert_eq!(duration_in_words(5_400_000), "90 minutes");
        assert_eq!(duration_in_words(0), "0 hours");
        assert_eq!(duration_in_words(1_001), "1001 milliseconds");
    }
}
