//! The cells of rows that are not one commit: folded runs, and what was not read.

use crate::format::{count, counted, minute, shorten, visible};
use crate::markup::{Markup, view};

use super::super::Timeline;
use super::super::items::Run;
use super::super::measure::Measure;
use super::super::store::CHUNK;

/// Chunks that one press of the search reads.
pub(super) const SEARCH_CHUNKS: u64 = 10;

pub(super) fn fold_cells(timeline: Timeline, measure: Measure, run: &Run) -> Markup {
    let now = timeline.session.now.get_untracked();
    let (newest, oldest) = (run.newest, run.oldest);
    let days =
        |t: Option<lake::table::Time>| t.map(|t| crate::format::day(t, now)).unwrap_or_default();
    let (since, until) = (days(run.since), days(run.until));
    let when = if since == until {
        since
    } else {
        format!("{since} – {until}")
    };
    let exact = [run.since, run.until].map(|t| t.map(|t| minute(t, now)).unwrap_or_default());
    let what = run.operation.as_deref().unwrap_or("commits");
    let what = format!("{} × {}", count(run.commits), shorten(what, 24));
    let by = run.by.as_deref().map(visible).unwrap_or_default();
    let unfold = move |_| timeline.unfolded.update(|u| u.push((newest, oldest)));
    let figure = match measure {
        Measure::Bytes => run.bytes.map(|b| format!("+{}", crate::format::bytes(b))),
        _ => run.rows.map(crate::format::plus),
    };
    view! {
        <span role="gridcell" class="range" aria-colspan="2">
            <span class="key faint">{format!("{oldest}–{newest}")}</span>
            " "
            <button type="button" class="unfold" on:click=unfold
                aria-label=format!("Unfold {what}, versions {oldest} to {newest}")>
                "unfold"
            </button>
        </span>
        <span role="gridcell" class="hide soft">{what.clone()}</span>
        <span role="gridcell" class="n faint">{run.files.map(crate::format::plus)}</span>
        <span role="gridcell" class="hide no-print"></span>
        <span role="gridcell" class="n faint">{figure}</span>
        <span role="gridcell" class="hide soft">{by}</span>
        <span role="gridcell" class="hide n soft s" title=exact.join(" – ")>{when}</span>
    }
}

pub(super) fn waiting_cells(timeline: Timeline, version: u64) -> Markup {
    let chunk = timeline.store.chunk_of(version);
    let state = move || {
        let Some(chunk) = chunk else {
            return Markup::Nothing;
        };
        if let Some(error) = timeline.store.failed.with(|f| f.get(&chunk).cloned()) {
            let again = move |_| timeline.store.again(chunk);
            return view! {
                <span class="go">{shorten(&error.to_string(), 160)}</span>
                " "
                <button type="button" class="unfold" on:click=again>"Try again"</button>
            };
        }
        if timeline.store.flying.with(|f| f.contains_key(&chunk)) {
            view! { <i class="ghost"></i> }
        } else {
            view! { <span class="faint">"not read yet: scroll to read"</span> }
        }
    };
    view! {
        <span role="gridcell" class="key faint">{version}</span>
        <span role="gridcell" class="rest">{state}</span>
    }
}

pub(super) fn unsearched_cells(timeline: Timeline, newest: u64, oldest: u64) -> Markup {
    let n = newest - oldest + 1;
    let next = n.min(SEARCH_CHUNKS * CHUNK);
    let store = timeline.store;
    let state = move || {
        if store.flying.with(|f| f.is_empty()) {
            let go = move |_| store.read_more(SEARCH_CHUNKS);
            let label = format!("Read the next {}", count(next));
            view! { <button type="button" class="unfold" on:click=go>{label}</button> }
        } else {
            let stop = move |_| store.stop();
            view! { <button type="button" class="unfold" on:click=stop>"Stop reading"</button> }
        }
    };
    view! {
        <span role="gridcell" class="key faint">"⋮"</span>
        <span role="gridcell" class="rest soft">
            {format!("{} not read, so not searched ({oldest} to {newest}) ", counted(n, "commit"))}
            {state}
        </span>
    }
}
