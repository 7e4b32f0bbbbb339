//! What can be done with the versions that are taken for a diff.

use lake::table::{At, Version};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format::{counted, shorten_middle};
use crate::markup::{Markup, view};
use crate::parts::KeyHint;
use crate::route::Route;
use crate::signals::RwSignal;

use super::Timeline;

/// The line above the list while something is picked.
#[component]
pub fn Picked(timeline: Timeline) -> Markup {
    let table = timeline.table();
    Markup::live(move || {
        let picks = timeline.picks.get();
        let clear = move |_| timeline.session.nav.set("pick", None::<&str>);
        let clear =
            view! { <button type="button" class="btn small quiet" on:click=clear>"Clear"</button> };
        match picks.as_slice() {
            [] => Markup::Nothing,
            [one] => {
                let before = one.checked_sub(1).map(|before| {
                    let href = diff(&table, before, *one);
                    view! { <a class="btn small" href=href>{format!("Diff with {before}")}<KeyHint key="d" /></a> }
                });
                let as_of = Route::Snapshot {
                    table: table.clone(),
                    at: At::Version(Version(*one)),
                };
                view! {
                    <div class="picks" role="status">
                        <span><b class="mono">{*one}</b>" taken; take another version to compare the two"</span>
                        <span class="acts">
                            {before}
                            <a class="btn small" href=as_of.href()>"Table as of it"</a>
                            <Presence timeline version=*one />
                            {clear}
                        </span>
                    </div>
                }
            }
            [from, to, ..] => view! {
                <div class="picks" role="status">
                    <span><b class="mono">{*from}</b>" and "<b class="mono">{*to}</b>" taken"</span>
                    <span class="acts">
                        <a class="btn small main" href=diff(&table, *from, *to)>
                            {format!("Diff {from} .. {to}")}<KeyHint key="d" />
                        </a>
                        {clear}
                    </span>
                </div>
            },
        }
    })
}

fn diff(table: &str, from: u64, to: u64) -> String {
    let (from, to) = (Version(from), Version(to));
    let table = table.to_owned();
    Route::Diff { table, from, to }.href()
}

/// Whether the data files of a version are still there: asked only when a person says so,
/// because it costs a request a file.
#[component]
fn Presence(timeline: Timeline, version: u64) -> Markup {
    let session = timeline.session;
    let wanted = RwSignal::new(false);
    let presence = Asked::new(move |progress| {
        let table = session.table_ref().filter(|_| wanted.get())?;
        let engine = session.engine().watched(progress);
        Some(async move { engine.presence(table, Version(version)).await })
    });
    Markup::live(move || {
        if !wanted.get() {
            let ask = move |_| wanted.set(true);
            return view! {
                <button type="button" class="btn small" on:click=ask
                    title="Asks the store for each data file and deletion vector of this version: one HEAD request a file, at most some thousands">
                    "Check its data files…"
                </button>
            };
        }
        presence.show("whether the data files are there", |report| {
            let checked = counted(report.checked, "file");
            let of = (report.checked < report.of)
                .then(|| format!(" of {}", crate::format::count(report.of)));
            let missing = (report.missing_total > 0).then(|| {
                let first = report.missing.first().map(|m| shorten_middle(m, 60));
                view! {
                    <b class="go">{format!("{} gone", counted(report.missing_total, "file"))}</b>
                    {first.map(|f| view! { " such as " <span class="mono">{f}</span> })}
                }
            });
            let all_there = report.missing_total == 0;
            view! {
                <span class="s">
                    {checked}{of}" asked for, "
                    {missing}
                    {all_there.then_some("all there")}
                </span>
            }
        })
    })
}
