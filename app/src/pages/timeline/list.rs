//! The list: one row a commit, a folded run, or a stretch that was not read.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::format::shorten;
use crate::markup::{Markup, view};
use crate::parts::{Column, Grid};
use crate::signals::{Callback, Memo, Signal, StoredValue, effect};

use super::items::Item;
use super::measure::Measure;
use super::summary::summary;
use super::{Timeline, version_of};

mod commit;
mod other;

use commit::commit_cells;
use other::{SEARCH_CHUNKS, fold_cells, unsearched_cells, waiting_cells};

const ROW: f64 = 32.0;

/// The list.
#[component]
pub fn List(timeline: Timeline) -> Markup {
    read_what_is_seen(timeline);
    keep_place(timeline);
    let items = timeline.items;
    let count = Signal::derive(move || items.with(|i| i.len()));
    let read = Signal::derive(move || items.with(|i| i.read()));
    let key = move |i: usize| {
        items
            .with(|items| items.at(i).map(key_of))
            .unwrap_or_default()
    };
    let class = move |i: usize| {
        let item = items.with(|items| items.at(i));
        row_class(timeline, item).to_owned()
    };
    let open = Callback::new(move |i: usize| {
        if let Some(item) = items.with_untracked(|items| items.at(i)) {
            open_item(timeline, item);
        }
    });
    // A click with Shift takes the row for a diff; it must not reach the row, which would open.
    let pick = move |event: web_sys::MouseEvent| {
        if !event.shift_key() {
            return;
        }
        let target = event
            .target()
            .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        let row = target.and_then(|t| t.closest("[aria-rowindex]").ok().flatten());
        let index = row.and_then(|r| r.get_attribute("aria-rowindex")?.parse::<usize>().ok());
        let item = index.and_then(|i| items.with_untracked(|items| items.at(i.checked_sub(2)?)));
        if let Some(Item::Commit(commit)) = item {
            event.prevent_default();
            event.stop_propagation();
            timeline.toggle_pick(commit.version.0);
        }
    };
    let grid = move || {
        let measure = timeline.measure.get();
        let row = move |i: usize| {
            let item = items.with_untracked(|items| items.at(i));
            item.map_or_else(|| Markup::Nothing, |item| cells(timeline, measure, item))
        };
        view! {
            <Grid label="Commits, newest first" columns=columns(measure) count row key row_class=class
                on_open=open active=timeline.active seen=timeline.seen read row_height=ROW />
        }
    };
    let nothing = move || {
        (items.with(|i| i.len() == 0)).then(|| {
            let clear = move |_| {
                timeline.session.nav.set("q", None::<&str>);
                timeline.session.nav.set("maintenance", None::<&str>);
            };
            view! {
                <div class="state">
                    <strong>"No commit fits the filter"</strong>
                    <button type="button" class="btn" on:click=clear>"Show all"</button>
                </div>
            }
        })
    };
    view! {
        <div class="commits" class:picking=move || !timeline.picks.with(Vec::is_empty) on:click:capture=pick>
            {grid}
            {nothing}
        </div>
    }
}

fn columns(measure: Measure) -> Vec<Column> {
    let figure = if measure == Measure::Bytes {
        "Bytes"
    } else {
        "Rows"
    };
    vec![
        Column::new("Version", "84px").narrow("56px"),
        Column::new("Operation", "132px").narrow("minmax(0,1fr)"),
        Column::new("What", "minmax(0,1fr)").wide_only(),
        Column::new("Files", "80px").number().narrow("70px"),
        Column::new("Change", "112px").wide_only(),
        Column::new(figure, "140px").number().narrow("88px"),
        Column::new("By", "100px").wide_only(),
        Column::new("When (UTC)", "118px").number().wide_only(),
    ]
}

fn key_of(item: Item) -> String {
    match item {
        Item::Commit(commit) => format!("c{}", commit.version),
        Item::Missing(version) => format!("m{version}"),
        Item::Waiting(version) => format!("w{version}"),
        Item::Fold(run) => format!("f{}-{}", run.newest, run.oldest),
        Item::Unsearched(newest, oldest) => format!("u{newest}-{oldest}"),
    }
}

fn row_class(timeline: Timeline, item: Option<Item>) -> &'static str {
    let picked = |version| timeline.picks.with(|p| p.contains(&version));
    let between = |version: u64| {
        timeline.picks.with(|p| match p.as_slice() {
            [from, to] => *from < version && version < *to,
            _ => false,
        })
    };
    let earliest = timeline.store.known.with(|k| k.as_ref()?.earliest);
    match item {
        Some(Item::Commit(c)) if picked(c.version.0) => "on",
        Some(Item::Commit(c)) if between(c.version.0) => "between",
        Some(Item::Commit(c)) if c.damaged.is_some() => "damaged",
        Some(Item::Commit(c)) => {
            let lost = c.restorable == Some(false) || earliest.is_some_and(|e| c.version.0 < e);
            if lost { "dim" } else { "" }
        }
        Some(Item::Fold(run)) if earliest.is_some_and(|e| run.newest < e) => "dim fold",
        Some(Item::Fold(_)) => "fold",
        _ => "quiet",
    }
}

fn open_item(timeline: Timeline, item: Item) {
    match item {
        Item::Fold(run) => timeline
            .unfolded
            .update(|u| u.push((run.newest, run.oldest))),
        Item::Unsearched(..) => timeline.store.read_more(SEARCH_CHUNKS),
        Item::Missing(_) => {}
        item => {
            if let Some(version) = version_of(item) {
                timeline.session.nav.go(timeline.commit(version));
            }
        }
    }
}

fn cells(timeline: Timeline, measure: Measure, item: Item) -> Markup {
    match item {
        Item::Commit(commit) => commit_cells(timeline, measure, &commit),
        Item::Fold(run) => fold_cells(timeline, measure, &run),
        Item::Waiting(version) => waiting_cells(timeline, version),
        Item::Missing(version) => view! {
            <span role="gridcell" class="key">{version}</span>
            <span role="gridcell" class="rest go">"not in the log"</span>
        },
        Item::Unsearched(newest, oldest) => unsearched_cells(timeline, newest, oldest),
    }
}

/// Asks for the chunks of rows that are near the viewport and wait.
fn read_what_is_seen(timeline: Timeline) {
    let chunks = Memo::new(move |_| {
        let window = timeline.seen.get();
        let mut chunks: Vec<u64> = Vec::new();
        timeline.items.with(|items| {
            // What is seen first, then what is near.
            let seen = (window.top..window.last).chain((window.first..window.top).rev());
            for i in seen {
                if let Some(Item::Waiting(version)) = items.at(i)
                    && let Some(chunk) = timeline.store.chunk_of(version)
                    && !chunks.contains(&chunk)
                {
                    chunks.push(chunk);
                }
            }
        });
        chunks
    });
    effect(move || {
        let chunks = chunks.get();
        // Nothing waits in sight: what a search asked for goes on.
        if !chunks.is_empty() {
            timeline.store.want(chunks);
        }
    });
    let moved = move |_| {
        timeline.store.scrolled();
        let chunks = chunks.get_untracked();
        if !chunks.is_empty() {
            timeline.store.want(chunks);
        }
    };
    let handles = ["wheel", "touchmove", "keydown", "pointerdown"]
        .map(|name| window_event_listener_untyped(name, moved));
    on_cleanup(move || handles.into_iter().for_each(|h| h.remove()));
}

/// When rows above the viewport fold or appear, the row that was at its top stays there.
fn keep_place(timeline: Timeline) {
    let anchor = StoredValue::new(None::<(u64, usize)>);
    let settling = StoredValue::new(false);
    effect(move || {
        let top = timeline.seen.with(|s| s.top);
        if !settling.get_value() {
            let version = timeline.top.get_untracked();
            anchor.set_value(version.map(|v| (v, top)));
        }
    });
    effect(move || {
        let items = timeline.items.get();
        let Some((version, row)) = anchor.get_value().filter(|(_, row)| *row > 0) else {
            return;
        };
        let Some(now) = items.index_of(version).filter(|now| *now != row) else {
            return;
        };
        settling.set_value(true);
        let rows = now as f64 - row as f64;
        // The first frame gives the list its new height, the second scrolls in it.
        request_animation_frame(move || {
            request_animation_frame(move || {
                window().scroll_by_with_x_and_y(0.0, rows * ROW);
                settling.set_value(false);
                anchor.set_value(Some((version, now)));
            });
        });
    });
}

/// The row's summary, cut.
pub(super) fn what(commit: &lake::wire::CommitRow) -> String {
    shorten(&summary(commit), 160)
}
