//! Durations as table properties spell them: `interval 7 days`, `interval 1 week 2 hours`.

/// Milliseconds of a duration; `None` where it is none, or has months or years, whose length varies.
pub(crate) fn duration(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let mut words = text.split_whitespace().peekable();
    if words.peek() == Some(&"interval") {
        words.next();
    }
    let mut total: i64 = 0;
    let mut any = false;
    while let Some(number) = words.next() {
        let number: i64 = number.trim_matches('\'').parse().ok()?;
        let unit = words.next()?.trim_matches('\'').trim_end_matches('s');
        let millis = match unit {
            "week" => 7 * 24 * 3_600_000,
            "day" => 24 * 3_600_000,
            "hour" => 3_600_000,
            "minute" => 60_000,
            "second" => 1_000,
            "millisecond" => 1,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(millis)?)?;
        any = true;
    }
    any.then_some(total)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn properties_spell_durations_in_words() {
        const DAY: i64 = 24 * 3_600_000;
        assert_eq!(duration("interval 7 days"), Some(7 * DAY));
        assert_eq!(duration("interval 1 week"), Some(7 * DAY));
        assert_eq!(
            duration("INTERVAL 1 week 2 hours"),
            Some(7 * DAY + 7_200_000)
        );
        assert_eq!(duration("interval '5' seconds"), Some(5_000));
        assert_eq!(duration("interval 1 month"), None);
        assert_eq!(duration("interval"), None);
        assert_eq!(duration("interval 9223372036854775807 weeks"), None);
    }
}
