//! Figures in boxes: a name, the figure, and what changed about it.

use lake::wire::{DiffReport, Verdict};
use leptos::prelude::*;

use super::facts::tile;
use crate::format;
use crate::parts::{Bytes, Count, Net, NetBytes};

/// The figures of a diff: what there is afterwards, and what came and went.
#[component]
pub(crate) fn DiffTiles(diff: DiffReport) -> impl IntoView {
    let t = diff.totals;
    let after = |before: Option<u64>, came: Option<u64>, went: Option<u64>| {
        before?.checked_add(came?)?.checked_sub(went?)
    };
    let files = after(diff.from_files, Some(t.files_added), Some(t.files_removed));
    let rows = after(diff.from_rows, t.rows_added, t.rows_removed);
    let untouched = t.files_added == 0 && t.files_removed == 0;
    let (rewritten, rewritten_note) = rewritten(&diff);
    let vectors = diff.vectors_changed;
    view! {
        <dl class="tiles">
            {tile("Files", match files {
                    Some(n) => view! {
                        <b>{format::count(n)}</b>
                        <em><Net came=Some(t.files_added) went=Some(t.files_removed) /></em>
                    }.into_any(),
                    None => view! {
                        <b><Net came=Some(t.files_added) went=Some(t.files_removed) /></b>
                    }.into_any(),
                })}
            {tile("Rows", match rows {
                    Some(n) => view! {
                        <b>{format::count(n)}</b>
                        <em><Net came=t.rows_added went=t.rows_removed /></em>
                    }.into_any(),
                    None => view! { <b><Net came=t.rows_added went=t.rows_removed /></b> }.into_any(),
                })}
            {tile("Bytes", view! { <b><NetBytes came=Some(t.bytes_added) went=Some(t.bytes_removed) /></b>
                {(t.bytes_added > 0 && t.bytes_removed > 0).then(|| view! {
                    <em class="soft">
                        <Bytes n=t.bytes_added /> " came, " <Bytes n=t.bytes_removed /> " went"
                    </em>
                })} })}
            {tile("Rewritten", view! { <b>{rewritten}</b>
                <em class="soft">{rewritten_note}</em> })}
            {tile("Deleted by vector", view! { <b><Count n=diff.rows_masked /></b>
                <em class="soft">
                    {match (vectors, untouched) {
                        (0, _) => "rows".to_owned(),
                        (n, _) => format!("rows in {}", format::counted(n, "file")),
                    }}
                </em> })}
        </dl>
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
                    format!("files into {}, some rows changed", format::count(came)),
                ),
            }
        }
        _ => ("0".to_owned(), "files".to_owned()),
    }
}
