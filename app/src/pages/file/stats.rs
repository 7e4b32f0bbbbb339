//! The statistics that the log keeps of the file: `add.stats`.

use std::collections::BTreeMap;
use std::sync::Arc;

use lake::wire::file::FileReport;
use leptos::prelude::*;
use serde_json::Value;

use crate::engine::read::from_json;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::laid_out_text;

/// Columns that are listed.
const MOST: usize = 1_000;

/// The statistics by column; text as it stands where it is not what the protocol says.
#[component]
pub fn Stats(report: Arc<FileReport>) -> Markup {
    let Some(text) = report.log_stats.as_deref() else {
        return view! { <p class="soft">"The log keeps no statistics of this file"</p> };
    };
    let Ok(Value::Object(stats)) = from_json::<Value>(text) else {
        return view! {
            <p class="go">"The statistics are not JSON; readers ignore them"</p>
            <pre tabindex="0">{format::shorten(text, 4_000)}</pre>
        };
    };
    let columns = by_column(&stats);
    let more = columns.len().saturating_sub(MOST);
    let records = stats.get("numRecords").map(ToString::to_string);
    let tight = stats.get("tightBounds").and_then(Value::as_bool);
    let rows = columns.into_iter().take(MOST).map(|(name, stat)| {
        view! {
            <tr>
                <td class="mono">{format::shorten(&name, 80)}</td>
                <td class="mono s">{stat.min.map(|t| format::shorten(&t, 60))}</td>
                <td class="mono s">{stat.max.map(|t| format::shorten(&t, 60))}</td>
                <td class="n">{stat.nulls}</td>
            </tr>
        }
    });
    // What a log line may hold is more than a person reads.
    let raw: String = laid_out_text(text).chars().take(20_000).collect();
    view! {
        <p class="soft s">
            {records.map(|n| format!("numRecords {n}"))}
            {tight.map(|tight| if tight {
                ", bounds are values that occur"
            } else {
                ", bounds are wide: rows were deleted since"
            })}
        </p>
        <div class="scroll" tabindex="0" role="region" aria-label="Statistics by column">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"Column"</th>
                        <th scope="col">"Smallest"</th>
                        <th scope="col">"Largest"</th>
                        <th scope="col" class="n">"Nulls"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect::<Markup>()}</tbody>
            </table>
        </div>
        {(more > 0).then(|| view! { <p class="soft s">{format!("{more} more columns")}</p> })}
        <details class="raw"><summary class="soft s">"As it stands in the log"</summary><pre tabindex="0">{raw}</pre></details>
    }
}

/// What the log knows of one column, as text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stat {
    min: Option<String>,
    max: Option<String>,
    nulls: Option<String>,
}

/// The three maps of `stats` as one, nested columns by their dotted path.
fn by_column(stats: &serde_json::Map<String, Value>) -> BTreeMap<String, Stat> {
    let mut columns = BTreeMap::new();
    let mut add = |key: &str, set: fn(&mut Stat, String)| {
        if let Some(value) = stats.get(key) {
            walk(value, "", &mut |path, text| {
                set(columns.entry(path).or_default(), text)
            });
        }
    };
    add("minValues", |stat, text| stat.min = Some(text));
    add("maxValues", |stat, text| stat.max = Some(text));
    add("nullCount", |stat, text| stat.nulls = Some(text));
    columns
}

fn walk(value: &Value, above: &str, each: &mut impl FnMut(String, String)) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let path = if above.is_empty() {
                    name.clone()
                } else {
                    format!("{above}.{name}")
                };
                walk(value, &path, each);
            }
        }
        Value::String(text) => each(above.to_owned(), text.clone()),
        other => each(above.to_owned(), other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_columns_have_dotted_paths() {
        let Value::Object(stats) = json!({"numRecords": 3,
            "minValues": {"a": 1, "s": {"b": "x"}},
            "maxValues": {"a": 9_007_199_254_740_993_u64},
            "nullCount": {"a": 0, "s": {"b": 2}}})
        else {
            return;
        };
        let columns = by_column(&stats);
        assert_eq!(columns.len(), 2);
        assert_eq!(columns["a"].max.as_deref(), Some("9007199254740993"));
        assert_eq!(columns["s.b"].min.as_deref(), Some("x"));
        assert_eq!(columns["s.b"].nulls.as_deref(), Some("2"));
        assert_eq!(columns["s.b"].max, None);
    }
}
