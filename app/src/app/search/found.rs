//! What the search finds: late code, which answers when somebody types.

use lake::wire::{FilesQuery, FilesReport};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format::{shorten, shorten_middle};
use crate::markup::{Markup, view};
use crate::route::Route;
use crate::session::Session;
use crate::signals::{Memo, RwSignal};

use super::Searching;
use super::hits::{Hit, hits};

/// Keys are asked for from this many letters on: each question reads a list of files.
const LETTERS: usize = 3;

/// The list below the field.
#[component]
pub fn Found(search: Searching) -> Markup {
    let Searching {
        session,
        text,
        shown,
        chosen,
        ..
    } = search;
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
    search.found.set(Some(found));
    let options = move || {
        let hits = found.get().into_iter().enumerate();
        hits.map(|(i, hit)| {
            let href = hit.to.href();
            view! {
                <li role="option" id=format!("hit-{i}") aria-selected=move || (chosen.get() == i).to_string()>
                    <a href=href tabindex="-1" on:mousedown=|e| e.prevent_default() on:click=move |_| search.close()>
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
                "Nothing found: tables and datasets by name, hours as dataset 2026-11-30 23, versions by number, keys from three letters on",
            ),
            _ => None,
        }
    };
    view! {
        <ul id="hits" role="listbox" aria-label="Found">{options}</ul>
        {move || remark().map(|r| view! { <p class="soft s">{r}</p> })}
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
