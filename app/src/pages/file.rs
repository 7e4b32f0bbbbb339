//! One data file: what the log says, what its footer says, its columns, its first rows.

pub mod agree;
pub mod chunks;
pub mod groups;
pub mod pages;
pub mod rows;
pub mod stats;

use std::sync::Arc;

use lake::table::At;
use lake::wire::file::FileReport;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Bytes, CopyButton, Head, Tabs, Text};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, Memo, Signal};
use crate::words::contents;

use super::common::{Here, Say, Switch, Warnings, fact, key_fact};

use self::agree::Agree;
use self::chunks::Chunks;
use self::groups::Groups;
use self::pages::ChunkPages;
use self::rows::Rows;
use self::stats::Stats;

/// A file of a version, as the address names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Which {
    version: lake::table::Version,
    path: String,
}

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let here = Here::find();
    let which = Memo::new(move |_| match session.route.get() {
        Route::File { version, path, .. } => Which { version, path },
        _ => Which::default(),
    });
    let file = Asked::new(move |progress| {
        let (engine, table) = (session.engine().watched(progress), here.table());
        let Which { version, path } = which.get();
        Some(async move { engine.file(table, version, path).await })
    });
    let title = Signal::stored(here.title());
    let window_title = Signal::derive(move || {
        let Which { version, path } = which.get();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        format!("{} · {version} · {name}", here.title())
    });
    let facts = move || {
        let version = which.get().version;
        let href = here.href(|table| Route::Snapshot {
            table,
            at: At::Version(version),
        });
        view! { <span class="fact">"a file of " <a class="link" href=href>"version " {version.to_string()}</a></span> }
    };
    view! {
        <Head title window_title facts>
            <CopyButton label="Copy key" done="Key copied" text=Callback::new(move |()| which.get_untracked().path) />
            <CopyButton label="Copy link" done="Link copied"
                text=Callback::new(|()| window().location().href().unwrap_or_default()) />
        </Head>
        <Tabs />
        <p class="file-path"><code class="wrap">{move || format::shorten(&which.get().path, 1_000)}</code></p>
        {file.show("the footer", move |report| view! { <Body here which=which.get_untracked() report /> })}
    }
}

#[component]
fn Body(here: Here, which: Which, report: Arc<FileReport>) -> Markup {
    let session = session();
    let show = session.param("show");
    let lists = {
        let (report, which) = (Arc::clone(&report), which.clone());
        move || {
            let (report, which) = (Arc::clone(&report), which.clone());
            match show.get().as_deref() {
                Some("rows") => view! { <Rows here which /> },
                Some("stats") => view! { <Stats report /> },
                _ => view! {
                    <Groups report=Arc::clone(&report) />
                    <ChunkPages here which report=Arc::clone(&report) />
                    <Chunks report />
                },
            }
        }
    };
    view! {
        <p class="verdict"><Say sentence=contents(&report) /></p>
        <Warnings warnings=report.warnings.clone() />
        <div class="columns">
            <div><Agree report=Arc::clone(&report) /></div>
            <aside aria-label="The footer">
                <h2>"Footer"</h2>
                <dl class="pairs">
                    {fact("Written by", match report.created_by.clone() {
                            Some(by) => view! { <Text text=by max=120 /> },
                            None => view! { <span class="faint">"not stated"</span> },
                        })}
                    {fact("Parquet format", format!("version {}", report.format_version))}
                    {fact("Size", view! { <Bytes n=report.footer_bytes /> })}
                    {report.key_values.iter().map(|(key, value)| key_fact(key, view! { <Text text=value.clone() max=100 /> })).collect::<Markup>()}
                </dl>
            </aside>
        </div>
        <section class="lists" aria-label="Inside the file">
            <Switch label="What is in the file" choices=vec![
                ("columns", "Columns", Some(format::count(report.columns.len() as u64))),
                ("rows", "First rows", None),
                ("stats", "Statistics in the log", None),
            ] />
            {lists}
        </section>
    }
}
