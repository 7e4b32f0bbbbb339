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
use lake::wire::http::{LakeReport, TableEntry};
use leptos::prelude::*;

use crate::format::counted;
use crate::format::lower;
use crate::late;
use crate::markup::{Markup, view};
use crate::parts::{Empty, Facts, Head};
use crate::route::Route;
use crate::session::session;
use crate::signals::RwSignal;

use called_out::CalledOut;
use queue::Queue;
use zone::Zone;

/// Answers by the tables' names.
#[derive(Clone, Copy)]
pub struct Overviews(RwSignal<BTreeMap<String, Result<Arc<OverviewReport>>>>);

impl Overviews {
    /// How much is called out of tables; followed.
    pub fn called_out(self) -> usize {
        self.0
            .with(|all| all.values().flatten().map(|o| o.attention.len()).sum())
    }
}

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
            return view! { <NoTables lake /> };
        }
        let zones = lake.zones.iter().map(|zone| {
            let tables = lake.tables.iter().filter(|t| t.zone == zone.name);
            let tables = tables.cloned().collect::<Vec<_>>();
            let datasets = lake.datasets.iter().filter(|d| d.zone == zone.name);
            let datasets = datasets.map(|d| d.name.clone()).collect::<Vec<_>>();
            view! { <Zone zone=zone.clone() tables datasets overviews queue /> }
        });
        let zones = zones.collect::<Markup>();
        let none = {
            let lake = Arc::clone(&lake);
            move || {
                let fits = text.with(|t| lake.tables.iter().any(|entry| wanted(entry, t.as_deref())));
                (!fits).then(|| view! { <p class="soft">"No table's name has this in it"</p> })
            }
        };
        view! {
            <CalledOut overviews />
            {Markup::live(move || matches!(session.late.ready()?, Ok(())).then(|| late::page(&Route::Lake)))}
            <div class="tools">
                <input class="field" type="search" aria-label="Filter tables" placeholder="Filter: table, zone…"
                    prop:value=move || text.get().unwrap_or_default() on:input=filter />
            </div>
            {zones}
            {none}
        }
    });
    view! {
        <Head title="Lake" facts=move || facts(overviews) />
        {body}
    }
}

fn facts(overviews: Overviews) -> Markup {
    let Some(lake) = session().lake.ok() else {
        return Markup::Nothing;
    };
    let needing = overviews.0.with(|all| {
        let tables = all.values().flatten();
        tables.filter(|o| !o.attention.is_empty()).count() as u64
    });
    let broken = overviews
        .0
        .with(|all| all.values().filter(|o| o.is_err()).count() as u64);
    let mut facts = vec![
        view! { {counted(lake.zones.len() as u64, "zone")} },
        view! { {counted(lake.tables.len() as u64, "table")} },
    ];
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
    let name = lower(&format!("{}/{} {}", table.zone, table.name, table.prefix));
    let text = lower(text.unwrap_or_default());
    text.split_whitespace().all(|word| name.contains(word))
}

/// How a folder is served, where none is.
#[component]
fn NoTables(lake: Arc<LakeReport>) -> Markup {
    let empty = lake.zones.is_empty();
    let title = if empty {
        "No zone is served"
    } else {
        "No table was found"
    };
    let errors = lake.zones.iter().filter_map(|zone| {
        let error = zone.error.as_ref()?;
        let text = format!("{}: {}", zone.name, error.message);
        Some(view! { <p class="go">{crate::format::shorten(&text, 300)}</p> })
    });
    let errors = errors.collect::<Markup>();
    view! {
        <Empty title>
            {errors}
            <p class="soft">
                "Tables are found by their _delta_log folder, a few levels below a zone. Serve a folder or a bucket:"
            </p>
            <pre tabindex="0">"tidemark serve ./warehouse\ntidemark serve s3://bucket/warehouse"</pre>
            <p class="soft">"or name zones in tidemark.toml:"</p>
            <pre tabindex="0">"[[zone]]\nname = \"curated\"\nurl = \"s3://bucket/curated/\""</pre>
            <p class="soft">"To look around first, tidemark demo writes a sample lake and serves it."</p>
        </Empty>
    }
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
