//! The lake: what needs a person, then every zone with its tables.
//!
//! Each table is asked for by itself, a few at a time: a broken one shows its error in its own
//! row, and the others do not wait for it.

pub mod called_out;
pub mod queue;
pub mod table;
pub mod zone;

use std::collections::BTreeMap;
use std::sync::Arc;

use lake::Result;
use lake::wire::OverviewReport;
use lake::wire::http::{DatasetEntry, TableEntry};
use leptos::prelude::*;

use crate::format::counted;
use crate::format::lower;
use crate::late;
use crate::markup::{Markup, view};
use crate::parts::{Facts, Head};
use crate::route::Route;
use crate::session::{TableState, session};
use crate::signals::RwSignal;

use called_out::CalledOut;
use queue::Queue;
use zone::Zone;

/// Answers by the tables' names.
#[derive(Clone, Copy)]
pub struct Overviews(pub RwSignal<BTreeMap<String, Result<Arc<OverviewReport>>>>);

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let overviews = Overviews(RwSignal::new(BTreeMap::new()));
    provide_context(overviews);
    let queue = Queue::new(session);
    let text = session.param("q");
    let filter = move |event| {
        let text = event_target_value(&event);
        session.nav.set("q", Some(text).filter(|t| !t.is_empty()));
    };
    let body = session.lake.show("the lake", move |lake| {
        if lake.tables.is_empty() && lake.datasets.is_empty() {
            return called_out();
        }
        let zones = lake.zones.iter().map(|zone| {
            let tables = lake.tables.iter().filter(|t| t.zone == zone.name);
            let tables = tables.cloned().collect::<Vec<_>>();
            let datasets = lake.datasets.iter().filter(|d| d.zone == zone.name);
            let datasets = datasets.cloned().collect::<Vec<_>>();
            view! { <Zone zone=zone.clone() tables datasets overviews queue /> }
        });
        let zones = zones.collect::<Markup>();
        let none = {
            let lake = Arc::clone(&lake);
            move || {
                let fits = text.with(|t| {
                    let t = t.as_deref();
                    lake.tables.iter().any(|entry| wanted(entry, t))
                        || lake.datasets.iter().any(|entry| dataset_wanted(entry, t))
                });
                (!fits).then(|| view! { <p class="soft">"No table's or dataset's name has this in it"</p> })
            }
        };
        view! {
            <CalledOut overviews />
            {called_out()}
            <div class="tools">
                <input class="field" type="search" aria-label="Filter tables and datasets" placeholder="Filter: table, dataset, zone…"
                    prop:value=move || text.get().unwrap_or_default() on:input=filter />
            </div>
            {zones}
            {none}
        }
    });
    view! {
        <Head title="Lake" facts />
        {body}
    }
}

/// What comes after the first paint: what is said of hours, and where there is nothing, of that.
fn called_out() -> Markup {
    let late = session().late;
    Markup::live(move || matches!(late.ready()?, Ok(())).then(|| late::page(&Route::Lake)))
}

fn facts() -> Markup {
    let Some(lake) = session().lake.ok() else {
        return Markup::Nothing;
    };
    let states = session().states;
    let tables = lake.tables.iter().map(|t| &t.name);
    let all = || tables.clone().chain(lake.datasets.iter().map(|d| &d.name));
    let needing = states.count(all(), TableState::Attention);
    let broken = states.count(all(), TableState::Broken);
    let mut facts = vec![
        view! { {counted(lake.zones.len() as u64, "zone")} },
        view! { {counted(lake.tables.len() as u64, "table")} },
    ];
    if !lake.datasets.is_empty() {
        let datasets = counted(lake.datasets.len() as u64, "dataset");
        facts.push(view! { {datasets} });
    }
    if needing > 0 {
        let verb = if needing == 1 { "needs" } else { "need" };
        facts.push(view! { {format!("{needing} {verb} someone")} });
    }
    if broken > 0 {
        facts.push(view! { {format!("{broken} cannot be read")} });
    }
    if !lake.discovered {
        facts.push(view! { "not searched to its depth" });
    }
    view! { <Facts facts /> }
}

/// Whether a table's name or zone has the filter's words in it.
fn wanted(table: &TableEntry, text: Option<&str>) -> bool {
    has_all(&table.zone, &table.name, &table.prefix, text)
}

/// Whether a dataset's name or zone has them.
fn dataset_wanted(dataset: &DatasetEntry, text: Option<&str>) -> bool {
    has_all(&dataset.zone, &dataset.name, &dataset.prefix, text)
}

fn has_all(zone: &str, name: &str, prefix: &str, text: Option<&str>) -> bool {
    let name = lower(&format!("{zone}/{name} {prefix}"));
    let text = lower(text.unwrap_or_default());
    text.split_whitespace().all(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lake::wire::Format;

    #[test]
    fn tables_are_found_by_name_zone_and_place() {
        let table = TableEntry {
            name: "Users".to_owned(),
            zone: "curated".to_owned(),
            prefix: "people/users".to_owned(),
            format: Format::Delta,
            configured: true,
            reads: Vec::new(),
        };
        for text in [None, Some(""), Some("user"), Some("CURATED people")] {
            assert!(wanted(&table, text), "{text:?}");
        }
        assert!(!wanted(&table, Some("orders")));
    }
}
