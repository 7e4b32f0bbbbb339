//! Search over tables, versions and the keys of the table at hand.

use lake::wire::{FilesQuery, FilesReport};
use leptos::html;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format::{shorten, shorten_middle};
use crate::keys::Command;
use crate::markup::{Markup, NodeRef, view};
use crate::route::Route;
use crate::session::{Session, session};
use crate::signals::{Memo, RwSignal};

mod hits;

use hits::{Hit, hits};

/// Keys are asked for from this many letters on: each question reads a list of files.
const LETTERS: usize = 3;

/// The search field with what it finds below it.
#[component]
pub fn Search() -> Markup {
    let session = session();
    let field = NodeRef::<html::Input>::new();
    let text = RwSignal::new(String::new());
    let shown = RwSignal::new(false);
    let chosen = RwSignal::new(0_usize);
    let keys = ask_keys(session, text, shown);
    let found = Memo::new(move |_| {
        let route = session.route.get();
        let lake = session.lake.ok();
        let mut found = text.with(|t| hits(t, lake.as_deref(), &route));
        if let (Some(table), Some(files)) = (route.table(), keys.ok())
            && text.with(|t| t.trim().chars().count() >= LETTERS)
        {
            let version = files.0;
            found.extend(files.1.files.iter().map(|file| Hit {
                kind: "key",
                text: file.path.clone(),
                to: Route::File {
                    table: table.to_owned(),
                    version,
                    path: file.path.clone(),
                },
            }));
        }
        found
    });
    session
        .keys
        .on(move |command| match (command, field.get_untracked()) {
            (Command::Search, Some(field)) => {
                let _ = field.focus();
                field.select();
                true
            }
            _ => false,
        });
    let close = move || {
        shown.set(false);
        text.set(String::new());
        if let Some(field) = field.get_untracked() {
            let _ = field.blur();
        }
    };
    let open = move |index: usize| {
        let to = found.with_untracked(|f| f.get(index).map(|hit| hit.to.clone()));
        if let Some(to) = to {
            close();
            session.nav.go(to);
        }
    };
    let keydown = move |event: web_sys::KeyboardEvent| {
        let count = found.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" => chosen.update(|c| *c = (*c + 1).min(count.saturating_sub(1))),
            "ArrowUp" => chosen.update(|c| *c = c.saturating_sub(1)),
            "Enter" => open(chosen.get_untracked()),
            "Escape" => close(),
            _ => return,
        }
        event.prevent_default();
    };
    let listed = move || shown.get() && text.with(|t| !t.trim().is_empty());
    let options = move || {
        let hits = found.get().into_iter().enumerate();
        hits.map(|(i, hit)| {
            let href = hit.to.href();
            view! {
                <li role="option" id=format!("hit-{i}") aria-selected=move || (chosen.get() == i).to_string()>
                    <a href=href tabindex="-1" on:mousedown=|e| e.prevent_default() on:click=move |_| close()>
                        <span class="kind">{hit.kind}</span>
                        <span class="key" title=shorten(&hit.text, 2_000)>{shorten_middle(&hit.text, 72)}</span>
                    </a>
                </li>
            }
        })
        .collect::<Markup>()
    };
    let remark = move || {
        let nothing = found.with(Vec::is_empty);
        match (keys.pending(), nothing) {
            (true, _) => Some("Looking through the table's keys…"),
            (false, true) => Some(
                "Nothing found: tables by name, versions by number, keys from three letters on",
            ),
            _ => None,
        }
    };
    view! {
        <div class="search" role="search">
            <input node_ref=field type="search" role="combobox" autocomplete="off" spellcheck="false"
                aria-label="Go to table, version, key" placeholder="Go to table, version, key…"
                aria-controls="hits" aria-autocomplete="list"
                aria-expanded=move || listed().to_string()
                aria-activedescendant=move || listed().then(|| format!("hit-{}", chosen.get()))
                prop:value=move || text.get()
                on:input=move |event| {
                    text.set(event_target_value(&event));
                    chosen.set(0);
                    shown.set(true);
                }
                on:focus=move |_| shown.set(true)
                on:blur=move |_| shown.set(false)
                on:keydown=keydown />
            <kbd aria-hidden="true">"/"</kbd>
            <div class="hits" hidden=move || !listed()>
                <ul id="hits" role="listbox" aria-label="Found">{options}</ul>
                {move || remark().map(|r| view! { <p class="soft s">{r}</p> })}
            </div>
        </div>
    }
}

type Keys = (lake::table::Version, FilesReport);

/// Asks for keys that contain the text, a moment after the last letter.
fn ask_keys(session: Session, text: RwSignal<String>, shown: RwSignal<bool>) -> Asked<Keys> {
    Asked::new(move |progress| {
        let table = session.table_ref()?;
        let wanted = text.with(|t| t.trim().to_owned());
        if !shown.get() || wanted.chars().count() < LETTERS {
            return None;
        }
        let at = session.route.with(Route::version);
        let engine = session.engine().watched(progress);
        Some(async move {
            moment(250).await;
            let version = match at {
                Some(version) => version,
                None => {
                    engine
                        .resolve(table.clone(), lake::table::At::Latest)
                        .await?
                        .version
                }
            };
            let query = FilesQuery {
                limit: 8,
                text: Some(wanted),
                ..FilesQuery::default()
            };
            Ok((version, engine.files(table, version, query).await?))
        })
    })
}

async fn moment(millis: u64) {
    let (done, waits) = futures::channel::oneshot::channel::<()>();
    set_timeout(
        move || {
            let _ = done.send(());
        },
        std::time::Duration::from_millis(millis),
    );
    let _ = waits.await;
}
