//! What a restore would do, before anybody says yes.

use std::sync::Arc;

use lake::plan::{Outcome, Plan, PlanRequest};
use lake::table::Version;
use lake::wire::CommitRow;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Bytes, Count, Net, NetBytes, Op, ShellLine, When};
use crate::route::Route;
use crate::signals::{Memo, RwSignal, Signal, effect};
use crate::words::count_of;

use super::super::common::{Here, KeyChanges, SchemaChanges, Sheet, Warnings, changed, tile};
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
    let base = plan.base();
    let reason = RwSignal::new(String::new());
    let allow_missing = request.allow_missing;
    let command = Signal::derive(move || {
        let reason = reason.get();
        same(here, target, base, allow_missing, reason.trim())
    });
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
    effect(move || {
        if over.get() {
            here.look_again();
        }
    });
    let proof = Markup::live(move || match done.get() {
        Done::Applied(applied) => view! { <Proof here applied target base /> },
        _ => Markup::Nothing,
    });
    let asked = asked_for(&request, plan, target);
    let confirm = match &plan.refused {
        Some(why) => view! { <Refused here plan=plan.clone() why=why.clone() /> },
        None => view! {
            <Tiles plan=plan.clone() />
            <Warnings warnings=plan.warnings.clone() />
            <Confirm here planned done reason outcome=Arc::clone(&outcome) request />
        },
    };
    view! {
        <div aria-live="polite">{proof}</div>
        <div hidden=move || over.get()>
            <p class="verdict">{question(plan, target)}</p>
            <p class="soft s">{asked}</p>
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

/// The act as a shell does it: the plan until there is a reason, then what the button does.
fn same(here: Here, target: Version, base: Version, allow_missing: bool, reason: &str) -> String {
    let (target, base) = (target.to_string(), base.to_string());
    let mut words = vec!["--version", &target];
    if allow_missing {
        words.push("--allow-missing");
    }
    if !reason.is_empty() {
        words.extend(["--expect", &base, "--apply", "--reason", reason]);
    }
    here.command("restore", &words)
}

/// Which time was asked for, and when the version that it means was committed.
fn asked_for(request: &PlanRequest, plan: &Plan, target: Version) -> String {
    let committed = plan.restore.as_ref().and_then(|r| r.target_time);
    let committed = match committed {
        Some(at) => format!("committed {}", format::utc(at)),
        None => "whose time is not known".to_owned(),
    };
    match request.at {
        Some(at) => format!(
            "You asked for {}. The newest version committed at or before it is {target}, {committed}.",
            format::utc(at)
        ),
        None => format!("Version {target}, {committed}."),
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
    let after = plan.restore;
    let files = after.as_ref().map(|a| view! { <Count n=a.files_after /> });
    let rows = after.as_ref().and_then(|a| a.rows_after);
    let rows = rows.map(|n| view! { <Count n /> });
    let bytes = after.map(|a| view! { <Bytes n=a.bytes_after /> });
    let rows_net = view! { <Net came=plan.rows_to_add went=plan.rows_to_remove /> };
    view! {
        <dl class="tiles">
            {tile("Files afterwards", changed(files, view! { <Net came went /> }))}
            {tile("Rows afterwards", changed(rows, rows_net))}
            {tile("Bytes afterwards", changed(bytes, view! { <NetBytes came=bytes_came went=bytes_went /> }))}
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
                <td><When at=row.timestamp minute=true /></td>
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
