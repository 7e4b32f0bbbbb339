//! The cells of one commit.

use lake::wire::CommitRow;

use crate::format::{counted, shorten, utc};
use crate::markup::{IntoMarkup, Markup, view};
use crate::parts::{Bar, Difference, Net, NetBytes, Op, When};

use super::super::Timeline;
use super::super::measure::{Measure, rewrites};
use super::what;

/// The writer's clock is worth a word when it is off by more than this.
const CLOCKS_APART: u64 = 2 * 60 * 1_000;

pub(super) fn commit_cells(timeline: Timeline, measure: Measure, commit: &CommitRow) -> Markup {
    let version = commit.version.0;
    let href = timeline.commit(version).href();
    let picked = move || timeline.picks.with(|p| p.contains(&version));
    let pick = view! {
        <input type="checkbox" class="pick-box" aria-label=format!("Take version {version} for a diff")
            title="Take for a diff (x, or click with Shift)"
            prop:checked=picked on:change=move |_| timeline.toggle_pick(version) />
    };
    let head = view! {
        <span role="gridcell" class="version">
            <a class="key" href=href><b>{version}</b></a>
            {pick}
        </span>
    };
    if let Some(why) = &commit.damaged {
        return view! {
            {head}
            <span role="gridcell" class="rest">
                <b class="go">"damaged"</b>" "
                <span class="soft" title=shorten(why, 2_000)>{shorten(why, 200)}</span>
            </span>
        };
    }
    let figure = match measure {
        Measure::Bytes => {
            view! { <NetBytes came=commit.bytes_added went=commit.bytes_removed /> }
        }
        // The same rows in other files: none came and none went.
        _ if rewrites(commit) => {
            let rewritten = commit
                .rows_added
                .map(|n| format!("{} rewritten", counted(n, "row")));
            view! { <span class="faint" title=rewritten>"0"</span> }
        }
        _ => {
            let (came, went) = (commit.rows_added, commit.rows_removed);
            // Both figures where there is room, their difference where there is not.
            view! {
                <span class="hide"><Net came went /></span>
                <span class="only-narrow"><Difference came went /></span>
            }
        }
    };
    let said = what(commit);
    let hover = match &commit.reason {
        Some(reason) => format!("{said}\nReason: {}", shorten(reason, 500)),
        None => said.clone(),
    };
    let by = commit.user.as_ref().or(commit.engine.as_ref());
    let by = by.map(|b| shorten(b, 60));
    let refs: Markup = commit
        .refs
        .iter()
        .map(|name| view! { <span class="badge pin" title="Pinned: our vacuum keeps this version">{shorten(name, 40)}</span>" " })
        .collect();
    let engine = commit.engine.as_ref().map(|e| shorten(e, 200));
    view! {
        {head}
        <span role="gridcell"><Op name=commit.operation.clone() /></span>
        <span role="gridcell" class="hide soft" title=hover>{refs}{said.clone()}</span>
        <span role="gridcell" class="n">
            <Net came=commit.files_added went=commit.files_removed />
        </span>
        <span role="gridcell" class="hide no-print">{bar(timeline, measure, commit)}</span>
        <span role="gridcell" class="n">{figure}</span>
        <span role="gridcell" class="hide soft" title=engine>{by}</span>
        <span role="gridcell" class="hide n soft s">
            <When at=commit.timestamp minute=true also=clocks_apart(commit) />
        </span>
    }
}

/// The bar beside the largest of the strip's window.
fn bar(timeline: Timeline, measure: Measure, commit: &CommitRow) -> Markup {
    let Some((came, went)) = measure.of(commit) else {
        return Markup::Nothing;
    };
    let rewrite = !commit.data_change && (came > 0 || went > 0);
    let largest = timeline.largest;
    (move || {
        let largest = largest.get();
        view! { <Bar came went largest rewrite /> }
    })
    .into_markup()
}

fn clocks_apart(commit: &CommitRow) -> Option<String> {
    let (log, writer) = (commit.timestamp?, commit.writer_timestamp?);
    let apart = log.0.abs_diff(writer.0) > CLOCKS_APART;
    apart.then(|| format!("The writer's clock said {}", utc(writer)))
}
