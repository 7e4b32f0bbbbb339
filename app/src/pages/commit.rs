//! What one commit changed: the verdict, where, which files, and the commit's own words.

pub mod about;
pub mod actions;

use std::sync::Arc;

use lake::table::{At, Version};
use lake::wire::{CommitReport, DiffReport};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::message;
use crate::parts::{CopyButton, Head, Note, NoteKind, Op, ShellLine, Tabs, When};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, Memo, Signal};
use crate::words::verdict_of;

use super::common::{
    DiffTiles, FileList, Files, Here, Kept, KeyChanges, Partitions, Say, SchemaChanges, Switch,
    Warnings, fact, json_link, key_fact, pin_href, restore_key, tile,
};

use self::about::About;
use self::actions::Actions;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let here = Here::find();
    let version = Memo::new(move |_| session.route.with(Route::version).unwrap_or_default());
    let commit = Asked::new(move |progress| {
        let (engine, table) = (session.engine().watched(progress), here.table());
        let version = version.get();
        Some(async move { engine.commit(table, version).await })
    });
    let pins = Kept::ask(here);
    let latest = Signal::derive(move || commit.ok().map(|r| r.latest_version));
    restore_key(here, Signal::derive(move || Some(version.get())), latest);
    let title = Signal::stored(here.title());
    let window_title =
        Signal::derive(move || format!("{} · commit {}", here.title(), version.get()));
    let facts = move || {
        let report = commit.ok().filter(|r| r.commit.version == version.get());
        let facts = report.map(|report| {
            let row = &report.commit;
            let by = row
                .user
                .as_ref()
                .map(|u| view! { {format!("by {}", format::shorten(u, 60))} });
            [
                Some(view! { <Op name=row.operation.clone() /> }),
                Some(view! { <When at=row.timestamp /> }),
                by,
            ]
        });
        view! {
            <span class="fact">"commit " <b>{move || version.get().to_string()}</b></span>
            {facts.map(|facts| {
                let facts = facts.into_iter().flatten();
                facts.map(|fact| view! { <span class="fact">{fact}</span> }).collect::<Markup>()
            })}
            {move || pins.fact(version.get())}
        }
    };
    view! {
        <Head title window_title facts>
            <Steps here latest />
            <CopyButton label="Copy link" done="Link copied" text=Callback::new(|()| link()) />
        </Head>
        <Tabs />
        {commit.show("the commit", move |report| view! { <Body here report /> })}
    }
}

/// The address of what is shown, to send to somebody.
fn link() -> String {
    window().location().href().unwrap_or_default()
}

/// The commits before and after.
#[component]
fn Steps(here: Here, latest: Signal<Option<Version>>) -> Markup {
    let session = session();
    let version = Memo::new(move |_| session.route.with(Route::version).unwrap_or_default());
    let to = move |version| here.href(|table| Route::Commit { table, version });
    let previous = move || {
        let before = version.get().previous()?;
        Some(view! {
            <a class="btn" href=to(before) title="The commit before ([)" rel="prev">{format!("‹ {before}")}</a>
        })
    };
    let next = move || {
        let after = version.get().next();
        latest.get().is_some_and(|latest| after <= latest).then(|| view! {
            <a class="btn" href=to(after) title="The commit after (])" rel="next">{format!("{after} ›")}</a>
        })
    };
    let pin = move || pin_href(here, version.get());
    let as_of = move || {
        here.href(|table| Route::Snapshot {
            table,
            at: At::Version(version.get()),
        })
    };
    view! {
        {previous}
        {next}
        <a class="btn" href=as_of title="The table as of this version">"Snapshot"</a>
        <a class="btn quiet" href=pin title="Keep this version by name: our vacuum leaves its files">"Pin…"</a>
        {move || Some(view! { <Back here version=version.get() latest=latest.get()? /> })}
    }
}

/// The ways back: to what the commit made, and to what was before it.
#[component]
fn Back(here: Here, version: Version, latest: Version) -> Markup {
    let to_it = (version < latest).then(|| {
        let href = Route::restore(here.name(), version).href();
        view! { <a class="btn" href=href title="Put the table back to this version (r)">"Restore…"</a> }
    });
    let before = version.previous().map(|before| {
        let href = Route::restore(here.name(), before).href();
        let (words, title) = match version < latest {
            true => ("Undo from here…", format!("Put the table back to version {before}: this commit and all after it are undone")),
            false => ("Undo this commit…", format!("Put the table back to version {before} (r)")),
        };
        view! { <a class="btn" href=href title=title>{words}</a> }
    });
    view! { {to_it} {before} }
}

#[component]
fn Body(here: Here, report: Arc<CommitReport>) -> Markup {
    let session = session();
    let version = report.commit.version;
    let diff = report.diff.clone();
    let damaged = report.commit.damaged.clone().map(|why| {
        view! {
            <Note kind=NoteKind::Attention>
                <span><b>"This commit is damaged. "</b>{format::visible(&why)}</span>
            </Note>
        }
    });
    let headline = match (&report.diff, &report.diff_error) {
        (Some(diff), _) => view! {
            <p class="verdict"><Say sentence=verdict_of(&report.commit, diff) /></p>
            <Warnings warnings=diff.warnings.clone() />
            <DiffTiles diff=diff.clone() />
        },
        (None, Some(error)) => {
            let error = message(&lake::Error::from(error.clone()));
            view! {
                <Note kind=NoteKind::Warning>
                    <span>
                        <b>"What it changed cannot be compared. "</b>
                        {format::visible(&error.sentence)}
                        {error.location.map(|l| format!(" ({})", format::visible(&l)))}
                    </span>
                </Note>
                <OwnFigures report=Arc::clone(&report) />
            }
        }
        (None, None) => view! { <OwnFigures report=Arc::clone(&report) /> },
    };
    let show = session.param("show");
    let lines: u64 = report.actions.values().sum();
    let changed = diff
        .as_ref()
        .map(|d| d.totals.files_added + d.totals.files_removed);
    let lists = {
        let diff = diff.clone();
        let partition_columns = partition_columns(diff.as_ref());
        move || match (show.get().as_deref(), files_of(diff.as_ref())) {
            (Some("actions"), _) | (_, None) => view! { <Actions here version /> },
            (_, Some(files)) => view! {
                <FileList here files label=format!("files of commit {version}")
                    columns=partition_columns.clone() empty="No file differs" />
            },
        }
    };
    let mut choices = vec![("actions", "Raw actions", Some(format::count(lines)))];
    if let Some(n) = changed {
        choices.insert(0, ("files", "Files changed", Some(format::count(n))));
    }
    view! {
        {damaged}
        {headline}
        <div class="columns split">
            <div class="split-main">
                {diff.as_ref().map(|d| view! {
                    <Partitions partitions=d.partitions.clone() total=d.partitions_total />
                })}
            </div>
            <aside class="split-side" aria-label="About the commit">
                <About report=Arc::clone(&report) />
                {diff.map(|d| view! { <Changes diff=d /> })}
                <h2>"In the log"</h2>
                <dl class="pairs">
                    {fact("Key", view! { <code class="wrap">{format::shorten(&report.log_key, 200)}</code> })}
                    {fact("Size", view! { <crate::parts::Bytes n=report.log_bytes /> })}
                    {report.actions.iter().map(|(name, n)| key_fact(name, format::count(*n))).collect::<Markup>()}
                </dl>
                <Elsewhere here report=Arc::clone(&report) />
            </aside>
            <section class="split-list" aria-label="Files and actions">
                <Switch label="Lists of this commit" choices />
                {lists}
            </section>
        </div>
    }
}

fn partition_columns(diff: Option<&DiffReport>) -> Vec<String> {
    let first = diff.and_then(|d| d.partitions.first());
    first
        .map(|p| p.partition.keys().cloned().collect())
        .unwrap_or_default()
}

/// The first version has no version before it: all of its files came.
fn files_of(diff: Option<&DiffReport>) -> Option<Files> {
    let diff = diff?;
    Some(match diff.from {
        Some(from) => Files::Between(from, diff.to),
        None => Files::Of(diff.to),
    })
}

/// What the commit's own actions add up to, where it cannot be compared.
#[component]
fn OwnFigures(report: Arc<CommitReport>) -> Markup {
    use crate::parts::{Net, NetBytes};
    let row = &report.commit;
    view! {
        <dl class="tiles">
            {tile("Files", view! { <b><Net came=row.files_added went=row.files_removed /></b> })}
            {tile("Rows", view! { <b><Net came=row.rows_added went=row.rows_removed /></b> })}
            {tile("Bytes", view! { <b><NetBytes came=row.bytes_added went=row.bytes_removed /></b> })}
        </dl>
    }
}

/// Schema, properties and protocol.
#[component]
fn Changes(diff: DiffReport) -> Markup {
    let quiet = diff.properties.is_empty() && diff.protocol.is_empty();
    view! {
        <h2>"Schema"</h2>
        <SchemaChanges changes=diff.schema columns=diff.columns />
        {if quiet {
            view! { <h2>"Properties, protocol"</h2> <p class="soft">"Same in both"</p> }
        } else {
            view! {
                <h2>"Properties"</h2>
                <KeyChanges changes=diff.properties />
                <h2>"Protocol"</h2>
                <KeyChanges changes=diff.protocol />
            }
        }}
    }
}

/// The same from a shell, and the commit as a file. SQL has no statement for one commit.
#[component]
fn Elsewhere(here: Here, report: Arc<CommitReport>) -> Markup {
    let version = report.commit.version;
    let to = version.to_string();
    let command = match version.previous() {
        Some(from) => here.command("diff", &["--from", &from.to_string(), "--to", &to]),
        None => here.command("snapshot", &["--version", &to]),
    };
    let parameters = match version.previous() {
        Some(from) => format!("from={from}&to={to}&files=true"),
        None => format!("version={to}&files=true"),
    };
    let question = if version.previous().is_some() {
        "diff"
    } else {
        "snapshot"
    };
    let json = json_link(
        here,
        question,
        &parameters,
        "What changed, with every file, as JSON",
    );
    view! {
        <h2>"The same from a shell" <span class="end">{json}</span></h2>
        <ShellLine command />
    }
}
