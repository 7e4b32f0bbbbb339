//! Figures inside sentences.

use crate::format;

/// `1 file`, `1,204 files`, `no files`.
pub fn count_of(n: u64, noun: &str) -> String {
    match n {
        0 => format!("no {}", plural(noun)),
        1 => format!("1 {noun}"),
        _ => format!("{} {}", format::count(n), plural(noun)),
    }
}

/// The plural of an English noun, as far as names of columns and our own words need it.
pub fn plural(noun: &str) -> String {
    if noun.chars().count() < 3 {
        return format!("values of {noun}");
    }
    let before_last = noun.chars().rev().nth(1);
    let vowel = before_last.is_some_and(|c| "aeiou".contains(c.to_ascii_lowercase()));
    match noun.chars().last() {
        Some('y') if !vowel => format!("{}ies", noun.trim_end_matches('y')),
        Some('s' | 'x' | 'z') => format!("{noun}es"),
        Some('h') if matches!(before_last, Some('c' | 's')) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Numbers up to twelve as words, larger ones with separators.
pub fn number_word(n: u64) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    match usize::try_from(n).ok().and_then(|i| WORDS.get(i)) {
        Some(word) => (*word).to_owned(),
        None => format::count(n),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn joined(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(count_of(0, "file"), "no files");
        assert_eq!(count_of(1, "property"), "1 property");
        assert_eq!(count_of(1204, "property"), "1,204 properties");
        assert_eq!(plural("day"), "days");
        assert_eq!(plural("k"), "values of k");
        assert_eq!(plural("batch"), "batches");
    }

    #[test]
    fn small_numbers_are_words() {
        assert_eq!(number_word(6), "six");
        assert_eq!(number_word(12), "twelve");
        assert_eq!(number_word(1300), "1,300");
    }
}
