//! The pages of one column chunk: the one that the address chooses.

use std::sync::Arc;

use lake::wire::file::{FileReport, PageReport, PagesReport};
use leptos::html;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, NodeRef, view};
use crate::pages::common::{Here, Warnings};
use crate::parts::{Bytes, Count};
use crate::session::session;
use crate::signals::{Memo, RwSignal, effect};

use super::Which;
use super::chunks::Bound;
use super::groups::chosen;

/// Pages that are listed before the button.
const FEW: usize = 100;

/// The pages, where a column is chosen.
#[component]
pub fn ChunkPages(here: Here, which: Which, report: Arc<FileReport>) -> Markup {
    let session = session();
    let column = Memo::new(move |_| session.query.with(|q| q.read::<usize>("column")));
    Markup::live(move || {
        let column = column.get()?;
        let name = report.columns.get(column)?;
        let name = name.logical.clone().unwrap_or_else(|| name.path.clone());
        Some(view! { <OneChunk here which=which.clone() column name /> })
    })
}

#[component]
fn OneChunk(here: Here, which: Which, column: usize, name: String) -> Markup {
    let session = session();
    let group = chosen();
    let pages = Asked::new(move |progress| {
        let (engine, table) = (session.engine().watched(progress), here.table());
        let Which { version, path } = which.clone();
        let (group, column) = (group.get() as u32, column as u32);
        Some(async move { engine.pages(table, version, path, group, column).await })
    });
    let frame = NodeRef::<html::Section>::new();
    effect(move || {
        if let Some(frame) = frame.get() {
            let place = frame.get_bounding_client_rect();
            if place.top() < 44.0 {
                frame.scroll_into_view();
            }
        }
    });
    let close = move |_| session.nav.set("column", None::<usize>);
    view! {
        <section class="chunk-pages" node_ref=frame aria-label=format!("Pages of {name}")>
            <h2>
                "Pages of " <code>{format::shorten(&name, 60)}</code>
                <small>{move || format!("row group {}", group.get())}</small>
                <span class="end"><button type="button" class="btn small" on:click=close>"Close"</button></span>
            </h2>
            {pages.show("the pages", move |report| view! { <List report /> })}
        </section>
    }
}

#[component]
fn List(report: Arc<PagesReport>) -> Markup {
    let limit = RwSignal::new(FEW);
    let listed = report.pages.len();
    let cut = (listed as u64) < report.total;
    let read = format!(
        "{} of {}, from the {}; {} read",
        format::count(listed as u64),
        format::counted(report.total, "page"),
        format::shorten(&report.source, 40),
        format::bytes(report.bytes_read),
    );
    let rows = {
        let report = Arc::clone(&report);
        move || {
            report
                .pages
                .iter()
                .take(limit.get())
                .cloned()
                .map(row)
                .collect::<Markup>()
        }
    };
    view! {
        <p class="soft s">{read}</p>
        <Warnings warnings=report.warnings.clone() />
        <div class="scroll" tabindex="0" role="region" aria-label="Pages">
            <table>
                <thead>
                    <tr>
                        <th scope="col">"Kind"</th>
                        <th scope="col" class="n">"Offset"</th>
                        <th scope="col" class="n">"Bytes"</th>
                        <th scope="col" class="n">"Unpacked"</th>
                        <th scope="col" class="n">"First row"</th>
                        <th scope="col" class="n">"Values"</th>
                        <th scope="col" class="n">"Nulls"</th>
                        <th scope="col">"Encoding"</th>
                        <th scope="col">"Smallest"</th>
                        <th scope="col">"Largest"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {move || {
            let rest = listed.saturating_sub(limit.get());
            (rest > 0).then(|| view! {
                <button type="button" class="link" on:click=move |_| limit.update(|n| *n += 500)>
                    {format!("{} more", format::counted(rest as u64, "page"))}
                </button>
            })
        }}
        {cut.then(|| view! { <p class="soft s">"The chunk has more pages than are listed here"</p> })}
    }
}

fn row(page: PageReport) -> Markup {
    let optional = |n: Option<u64>| match n {
        Some(n) => view! { <Count n /> },
        None => view! { <span class="faint">"–"</span> },
    };
    let unpacked = match page.uncompressed_bytes {
        Some(n) => view! { <Bytes n /> },
        None => view! { <span class="faint">"–"</span> },
    };
    view! {
        <tr>
            <td class="mono s">{format::shorten(&page.kind, 24)}</td>
            <td class="n"><Count n=page.offset /></td>
            <td class="n"><Bytes n=page.compressed_bytes /></td>
            <td class="n">{unpacked}</td>
            <td class="n">{optional(page.first_row)}</td>
            <td class="n">{optional(page.values)}</td>
            <td class="n">{optional(page.nulls)}</td>
            <td class="mono s soft">{page.encoding.map(|e| format::shorten(&e, 40))}</td>
            <td><Bound text=page.min exact=None /></td>
            <td><Bound text=page.max exact=None /></td>
        </tr>
    }
}
