//! Columns of the chosen row group, and each column's size across all of them.

use std::sync::Arc;

use lake::wire::file::{ChunkReport, ColumnReport, FileReport};
use leptos::prelude::*;

use crate::format::{self, decimal};
use crate::markup::{Markup, view};
use crate::parts::{Badge, Bytes, Column, Count, Grid, Key, Text};
use crate::session::session;
use crate::signals::{Callback, Signal};

use super::groups::chosen;

/// Row groups that one strip shows.
const STRIP: usize = 24;

/// The grid. A column opens its pages.
#[component]
pub fn Chunks(report: Arc<FileReport>) -> Markup {
    let session = session();
    let group = chosen();
    let many = report.row_groups.len() > 1;
    let mut columns = vec![
        Column::new("Column", "minmax(0,1.3fr)").narrow("minmax(0,1fr)"),
        Column::new("Type", "minmax(0,1fr)").wide_only(),
        Column::new("Codec", "76px").wide_only(),
        Column::new("Encodings", "minmax(0,1fr)").wide_only(),
        Column::new("Bytes", "84px").number(),
        Column::new("Nulls", "76px").number(),
        Column::new("Smallest", "minmax(0,.9fr)").wide_only(),
        Column::new("Largest", "minmax(0,.9fr)").wide_only(),
        Column::new("Has", "152px").wide_only(),
    ];
    if many {
        columns.push(Column::new("Bytes by group", "108px").wide_only());
    }
    let open = Callback::new(move |i: usize| session.nav.set("column", Some(i)));
    let count = report.columns.len();
    let row = {
        let report = Arc::clone(&report);
        move |i: usize| cells(&report, group.get_untracked(), i, many)
    };
    // The group is part of a row's key: another group is other cells.
    let key = move |i: usize| format!("{}-{i}", group.get());
    view! {
        <p class="soft s hint">"A column opens the pages of its chunk"</p>
        <Grid label="Columns of the row group" columns count=Signal::stored(count) row key on_open=open />
    }
}

fn cells(report: &FileReport, group: usize, i: usize, many: bool) -> Markup {
    let Some(column) = report.columns.get(i) else {
        return Markup::Nothing;
    };
    let chunk = report.row_groups.get(group).and_then(|g| g.chunks.get(i));
    let name = view! { <span role="gridcell" class="ell"><Name column=column.clone() /></span> };
    let kind = if column.logical_type.is_empty() {
        column.physical_type.clone()
    } else {
        format!("{} as {}", column.logical_type, column.physical_type)
    };
    let kind = view! {
        <span role="gridcell" class="mono s soft hide ell" title=kind.clone()>{format::shorten(&kind, 80)}</span>
    };
    let Some(chunk) = chunk else {
        // Very wide files carry the chunks of their first row groups only.
        return view! { {name} {kind} <span role="gridcell" class="faint">"not loaded"</span> };
    };
    view! {
        {name}
        {kind}
        <span role="gridcell" class="mono s hide">{format::shorten(&chunk.codec, 24)}</span>
        <span role="gridcell" class="mono s soft hide ell" title=chunk.encodings.join(", ")>
            {format::shorten(&chunk.encodings.join(", "), 80)}
        </span>
        <span role="gridcell" class="n"><Bytes n=chunk.compressed_bytes /></span>
        <span role="gridcell" class="n"><Count n=chunk.nulls /></span>
        <span role="gridcell" class="hide ell"><Bound text=chunk.min.clone() exact=chunk.exact /></span>
        <span role="gridcell" class="hide ell"><Bound text=chunk.max.clone() exact=chunk.exact /></span>
        <span role="gridcell" class="hide ell"><Has chunk=chunk.clone() /></span>
        {many.then(|| view! { <span role="gridcell" class="hide"><Strip sizes=sizes_of(report, i) group /></span> })}
    }
}

/// The table's name of the column, and the file's where it is another.
#[component]
fn Name(column: ColumnReport) -> Markup {
    let name = column
        .logical
        .clone()
        .unwrap_or_else(|| column.path.clone());
    let other = (name != column.path).then(|| {
        view! { " " <span class="soft s mono">{format::shorten_middle(&column.path, 28)}</span> }
    });
    let unknown = column.logical.is_none().then(|| {
        view! { " " <Badge text="not in the table" title="The file has this column, the table's schema does not" /> }
    });
    view! {
        <Key text=name max=60 />
        {other}
        {unknown}
    }
}

/// A bound from the statistics, marked where it is not a value that occurs.
#[component]
pub fn Bound(text: Option<String>, exact: Option<bool>) -> Markup {
    match text {
        Some(text) if text.is_empty() => {
            view! { <span class="faint">"empty text"</span> }
        }
        Some(text) => {
            let bound = exact == Some(false);
            view! {
                <span class="mono s">
                    {bound.then(|| view! { <span class="faint" title="A bound, not a value that occurs">"≈ "</span> })}
                    <Text text max=40 />
                </span>
            }
        }
        None => view! { <span class="faint">"–"</span> },
    }
}

/// What the chunk has besides its pages.
#[component]
fn Has(chunk: ChunkReport) -> Markup {
    let bloom = chunk.bloom_filter_bytes.map(|n| {
        let size = if n > 0 {
            format!(", {}", format::bytes(n))
        } else {
            String::new()
        };
        view! { <Badge text="bloom" title=format!("A bloom filter{size}") /> " " }
    });
    let index = chunk
        .page_index
        .then(|| view! { <Badge text="index" title="A page index: readers can skip pages" /> " " });
    let dictionary = chunk
        .dictionary
        .then(|| view! { <Badge text="dict" title="A dictionary page" /> });
    let nothing = !chunk.page_index && !chunk.dictionary && chunk.bloom_filter_bytes.is_none();
    view! {
        {bloom} {index} {dictionary}
        {nothing.then(|| view! { <span class="faint">"–"</span> })}
    }
}

/// The column's bytes in each row group.
#[component]
fn Strip(sizes: Vec<u64>, group: usize) -> Markup {
    let bars = crate::geometry::bars(&sizes, 100.0, 18.0, 1.0);
    let bars = bars.into_iter().enumerate().map(|(i, bar)| view! {
        <rect x=decimal(bar.x, 2) y=decimal(bar.y, 2) width=decimal(bar.w, 2) height=decimal(bar.h, 2)
            class=if i == group { "on" } else { "" } />
    });
    view! { <svg class="strip-bars" width="100" height="18" viewBox="0 0 100 18" aria-hidden="true">{bars.collect::<Markup>()}</svg> }
}

fn sizes_of(report: &FileReport, column: usize) -> Vec<u64> {
    let groups = report.row_groups.iter().take(STRIP);
    let size = |chunks: &[ChunkReport]| chunks.get(column).map_or(0, |c| c.compressed_bytes);
    groups.map(|group| size(&group.chunks)).collect()
}
