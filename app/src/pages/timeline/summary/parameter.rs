//! What a writer noted, unwrapped: engines write strings of JSON, JSON, or anything else.

use lake::wire::CommitRow;
use serde_json::Value;

use crate::engine::read::from_json;
use crate::words::{flat, predicate_text};

/// A parameter as text, without what engines wrap it in; `None` where it says nothing.
pub(super) fn parameter(commit: &CommitRow, key: &str) -> Option<String> {
    let value = commit.parameters.get(key)?;
    if key.to_ascii_lowercase().ends_with("predicate") {
        return predicate_text(value).filter(|text| text != "true");
    }
    let text = match list(value) {
        Some(parts) => parts.join(", "),
        None => flat(value).trim().to_owned(),
    };
    let nothing = text.is_empty() || text == "null" || text == "{}";
    (!nothing).then_some(text)
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
    Some(all.iter().map(flat).collect())
}
