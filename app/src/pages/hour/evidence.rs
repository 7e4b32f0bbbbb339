//! Why an hour is what it is: reasons with their keys, the marker, the listing, the gate.

use std::sync::Arc;

use lake::hours::Reason;
use lake::wire::hours::HourReport;
use leptos::prelude::*;
use serde_json::Value;

use crate::format;
use crate::markup::{IntoMarkup, Markup, view};
use crate::pages::common::{fact, key_fact, named};
use crate::pages::hours::exceptions::{note, state};
use crate::parts::{Bytes, Key, When};

/// Reasons, listing, gate, contract and marker.
#[component]
pub fn Evidence(report: Arc<HourReport>) -> Markup {
    let row = &report.row;
    // The first one is the page's sentence.
    let reasons = row.reasons.iter().skip(1);
    let reasons = reasons.map(|reason| why(&report, reason));
    let reasons = reasons.collect::<Vec<Markup>>();
    let some = !reasons.is_empty();
    let contract = report.contract.as_ref().map(|findings| {
        let notes = findings.iter().map(note).collect::<Markup>();
        let none = findings
            .is_empty()
            .then(|| view! { <p class="soft">"The footers hold to what is declared"</p> });
        view! { <h2>"Contract" <small>"from footers alone"</small></h2> {notes} {none} }
    });
    let put = report
        .marker_put
        .or(report.closed_by.as_ref().map(|(_, put)| *put));
    view! {
        {some.then(|| view! { <h2>"What else is so"</h2> <ul class="reasons">{reasons.into_iter().collect::<Markup>()}</ul> })}
        <h2>"Two clocks" <small>"when keys were put, and when it was published"</small></h2>
        <dl class="pairs fields">
            {fact("Listing", view! { {format::counted(row.objects, "object")} ", " <Bytes n=row.bytes /> ", median " <Bytes n=row.median_bytes /> })}
            {fact("Newest object put", view! { <When at=row.newest_object minute=true /> })}
            {put.map(|put| fact("Marker put", view! { <When at=Some(put) minute=true /> }))}
            {fact("Listed by this page", view! { <When at=row.listed_at /> })}
            {fact("Completeness", gate(&report))}
        </dl>
        {contract}
        <Marker report=Arc::clone(&report) />
    }
}

fn why(report: &HourReport, reason: &Reason) -> Markup {
    view! {
        <li>
            {state(reason.state)}
            <div>{format::capital(&format::visible(&reason.message))}{key(report, reason)}</div>
        </li>
    }
}

/// The key that a reason is about.
pub fn key(report: &HourReport, reason: &Reason) -> Option<Markup> {
    let key = reason.key.as_ref()?;
    let own = key
        .strip_prefix(report.prefix.as_str())
        .map(|rest| format!("…/{rest}"));
    let put = reason.put.map(|put| view! { " put " {format::utc(put)} });
    let bytes = reason.bytes.map(|bytes| view! { ", " <Bytes n=bytes /> });
    Some(
        view! { <div class="s soft"><Key text=own.unwrap_or_else(|| key.clone()) max=90 />{put}{bytes}</div> },
    )
}

/// What the gate found, or why it was not asked.
fn gate(report: &HourReport) -> Markup {
    let Some(found) = report
        .row
        .completeness
        .as_ref()
        .filter(|found| found.checked)
    else {
        let text = match report.dataset.gated {
            true => "not checked: nothing is published to check",
            false => "not checked: the dataset has no sequence",
        };
        return view! { <span class="soft">{text}</span> };
    };
    let text = format!(
        "{} checked: {} landed, {} dead-lettered, {} missing",
        format::counted(found.orders, "order"),
        format::counted(found.landed, "line"),
        format::count(found.dead_lettered),
        format::count(found.missing),
    );
    let examples = (!found.examples.is_empty()).then(|| {
        let ids = found.examples.iter().map(|id| view! { <li class="mono">{format::shorten(id, 80)}</li> });
        view! {
            <details class="raw">
                <summary class="soft s">{format!("Orders that lack lines, {} of them", found.examples.len())}</summary>
                <ul>{ids.collect::<Markup>()}</ul>
            </details>
        }
    });
    view! { {text} {examples} }
}

/// A field that is no text: what is long is one line, and all of it behind that.
fn whole(name: &str, value: &Value) -> Markup {
    let line = value.to_string();
    match line.len() > 80 {
        true => view! {
            <details class="raw">
                <summary class="mono">{format::shorten(&line, 80)}</summary>
                {named(name, value)}
            </details>
        },
        false => format::visible(&line).into_markup(),
    }
}

/// The marker, field by field, as it is written.
#[component]
fn Marker(report: Arc<HourReport>) -> Markup {
    let Some(marker) = report.row.marker.clone() else {
        if let Some((key, _)) = report.closed_by.clone() {
            return view! {
                <h2>"Marker" <small>"another publisher's"</small></h2>
                <p><Key text=key max=110 /></p>
                <p class="soft s">"It names no count: it says that its writer had finished when it was put."</p>
            };
        }
        return match &report.marker_key {
            Some(key) => {
                let key = key.clone();
                view! { <h2>"Marker"</h2> <p class="soft">"It cannot be read: " <Key text=key max=90 /></p> }
            }
            None => view! { <h2>"Marker"</h2> <p class="soft">"None"</p> },
        };
    };
    let fields = marker.into_iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => view! { <Key text max=110 /> }.into_markup(),
            other => whole(&name, &other),
        };
        key_fact(&name, value)
    });
    let key = report.marker_key.clone().unwrap_or_default();
    view! {
        <h2>"Marker" <small class="mono">{format::shorten_middle(&key, 90)}</small></h2>
        <dl class="pairs fields">{fields.collect::<Markup>()}</dl>
    }
}
