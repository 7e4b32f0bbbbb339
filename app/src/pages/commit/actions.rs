//! The commit file line by line: each action as it was written, damaged lines as damaged.

use std::collections::BTreeSet;

use lake::table::Version;
use lake::wire::{ActionLine, ActionsReport};
use lake::{Error, Result};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::asked::Asked;
use crate::format::{self, visible};
use crate::markup::{Each, Markup, view};
use crate::pages::common::{Here, laid_out_text};
use crate::parts::{Bytes, Failed};
use crate::session::session;
use crate::signals::{Callback, RwSignal};

/// Lines of one question.
const STEP: u32 = 50;

/// The lines, the first of them at once, more on request.
#[component]
pub fn Actions(here: Here, version: Version) -> Markup {
    let session = session();
    let first = Asked::new(move |progress| {
        let (engine, table) = (session.engine().watched(progress), here.table());
        Some(async move { engine.actions(table, version, 0, STEP).await })
    });
    first.show(
        "the commit file",
        move |report: std::sync::Arc<ActionsReport>| {
            view! { <Lines here version total=report.total lines=report.lines.clone() /> }
        },
    )
}

#[component]
fn Lines(here: Here, version: Version, total: u64, lines: Vec<ActionLine>) -> Markup {
    let session = session();
    let shown = RwSignal::new(lines);
    let busy = RwSignal::new(false);
    let failed = RwSignal::new(None::<Error>);
    let more = move || {
        let (engine, table) = (session.engine(), here.table());
        let offset = shown.with_untracked(Vec::len) as u64;
        busy.set(true);
        spawn_local(async move {
            let answer: Result<_> = engine.actions(table, version, offset, STEP).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(page) => {
                    failed.set(None);
                    shown.update(|lines| {
                        let known: BTreeSet<u64> = lines.iter().map(|l| l.line).collect();
                        lines.extend(page.lines.into_iter().filter(|l| !known.contains(&l.line)));
                    });
                }
                Err(error) => failed.set(Some(error)),
            }
        });
    };
    let rest = move || total.saturating_sub(shown.with(Vec::len) as u64);
    view! {
        {(total == 0).then(|| view! { <p class="soft">"The commit file has no lines"</p> })}
        <ol class="lines" aria-label="Lines of the commit file">
            <Each each=move || shown.get() key=|line| line.line children=|line| view! { <Line line /> } />
        </ol>
        {move || failed.get().map(|error| view! {
            <Failed error again=Callback::new(move |()| more()) />
        })}
        {move || (rest() > 0).then(|| view! {
            <button type="button" class="link" disabled=move || busy.get() on:click=move |_| more()>
                {move || format!("{} more", format::counted(rest().min(u64::from(STEP)), "line"))}
            </button>
            " "
            <span class="soft s">
                {move || format!(
                    "showing {} of {}",
                    format::count(shown.with(Vec::len) as u64),
                    format::count(total),
                )}
            </span>
        })}
    }
}

/// One line: its beginning, and all of it laid out when it is opened.
#[component]
fn Line(line: ActionLine) -> Markup {
    let open = RwSignal::new(line.damaged.is_some());
    let cut = line.bytes > line.text.len() as u64;
    let name = if line.action.is_empty() {
        "damaged".to_owned()
    } else {
        line.action.clone()
    };
    let tone = if line.damaged.is_some() {
        "op go"
    } else {
        "op"
    };
    let start = format::shorten(line.text.trim(), 300);
    let why = line.damaged.clone();
    let text = line.text.clone();
    let whole = move || laid_out_text(&text);
    let shown = line.text.len() as u64;
    view! {
        <li>
            <details open=open.get_untracked() on:toggle=move |event| {
                use wasm_bindgen::JsCast;
                let details = event.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok());
                open.set(details.is_some_and(|d| d.has_attribute("open")));
            }>
                <summary>
                    <span class="number">{format::count(line.line)}</span>
                    <span class=tone>{format::shorten(&name, 40)}</span>
                    <span class="ell mono soft">{start}</span>
                    <span class="n s soft"><Bytes n=line.bytes /></span>
                </summary>
                {why.map(|why| view! {
                    <p class="go">{format!("Line {} cannot be read: {}", line.line, visible(&why))}</p>
                })}
                {move || open.get().then(|| view! { <pre tabindex="0">{whole()}</pre> })}
                {cut.then(|| view! {
                    <p class="soft s">
                        {format!("The first {} of {}", format::bytes(shown), format::bytes(line.bytes))}
                    </p>
                })}
            </details>
        </li>
    }
}
