//! What an hour waits for, who waits for it, and what there is meanwhile.

use std::sync::Arc;

use lake::hours::{Slot, State};
use lake::wire::hours::HourReport;
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::pages::hours::inputs::{Inputs, named};
use crate::pages::hours::whose::unit;
use crate::route::Route;
use crate::session::session;
use crate::signals::Memo;

/// What the hour is built from and is not closed.
#[component]
pub fn Held(report: Arc<HourReport>) -> Markup {
    let row = &report.row;
    let slot = Slot {
        day: row.date,
        hour: row.hour,
    };
    let inputs = Inputs::new(
        &report.dataset.reads,
        Memo::new(move |_| Some((slot.day, slot.day))),
    );
    let says = match row.state.lets_pass() {
        true => "Published, although it is built from ",
        false => "Waits for ",
    };
    Markup::live(move || {
        let lines = inputs.unclosed(slot);
        let lines = lines.iter().map(|input| {
            view! { <p class="note warning"><span>{says} {named(input)}</span></p> }
        });
        Some(lines.collect::<Markup>())
    })
}

/// Who is built from an hour that is over and not closed.
#[component]
pub fn Readers(dataset: String, state: State) -> Markup {
    let session = session();
    if state.lets_pass() || matches!(state, State::Open | State::Future) {
        return Markup::Nothing;
    }
    Markup::live(move || {
        let lake = session.lake.ok()?;
        let here = |reads: &[String]| reads.contains(&dataset);
        let datasets = lake.datasets.iter().filter(|d| here(&d.reads));
        let datasets = datasets.map(|d| {
            let dataset = d.name.clone();
            (d.name.clone(), Route::Hours { dataset })
        });
        let tables = lake.tables.iter().filter(|t| here(&t.reads));
        let tables = tables.map(|t| {
            let table = t.name.clone();
            (t.name.clone(), Route::Timeline { table })
        });
        let readers: Vec<_> = datasets.chain(tables).collect();
        let some = !readers.is_empty();
        let lines = readers.into_iter().map(|(name, route)| {
            view! { <li><a href=route.href()>{format::shorten(&name, 80)}</a></li> }
        });
        some.then(|| view! { <h2>"Who waits for it"</h2> <ul>{lines.collect::<Markup>()}</ul> })
    })
}

/// An hour that is not closed yet: the last one that is, and the stream.
#[component]
pub fn Waits(dataset: String, report: Arc<HourReport>) -> Markup {
    let last = report.last_closed.map(|slot| {
        let href = Route::Hour { dataset, slot }.href();
        view! { {format!("The last closed {} is ", unit(&report.dataset))} <a href=href>{slot.to_string()}</a> ". " }
    });
    let stream = report.dataset.stream.clone().map(|(name, url)| {
        // The configuration's own link; nothing else of it leaves this site.
        let safe = url.starts_with("https://") || url.starts_with("http://");
        match safe {
            true => view! { "The stream is " <a href=url rel="noreferrer" target="_blank">{format::shorten(&name, 60)}</a> "." },
            false => view! { "The stream is " {format::shorten(&name, 60)} "." },
        }
    });
    view! { <p class="note"><span>"Not yet closed. " {last} {stream}</span></p> }
}
