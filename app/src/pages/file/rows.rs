//! Rows of the file as a reader of the table gets them.

use std::sync::Arc;

use lake::wire::file::{RowColumn, RowsReport};
use lake::{Error, Kind};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::asked::Asked;
use crate::copy::csv;
use crate::format;
use crate::markup::{Each, Markup, view};
use crate::pages::common::{Here, Warnings, csv_button};
use crate::parts::{Badge, Failed};
use crate::session::session;
use crate::signals::{Callback, RwSignal, StoredValue};

use super::Which;

/// Rows of one question.
const STEP: u32 = 50;

/// The first rows, and more on request.
#[component]
pub fn Rows(here: Here, which: Which) -> Markup {
    let session = session();
    let first = {
        let which = which.clone();
        Asked::new(move |progress| {
            let (engine, table) = (session.engine().watched(progress), here.table());
            let Which { version, path } = which.clone();
            Some(async move { engine.rows(table, version, path, 0, STEP).await })
        })
    };
    let unsupported = move || {
        let error = first.get()?.err()?;
        (error.kind() == Kind::Unsupported).then(|| {
            view! {
                <p class="soft">
                    "Columns, statistics and pages above need no decoding and still work."
                </p>
            }
        })
    };
    view! {
        {first.show("the rows", move |report| view! { <Sheet here which=which.clone() first=report /> })}
        {unsupported}
    }
}

/// What was read so far.
#[derive(Clone, Default)]
struct Read {
    rows: Vec<(u64, Arc<Vec<Option<String>>>)>,
    next: Option<u64>,
    masked: u64,
    bytes: u64,
}

impl Read {
    fn add(&mut self, report: &RowsReport) {
        let rows = report.positions.iter().copied();
        let rows = rows.zip(report.rows.iter().cloned().map(Arc::new));
        self.rows.extend(rows);
        self.next = report.next;
        self.masked += report.masked;
        self.bytes += report.bytes_read;
    }
}

#[component]
fn Sheet(here: Here, which: Which, first: Arc<RowsReport>) -> Markup {
    let session = session();
    let mut start = Read::default();
    start.add(&first);
    let read = RwSignal::new(start);
    let busy = RwSignal::new(false);
    let failed = RwSignal::new(None::<Error>);
    let more = move || {
        let Some(offset) = read.with_untracked(|r| r.next) else {
            return;
        };
        let (engine, table) = (session.engine(), here.table());
        let Which { version, path } = which.clone();
        busy.set(true);
        spawn_local(async move {
            let answer = engine.rows(table, version, path, offset, STEP).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(page) => {
                    failed.set(None);
                    read.update(|read| read.add(&page));
                }
                Err(error) => failed.set(Some(error)),
            }
        });
    };
    let more = Callback::new(move |()| more());
    let columns = StoredValue::new(first.columns.clone());
    let save = csv_button("rows".to_owned(), "Save these rows as CSV", move || {
        columns.with_value(|columns| as_csv(columns, &read.get_untracked()))
    });
    let said = move || {
        read.with(|read| {
            let masked = match read.masked {
                0 => String::new(),
                n => format!(
                    ", {} passed over: masked by the deletion vector",
                    format::counted(n, "row")
                ),
            };
            format!(
                "{}{masked}; {} read from the store",
                format::counted(read.rows.len() as u64, "row"),
                format::bytes(read.bytes)
            )
        })
    };
    let heads = first.columns.iter().map(head).collect::<Markup>();
    let make = move |(position, values): (u64, Arc<Vec<Option<String>>>)| {
        columns.with_value(|columns| row(position, columns, &values))
    };
    view! {
        <Warnings warnings=first.warnings.clone() />
        <div class="list-bar">
            <span class="soft s" aria-live="polite">{said}</span>
            <span class="export">{save}</span>
        </div>
        {move || read.with(|r| r.rows.is_empty() && r.next.is_none()).then(|| view! {
            <p class="soft">"No row of this file is left: the deletion vector masks them all, or it never had any"</p>
        })}
        <div class="scroll rows" tabindex="0" role="region" aria-label="Rows of the file">
            <table>
                <thead><tr><th scope="col" class="n" title="Position in the file, from 0">"#"</th>{heads}</tr></thead>
                <tbody><Each each=move || read.get().rows key=|(position, _)| *position children=make /></tbody>
            </table>
        </div>
        {move || failed.get().map(|error| view! { <Failed error again=more /> })}
        {move || read.with(|r| r.next.is_some()).then(|| view! {
            <button type="button" class="link" disabled=move || busy.get() on:click=move |_| more.run(())>
                {format!("{STEP} more")}
            </button>
        })}
    }
}

fn head(column: &RowColumn) -> Markup {
    let class = if column.numeric { "n" } else { "" };
    let kind = format::shorten(&column.data_type, 40);
    let partition = column.partition.then(
        || view! { " " <Badge text="partition" title="From the log: the file does not hold it" /> },
    );
    view! {
        <th scope="col" class=class>
            <span class="key">{format::shorten(&column.name, 60)}</span>
            {partition}
            <small>{kind}</small>
        </th>
    }
}

fn row(position: u64, columns: &[RowColumn], values: &[Option<String>]) -> Markup {
    let cells = columns.iter().zip(values).map(|(column, value)| {
        let class = if column.numeric { "n" } else { "" };
        match value {
            None => view! { <td class=format!("{class} faint")><i>"null"</i></td> },
            Some(text) if text.is_empty() => {
                view! { <td class="faint" title="Text without characters">"\"\""</td> }
            }
            Some(text) => {
                let title = text.chars().nth(80).map(|_| format::shorten(text, 2_000));
                view! { <td class=class title=title>{format::shorten(text, 80)}</td> }
            }
        }
    });
    view! {
        <tr>
            <th scope="row" class="n mono">{format::count(position)}</th>
            {cells.collect::<Markup>()}
        </tr>
    }
}

fn as_csv(columns: &[RowColumn], read: &Read) -> String {
    let head: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let rows = read.rows.iter().map(|(_, values)| {
        values
            .iter()
            .map(|v| v.as_deref().map(std::borrow::Cow::Borrowed))
            .collect::<Vec<_>>()
    });
    csv(&head, rows)
}
