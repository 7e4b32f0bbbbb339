//! Who did what, why, and what came of it.

use std::sync::Arc;

use lake::hours::Slot;
use lake::plan::{Act, AuditPage, AuditRecord, Ended};
use lake::table::Version;
use leptos::prelude::*;

use crate::acts;
use crate::asked::Asked;
use crate::copy::csv;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{Sheet, csv_button};
use crate::parts::{Badge, Empty, Head, Key, When};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::Signal;
use crate::words::act_name;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let before = session.param("before");
    let page = Asked::new(move |_| {
        let before = before.get();
        Some(async move { acts::audit(before.as_deref()).await })
    });
    view! {
        <Head title=Signal::stored("Audit".to_owned()) />
        {page.show("the audit", |page| view! { <Records page /> })}
    }
}

#[component]
fn Records(page: Arc<AuditPage>) -> Markup {
    let forgotten = (!page.kept).then(|| {
        view! {
            <p class="soft s">"These are forgotten when the server stops: [server] control in tidemark.toml names where they are kept. What was committed is in each table's own log all the same."</p>
        }
    });
    if page.records.is_empty() {
        return view! {
            <Empty title="Nothing was done">
                <p class="soft">"Every restore, vacuum, optimize, publish, repoint and compaction that is carried out, refused or too late is listed here, with who and why."</p>
            </Empty>
            {forgotten}
        };
    }
    // A server without names of persons has no column of them.
    let named = page.records.iter().any(|record| record.by.is_some());
    let lines: Markup = page
        .records
        .iter()
        .map(|record| line(record, named))
        .collect();
    let heads: &[&str] = match named {
        true => &[
            "When (UTC)",
            "Table or dataset",
            "Act",
            "Came to",
            "By",
            "Why",
            "What",
        ],
        false => &[
            "When (UTC)",
            "Table or dataset",
            "Act",
            "Came to",
            "Why",
            "What",
        ],
    };
    let older = page.next_before.clone().map(|before| {
        let query = Query::default().with("before", Some(&before));
        view! { <p class="after"><a class="btn" href=Route::Audit.with(query).href()>"Older"</a></p> }
    });
    let save = csv_button("audit".to_owned(), "Save these acts as CSV", move || {
        as_table(&page.records)
    });
    view! {
        <p class="export">{save}</p>
        <div class="stacked"><Sheet label="What was done" heads>{lines}</Sheet></div>
        {older}
        {forgotten}
    }
}

fn line(record: &AuditRecord, named: bool) -> Markup {
    let table = record.table.clone();
    let timeline = match record.kind.on_hours() {
        true => Route::Hours {
            dataset: table.clone(),
        },
        false => Route::Timeline {
            table: table.clone(),
        },
    };
    let slot = record.date.map(|day| Slot {
        day,
        hour: record.hour,
    });
    let slot = slot.map(|slot| {
        let dataset = table.clone();
        let href = Route::Hour { dataset, slot }.href();
        view! { " " <a href=href>{slot.to_string()}</a> }
    });
    let act = match (record.kind, record.target_version) {
        (Act::Restore, Some(target)) => format!("Restore to {target}"),
        (kind, _) => act_name(kind).to_owned(),
    };
    let (word, tone) = came_to(record.ended);
    let made = record.version.map(|version| {
        let href = Route::Commit {
            table: table.clone(),
            version,
        };
        view! { " " <a href=href.href()>{format!("version {version}")}</a> }
    });
    let by = match record.by.as_deref() {
        Some(by) => view! { {format::shorten(by, 40)} },
        None => view! { <span class="faint">"not named"</span> },
    };
    let why = record
        .reason
        .as_deref()
        .map(|why| format::shorten(why, 200));
    view! {
        <tr>
            <td><When at=Some(record.at) minute=true /></td>
            <td><a href=timeline.href()><Key text=record.table.clone() max=40 /></a></td>
            <td>{act}{slot}</td>
            <td><Badge text=word tone />{made}</td>
            {named.then(|| view! { <td>{by}</td> })}
            <td class="soft">{why}</td>
            <td class="soft">{format::shorten(&record.message, 240)}</td>
        </tr>
    }
}

/// What came of it in a word, and the word's colour.
fn came_to(ended: Ended) -> (&'static str, &'static str) {
    match ended {
        Ended::Applied => ("done", "come"),
        Ended::Refused => ("refused", ""),
        Ended::Conflict => ("too late", "late"),
        Ended::Failed => ("failed", "go"),
        Ended::Cancelled => ("stopped", ""),
    }
}

fn as_table(records: &[AuditRecord]) -> String {
    let head = [
        "when",
        "table",
        "act",
        "hour",
        "target_version",
        "came_to",
        "version",
        "by",
        "why",
        "what",
        "plan",
    ];
    let version = |v: Option<Version>| v.map(|v| v.to_string().into());
    let rows = records.iter().map(|record| {
        let slot = record.date.map(|day| Slot {
            day,
            hour: record.hour,
        });
        [
            Some(record.at.to_string().into()),
            Some(record.table.as_str().into()),
            Some(act_name(record.kind).into()),
            slot.map(|slot| slot.to_string().into()),
            version(record.target_version),
            Some(came_to(record.ended).0.into()),
            version(record.version),
            record.by.as_deref().map(Into::into),
            record.reason.as_deref().map(Into::into),
            Some(record.message.as_str().into()),
            Some(record.plan_id.as_str().into()),
        ]
    });
    csv(&head, rows)
}
