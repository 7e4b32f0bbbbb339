//! The head of the page: what the table is now, and what needs a person.

use lake::wire::{Attention, Format};
use leptos::prelude::*;

use crate::format::{bytes, counted, exact_bytes, shorten};
use crate::markup::{Markup, view};
use crate::parts::{Facts, Head, KeyHint, Note, NoteKind, When};
use crate::route::Route;
use crate::session::TableState;
use crate::signals::{RwSignal, Signal, effect};

use super::Timeline;

/// Title, facts, the button that goes to a time.
#[component]
pub fn TableHead(timeline: Timeline, jump: RwSignal<bool>) -> Markup {
    let session = timeline.session;
    let title = Signal::derive(move || session.title().unwrap_or_default());
    let window_title = Signal::derive(move || format!("{} · history", title.get()));
    view! {
        <Head title window_title=window_title facts=move || facts(timeline)>
            <button type="button" class="btn" on:click=move |_| jump.set(true)>"Go to time…"</button>
        </Head>
    }
}

fn facts(timeline: Timeline) -> Markup {
    let Some(overview) = timeline.overview.ok() else {
        return Markup::Nothing;
    };
    let format = match overview.format {
        Format::Delta => "Delta",
        Format::Iceberg => "Iceberg",
        Format::Hudi => "Hudi",
    };
    let last = overview.recent.first().and_then(|c| c.timestamp);
    // What is not known at once is left to the snapshot, which counts.
    let figures = [
        overview.files.map(|n| view! { {counted(n, "file")} }),
        overview
            .bytes
            .map(|n| view! { <span title=exact_bytes(n)>{bytes(n)}</span> }),
        overview.rows.map(|n| view! { {counted(n, "row")} }),
    ];
    let mut facts = vec![view! { {format} }];
    facts.extend(figures.into_iter().flatten());
    facts.push(view! { "version "<b>{overview.version.to_string()}</b> });
    if last.is_some() {
        facts.push(view! { <When at=last /> });
    }
    view! { <Facts facts /> }
}

/// At most five sentences, worst first.
#[component]
pub fn Banners(timeline: Timeline) -> Markup {
    effect(move || {
        let Some(answer) = timeline.overview.get() else {
            return;
        };
        let state = match answer {
            Ok(overview) if overview.attention.is_empty() => TableState::Calm,
            Ok(_) => TableState::Attention,
            Err(_) => TableState::Broken,
        };
        if let Some(Ok(entry)) = untrack(|| timeline.session.table()) {
            timeline.session.states.note(&entry.name, state);
        }
    });
    let unread = move || {
        let error = timeline.overview.get()?.err()?;
        // Where nothing can be read, the history's own error says so.
        timeline.store.known.with(|k| k.is_some()).then(|| {
            let again = move |_| timeline.overview.again();
            view! {
                <Note kind=NoteKind::Warning>
                    <span>
                        "What the table holds now could not be read "
                        <span class="soft">{shorten(&error.to_string(), 300)}</span>
                    </span>
                    <span class="acts">
                        <button type="button" class="btn small" on:click=again>"Try again"</button>
                    </span>
                </Note>
            }
        })
    };
    let sentences = move || {
        let overview = timeline.overview.ok()?;
        let called_out = overview.attention.iter().take(5).enumerate();
        Some(
            called_out
                .map(|(i, a)| view! { <Banner timeline attention=a.clone() first=i == 0 /> })
                .collect::<Markup>(),
        )
    };
    view! { {unread} {sentences} }
}

#[component]
fn Banner(timeline: Timeline, attention: Attention, first: bool) -> Markup {
    let detail = shorten(&attention.detail, 300);
    let back = attention.restore_to.map(|to| {
        let href = Route::restore(timeline.table(), to).href();
        view! { <a class="btn small" href=href>"Restore…"</a> }
    });
    let closer = attention.version.map(|to| {
        let table = timeline.table();
        let (name, route) = match to.previous() {
            Some(from) => ("Diff", Route::Diff { table, from, to }),
            None => ("Commit", Route::Commit { table, version: to }),
        };
        let key = (first && name == "Diff").then(|| view! { <KeyHint key="d" /> });
        let show = move |_| timeline.go_to_version(to.0);
        view! {
            <span class="acts">
                <button type="button" class="btn small" on:click=show>"Show below"</button>
                <a class="btn small" href=route.href()>{name}{key}</a>
                {back}
            </span>
        }
    });
    view! {
        <Note kind=NoteKind::Attention>
            <span>
                <b>{shorten(&attention.what, 200)}</b>
                " "
                <span class="soft">{detail}</span>
            </span>
            {closer}
        </Note>
    }
}
