//! What the commit says of itself: `commitInfo`, untouched.

use std::sync::Arc;

use lake::table::Time;
use lake::wire::CommitReport;
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{Json, fact, key_fact, named};
use crate::parts::{Op, Text, When};

/// Keys that have a line in words of their own.
const NAMED: &[&str] = &[
    "operation",
    "operationParameters",
    "operationMetrics",
    "timestamp",
    "inCommitTimestamp",
    "userName",
    "userMetadata",
    "engineInfo",
    "readVersion",
    "isolationLevel",
];

/// The commit in its own words.
#[component]
pub fn About(report: Arc<CommitReport>) -> Markup {
    let row = &report.commit;
    let info = report.commit_info.as_object().cloned().unwrap_or_default();
    let text = |key: &str| info.get(key).filter(|v| !v.is_null()).cloned();
    let parameters = entries(&row.parameters);
    let metrics = entries(&row.metrics);
    let others: Map<String, Value> = info
        .iter()
        .filter(|(key, _)| !NAMED.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let silent = info.is_empty();
    view! {
        <h2>{format!("Commit {}", row.version)}</h2>
        {silent.then(|| view! {
            <p class="soft">"It has no commitInfo: the writer did not say who, how or why"</p>
        })}
        <dl class="pairs">
            {fact("Operation", view! { <Op name=row.operation.clone() /> })}
            {parameters.into_iter().map(|(key, value)| key_fact(&key, named(&key, &value))).collect::<Markup>()}
            {row.user.clone().map(|user| fact("By", view! { <Text text=user /> }))}
            {row.engine.clone().map(|engine| fact("Engine", view! { <Text text=engine /> }))}
            {row.reason.clone().map(|why| fact("Reason", view! { <Text text=why max=400 /> }))}
            {fact("Committed", match row.timestamp {
                    Some(at) => exact(at),
                    None => view! { <When at=None /> },
                })}
            {row.writer_timestamp.filter(|at| Some(*at) != row.timestamp).map(|at| fact("Writer's clock", exact(at)))}
            {text("readVersion").map(|v| fact("Read version", view! { <Json value=v /> }))}
            {text("isolationLevel").map(|v| fact("Isolation", view! { <Json value=v /> }))}
            {others.into_iter().map(|(key, value)| key_fact(&key, view! { <Json value /> })).collect::<Markup>()}
        </dl>
        {(!metrics.is_empty()).then(|| view! {
            <h2>"Metrics" <small>"as the writer counted"</small></h2>
            <dl class="pairs">
                {metrics.into_iter().map(|(key, value)| key_fact(&key, view! { <Json value /> })).collect::<Markup>()}
            </dl>
        })}
    }
}

fn entries(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(map) => {
            let told = map.iter().filter(|(_, v)| !v.is_null());
            told.map(|(k, v)| (k.clone(), v.clone())).collect()
        }
        Value::Null => Vec::new(),
        other => vec![("value".to_owned(), other.clone())],
    }
}

/// An instant whose line breaks between day and hour, if it must.
fn exact(at: Time) -> Markup {
    let text = format::utc(at);
    let (day, hour) = text.split_once(' ').unwrap_or((&text, ""));
    view! {
        <time class="mono" datetime=at.to_string()>
            {day.to_owned()} " " <span class="fig">{hour.to_owned()}</span>
        </time>
    }
}
