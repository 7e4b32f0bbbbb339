//! The head of a page: its title, the facts that matter, its acts, its tabs.

use lake::table::At;
use leptos::prelude::*;

use crate::format::visible;
use crate::markup::{Children, Maker, Markup, view};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Signal, effect};

/// Title, facts and buttons. Sets the window's title too.
#[component]
pub fn Head(
    #[prop(into)] title: Signal<String>,
    /// What the window is called, where it is more than the title: `users · 47..48`.
    #[prop(into, optional)]
    window_title: Option<Signal<String>>,
    /// The line of facts beside the title; use [`Facts`].
    #[prop(into, optional)]
    facts: Maker,
    /// Buttons, at the right.
    #[prop(optional)]
    children: Option<Children>,
) -> Markup {
    let named = window_title.unwrap_or(title);
    effect(move || {
        named.with(|name| document().set_title(&format!("{} · Tidemark", visible(name))));
    });
    view! {
        <div class="head">
            <h1>{move || title.with(|t| visible(t))}</h1>
            <div class="facts">{move || facts.make()}</div>
            {children.map(|c| view! { <div class="acts">{c}</div> })}
        </div>
    }
}

/// Facts with dots between them.
#[component]
pub fn Facts(facts: Vec<Markup>) -> Markup {
    let facts = facts
        .into_iter()
        .map(|f| view! { <span class="fact">{f}</span> });
    facts.collect::<Markup>()
}

/// History, Snapshot, Layout, Maintenance of the table at hand.
#[component]
pub fn Tabs() -> Markup {
    let session = session();
    // A page about a version leads to that version's snapshot and layout.
    let tab = move |name: &'static str, here: fn(&Route) -> bool, to: fn(String, At) -> Route| {
        let href = move || {
            session
                .route
                .with(|route| Some(to(route.table()?.to_owned(), route.at()).href()))
        };
        let current = move || session.route.with(here).then_some("page");
        view! { <a href=href aria-current=current>{name}</a> }
    };
    let history = |r: &Route| {
        matches!(
            r,
            Route::Timeline { .. } | Route::Commit { .. } | Route::Diff { .. }
        )
    };
    let snapshot = |r: &Route| matches!(r, Route::Snapshot { .. } | Route::File { .. });
    view! {
        <nav class="tabs" aria-label="Pages of the table">
            {tab("History", history, |table, _| Route::Timeline { table })}
            {tab("Snapshot", snapshot, |table, at| Route::Snapshot { table, at })}
            {tab("Layout", |r| matches!(r, Route::Layout { .. }), |table, at| Route::Layout { table, at })}
            {tab("Maintenance", |r| matches!(r, Route::Maintenance { .. }), |table, _| Route::Maintenance { table })}
        </nav>
    }
}

/// One step of where the page is. The last has no link.
#[component]
pub fn Crumb(
    #[prop(into)] text: String,
    #[prop(optional_no_strip, into)] href: Option<String>,
) -> Markup {
    let text = crate::format::shorten_middle(&text, 48);
    match href {
        Some(href) => view! { <li><a href=href>{text}</a></li> },
        None => view! { <li><b aria-current="page">{text}</b></li> },
    }
}
