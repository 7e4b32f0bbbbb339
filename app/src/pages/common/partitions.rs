//! What came and went by partition, as a tree that opens.

use std::sync::Arc;

use lake::wire::PartitionDiff;
use leptos::prelude::*;

use crate::format;
use crate::markup::{Each, Markup, view};
use crate::parts::{Bar, Net, NetBytes, TreeRow};
use crate::session::session;
use crate::signals::RwSignal;
use crate::words::plural;

use super::filter::line;
use super::rollup::{Node, roll_up, weight};

/// Nodes of a level that are shown before the button.
const FEW: usize = 12;

/// Nodes that one press adds.
const STEP: usize = 100;

/// The tree of a diff's partitions. A name is a link that filters the list of files.
#[component]
pub fn Partitions(
    partitions: Vec<PartitionDiff>,
    /// Partitions that differ in all; the list may have been cut.
    total: u64,
) -> Markup {
    let tree = Arc::new(roll_up(&partitions));
    if tree.is_empty() {
        return Markup::Nothing;
    }
    let by_rows = partitions
        .iter()
        .all(|p| p.totals.rows_added.is_some() && p.totals.rows_removed.is_some());
    let largest = tree.iter().map(|n| weight(&n.totals)).max().unwrap_or(0);
    let cut = (partitions.len() as u64) < total;
    let note = format!(
        "{} changed, by {}",
        format::count(total),
        if by_rows { "rows" } else { "bytes" }
    );
    view! {
        <section>
            <h2>"Partitions" <small>{note}</small></h2>
            <div class="scroll" tabindex="0" role="region" aria-label="Partitions that changed">
            <table class="tree-table">
                <thead>
                    <tr>
                        <th scope="col">"Partition"</th>
                        <th scope="col" class="n">"Files"</th>
                        <th class="hide"><span class="unseen">"What went and came"</span></th>
                        <th scope="col" class="n">"Rows"</th>
                        <th scope="col" class="n">"Bytes"</th>
                    </tr>
                </thead>
                <tbody>{level(tree, 0, largest)}</tbody>
            </table>
            </div>
            {cut.then(|| view! {
                <p class="soft s">
                    {format!(
                        "The sums above cover the {} partitions that changed most, of {}",
                        format::count(partitions.len() as u64),
                        format::count(total),
                    )}
                </p>
            })}
        </section>
    }
}

/// The rows of one level and, below each open node, those of the next.
fn level(nodes: Arc<Vec<Node>>, depth: usize, largest: u64) -> Markup {
    let shown = RwSignal::new(FEW);
    let total = nodes.len();
    let column = nodes.first().map(|n| n.column.clone()).unwrap_or_default();
    let rows = {
        let nodes = Arc::clone(&nodes);
        move || {
            (0..total.min(shown.get()))
                .map(|i| (i, Arc::clone(&nodes)))
                .collect::<Vec<_>>()
        }
    };
    let make = move |(i, nodes): (usize, Arc<Vec<Node>>)| match nodes.get(i) {
        Some(node) => branch(node, depth, largest, depth == 0 && i == 0),
        None => Markup::Nothing,
    };
    let rest = move || {
        let rest = total.saturating_sub(shown.get());
        (rest > 0).then(|| {
            let noun = plural(&column.replace('_', " "));
            let style = format!("padding-left:{}px", 28 + depth * 20);
            view! {
                <tr>
                    <td colspan="5" style=style>
                        <button type="button" class="link" on:click=move |_| shown.update(|n| *n += STEP)>
                            {format!("{} more {noun}", format::count(rest as u64))}
                        </button>
                    </td>
                </tr>
            }
        })
    };
    view! {
        <Each each=rows key=|(i, _)| *i children=make />
        {rest}
    }
}

fn branch(node: &Node, depth: usize, largest: u64, opened: bool) -> Markup {
    let session = session();
    let inner = !node.children.is_empty();
    let open = inner.then(|| RwSignal::new(opened));
    let t = node.totals;
    let filter = line(&node.partition);
    let href = move || {
        let query = session.query.get().with("q", Some(&filter));
        session.route.get().with(query).href()
    };
    let children = Arc::clone(&node.children);
    let below = move || {
        open.is_some_and(|open| open.get())
            .then(|| level(Arc::clone(&children), depth + 1, largest))
    };
    let name = node.label.clone();
    let (came, went) = match (t.rows_added, t.rows_removed) {
        (Some(came), Some(went)) => (came, went),
        _ => (t.bytes_added, t.bytes_removed),
    };
    view! {
        <tr class=if inner && depth == 0 { "head-row" } else { "" }>
            <td>
                <TreeRow depth open name=name.clone()>
                    <a class="key" href=href title=format!("Files of {name}")>
                        {format::shorten(&name, 80)}
                    </a>
                </TreeRow>
            </td>
            <td class="n"><Net came=Some(t.files_added) went=Some(t.files_removed) /></td>
            <td class="hide"><Bar came went largest /></td>
            <td class="n"><Net came=t.rows_added went=t.rows_removed /></td>
            <td class="n"><NetBytes came=Some(t.bytes_added) went=Some(t.bytes_removed) /></td>
        </tr>
        {below}
    }
}
