//! What a writer noted, unwrapped: engines write strings of JSON, JSON, or anything else.

use crate::engine::read::from_json;
use lake::wire::CommitRow;
use serde_json::Value;

/// A parameter as text, without the brackets and parentheses that engines wrap it in; `None`
/// where it says nothing.
pub(super) fn parameter(commit: &CommitRow, key: &str) -> Option<String> {
    unwrap(commit.parameters.get(key)?)
}

pub(super) fn unwrap(value: &Value) -> Option<String> {
    if let Some(parts) = list(value) {
        let parts = parts.iter().map(|p| bare(p)).filter(|p| !p.is_empty());
        let joined = parts.collect::<Vec<_>>().join(" and ");
        return (!joined.is_empty()).then_some(joined);
    }
    let text = text(value);
    let text = bare(&text);
    let nothing = text.is_empty() || text == "null" || text == "{}";
    (!nothing).then(|| text.to_owned())
}

/// A list, or a string that holds one as JSON.
pub(super) fn list(value: &Value) -> Option<Vec<String>> {
    let parsed = match value {
        Value::String(text) if text.trim_start().starts_with('[') => from_json(text).ok()?,
        Value::Array(_) => value.clone(),
        _ => return None,
    };
    let Value::Array(all) = parsed else {
        return None;
    };
    Some(all.iter().map(text).collect())
}

/// Without one pair of parentheses around the whole.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0_i64;
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        // The first parenthesis closes before the end: it is not around the whole.
        if depth < 0 {
            return text;
        }
    }
    inner
}

pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
