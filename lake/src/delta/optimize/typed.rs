//! Partition values by what they mean: `01` and `1` are one integer, and two spellings of one
//! instant are one instant.

use chrono::{DateTime, NaiveDateTime};

/// A value that is equal for two texts exactly where these mean the same in a column of this type.
/// Null for what the protocol reads as null (PROTOCOL, "Partition Value Serialization"). A text that
/// is no value of the type stands for itself.
pub(super) fn typed(text: Option<&str>, data_type: &str) -> Option<String> {
    let text = text.filter(|text| !text.is_empty())?;
    let meant = match data_type {
        "byte" | "short" | "integer" | "long" => text.parse::<i64>().ok().map(|n| n.to_string()),
        "float" => text.parse::<f32>().ok().map(|n| n.to_bits().to_string()),
        "double" => text.parse::<f64>().ok().map(|n| n.to_bits().to_string()),
        "boolean" => Some(text.to_ascii_lowercase()),
        "timestamp" | "timestamp_ntz" => instant(text),
        decimal if decimal.starts_with("decimal") => number(text),
        _ => None,
    };
    Some(meant.unwrap_or_else(|| text.to_owned()))
}

/// A time with a zone is an instant. One without is what the reader's zone makes of it, so it equals
/// no time that has one.
fn instant(text: &str) -> Option<String> {
    if let Ok(zoned) = DateTime::parse_from_rfc3339(text) {
        return Some(format!("{}Z", zoned.timestamp_micros()));
    }
    let text = text.replacen('T', " ", 1);
    let local = NaiveDateTime::parse_from_str(&text, "%Y-%m-%d %H:%M:%S%.f").ok()?;
    Some(local.and_utc().timestamp_micros().to_string())
}

/// Digits without what does not count.
fn number(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(part) || digits.len() < 1 + usize::from(digits.contains('.')) {
        return None;
    }
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    match (whole, part) {
        ("", "") => Some("0".to_owned()),
        _ => Some(format!("{sign}{whole}.{part}")),
    }
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn spellings_of_one_value_are_one() {
        let cases = [
            ("integer", "01", "1"),
            ("long", "+7", "7"),
            ("double", "1.0", "1"),
            ("double", "1e3", "1000.0"),
            ("boolean", "True", "true"),
            ("decimal(10,2)", "01.50", "1.5"),
            ("decimal(10,2)", "-0.00", "0"),
            (
                "timestamp",
                "2024-01-01T00:00:00Z",
                "2024-01-01T01:00:00+01:00",
            ),
            (
                "timestamp",
                "2024-01-01 00:00:00",
                "2024-01-01 00:00:00.000000",
            ),
        ];
        for (kind, one, other) in cases {
            assert_eq!(typed(Some(one), kind), typed(Some(other), kind), "{one}");
        }
    }

    #[test]
    fn other_values_are_others() {
        let cases = [
            ("string", "01", "1"),
            ("string", "A", "a"),
            ("binary", "\u{1}", "\u{2}"),
            ("double", "0.0", "-0.0"),
            ("decimal(10,2)", "1.5", "1.05"),
            ("timestamp", "2024-01-01 00:00:00", "2024-01-01T00:00:00Z"),
            ("date", "2024-01-01", "2024-01-02"),
            ("integer", "x", "y"),
        ];
        for (kind, one, other) in cases {
            assert_ne!(typed(Some(one), kind), typed(Some(other), kind), "{one}");
        }
        assert_eq!(typed(Some(""), "string"), None);
        assert_eq!(typed(None, "string"), None);
        assert_eq!(typed(Some("."), "decimal(3,1)").as_deref(), Some("."));
    }
}
