//! The lake as a tree of zones and tables, at the left.

use lake::wire::Format;
use lake::wire::http::{LakeReport, TableEntry};
use leptos::prelude::*;

use crate::format::{shorten, shorten_middle, spaced};
use crate::markup::{Markup, view};
use crate::route::Route;
use crate::session::session;
use crate::signals::RwSignal;

/// Characters of a name that fit; of a longer one the ends remain, which tell it from its like.
const LONGEST: usize = 25;

/// The rail. Below 720 px it is shown while `open`.
#[component]
pub fn Rail(open: RwSignal<bool>) -> Markup {
    let session = session();
    let on = move |route: Route| move || session.route.with(|r| *r == route).then_some("page");
    let zones = move || {
        let lake = session.lake.ok()?;
        Some(lake.zones.iter().map(|zone| {
            let keep = zone.keep.as_ref().map(|k| shorten(&spaced(k), 12));
            let name = shorten_middle(&zone.name, 40);
            let tables = tables_of(&lake, &zone.name);
            let broken = zone.error.as_ref().map(|e| shorten(&e.message, 200));
            let fails = broken.is_some();
            view! {
                <div class="zone" title=broken>
                    <b>{name}</b>
                    {fails.then(|| view! { <span class="dot broken"></span><span class="unseen">"could not be searched"</span> })}
                    <span class="keep">{keep}</span>
                </div>
                <ul>
                    {datasets_of(&lake, &zone.name)}
                    {tables.into_iter().map(|t| view! { <Entry entry=t /> }).collect::<Markup>()}
                </ul>
            }
        }).collect::<Markup>())
    };
    view! {
        <nav id="rail" class="rail" class:open=move || open.get() aria-label="Zones and tables"
            on:click=move |_| open.set(false)>
            <a href="/" aria-current=on(Route::Lake)>"Lake"</a>
            <a href="/hours" aria-current=on(Route::Closed)>"Closed hours"</a>
            <a href="/zones" aria-current=on(Route::Zones)>"Zones"</a>
            <a href="/audit" aria-current=on(Route::Audit)>"Audit"</a>
            {zones}
        </nav>
    }
}

fn tables_of(lake: &LakeReport, zone: &str) -> Vec<TableEntry> {
    let tables = lake.tables.iter().filter(|t| t.zone == zone);
    tables.cloned().collect()
}

/// The datasets of a zone.
fn datasets_of(lake: &LakeReport, zone: &str) -> Markup {
    let session = session();
    let datasets = lake.datasets.iter().filter(|d| d.zone == zone);
    let entries = datasets.map(|dataset| {
        let dataset = dataset.name.clone();
        let state = session.states.of(&dataset);
        let short = shorten_middle(&dataset, LONGEST);
        let href = Route::Hours { dataset: dataset.clone() }.href();
        let title = shorten(&dataset, 200);
        let current = move || {
            session.route.with(|r| r.dataset() == Some(&dataset)).then_some("page")
        };
        view! {
            <li>
                <a href=href aria-current=current title=title>
                    <span class=move || format!("dot {}", state.get().class()) aria-hidden="true"></span>
                    <span class="name">{short}</span>
                    <span class="unseen">{move || state.get().says()}</span>
                </a>
            </li>
        }
    });
    entries.collect()
}

#[component]
fn Entry(entry: TableEntry) -> Markup {
    let session = session();
    let name = entry.name.clone();
    let current = move || {
        let here = session.table().and_then(Result::ok);
        here.is_some_and(|e| e.name == name).then_some("page")
    };
    let own = entry.name.strip_prefix(&format!("{}/", entry.zone));
    let short = shorten_middle(own.unwrap_or(&entry.name), LONGEST);
    let format = match entry.format {
        Format::Delta => ("Δ", "Delta"),
        Format::Iceberg => ("ice", "Iceberg"),
        Format::Hudi => ("hudi", "Hudi"),
    };
    let state = session.states.of(&entry.name);
    let href = Route::Timeline {
        table: entry.name.clone(),
    }
    .href();
    view! {
        <li>
            <a href=href aria-current=current title=shorten(&entry.name, 200)>
                <span class=move || format!("dot {}", state.get().class()) aria-hidden="true"></span>
                <span class="name">{short}</span>
                <span class="unseen">{move || state.get().says()}</span>
                <small title=format.1>{format.0}</small>
            </a>
        </li>
    }
}
