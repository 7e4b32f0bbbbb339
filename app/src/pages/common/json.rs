//! The table's own JSON: read by eye, nothing left out, nothing rewritten.

use leptos::prelude::*;
use serde_json::Value;

use crate::engine::read::from_json;
use crate::format::shorten;
use crate::markup::{IntoMarkup, Markup, view};
use crate::words::{flat, predicate_text};

/// Nesting that is still laid out; deeper is shown as text.
const DEEPEST: usize = 4;

/// Entries of one array or object that are shown.
const MOST: usize = 100;

/// A value. Text that holds JSON, as writers of Delta like to put it, is laid out as JSON.
#[component]
pub fn Json(value: Value) -> Markup {
    laid_out(&value, 0)
}

/// A value by its name: a predicate as people write it, everything else as it stands.
pub fn named(name: &str, value: &Value) -> Markup {
    under(name, value, 0)
}

fn under(name: &str, value: &Value, depth: usize) -> Markup {
    let predicate = name.to_ascii_lowercase().ends_with("predicate");
    match predicate.then(|| predicate_text(value)).flatten() {
        Some(text) => {
            let raw = flat(value);
            let title = (raw != text).then(|| shorten(&raw, 2_000));
            view! { <code class="wrap" title=title>{shorten(&text, 400)}</code> }
        }
        None => laid_out(value, depth),
    }
}

fn laid_out(value: &Value, depth: usize) -> Markup {
    match value {
        Value::Null => view! { <span class="faint">"null"</span> },
        Value::Bool(_) | Value::Number(_) => {
            view! { <span class="fig">{value.to_string()}</span> }
        }
        Value::String(text) => match inner(text) {
            Some(value) if depth < DEEPEST => laid_out(&value, depth + 1),
            _ if text.is_empty() => view! { <span class="faint">"empty text"</span> },
            _ => {
                let long = text.chars().nth(400).is_some();
                let title = long.then(|| shorten(text, 2_000));
                view! { <span class="text" title=title>{shorten(text, 400)}</span> }
            }
        },
        _ if depth >= DEEPEST => {
            view! { <code>{shorten(&value.to_string(), 400)}</code> }
        }
        Value::Array(items) if items.is_empty() => {
            view! { <span class="faint">"none"</span> }
        }
        Value::Array(items) => {
            let rows = items.iter().take(MOST);
            let rows = rows.map(|item| view! { <li>{laid_out(item, depth + 1)}</li> });
            view! { <ul class="json">{rows.collect::<Markup>()} {rest(items.len())}</ul> }
        }
        Value::Object(map) if map.is_empty() => {
            view! { <span class="faint">"none"</span> }
        }
        Value::Object(map) => {
            let rows = map.iter().take(MOST).map(|(key, value)| {
                view! {
                    <li>
                        <span class="soft mono">{shorten(key, 80)}</span>
                        " "
                        {under(key, value, depth + 1)}
                    </li>
                }
            });
            view! { <ul class="json">{rows.collect::<Markup>()} {rest(map.len())}</ul> }
        }
    }
}

fn rest(total: usize) -> Option<impl IntoMarkup + use<>> {
    let rest = total.saturating_sub(MOST);
    (rest > 0).then(|| view! { <li class="faint">{format!("{rest} more")}</li> })
}

/// The JSON array or object in a text.
fn inner(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) || text.len() > 100_000 {
        return None;
    }
    from_json(text).ok()
}

/// [`pretty`] text for the page: control characters of a hostile line are made visible, only the
/// breaks of the layout remain.
pub fn laid_out_text(text: &str) -> String {
    let text = pretty(text);
    let lines: Vec<String> = text.split('\n').map(crate::format::visible).collect();
    lines.join("\n")
}

/// JSON text with line breaks and indentation. The tokens stay as they are: no number is rounded,
/// no key moved, no escape resolved. Text that is not JSON comes out as it went in, but for
/// breaks.
fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let mut chars = text.trim().chars().peekable();
    let mut in_text = false;
    let mut escaped = false;
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        // A hostile line nests deeper than anybody reads.
        out.extend(std::iter::repeat_n(' ', depth.min(40) * 2));
    };
    while let Some(c) = chars.next() {
        if in_text {
            out.push(c);
            in_text = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' => {
                in_text = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|n| n.is_whitespace()).is_some() {}
                if let Some(end) = chars.next_if(|n| matches!(n, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    newline(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                newline(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                newline(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn tokens_stay_as_they_are() {
        let text = r#"{"b":9223372036854775807,"a":1.50,"t":"x, {\"y\": 1}","e":[],"l":[1,2]}"#;
        assert_eq!(
            pretty(text),
            "{\n  \"b\": 9223372036854775807,\n  \"a\": 1.50,\n  \"t\": \"x, {\\\"y\\\": 1}\",\n  \
             \"e\": [],\n  \"l\": [\n    1,\n    2\n  ]\n}"
        );
    }

    #[test]
    fn escapes_do_not_end_text() {
        assert_eq!(
            pretty(r#"{"a":"\\","b":1}"#),
            "{\n  \"a\": \"\\\\\",\n  \"b\": 1\n}"
        );
    }

    #[test]
    fn what_is_not_json_is_not_lost() {
        assert_eq!(pretty("{\"a\": tru"), "{\n  \"a\": tru");
        assert_eq!(pretty("}}"), "\n}\n}");
    }
}
