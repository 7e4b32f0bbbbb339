//! Figures in boxes: a name, the figure, and what changed about it.

use lake::wire::{DiffReport, Verdict};
use leptos::prelude::*;

use crate::format;
use crate::markup::{IntoMarkup, Markup, view};
use crate::parts::{Bytes, Count, Net, NetBytes};

use super::facts::tile;

/// The figures of a diff: what there is afterwards, and what came and went.
#[component]
pub fn DiffTiles(diff: DiffReport) -> Markup {
    let t = diff.totals;
    let after = |before: Option<u64>, came: Option<u64>, went: Option<u64>| {
        before?.checked_add(came?)?.checked_sub(went?)
    };
    let (files_came, files_went) = (Some(t.files_added), Some(t.files_removed));
    let (bytes_came, bytes_went) = (Some(t.bytes_added), Some(t.bytes_removed));
    let files = after(diff.from_files, files_came, files_went);
    let rows = after(diff.from_rows, t.rows_added, t.rows_removed);
    let bytes = after(diff.from_bytes, bytes_came, bytes_went);
    let both_ways = (t.bytes_added > 0 && t.bytes_removed > 0).then(|| {
        format!(
            "{} came, {} went",
            format::bytes(t.bytes_added),
            format::bytes(t.bytes_removed)
        )
    });
    let (rewritten, rewritten_note) = rewritten(&diff);
    let masked_in = match diff.vectors_changed {
        0 => "rows".to_owned(),
        n => format!("rows in {}", format::counted(n, "file")),
    };
    let count = |n| view! { <Count n /> };
    let size = |n| view! { <Bytes n /> };
    let net = |came, went| view! { <Net came went /> };
    let net_bytes = view! {
        <span title=both_ways><NetBytes came=bytes_came went=bytes_went /></span>
    };
    let mixed = (diff.verdict == Verdict::Change).then_some("Some of their rows changed");
    let rewritten = view! { <b>{rewritten}</b> <em class="soft" title=mixed>{rewritten_note}</em> };
    let masked = view! { <b><Count n=diff.rows_masked /></b> <em class="soft">{masked_in}</em> };
    view! {
        <dl class="tiles">
            {tile("Files", changed(files.map(count), net(files_came, files_went)))}
            {tile("Rows", changed(rows.map(count), net(t.rows_added, t.rows_removed)))}
            {tile("Bytes", changed(bytes.map(size), net_bytes.into_markup()))}
            {tile("Rewritten", rewritten)}
            {tile("Deleted by vector", masked)}
        </dl>
    }
}

/// What there is afterwards and beside it what changed; the change alone where the rest was not
/// counted.
pub fn changed(after: Option<Markup>, change: Markup) -> Markup {
    match after {
        Some(after) => view! { <b>{after}</b> <em>{change}</em> },
        None => view! { <b>{change}</b> },
    }
}

/// Files whose rows only moved. In a change they cannot be told from files whose rows differ.
fn rewritten(diff: &DiffReport) -> (String, String) {
    let t = diff.totals;
    match diff.verdict {
        Verdict::Rewrite => (
            format::count(t.files_removed),
            format!("files into {}", format::count(t.files_added)),
        ),
        Verdict::Change => {
            let left = t.files_removed.saturating_sub(diff.vectors_changed);
            let came = t.files_added.saturating_sub(diff.vectors_changed);
            match left.min(came) {
                0 => ("0".to_owned(), "files".to_owned()),
                _ => (
                    format::count(left),
                    format!("files into {}", format::count(came)),
                ),
            }
        }
        _ => ("0".to_owned(), "files".to_owned()),
    }
}
