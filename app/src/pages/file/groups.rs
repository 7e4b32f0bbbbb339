//! Row groups as bars; one of them is looked into.

use std::sync::Arc;

use lake::wire::file::FileReport;
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::session::session;
use crate::signals::Memo;

/// Bars that are drawn; more would be too thin to press.
const MOST: usize = 120;

/// Which row group the address chooses.
pub fn chosen() -> Memo<usize> {
    let session = session();
    Memo::new(move |_| session.query.with(|q| q.read("group").unwrap_or(0)))
}

/// The bars. A file with one row group needs no choice.
#[component]
pub fn Groups(report: Arc<FileReport>) -> Markup {
    let session = session();
    let chosen = chosen();
    let total = report.row_groups.len();
    let largest = report
        .row_groups
        .iter()
        .map(|g| g.compressed_bytes)
        .max()
        .unwrap_or(0);
    let facts = {
        let report = Arc::clone(&report);
        move || {
            let group = report.row_groups.get(chosen.get())?;
            let ratio = group.uncompressed_bytes as f64 / group.compressed_bytes.max(1) as f64;
            let sorted = (!group.sorted_by.is_empty()).then(|| {
                format!(
                    ", sorted by {}",
                    format::shorten(&group.sorted_by.join(", "), 120)
                )
            });
            Some(format!(
                "{} rows, {} from {}, {} to 1{}",
                format::count(group.rows),
                format::bytes(group.compressed_bytes),
                format::bytes(group.uncompressed_bytes),
                format::decimal(ratio, 1),
                sorted.unwrap_or_default(),
            ))
        }
    };
    let bars = report
        .row_groups
        .iter()
        .enumerate()
        .take(MOST)
        .map(|(i, group)| {
            let share = group.compressed_bytes as f64 / largest.max(1) as f64 * 100.0;
            let title = format!(
                "Row group {i}: {}, {}",
                format::counted(group.rows, "row"),
                format::bytes(group.compressed_bytes)
            );
            view! {
                <button type="button" title=title.clone() aria-label=title
                    aria-pressed=move || (chosen.get() == i).to_string()
                    on:click=move |_| session.nav.set("group", (i > 0).then_some(i))>
                    <i style=format!("height:{}%", format::decimal(share.max(4.0), 0))></i>
                </button>
            }
        });
    let bars = (total > 1).then(|| view! {
        <div class="groups" role="group" aria-label="Row groups, by bytes">{bars.collect::<Markup>()}</div>
    });
    let more = total.saturating_sub(MOST);
    view! {
        <h2>
            {move || match total {
                0 => "No row groups".to_owned(),
                1 => "The row group".to_owned(),
                n => format!("Row group {} of {}", chosen.get(), format::count(n as u64)),
            }}
            " "
            <small>{facts}</small>
        </h2>
        {bars}
        {(more > 0).then(|| view! {
            <p class="soft s">
                {format!("The first {MOST} are drawn; add group={} to {} to the address for the rest", MOST, total - 1)}
            </p>
        })}
    }
}
