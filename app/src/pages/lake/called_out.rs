//! What needs a person, over all tables: at most five sentences, worst first.

use lake::wire::Attention;
use leptos::prelude::*;

use crate::format::{count, shorten, shorten_middle};
use crate::markup::{Markup, view};
use crate::order::sorted;
use crate::parts::{Note, NoteKind};
use crate::route::Route;
use crate::signals::Memo;

use super::Overviews;

/// Sentences shown.
const MOST: usize = 5;

/// Rules by how bad they are.
const WORST_FIRST: [&str; 6] = [
    "rows_removed",
    "overwrite",
    "damaged",
    "past_lost",
    "column_dropped",
    "column_retyped",
];

/// The sentences.
#[component]
pub fn CalledOut(overviews: Overviews) -> Markup {
    let all = Memo::new(move |_| {
        let mut all: Vec<(usize, String, Attention)> = Vec::new();
        overviews.0.with(|tables| {
            for (table, report) in tables {
                let Ok(report) = report else { continue };
                // Each table's own list is worst first already; its order is kept.
                for attention in &report.attention {
                    all.push((rank(&attention.rule), table.clone(), attention.clone()));
                }
            }
        });
        sorted(all, |(a, _, _), (b, _, _)| a.cmp(b))
    });
    Markup::live(move || {
        let all = all.get();
        let more = all.len().saturating_sub(MOST);
        let shown = all.into_iter().take(MOST);
        let shown = shown.map(|(_, table, attention)| view! { <Sentence table attention /> });
        view! {
            {shown.collect::<Markup>()}
            {(more > 0).then(|| view! {
                <p class="soft s more">{format!("{} more: see the tables with a red dot", count(more as u64))}</p>
            })}
        }
    })
}

fn rank(rule: &str) -> usize {
    let place = WORST_FIRST.iter().position(|known| *known == rule);
    place.unwrap_or(WORST_FIRST.len())
}

#[component]
fn Sentence(table: String, attention: Attention) -> Markup {
    let name = shorten_middle(&table, 60);
    let back = attention.restore_to.map(|to| {
        let href = Route::restore(table.clone(), to).href();
        view! { <a class="btn small" href=href>"Restore…"</a> }
    });
    // The commit's page has what changed beside who and why.
    let closer = attention.version.map(|version| {
        let href = Route::Commit { table, version }.href();
        view! { <a class="btn small" href=href>"Look closer"</a> }
    });
    view! {
        <Note kind=NoteKind::Attention>
            <span>
                <b>{name}</b>": "
                {shorten(&attention.what, 200)}
                " "
                <span class="soft">{shorten(&attention.detail, 240)}</span>
            </span>
            <span class="acts">
                {closer}
                {back}
            </span>
        </Note>
    }
}
