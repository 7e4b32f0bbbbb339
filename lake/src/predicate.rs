//! Predicates as a person would write them.

use serde_json::Value;

/// A predicate as a person would write it: Spark's list of strings joined, the expression ids
/// (`letter#39791`), the marks of names that were not looked up (`'letter`) and one pair of outer
/// brackets gone. `None` where there is none.
///
/// `list` reads a list of strings as JSON: the page has a reader of its own.
pub fn predicate_text(
    value: &Value,
    list: impl FnOnce(&str) -> Option<Vec<String>>,
) -> Option<String> {
    let list = match value {
        Value::Null => return None,
        Value::String(text) => list(text).unwrap_or_else(|| vec![text.clone()]),
        Value::Array(items) => items.iter().map(flat).collect(),
        other => vec![flat(other)],
    };
    let parts: Vec<String> = list
        .iter()
        .map(|p| bare(&without_marks(&without_ids(p.trim()))))
        .filter(|p| !p.is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// A JSON value in one line: text without its quotes, everything else as JSON.
pub fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Drops Spark's expression ids: `#` and digits after a name, and the `L` of a long one.
fn without_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('#') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = &after[1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let named = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '`');
        if digits == 0 || !named {
            out.push('#');
            rest = after;
            continue;
        }
        let after = &after[digits..];
        rest = match after.strip_prefix('L') {
            Some(tail) if !tail.starts_with(char::is_alphanumeric) => tail,
            _ => after,
        };
    }
    out.push_str(rest);
    out
}

/// Drops the apostrophe that Spark puts before a name it has not looked up: one that opens no text,
/// for it is never closed before the next one opens.
fn without_marks(text: &str) -> String {
    let opens = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + 1..).unwrap_or_default();
        let starts = before.is_empty() || before.ends_with(['(', ' ', ',', '!', '-']);
        starts && after.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '`')
    };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('\'')) {
        let at = from + at;
        let next = text.get(at + 1..).and_then(|rest| rest.find('\''));
        let next = next.map(|n| at + 1 + n);
        out.push_str(text.get(from..at).unwrap_or_default());
        let mark = opens(at) && next.is_none_or(opens);
        let end = match (mark, next) {
            (true, _) => at + 1,
            // Text is copied as it stands, to the apostrophe that closes it.
            (false, Some(close)) => close + 1,
            (false, None) => text.len(),
        };
        if !mark {
            out.push_str(text.get(at..end).unwrap_or_default());
        }
        from = end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Takes away one pair of brackets that encloses everything.
fn bare(text: &str) -> String {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text.to_owned();
    };
    let mut depth = 0i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text.to_owned();
        }
    }
    inner.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn predicates_lose_what_only_spark_needs() {
        let predicate = |v: Value| predicate_text(&v, |t| serde_json::from_str(t).ok());
        let text = |v: Value| predicate(v).unwrap_or_default();
        assert_eq!(text(json!("[\"(letter#39791 = a)\"]")), "letter = a");
        assert_eq!(text(json!("[\"(id#6039L = 2)\"]")), "id = 2");
        assert_eq!(text(json!("id = 1 ")), "id = 1");
        assert_eq!(
            text(json!("[\"((`id` >= 120L) AND (`id` <= 125L))\"]")),
            "(`id` >= 120L) AND (`id` <= 125L)"
        );
        assert_eq!(
            text(json!("[\"a = 1\",\"(b = '#7')\"]")),
            "a = 1 and b = '#7'"
        );
        assert_eq!(
            text(json!("[\"('event_date = 2026-11-28)\"]")),
            "event_date = 2026-11-28"
        );
        assert_eq!(
            text(json!("[\"(('a = 1) AND ('b.c IN (2,3)))\"]")),
            "(a = 1) AND (b.c IN (2,3))"
        );
        assert_eq!(
            text(json!("('city = 'New York') and name = 'it''s'")),
            "(city = 'New York') and name = 'it''s'"
        );
        for plain in [
            "region = 'US'",
            "t = 'a b' or 'x y' = t",
            "a = ''",
            "n = 'é'",
        ] {
            assert_eq!(text(json!(plain)), plain);
        }
        assert_eq!(predicate(json!("[]")), None);
        assert_eq!(predicate(json!(null)), None);
        assert_eq!(text(json!({"a": []})), r#"{"a":[]}"#);
        assert_eq!(text(json!("(a) or (b)")), "(a) or (b)");
    }
}
