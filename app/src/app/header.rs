//! The line at the top: where am I, search, clock, theme, person.

use lake::table::At;
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::parts::Crumb;
use crate::route::Route;
use crate::session::session;
use crate::signals::RwSignal;
use crate::theme::Theme;

use super::search::Search;

/// The header. `rail` opens the rail on narrow screens, `help` the help.
#[component]
pub fn Header(rail: RwSignal<bool>, help: RwSignal<bool>) -> Markup {
    let session = session();
    let theme = session.theme;
    let says = move || match theme.get() {
        Theme::System => "Colours: as the system is set",
        Theme::Light => "Colours: light",
        Theme::Dark => "Colours: dark",
    };
    let glyph = move || match theme.get() {
        Theme::System => "◐",
        Theme::Light => "○",
        Theme::Dark => "●",
    };
    view! {
        <header class="top">
            <button type="button" class="menu" aria-label="Zones and tables" aria-controls="rail"
                aria-expanded=move || rail.get().to_string()
                on:click=move |_| rail.update(|open| *open = !*open)>"☰"</button>
            <a class="mark" href="/" aria-label="Tidemark, all tables"><Mark /><span>"Tidemark"</span></a>
            <nav class="crumbs" aria-label="Where this is"><ol>{crumbs}</ol></nav>
            <Search />
            <time class="clock mono" title="The browser's clock, in UTC">
                {move || format::clock(session.now.get())}
            </time>
            <button type="button" class="round" title=says aria-label=says
                on:click=move |_| theme.update(|t| *t = t.next())>{glyph}</button>
            <button type="button" class="round" title="Keys and help" aria-label="Keys and help"
                on:click=move |_| help.set(true)>"?"</button>
        </header>
    }
}

/// zone / table / version.
fn crumbs() -> Markup {
    let session = session();
    let route = session.route.get();
    if let Some(dataset) = route.dataset() {
        return of_dataset(dataset, &route);
    }
    let Some(table) = route.table().map(str::to_owned) else {
        let here = match route {
            Route::Lake => "Lake",
            Route::Closed => "Closed hours",
            Route::Zones => "Zones",
            Route::Audit => "Audit",
            _ => "No such page",
        };
        return view! { <Crumb text=here /> };
    };
    let entry = session.table().and_then(Result::ok);
    let zone = entry.as_ref().map(|entry| {
        view! { <Crumb text=entry.zone.clone() href=Route::Lake.href() /> }
    });
    let name = entry.map_or_else(|| table.clone(), |e| e.name);
    // A name that repeats its zone says it once.
    let name = match session.table().and_then(Result::ok) {
        Some(e) if !e.prefix.is_empty() => name
            .strip_prefix(&format!("{}/", e.zone))
            .map_or(name.clone(), str::to_owned),
        _ => name,
    };
    let last = match &route {
        Route::Commit { version, .. } => Some(format!("version {version}")),
        Route::Snapshot { at, .. } => Some(match at {
            At::Latest => "latest".to_owned(),
            At::Version(version) => format!("as of {version}"),
            At::Time(time) => format!("as of {}", format::utc(*time)),
        }),
        Route::Diff { from, to, .. } => Some(format!("{from} .. {to}")),
        Route::File { path, .. } => path.rsplit('/').next().map(str::to_owned),
        Route::Layout { .. } => Some("layout".to_owned()),
        Route::Restore { .. } => Some("restore".to_owned()),
        Route::Maintenance { .. } => Some("maintenance".to_owned()),
        _ => None,
    };
    let table_href = last.is_some().then(|| {
        Route::Timeline {
            table: table.clone(),
        }
        .href()
    });
    let between = match &route {
        Route::File { version, .. } => Some((
            format!("as of {version}"),
            Route::Snapshot {
                table: table.clone(),
                at: At::Version(*version),
            },
        )),
        _ => None,
    };
    view! {
        {zone}
        <Crumb text=name href=table_href />
        {between.map(|(text, to)| view! { <Crumb text href=to.href() /> })}
        {last.map(|text| view! { <Crumb text /> })}
    }
}

/// zone / dataset / hour.
fn of_dataset(dataset: &str, route: &Route) -> Markup {
    let lake = session().lake.ok();
    let zone = lake.and_then(|lake| {
        let entry = lake.datasets.iter().find(|entry| entry.name == dataset)?;
        let zone = entry.zone.clone();
        Some(view! { <Crumb text=zone href=Route::Lake.href() /> })
    });
    let last = match route {
        Route::Hour { slot, .. } => Some(slot.to_string()),
        Route::DatasetLayout { .. } => Some("layout".to_owned()),
        _ => None,
    };
    let href = last.is_some().then(|| {
        let dataset = dataset.to_owned();
        Route::Hours { dataset }.href()
    });
    view! {
        {zone}
        <Crumb text=dataset.to_owned() href=href />
        {last.map(|text| view! { <Crumb text /> })}
    }
}

/// The mark: a gauge and the water beside it.
#[component]
fn Mark() -> Markup {
    view! {
        <svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke-width="1.6"
            stroke-linecap="round" aria-hidden="true">
            <path d="M3 2v16" class="gauge" />
            <path d="M3 5h3M3 10h5M3 15h3" class="ticks" />
            <path d="M8 10c1.6-1.8 3.2-1.8 4.6 0s3 1.8 4.6 0" class="water" />
        </svg>
    }
}
