//! What the table asks of readers and writers, and how this version was put together.

use std::sync::Arc;

use lake::wire::SnapshotReport;
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{Here, Json, key_fact};
use crate::parts::{Badge, Key, Text};
use crate::route::Route;
use crate::words::features;

/// The protocol's numbers, and each feature with what it means.
#[component]
pub fn Features(report: Arc<SnapshotReport>) -> Markup {
    let numbers: Vec<_> = report
        .protocol
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "readerFeatures" | "writerFeatures"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let unsupported = report.unsupported_writer_features.clone();
    let known = features(&report.protocol);
    let rows = known.iter().map(|feature| {
        let refused = unsupported.contains(&feature.name);
        let title = if feature.reader {
            "Readers and writers must know it"
        } else {
            "Writers must know it; reading needs nothing"
        };
        view! {
            <li>
                <div>
                    <Key text=feature.name.clone() max=48 />
                    " "
                    <Badge text=if feature.reader { "reader" } else { "writer" } title />
                    {refused.then(|| view! {
                        " " <Badge text="not written here" tone="go"
                            title="This build reads the table and refuses to write it, because of this feature" />
                    })}
                </div>
                <p class="soft s">
                    {feature.means.unwrap_or("This build does not know what it means")}
                </p>
            </li>
        }
    });
    let rows: Vec<_> = rows.collect();
    view! {
        <h2>"Protocol"</h2>
        <dl class="pairs">
            {numbers.into_iter().map(|(key, value)| key_fact(&key, view! { <Json value /> })).collect::<Markup>()}
        </dl>
        <h2>"Features" <small>{format::count(rows.len() as u64)}</small></h2>
        {if rows.is_empty() {
            view! { <p class="soft">"None beyond the first version of the format"</p> }
        } else {
            view! { <ul class="features">{rows}</ul> }
        }}
        {(!unsupported.is_empty()).then(|| view! {
            <p class="soft s">
                {format!(
                    "Tidemark reads this table in full and refuses to write it: {}",
                    format::shorten(&unsupported.join(", "), 200),
                )}
            </p>
        })}
        <Named title="Domains" entries=report.domains.iter().map(|(k, v)| (k.clone(), v.clone())).collect() />
        <Named title="Streaming writers"
            entries=report.transactions.iter().map(|(k, v)| (k.clone(), format!("transaction {v}"))).collect() />
    }
}

/// A section that is there only if it has something to say.
#[component]
fn Named(title: &'static str, entries: Vec<(String, String)>) -> Markup {
    const MOST: usize = 50;
    if entries.is_empty() {
        return Markup::Nothing;
    }
    let more = entries.len().saturating_sub(MOST);
    view! {
        <h2>{title} <small>{format::count(entries.len() as u64)}</small></h2>
        <dl class="pairs">
            {entries.into_iter().take(MOST).map(|(key, value)| view! {
                {key_fact(&key, view! { {if value.starts_with(['{', '[']) {
                        view! { <Json value=serde_json::Value::String(value) /> }
                    } else {
                        view! { <Text text=value max=200 /> }
                    }} })}
            }).collect::<Markup>()}
        </dl>
        {(more > 0).then(|| view! { <p class="soft s">{format!("{more} more")}</p> })}
    }
}

/// From which checkpoint and how many commits the version was rebuilt.
#[component]
pub fn Rebuilt(here: Here, report: Arc<SnapshotReport>) -> Markup {
    let commits = format::counted(report.commits_read, "commit");
    let said = match report.checkpoint {
        Some(checkpoint) => {
            let href = here.href(|table| Route::Commit {
                table,
                version: checkpoint,
            });
            view! {
                "The checkpoint at " <a href=href>{checkpoint.to_string()}</a>
                {format!(" and {commits} after it")}
            }
        }
        None => view! { {format!("{commits}, from the first on")} },
    };
    view! {
        <h2>"Rebuilt from"</h2>
        <p class="soft">{said}</p>
    }
}
