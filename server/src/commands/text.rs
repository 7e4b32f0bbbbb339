//! How figures are written for people: sizes with units, counts with separators, times in UTC, and
//! text of a table without what would draw on a terminal.

pub(super) use lake::figures::size;
use lake::table::Time;

/// Unknown.
pub(super) const UNKNOWN: &str = "-";

/// A count with separators: `1,204`.
pub(super) fn count(number: u64) -> String {
    lake::figures::grouped(number)
}

/// A count, or that it is unknown.
pub(super) fn count_or(number: Option<u64>) -> String {
    number.map_or_else(|| UNKNOWN.to_owned(), count)
}

/// A count with its noun: `1 object`, `2 objects`.
pub(super) fn counted(number: u64, one: &str) -> String {
    lake::figures::counted(number, one)
}

/// One word of a command to be typed into a shell.
pub(super) fn shell(word: &str) -> String {
    let word = clean(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// What came and went: `+3 -1`.
pub(super) fn change(
    added: Option<u64>,
    removed: Option<u64>,
    write: impl Fn(u64) -> String,
) -> String {
    let part = |sign: &str, number: Option<u64>| match number {
        Some(0) => None,
        Some(number) => Some(format!("{sign}{}", write(number))),
        None => Some(format!("{sign}?")),
    };
    let parts = [part("+", added), part("-", removed)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "0".to_owned(),
        false => parts.join(" "),
    }
}

/// A time to the second, in UTC: `2026-03-08 10:00:00Z`.
pub(super) fn time(time: Option<Time>) -> String {
    let Some(time) = time else {
        return UNKNOWN.to_owned();
    };
    let text = time.to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(date), Some(clock)) if text.ends_with('Z') => format!("{date} {clock}Z"),
        _ => text,
    }
}

/// Text that a table holds, on one line: control characters and those that turn the direction of
/// writing are shown, not obeyed.
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(
            c,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        if c.is_control() || turns {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// The same, cut to `width` characters.
pub(super) fn short(text: &str, width: usize) -> String {
    let cleaned = clean(text);
    if cleaned.chars().count() <= width {
        return cleaned;
    }
    let mut cut: String = cleaned.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(change(Some(3), Some(1), count), "+3 -1");
        assert_eq!(change(Some(0), Some(0), count), "0");
        assert_eq!(change(None, Some(0), count), "+?");
        assert_eq!(time(Some(Time(0))), "1970-01-01 00:00:00Z");
        assert_eq!(time(None), "-");
        assert_eq!(counted(1, "object"), "1 object");
        assert_eq!(counted(1_000, "object"), "1,000 objects");
    }

    #[test]
    fn words_of_a_shell() {
        assert_eq!(shell("20261110T090000Z"), "20261110T090000Z");
        assert_eq!(shell("it's"), "'it'\\''s'");
        assert_eq!(shell("~"), "'~'");
    }

    #[test]
    fn hostile_text_is_shown_and_not_obeyed() {
        assert_eq!(
            clean("a\u{1b}[2Jb\nc\u{202e}d"),
            "a\\u{1b}[2Jb\\nc\\u{202e}d"
        );
        assert_eq!(short("abcdef", 4), "abc…");
    }
}
