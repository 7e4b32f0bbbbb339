//! Partitions and file sizes of a version: where the bytes are, where the small files.

pub mod histogram;
pub mod partitions;
pub mod treemap;

use std::sync::Arc;

use lake::table::At;
use lake::wire::{Finding, LayoutReport, Severity};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Bytes, CopyButton, Empty, Head, Key, Note, NoteKind, ShellLine, Tabs};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::{Callback, Signal};
use crate::words::headline;

use super::common::{Here, Say, fact, json_link};

use self::histogram::Histogram;
use self::partitions::PartitionList;
use self::treemap::Treemap;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let here = Here::find();
    let layout = Asked::new(move |progress| {
        let (engine, table) = (session.engine().watched(progress), here.table());
        let at = session.route.with(Route::at);
        Some(async move { engine.layout(table, at).await })
    });
    let title = Signal::stored(here.title());
    let window_title = Signal::derive(move || format!("{} · layout", here.title()));
    let facts = move || {
        let report = layout.ok()?;
        let version = report.version;
        let href = here.href(|table| Route::Snapshot {
            table,
            at: At::Version(version),
        });
        Some(view! {
            <span class="fact">{format::counted(report.files, "file")}</span>
            <span class="fact"><Bytes n=report.bytes /></span>
            <span class="fact">"version " <a href=href><b>{version.to_string()}</b></a></span>
        })
    };
    view! {
        <Head title window_title facts>
            <CopyButton label="Copy link" done="Link copied"
                text=Callback::new(|()| window().location().href().unwrap_or_default()) />
        </Head>
        <Tabs />
        {layout.show("the layout", move |report| view! { <Body here report /> })}
    }
}

#[component]
fn Body(here: Here, report: Arc<LayoutReport>) -> Markup {
    let said = headline(&report);
    if report.files == 0 {
        return view! {
            <Empty title="No files">
                <p class="soft">"This version of the table is empty, so there is no layout to look at."</p>
            </Empty>
        };
    }
    let version = report.version.to_string();
    let command = here.command("layout", &["--version", &version]);
    let parameters = format!("version={}", report.version);
    let json = json_link(here, "layout", &parameters, "The layout as JSON");
    let packs = report
        .partitions
        .iter()
        .any(|p| p.files_after_packing < p.files);
    let pack = packs.then(|| {
        let query = Query::default().with("show", Some("optimize"));
        let table = here.name();
        let to = Route::Maintenance { table }.with(query).href();
        view! { <p class="after"><a class="btn" href=to>"Plan the packing…"</a></p> }
    });
    view! {
        <p class="verdict"><Say sentence=said /></p>
        {pack}
        <div class="columns split">
            <div class="split-main">
                <Treemap here report=Arc::clone(&report) />
            </div>
            <aside class="split-side" aria-label="Sizes and findings">
                <Histogram report=Arc::clone(&report) />
                <Sizes report=Arc::clone(&report) />
                <Findings report=Arc::clone(&report) />
                <h2>
                    "The same from a shell"
                    <span class="end">{json}</span>
                </h2>
                <ShellLine command />
            </aside>
            <section class="split-list" aria-label="Partitions">
                <PartitionList here report />
            </section>
        </div>
    }
}

/// The figures behind the histogram, each threshold beside what it divides.
#[component]
fn Sizes(report: Arc<LayoutReport>) -> Markup {
    view! {
        <h2>"Sizes"</h2>
        <dl class="pairs">
            {fact("Median", view! { <Bytes n=report.median_bytes /> })}
            {fact("10 % under", view! { <Bytes n=report.p10_bytes /> })}
            {fact("10 % over", view! { <Bytes n=report.p90_bytes /> })}
            {fact("Largest", view! { <Bytes n=report.max_bytes /> })}
            {fact("Small is under", view! { <Bytes n=report.small_bytes_threshold /> })}
            {fact("Packing aims at", view! { <Bytes n=report.target_bytes /> })}
            {fact("Small files", format!(
                    "{}, {} of the files, {} of the bytes",
                    format::count(report.small_files),
                    format::percent(report.small_files, report.files),
                    format::percent(report.small_bytes, report.bytes),
                ))}
        </dl>
    }
}

/// What is worth acting on, with the figures that made it.
#[component]
fn Findings(report: Arc<LayoutReport>) -> Markup {
    const MOST: usize = 20;
    let more = report.findings.len().saturating_sub(MOST);
    let row = |finding: &Finding| {
        let kind = match finding.severity {
            Severity::Error => NoteKind::Attention,
            Severity::Warning => NoteKind::Warning,
        };
        let place = finding.location.clone();
        let message = format::visible(&finding.message);
        let rule = format::shorten(&finding.rule, 40);
        view! {
            <Note kind>
                <span>
                    {place.map(|place| view! { <Key text=place max=60 /> " " })}
                    {message}
                    " "
                    <span class="soft s mono">{rule}</span>
                </span>
            </Note>
        }
    };
    let keys = report.illegal_keys.clone();
    let shown_keys = keys
        .iter()
        .take(50)
        .map(|key| view! { <li><Key text=key.clone() max=60 /></li> });
    view! {
        <h2>"Findings" <small>{format::count(report.findings.len() as u64)}</small></h2>
        {if report.findings.is_empty() {
            view! { <p class="soft">"Nothing that needs an act"</p> }
        } else {
            report.findings.iter().take(MOST).map(row).collect::<Markup>()
        }}
        {(more > 0).then(|| view! { <p class="soft s">{format!("{more} more findings")}</p> })}
        {(!keys.is_empty()).then(|| view! {
            <details class="raw">
                <summary class="soft s">{format!("{} that should not be", format::counted(keys.len() as u64, "key"))}</summary>
                <ul>{shown_keys.collect::<Markup>()}</ul>
            </details>
        })}
    }
}
