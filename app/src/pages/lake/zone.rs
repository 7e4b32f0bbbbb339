//! One zone and its tables.

use lake::wire::http::{DatasetEntry, TableEntry, ZoneReport};
use leptos::prelude::*;

use crate::format::{shorten, spaced, visible};
use crate::markup::{Markup, view};
use crate::message::message;
use crate::route::Route;
use crate::session::session;
use crate::signals::Memo;

use super::queue::Queue;
use super::table::Table;
use super::{Overviews, dataset_wanted, wanted};

/// The zone's line and the table of its tables. Nothing where the filter wants none of them.
#[component]
pub fn Zone(
    zone: ZoneReport,
    tables: Vec<TableEntry>,
    datasets: Vec<DatasetEntry>,
    overviews: Overviews,
    queue: Queue,
) -> Markup {
    let text = session().param("q");
    let facts = [
        zone.owner.clone(),
        zone.format.clone(),
        zone.keep.as_ref().map(|k| format!("kept {}", spaced(k))),
        (zone.reads == "redirect").then(|| "read from the bucket directly".to_owned()),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let facts = shorten(&facts, 200);
    let url = shorten(&zone.url, 400);
    let error = zone.error.clone().map(|report| {
        let message = message(&report.into());
        view! {
            <p class="zone-error">
                <b>{message.title}</b>" "{visible(&message.sentence)}" "
                <span class="mono soft">{message.location.map(|l| visible(&l))}</span>" "
                <span class="soft">{message.next}</span>
            </p>
        }
    });
    let none = tables.is_empty();
    let empty = none && zone.error.is_none();
    let entries = (tables.clone(), datasets.clone());
    let shown = Memo::new(move |_| {
        text.with(|t| {
            let t = t.as_deref();
            let of_tables = entries.0.iter().any(|e| wanted(e, t));
            of_tables || entries.1.iter().any(|e| dataset_wanted(e, t)) || t.is_none()
        })
    });
    let rows = tables
        .into_iter()
        .map(|entry| view! { <Table entry overviews queue /> });
    let rows = rows.collect::<Markup>();
    let only_datasets = none && !datasets.is_empty();
    let body = if only_datasets || none && !empty {
        // Its error says why.
        Markup::Nothing
    } else if empty {
        view! { <p class="soft s">"No table was found in it"</p> }
    } else {
        view! {
            <table class="tables">
                <colgroup>
                    <col /> <col class="last" /> <col class="hide line" /> <col class="hide figure" />
                    <col class="hide figure" />
                </colgroup>
                <thead>
                    <tr>
                        <th>"Table"</th>
                        <th>"Last commit"</th>
                        <th class="hide">"Rows, recent commits"</th>
                        <th class="hide n">"Files"</th>
                        <th class="hide n">"Bytes"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
    };
    view! {
        <section class="zone-section" hidden=move || !shown.get()>
            <h2 title=url>{shorten(&zone.name, 80)}<small>{facts}</small></h2>
            {error}
            {datasets.into_iter().map(hours_of).collect::<Markup>()}
            {body}
        </section>
    }
}

/// A dataset's line: its hours are a page of their own.
fn hours_of(entry: DatasetEntry) -> Markup {
    let session = session();
    let text = session.param("q");
    let state = session.states.of(&entry.name);
    let name = shorten(&entry.name, 80);
    let dataset = entry.name.clone();
    let href = Route::Hours { dataset }.href();
    let fits = move || text.with(|t| dataset_wanted(&entry, t.as_deref()));
    view! {
        <p class="dataset-line" hidden=move || !fits()>
            <span class=move || format!("dot {}", state.get().class()) aria-hidden="true"></span>
            <a href=href>{name}</a>
            <span class="soft s">"hours"</span>
            <span class="soft s">{move || state.get().says()}</span>
        </p>
    }
}
