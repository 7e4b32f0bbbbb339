//! The frame around every page: header, rail, help, and the page that the address names.

pub mod header;
pub mod help;
pub mod rail;
pub mod search;

use lake::table::At;
use leptos::prelude::*;

use crate::keys::Command;
use crate::late;
use crate::markup::{Markup, view};
use crate::pages;
use crate::parts::{Failed, Head};
use crate::route::Route;
use crate::session::{Session, session};
use crate::signals::{Callback, Memo, RwSignal};

use header::Header;
use help::Help;
use rail::Rail;

/// Everything.
#[component]
pub fn App() -> Markup {
    let session = Session::provide();
    let help = RwSignal::new(false);
    let rail = RwSignal::new(false);
    session
        .keys
        .on(move |command| shortcut(session, help, command));
    view! {
        <a class="skip" href="#main">"Skip to the page"</a>
        <Header rail help />
        <div class="frame">
            <Rail open=rail />
            <main id="main" tabindex="-1">
                <Stale />
                <Page />
            </main>
        </div>
        <Help open=help />
        <div class="notice" role="status" aria-live="polite">
            {move || session.notice.get().map(|text| view! { <span>{text}</span> })}
        </div>
    }
}

/// Commands that mean the same on every page. Pages are asked before.
fn shortcut(session: Session, help: RwSignal<bool>, command: Command) -> bool {
    let go = |route: fn(String, At) -> Route| {
        let to = session
            .route
            .with_untracked(|r| Some(route(r.table()?.to_owned(), r.at())));
        to.map(|to| session.nav.go(to)).is_some()
    };
    match command {
        Command::Help => help.update(|open| *open = !*open),
        Command::Lake => session.nav.go(Route::Lake),
        Command::Closed => session.nav.go(Route::Closed),
        Command::Zones => session.nav.go(Route::Zones),
        Command::History => return go(|table, _| Route::Timeline { table }),
        Command::Layout => return go(|table, at| Route::Layout { table, at }),
        Command::Maintenance => return go(|table, _| Route::Maintenance { table }),
        Command::Audit => session.nav.go(Route::Audit),
        Command::Snapshot => return go(|table, at| Route::Snapshot { table, at }),
        Command::Restore => {
            let to = session
                .route
                .with_untracked(|r| Some(Route::restore(r.table()?.to_owned(), r.version()?)));
            return to.map(|to| session.nav.go(to)).is_some();
        }
        Command::Previous | Command::Next => {
            let step = session.route.with_untracked(|route| {
                let version = route.version()?;
                let to = match command {
                    Command::Next => version.next(),
                    _ => version.previous()?,
                };
                route.with_version(to)
            });
            match step {
                Some(to) => session.nav.go(to),
                None => return false,
            }
        }
        Command::Diff => {
            let diff = session.route.with_untracked(|route| {
                let to = route.version()?;
                Some(Route::Diff {
                    table: route.table()?.to_owned(),
                    from: to.previous()?,
                    to,
                })
            });
            match diff {
                Some(to) => session.nav.go(to),
                None => return false,
            }
        }
        _ => return false,
    }
    true
}

/// The page of the address. It is made anew when it is another page or another table, and stays
/// when only the version or a parameter changes.
#[component]
fn Page() -> Markup {
    let session = session();
    let which = Memo::new(move |_| {
        session.route.with(|route| {
            let kind = std::mem::discriminant(route);
            let about = route.table().or(route.dataset());
            (kind, about.map(str::to_owned))
        })
    });
    Markup::live(move || {
        which.track();
        let route = session.route.get_untracked();
        match route {
            Route::Lake => view! { <pages::lake::Page /> },
            Route::Audit
            | Route::Unknown { .. }
            | Route::Hours { .. }
            | Route::Hour { .. }
            | Route::DatasetLayout { .. }
            | Route::Closed
            | Route::Zones => session.late.show(move || late::page(&route)),
            route => view! { <AboutTable route /> },
        }
    })
}

/// A page about a table, once it is known that there is one.
#[component]
fn AboutTable(route: Route) -> Markup {
    let session = session();
    // What the worker asks for is the zone and the prefix; a page never starts without them.
    let known = Memo::new(move |_| session.table().map(|found| found.ok()));
    Markup::live(
        move || match known.get().and_then(|_| untrack(|| session.table())) {
            None => pages::common::asking_lake(),
            Some(Err(error)) => {
                let again = Callback::new(move |()| session.lake.again());
                let title = route.table().unwrap_or_default().to_owned();
                view! {
                    <Head title />
                    <Failed error again />
                    <p class="after"><a class="btn" href="/">"All tables"</a></p>
                }
            }
            Some(Ok(_)) => match &route {
                Route::Timeline { .. } => view! { <pages::timeline::Page /> },
                other => {
                    let other = other.clone();
                    session.late.show(move || late::page(&other))
                }
            },
        },
    )
}

/// Says when the server was replaced by another build than this page's.
#[component]
fn Stale() -> Markup {
    let session = session();
    let other = Memo::new(move |_| {
        let lake = session.lake.ok();
        lake.is_some_and(|lake| !lake.build.is_empty() && lake.build != crate::engine::BUILD)
    });
    let reload = move |_| {
        let _ = window().location().reload();
    };
    Markup::live(move || {
        other.get().then(|| {
            view! {
                <div class="note warning no-print">
                    <span>"The server is of another build than this page"</span>
                    <span class="acts">
                        <button type="button" class="btn small" on:click=reload>"Reload"</button>
                    </span>
                </div>
            }
        })
    })
}
