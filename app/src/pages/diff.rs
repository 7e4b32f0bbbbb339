//! Two versions compared: both ends, the verdict, where, which files, what else.

pub mod ends;

use std::sync::Arc;

use lake::wire::{DiffReport, Verdict};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::keys::Command;
use crate::markup::{Markup, view};
use crate::parts::{CopyButton, Head, KeyHint, ShellLine, Tabs};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, Memo, Signal};
use crate::words::verdict;

use super::common::{
    DiffTiles, FileList, Files, Here, KeyChanges, Partitions, Say, SchemaChanges, Warnings,
    json_link,
};

use self::ends::End;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let here = Here::find();
    let ends = Memo::new(move |_| match session.route.get() {
        Route::Diff { from, to, .. } => (from, to),
        _ => Default::default(),
    });
    let diff = Asked::new(move |progress| {
        let (engine, table) = (session.engine().watched(progress), here.table());
        let (from, to) = ends.get();
        Some(async move { engine.diff(table, from, to).await })
    });
    let swap = move || {
        let (from, to) = ends.get_untracked();
        session.nav.go(Route::Diff {
            table: here.name(),
            from: to,
            to: from,
        });
    };
    session.keys.on(move |command| {
        if command == Command::Select {
            swap();
            return true;
        }
        false
    });
    let title = Signal::stored(here.title());
    let window_title = Signal::derive(move || {
        let (from, to) = ends.get();
        format!("{} · {from}..{to}", here.title())
    });
    let to = move |from, to| {
        session.nav.go(Route::Diff {
            table: here.name(),
            from,
            to,
        });
    };
    let facts = move || {
        view! {
            <span class="ends">
                <span class="soft">"from"</span>
                <End here which="from" version=Signal::derive(move || ends.get().0)
                    choose=Callback::new(move |v| to(v, ends.get_untracked().1)) />
                <span class="soft">"to"</span>
                <End here which="to" version=Signal::derive(move || ends.get().1)
                    choose=Callback::new(move |v| to(ends.get_untracked().0, v)) />
                <button type="button" class="btn small quiet" on:click=move |_| swap()>
                    "swap " <KeyHint key="x" />
                </button>
            </span>
        }
    };
    view! {
        <Head title window_title facts>
            <CopyButton label="Copy link" done="Link copied"
                text=Callback::new(|()| window().location().href().unwrap_or_default()) />
        </Head>
        <Tabs />
        {diff.show("the diff", move |report| view! { <Body here report /> })}
    }
}

#[component]
fn Body(here: Here, report: Arc<DiffReport>) -> Markup {
    let session = session();
    // The ends as they were asked for: a report may name the older one first.
    let (from, to) = session.route.with_untracked(|route| match route {
        Route::Diff { from, to, .. } => (*from, *to),
        _ => (report.from.unwrap_or_default(), report.to),
    });
    let t = report.totals;
    let counted = format!(
        "{} removed, {} added",
        format::count(t.files_removed),
        format::count(t.files_added)
    );
    let columns = report
        .partitions
        .first()
        .map(|p| p.partition.keys().cloned().collect::<Vec<_>>())
        .unwrap_or_default();
    let no_files = t.files_added == 0 && t.files_removed == 0;
    let command = here.command(
        "diff",
        &["--from", &from.to_string(), "--to", &to.to_string()],
    );
    let parameters = format!("from={from}&to={to}");
    let json = json_link(here, "diff", &parameters, "The diff as JSON");
    let quiet = report.properties.is_empty() && report.protocol.is_empty();
    let identical = report.verdict == Verdict::Identical;
    view! {
        <p class="verdict"><Say sentence=verdict(&report) /></p>
        <Warnings warnings=report.warnings.clone() />
        {(!identical).then(|| view! { <DiffTiles diff=(*report).clone() /> })}
        <div class="columns split">
            <div class="split-main">
                <Partitions partitions=report.partitions.clone() total=report.partitions_total />
            </div>
            <aside class="split-side" aria-label="What else differs">
                <h2>"Schema"</h2>
                <SchemaChanges changes=report.schema.clone() columns=report.columns />
                {if quiet {
                    view! { <h2>"Properties, protocol"</h2> <p class="soft">"Same in both"</p> }
                } else {
                    view! {
                        <h2>"Properties"</h2>
                        <KeyChanges changes=report.properties.clone() />
                        <h2>"Protocol"</h2>
                        <KeyChanges changes=report.protocol.clone() />
                    }
                }}
                <h2>
                    "The same from a shell"
                    <span class="end">{json}</span>
                </h2>
                <ShellLine command />
            </aside>
            <section class="split-list" aria-label="Files that differ">
                <h2>"Files" <small>{counted}</small></h2>
                {if no_files {
                    view! { <p class="soft">"No file differs"</p> }
                } else {
                    view! {
                        <FileList here files=Files::Between(from, to) columns
                            label=format!("files from {from} to {to}") empty="No file matches" />
                    }
                }}
            </section>
        </div>
    }
}
