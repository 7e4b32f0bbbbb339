//! A table as it was at one version: figures, files, columns, properties, protocol.

pub mod protocol;
pub mod schema;

use std::sync::Arc;

use lake::table::{At, Version};
use lake::wire::SnapshotReport;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Bytes, CopyButton, Count, Empty, Head, Key, Note, ShellLine, Tabs, Text, When};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, Memo, Signal};

use super::common::{
    FileList, Files, Here, Kept, Switch, Warnings, fact, json_link, key_fact, pin_href,
    restore_key, tile,
};

use self::protocol::{Features, Rebuilt};
use self::schema::SchemaTree;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let here = Here::find();
    let at = Memo::new(move |_| match session.route.get() {
        Route::Snapshot { at, .. } => at,
        _ => At::Latest,
    });
    let snapshot = Asked::new(move |progress| {
        let (engine, table) = (session.engine().watched(progress), here.table());
        let at = at.get();
        Some(async move { engine.snapshot(table, at).await })
    });
    let pins = Kept::ask(here);
    let newest = Asked::new(move |_| {
        at.track();
        let (engine, table) = (session.engine(), here.table());
        Some(async move { engine.resolve(table, At::Latest).await })
    });
    let newest = Signal::derive(move || newest.ok().map(|found| found.version));
    let version = Signal::derive(move || snapshot.ok().map(|r| r.version));
    restore_key(here, version, newest);
    let title = Signal::stored(here.title());
    let window_title = Signal::derive(move || match at.get() {
        At::Latest => here.title(),
        At::Version(version) => format!("{} · version {version}", here.title()),
        At::Time(time) => format!("{} · {}", here.title(), format::utc(time)),
    });
    let facts = move || {
        let report = snapshot.ok()?;
        let asked = match at.get() {
            At::Latest => Some("the newest".to_owned()),
            At::Version(_) => None,
            At::Time(time) => Some(format!("the newest at {}", format::utc(time))),
        };
        Some(view! {
            <span class="fact">"version " <b>{report.version.to_string()}</b></span>
            {asked.map(|asked| view! { <span class="fact">{asked}</span> })}
            <span class="fact"><When at=report.timestamp /></span>
            {pins.fact(report.version)}
        })
    };
    // `[`, `]` and `d` need a version, which the address of the newest does not hold.
    session.keys.on(move |command| {
        use crate::keys::Command;
        if matches!(at.get_untracked(), At::Version(_)) {
            return false;
        }
        let Some(version) = untrack(|| snapshot.ok()).map(|r| r.version) else {
            return false;
        };
        let table = here.name();
        let to = match command {
            Command::Previous => version.previous().map(|v| Route::Snapshot {
                table,
                at: At::Version(v),
            }),
            Command::Next => Some(Route::Snapshot {
                table,
                at: At::Version(version.next()),
            }),
            Command::Diff => version.previous().map(|from| Route::Diff {
                table,
                from,
                to: version,
            }),
            _ => None,
        };
        match to {
            Some(to) => session.nav.go(to),
            None => return false,
        }
        true
    });
    view! {
        <Head title window_title facts>
            <Steps here newest version />
            <CopyButton label="Copy link" done="Link copied" text=Callback::new(move |()| link(here, snapshot)) />
        </Head>
        <Tabs />
        <WhatStillWorks here snapshot />
        {snapshot.show("the snapshot", move |report| view! { <Body here report /> })}
    }
}

/// A link to exactly what is shown: `latest` would be another version tomorrow.
fn link(here: Here, snapshot: Asked<SnapshotReport>) -> String {
    let origin = window().location().origin().unwrap_or_default();
    match untrack(|| snapshot.ok()) {
        Some(report) => {
            let at = At::Version(report.version);
            format!(
                "{origin}{}",
                here.href(|table| Route::Snapshot { table, at })
            )
        }
        None => window().location().href().unwrap_or_default(),
    }
}

/// The versions before and after, and what this one changed.
#[component]
fn Steps(here: Here, newest: Signal<Option<Version>>, version: Signal<Option<Version>>) -> Markup {
    let to = move |version| {
        here.href(|table| Route::Snapshot {
            table,
            at: At::Version(version),
        })
    };
    Markup::live(move || {
        let version = version.get()?;
        let previous = version.previous();
        let older = newest.get().is_some_and(|newest| version < newest);
        Some(view! {
            {previous.map(|before| view! {
                <a class="btn" href=to(before) rel="prev" title="The version before ([)">{format!("‹ {before}")}</a>
            })}
            {older.then(|| view! {
                <a class="btn" href=to(version.next()) rel="next" title="The version after (])">{format!("{} ›", version.next())}</a>
            })}
            {previous.map(|from| view! {
                <a class="btn" title="Diff with the version before (d)"
                    href=here.href(|table| Route::Diff { table, from, to: version })>
                    "Diff"
                </a>
            })}
            <a class="btn" href=here.href(|table| Route::Commit { table, version })>"Commit"</a>
            <a class="btn quiet" href=pin_href(here, version) title="Keep this version by name: our vacuum leaves its files">"Pin…"</a>
            {older.then(|| view! {
                <a class="btn" href=Route::restore(here.name(), version).href() title="Put the table back to this version (r)">"Restore…"</a>
            })}
        })
    })
}

/// Where a version cannot be shown: which can, and the history, which needs no snapshot.
#[component]
fn WhatStillWorks(here: Here, snapshot: Asked<SnapshotReport>) -> Markup {
    use lake::wire::HistoryQuery;
    let session = session();
    let failed = Memo::new(move |_| {
        use lake::Kind;
        let kind = match snapshot.get()? {
            Ok(_) => return None,
            Err(error) => error.kind(),
        };
        matches!(kind, Kind::NotFound | Kind::Damaged | Kind::Unsupported).then_some(kind)
    });
    let history = Asked::new(move |_| {
        failed.get()?;
        let (engine, table) = (session.engine(), here.table());
        let query = HistoryQuery {
            limit: 1,
            before: None,
        };
        Some(async move { engine.history(table, query).await })
    });
    Markup::live(move || {
        failed.get()?;
        let history = history.ok()?;
        let to = |version| {
            here.href(|table| Route::Snapshot {
                table,
                at: At::Version(version),
            })
        };
        let latest = history.latest_version;
        let said = match history.earliest_version {
            Some(earliest) => view! {
                "Versions " <a href=to(earliest)>{earliest.to_string()}</a> " to "
                <a href=to(latest)>{latest.to_string()}</a> " can be rebuilt from the log. "
            },
            None => view! { {format!("No version up to {latest} can be rebuilt from the log. ")} },
        };
        Some(view! {
            <Note>
                <span>
                    {said}
                    "The " <a class="link" href=here.href(|table| Route::Timeline { table })>"history"</a>
                    " still shows every commit."
                </span>
            </Note>
        })
    })
}

#[component]
fn Body(here: Here, report: Arc<SnapshotReport>) -> Markup {
    let session = session();
    let version = report.version;
    let show = session.param("show");
    let lists = {
        let report = Arc::clone(&report);
        move || match show.get().as_deref() {
            Some("schema") => view! { <SchemaTree here report=Arc::clone(&report) /> },
            _ if report.files == 0 => view! {
                <Empty title="No files">
                    <p class="soft">"This version of the table is empty. Its columns are known; there are no rows."</p>
                </Empty>
            },
            _ => view! {
                <FileList here files=Files::Of(version) label=format!("files of version {version}")
                    columns=report.partition_columns.clone() empty="No file matches" />
            },
        }
    };
    let columns = report.schema.leaves();
    view! {
        <Warnings warnings=report.warnings.clone() />
        <Tiles report=Arc::clone(&report) />
        <div class="columns split">
            <div class="split-main"></div>
            <aside class="split-side" aria-label="About the version">
                <Properties report=Arc::clone(&report) />
                <Features report=Arc::clone(&report) />
                <Rebuilt here report=Arc::clone(&report) />
                <Elsewhere here report=Arc::clone(&report) />
            </aside>
            <section class="split-list" aria-label="Files and columns">
                <Switch label="Lists of this version" choices=vec![
                    ("files", "Files", Some(format::count(report.files))),
                    ("schema", "Schema", Some(format::counted(columns, "column"))),
                ] />
                {lists}
            </section>
        </div>
    }
}

#[component]
fn Tiles(report: Arc<SnapshotReport>) -> Markup {
    let average = report.bytes.checked_div(report.files);
    let masked = report
        .rows
        .map(|rows| rows + report.deleted_rows)
        .filter(|all| *all > 0);
    view! {
        <dl class="tiles">
            {tile("Rows", view! { <b><Count n=report.rows /></b> })}
            {tile("Bytes", view! { <b><Bytes n=report.bytes /></b> })}
            {tile("Files", view! { <b><Count n=report.files /></b> })}
            {tile("Average file", match average {
                    Some(n) => view! { <b><Bytes n=n /></b> },
                    None => view! { <b class="faint">"–"</b> },
                })}
            {tile("Last commit", view! { <b><When at=report.timestamp /></b> })}
            {tile("Deleted by vector", view! { <b><Count n=report.deleted_rows /></b>
                <em class="soft">
                    {match masked {
                        Some(all) if report.deleted_rows > 0 => {
                            format!("rows, {}", format::percent(report.deleted_rows, all))
                        }
                        _ => "rows".to_owned(),
                    }}
                </em> })}
        </dl>
    }
}

/// The table's own properties and what it says about itself.
#[component]
fn Properties(report: Arc<SnapshotReport>) -> Markup {
    let properties: Vec<_> = report
        .properties
        .iter()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    view! {
        <h2>"Table"</h2>
        <dl class="pairs">
            {report.name.clone().filter(|n| !n.is_empty()).map(|name| fact("Name", view! { <Text text=name /> }))}
            {report.description.clone().filter(|d| !d.is_empty()).map(|text| fact("Description", view! { <Text text max=400 /> }))}
            {fact("Partitioned by", if report.partition_columns.is_empty() {
                    view! { <span class="soft">"nothing"</span> }
                } else {
                    view! { <code class="wrap">{format::shorten(&report.partition_columns.join(", "), 400)}</code> }
                })}
            {report.created.map(|at| fact("Created", view! { <When at=Some(at) /> }))}
            {report.table_id.clone().map(|id| fact("Id", view! { <Key text=id max=40 /> }))}
        </dl>
        <h2>"Properties" <small>{format::count(properties.len() as u64)}</small></h2>
        {if properties.is_empty() {
            view! { <p class="soft">"None are set"</p> }
        } else {
            view! {
                <dl class="pairs">
                    {properties.into_iter().map(|(key, value)| key_fact(&key, view! { <Text text=value max=200 /> })).collect::<Markup>()}
                </dl>
            }
        }}
    }
}

/// The same from a shell and from SQL.
#[component]
fn Elsewhere(here: Here, report: Arc<SnapshotReport>) -> Markup {
    let version = report.version;
    let command = here.command("snapshot", &["--version", &version.to_string()]);
    let sql = format!("SELECT * FROM {} VERSION AS OF {version}", here.sql());
    let parameters = format!("version={version}");
    let json = json_link(here, "snapshot", &parameters, "This version as JSON");
    view! {
        <h2>
            "The same from a shell"
            <span class="end">{json}</span>
        </h2>
        <ShellLine command />
        <h2>"In SQL"</h2>
        <ShellLine command=sql />
    }
}
