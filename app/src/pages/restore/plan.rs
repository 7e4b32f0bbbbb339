//! What a restore would do, before anybody says yes.

use std::sync::Arc;

use lake::plan::{Outcome, Plan, PlanRequest};
use lake::table::Version;
use lake::wire::CommitRow;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Net, NetBytes, Op, ShellLine, When};
use crate::route::Route;
use crate::signals::{Memo, RwSignal};
use crate::words::count_of;

use super::super::common::{Here, KeyChanges, SchemaChanges, Sheet, Warnings, tile};
use super::confirm::{Confirm, Done, Proof};
use super::missing::Refused;

/// Commits listed; the rest is counted.
const SHOWN: usize = 50;

/// The plan, and what comes of it.
#[component]
pub fn Planned(
    here: Here,
    planned: Asked<Outcome>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
) -> Markup {
    let plan = &outcome.plan;
    let target = plan.target_version.unwrap_or_default();
    let version = target.to_string();
    let mut words = vec!["--version", &version];
    if request.allow_missing {
        words.push("--allow-missing");
    }
    let command = here.command("restore", &words);
    let settings = plan.properties.iter().chain(&plan.protocol).count() + plan.schema.len();
    let changes = (settings > 0).then(|| {
        let keys: Vec<_> = plan.properties.iter().chain(&plan.protocol).cloned().collect();
        view! {
            <h2>"Schema, properties, protocol"</h2>
            {(!plan.schema.is_empty()).then(|| view! { <SchemaChanges changes=plan.schema.clone() columns=0u64 /> })}
            {(!keys.is_empty()).then(|| view! { <KeyChanges changes=keys /> })}
        }
    });
    let done = RwSignal::new(Done::NotYet);
    let over = Memo::new(move |_| matches!(done.get(), Done::Applied(_)));
    let base = plan.base();
    let proof = Markup::live(move || match done.get() {
        Done::Applied(applied) => view! { <Proof here applied target base /> },
        _ => Markup::Nothing,
    });
    let confirm = match &plan.refused {
        Some(why) => view! { <Refused here plan=plan.clone() why=why.clone() /> },
        None => view! {
            <Tiles plan=plan.clone() />
            <Warnings warnings=plan.warnings.clone() />
            <Confirm here planned done outcome=Arc::clone(&outcome) request />
        },
    };
    view! {
        <div aria-live="polite">{proof}</div>
        <div hidden=move || over.get()>
            <p class="verdict">{question(plan, target)}</p>
            {confirm}
            <div class="columns split">
                <div class="split-main">
                    <Undone here total=plan.commits_undone() rows=plan.undone.clone() />
                </div>
                <aside class="split-side" aria-label="What else changes">
                    {changes}
                    <h2>"The same from a shell"</h2>
                    <ShellLine command />
                </aside>
            </div>
        </div>
    }
}

/// The question that the button answers.
fn question(plan: &Plan, target: Version) -> Markup {
    let over = plan.base();
    let files = match (plan.files_to_add, plan.files_to_remove) {
        (0, 0) => "no file comes or goes".to_owned(),
        (come, 0) => format!("{} come back", count_of(come, "file")),
        (0, go) => format!("{} go", count_of(go, "file")),
        (come, go) => format!(
            "{} come back and {} go",
            count_of(come, "file"),
            format::count(go)
        ),
    };
    let moved = "No byte of data moves.";
    view! {
        <b>"Put back version "{target.to_string()}"?"</b>
        " Over version "{over.to_string()}", the newest: "{files}". "{moved}
    }
}

#[component]
fn Tiles(plan: Plan) -> Markup {
    let (came, went) = (Some(plan.files_to_add), Some(plan.files_to_remove));
    let (bytes_came, bytes_went) = (Some(plan.bytes_to_add), Some(plan.bytes_to_remove));
    let undone = format::count(plan.commits_undone());
    view! {
        <dl class="tiles">
            {tile("Files", view! { <b><Net came went /></b> })}
            {tile("Rows", view! { <b><Net came=plan.rows_to_add went=plan.rows_to_remove /></b> })}
            {tile("Bytes", view! { <b><NetBytes came=bytes_came went=bytes_went /></b> })}
            {tile("Commits undone", view! { <b>{undone}</b> })}
        </dl>
    }
}

/// The commits whose effect goes.
#[component]
fn Undone(here: Here, total: u64, rows: Vec<CommitRow>) -> Markup {
    if total == 0 {
        return Markup::Nothing;
    }
    let line = move |row: CommitRow| {
        let version = row.version;
        let href = here.href(|table| Route::Commit { table, version });
        let by = row.user.as_deref().or(row.engine.as_deref());
        let by = by.map(|by| format::shorten(by, 40));
        let why = row.reason.as_deref().map(|why| format::shorten(why, 120));
        view! {
            <tr>
                <td><a href=href>{version.to_string()}</a></td>
                <td><Op name=row.operation.clone() /></td>
                <td><Net came=row.rows_added went=row.rows_removed /></td>
                <td>{by}</td>
                <td><When at=row.timestamp /></td>
                <td class="soft">{why}</td>
            </tr>
        }
    };
    let lines: Markup = rows.into_iter().take(SHOWN).map(line).collect();
    let more = total.saturating_sub(SHOWN as u64);
    view! {
        <h2>"Undone" <small>{count_of(total, "commit")}</small></h2>
        <div class="stacked"><Sheet label="Commits that are undone" heads=&["Version", "Operation", "Rows", "By", "When", "Why"]>{lines}</Sheet></div>
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more))}</p> })}
    }
}
