//! The history of a table: the strip for its shape, the list for reading.

mod filter;
mod items;
pub mod jump;
pub mod list;
mod measure;
pub mod overview;
pub mod picked;
mod picks;
#[cfg(test)]
mod sample;
mod store;
pub mod strip;
mod summary;
pub mod tools;

use std::sync::Arc;

use lake::table::Version;
use lake::wire::OverviewReport;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::keys::Command;
use crate::late;
use crate::markup::{Markup, view};
use crate::parts::{Dialog, Empty, Failed, Loading, Note, NoteKind, ShellLine, Tabs, Window};
use crate::route::Route;
use crate::session::{Session, session};
use crate::signals::{Callback, Memo, RwSignal, Signal};

use filter::Filter;
use items::{Item, Items, Shape};
use measure::Measure;
use store::Store;

/// What the parts of this page share.
#[derive(Clone, Copy)]
pub struct Timeline {
    session: Session,
    store: Store,
    overview: Asked<OverviewReport>,
    measure: Memo<Measure>,
    fold: Memo<bool>,
    items: Memo<Arc<Items>>,
    unfolded: RwSignal<Vec<(u64, u64)>>,
    /// Which rows exist.
    seen: RwSignal<Window>,
    /// Version of the first row that is seen.
    top: Memo<Option<u64>>,
    /// Row that has the attention.
    active: RwSignal<Option<usize>>,
    active_version: Memo<Option<u64>>,
    /// Versions taken for a diff, at most two, older first.
    picks: Memo<Vec<u64>>,
    /// The largest figure of what was read, which fills a row's bar.
    largest: Memo<u64>,
}

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let timeline = Timeline::new(session);
    timeline.listen();
    let jump = RwSignal::new(false);
    let store = timeline.store;
    let broken = move || {
        // The first chunk failed, so nothing is known: that is the page's own error.
        let error = store.failed.with(|f| f.get(&0).cloned())?;
        let again = Callback::new(move |()| store.again(0));
        Some(view! { <Failed error again /> })
    };
    let waiting = move || {
        let waits = store.known.with(Option::is_none) && store.flying.with(|f| !f.is_empty());
        let stop = Callback::new(move |()| store.stop());
        waits.then(|| {
            view! {
                <Loading what="the history" progress=store.progress stop />
                <div class="skeleton" aria-hidden="true"><i></i><i></i><i></i><i></i><i></i><i></i></div>
            }
        })
    };
    let busy = move || store.flying.with(|f| !f.is_empty()) || timeline.overview.pending();
    let stopped = move || {
        let idle = store.known.with(Option::is_none) && store.flying.with(|f| f.is_empty());
        let healthy = store.failed.with(|f| f.is_empty());
        (idle && healthy).then(|| {
            view! {
                <Empty title="Nothing is read">
                    <p class="soft">"The history was not read to its first page."</p>
                    <button type="button" class="btn" on:click=move |_| store.again(0)>"Read it"</button>
                </Empty>
            }
        })
    };
    let known = Memo::new(move |_| store.known.with(Option::is_some));
    let picked = Memo::new(move |_| !timeline.picks.with(Vec::is_empty));
    let warnings = move || {
        let warnings = store.known.with(|k| k.as_ref().map(|k| k.warnings.clone()));
        let warnings = warnings.unwrap_or_default().into_iter().take(5);
        warnings
            .map(|w| view! { <Note kind=NoteKind::Warning><span>{crate::format::shorten(&w, 300)}</span></Note> })
            .collect::<Markup>()
    };
    let command = Signal::derive(move || {
        let place = session.location().unwrap_or_default();
        crate::copy::shell(&["tidemark", "history", &place])
    });
    view! {
        <overview::TableHead timeline jump />
        <Tabs />
        <div aria-busy=move || busy().to_string()>
            <overview::Banners timeline />
            {warnings}
            {broken}
            {waiting}
            {stopped}
            {move || known.get().then(|| view! {
                <strip::Strip timeline />
                <tools::Tools timeline />
                {move || picked.get().then(|| session.late.show(move || late::picked(timeline)))}
                <list::List timeline />
                <h2>"The same from a shell"</h2>
                <ShellLine command />
            })}
        </div>
        <Dialog open=jump title="Go to a time or a version">
            {session.late.show(move || late::jump(timeline, jump))}
        </Dialog>
    }
}

impl Timeline {
    fn new(session: Session) -> Self {
        let store = Store::new(session);
        let overview = Asked::new(move |progress| {
            let table = session.table_ref()?;
            let share = session.lake.ok()?.attention.rows_removed;
            let engine = session.engine().watched(progress);
            Some(async move { engine.overview(table, share).await })
        });
        let text = session.param("q");
        let measure = session.param("by");
        let measure = Memo::new(move |_| measure.with(|m| Measure::from_name(m.as_deref())));
        let fold = session.param("fold");
        let fold = Memo::new(move |_| fold.with(|f| f.as_deref() != Some("off")));
        let upkeep = session.param("maintenance");
        let picked = session.param("pick");
        let picks = Memo::new(move |_| picked.with(|p| picks::read(p.as_deref())));
        let unfolded = RwSignal::new(Vec::new());
        let shape = Memo::new(move |_| Shape {
            filter: Filter::parse(
                &text.get().unwrap_or_default(),
                upkeep.with(|m| m.as_deref() == Some("hide")),
            ),
            fold: fold.get(),
            unfolded: unfolded.get(),
            kept: kept(store, overview, &picks.get()),
        });
        let items = Memo::new(move |_| {
            let Some((newest, oldest)) = store
                .known
                .with(|k| k.as_ref().map(|k| (k.latest, k.first)))
            else {
                return Arc::default();
            };
            let (commits, read) = (store.commits.get(), store.read.get());
            Arc::new(shape.with(|s| Items::new(newest, oldest, &commits, &read, s)))
        });
        let seen = RwSignal::new(Window::default());
        let version_at = move |index: usize| items.with(|i| i.at(index)).and_then(version_of);
        let active = RwSignal::new(None);
        Self {
            session,
            store,
            overview,
            measure,
            fold,
            items,
            unfolded,
            seen,
            top: Memo::new(move |_| version_at(seen.with(|s| s.top))),
            active,
            active_version: Memo::new(move |_| version_at(active.get()?)),
            picks,
            largest: Memo::new(move |_| {
                let measure = measure.get();
                store.commits.with(|commits| {
                    let figures = commits.values().filter_map(|c| measure.of(c));
                    figures
                        .map(|(came, went)| came.max(went))
                        .max()
                        .unwrap_or(0)
                })
            }),
        }
    }

    /// Answers the keys that mean something special here.
    fn listen(self) {
        self.session.keys.on(move |command| match command {
            Command::Diff => match untrack(|| self.diff_meant()) {
                Some((from, to)) => {
                    self.go_to_diff(from, to);
                    true
                }
                None => false,
            },
            Command::Select => match self.active_version.get_untracked() {
                Some(version) => {
                    self.toggle_pick(version);
                    true
                }
                None => false,
            },
            Command::Restore => match untrack(|| self.restore_meant()) {
                Some(to) => {
                    self.session.nav.go(Route::restore(self.table(), to));
                    true
                }
                None => false,
            },
            Command::Escape if !self.picks.with_untracked(Vec::is_empty) => {
                self.session.nav.set("pick", None::<&str>);
                true
            }
            _ => false,
        });
    }

    /// The diff that `d` means: of what was picked, of the row, else of what needs a person.
    fn diff_meant(self) -> Option<(u64, u64)> {
        let picks = self.picks.get();
        if let [from, to] = picks.as_slice() {
            return Some((*from, *to));
        }
        let called_out = || {
            let overview = self.overview.ok()?;
            let mut versions = overview.attention.iter().filter_map(|a| a.version);
            versions.next().map(|v| v.0)
        };
        let picked = picks.first().copied();
        let to = picked.or(self.active_version.get()).or_else(called_out)?;
        Some((to.checked_sub(1)?, to))
    }

    /// The version that `r` puts back: the row's; the one before it, where it is the newest.
    fn restore_meant(self) -> Option<Version> {
        let version = Version(self.active_version.get()?);
        let newest = self.store.known.with(|k| k.as_ref().map(|k| k.latest))?;
        match version.0 < newest {
            true => Some(version),
            false => version.previous(),
        }
    }

    fn table(self) -> String {
        let route = self.session.route;
        route.with_untracked(|r| r.table().unwrap_or_default().to_owned())
    }

    fn go_to_diff(self, from: u64, to: u64) {
        self.session.nav.go(Route::Diff {
            table: self.table(),
            from: Version(from),
            to: Version(to),
        });
    }

    fn commit(self, version: u64) -> Route {
        Route::Commit {
            table: self.table(),
            version: Version(version),
        }
    }

    /// Shows a version in the list and gives it the attention.
    fn go_to_version(self, version: u64) {
        self.store.scrolled();
        let index = self.items.with_untracked(|i| i.index_of(version));
        self.active.set(index);
    }
}

/// Versions that stay rows of their own: the head, what was picked, what is called out.
fn kept(store: Store, overview: Asked<OverviewReport>, picks: &[u64]) -> Vec<u64> {
    let head = store.known.with(|k| k.as_ref().map(|k| k.latest));
    let called_out = overview.ok();
    let called_out = called_out.iter().flat_map(|o| &o.attention);
    let called_out = called_out.filter_map(|a| a.version.map(|v| v.0));
    let picks = picks.iter().copied();
    head.into_iter().chain(called_out).chain(picks).collect()
}

fn version_of(item: Item) -> Option<u64> {
    Some(match item {
        Item::Commit(commit) => commit.version.0,
        Item::Missing(version) | Item::Waiting(version) => version,
        Item::Fold(run) => run.newest,
        Item::Unsearched(newest, _) => newest,
    })
}
