//! One end of a diff: the version, what made it, and a way to another.

use lake::table::{At, Time, Version};
use lake::wire::{CommitRow, HistoryQuery};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::asked::Asked;
use crate::format;
use crate::keys::Command;
use crate::markup::{Markup, NodeRef, view};
use crate::pages::common::Here;
use crate::parts::{Op, When};
use crate::session::session;
use crate::signals::{Callback, RwSignal, Signal, effect};

/// Commits that are offered.
const RECENT: u32 = 12;

/// A day in milliseconds.
const DAY: i64 = 86_400_000;

/// The button that says which version it is, and behind it the ways to another.
#[component]
pub fn End(
    here: Here,
    /// `from` or `to`.
    which: &'static str,
    version: Signal<Version>,
    choose: Callback<Version>,
) -> Markup {
    let session = session();
    let open = RwSignal::new(false);
    let commit = Asked::new(move |_| {
        let (engine, table) = (session.engine(), here.table());
        let before = Some(version.get().next());
        Some(async move {
            engine
                .history(table, HistoryQuery { limit: 1, before })
                .await
        })
    });
    let row = move || {
        let report = commit.ok()?;
        let row = report.commits.first()?;
        (row.version == version.get()).then(|| row.clone())
    };
    let said = move || {
        let row = row()?;
        let at = row
            .timestamp
            .map(|at| format!(", {}", format::minute(at, session.now.get_untracked())));
        let operation = row.operation.unwrap_or_default();
        Some(format!(
            " {}{}",
            format::shorten(&operation, 24),
            at.unwrap_or_default()
        ))
    };
    let frame = NodeRef::<html::Span>::new();
    session.keys.on(move |command| {
        if command == Command::Escape && open.get_untracked() {
            open.set(false);
            return true;
        }
        false
    });
    // Leaving by a click elsewhere or by the Tab key closes it.
    let left = move |event: web_sys::FocusEvent| {
        use wasm_bindgen::JsCast;
        let to = event
            .related_target()
            .and_then(|t| t.dyn_into::<web_sys::Node>().ok());
        let inside = frame
            .get_untracked()
            .is_some_and(|f| f.contains(to.as_ref()));
        if !inside {
            open.set(false);
        }
    };
    let pick = Callback::new(move |version| {
        open.set(false);
        choose.run(version);
    });
    view! {
        <span class="end-of-diff" node_ref=frame on:focusout=left>
            <button type="button" class="chip" aria-expanded=move || open.get().to_string()
                aria-label=move || format!("Version to compare {which}: {}", version.get())
                on:click=move |_| open.update(|o| *o = !*o)>
                <span class="mono">{move || version.get().to_string()}</span>
                {said}
                <span aria-hidden="true">" ▾"</span>
            </button>
            {move || open.get().then(|| view! { <Choices here which version pick /> })}
        </span>
    }
}

/// A number to type, shortcuts, and the newest commits.
#[component]
fn Choices(
    here: Here,
    which: &'static str,
    version: Signal<Version>,
    pick: Callback<Version>,
) -> Markup {
    let session = session();
    let wrong = RwSignal::new(None::<String>);
    let input = NodeRef::<html::Input>::new();
    effect(move || {
        if let Some(input) = input.get() {
            let _ = input.focus();
            input.select();
        }
    });
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let text = input.get_untracked().map(|i| i.value()).unwrap_or_default();
        match text.trim().replace(',', "").parse::<Version>() {
            Ok(version) => pick.run(version),
            Err(error) => wrong.set(Some(error.sentence())),
        }
    };
    let resolve = move |at: At| {
        let (engine, table) = (session.engine(), here.table());
        spawn_local(async move {
            let resolved = engine.resolve(table, at).await;
            if wrong.try_set(None).is_some() {
                // The choices are closed, or the page is gone.
                return;
            }
            match resolved {
                Ok(found) => pick.run(found.version),
                Err(error) => wrong.set(Some(error.sentence())),
            }
        });
    };
    let recent = Asked::new(move |_| {
        let (engine, table) = (session.engine(), here.table());
        let query = HistoryQuery {
            limit: RECENT,
            before: None,
        };
        Some(async move { engine.history(table, query).await })
    });
    let yesterday = move || At::Time(Time(session.now.get_untracked().0 - DAY));
    let offer = move |row: &CommitRow| {
        let to = row.version;
        let current = to == version.get_untracked();
        view! {
            <li>
                <button type="button" aria-current=current.then_some("true") on:click=move |_| pick.run(to)>
                    <span class="mono">{to.to_string()}</span>
                    <Op name=row.operation.clone() />
                    <span class="soft s"><When at=row.timestamp minute=true /></span>
                </button>
            </li>
        }
    };
    view! {
        <div class="choices" role="group" aria-label=format!("Version to compare {which}")>
            <form on:submit=submit>
                <input node_ref=input class="field" inputmode="numeric" aria-label="Version"
                    prop:value=move || version.get().to_string() />
                <button type="submit" class="btn small">"Go"</button>
            </form>
            {move || wrong.get().map(|text| view! { <p class="go s" role="alert">{format::visible(&text)}</p> })}
            <div class="shortcuts">
                {move || version.get().previous().map(|before| view! {
                    <button type="button" class="btn small quiet" on:click=move |_| pick.run(before)>"previous"</button>
                })}
                <button type="button" class="btn small quiet" on:click=move |_| resolve(At::Latest)>"latest"</button>
                <button type="button" class="btn small quiet" on:click=move |_| resolve(yesterday())>"24 h ago"</button>
            </div>
            {recent.show("the history", move |report| view! {
                <ul>{report.commits.iter().map(offer).collect::<Markup>()}</ul>
            })}
        </div>
    }
}
