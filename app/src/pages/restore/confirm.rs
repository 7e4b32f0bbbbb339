//! The reason, the button, and what came of it.

use std::sync::Arc;

use lake::Kind;
use lake::plan::{Applied, ApplyRequest, Outcome, PlanRequest};
use lake::table::{At, Version};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts::{self, Came};
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::in_one_line;
use crate::route::Route;
use crate::signals::{Callback, RwSignal};

use super::super::common::{Here, NotDone, Warnings};

/// How far the act is.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// The plan is read.
    NotYet,
    /// The server was asked.
    Running,
    /// It was done.
    Applied(Applied),
    /// It was not, and why.
    Failed(Kind, String),
}

/// The reason and the button.
#[component]
pub fn Confirm(
    here: Here,
    planned: Asked<Outcome>,
    done: RwSignal<Done>,
    /// What was typed.
    reason: RwSignal<String>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
) -> Markup {
    let target = outcome.plan.target_version.unwrap_or_default();
    let base = outcome.plan.base();
    let id = outcome.plan.id.clone();
    let request = ApplyRequest {
        table: here.name(),
        dataset: None,
        request,
        as_of: outcome.plan.as_of,
        base_version: outcome.plan.base_version,
        reason: String::new(),
    };
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let reason = reason.get_untracked().trim().to_owned();
        if reason.is_empty() || done.get_untracked() == Done::Running {
            return;
        }
        done.set(Done::Running);
        let request = ApplyRequest {
            reason,
            ..request.clone()
        };
        let id = id.clone();
        spawn_local(async move {
            let result = acts::apply(&id, &request).await;
            done.try_set(came_of(result));
        });
    };
    let ready = move || !reason.with(|r| r.trim().is_empty()) && done.get() != Done::Running;
    let label = move || match done.get() {
        Done::Running => "Restoring…".to_owned(),
        _ => format!("Restore version {target} over {base}"),
    };
    // The plan that failed stays in sight until there is another one.
    let again = Callback::new(move |()| planned.again());
    let form = move || {
        let waits = matches!(done.get(), Done::NotYet | Done::Running);
        waits.then(|| {
            view! {
                <div class="confirm-line">
                    <label for="reason">"Why? It is written into the table's own log"</label>
                    <input id="reason" class="field" autocomplete="off" required=true
                        prop:value=move || reason.get()
                        on:input=move |e| reason.set(event_target_value(&e)) />
                    <button type="submit" class="btn main" disabled=move || !ready()>{label}</button>
                </div>
            }
        })
    };
    let after = move || match done.get() {
        Done::Failed(kind, why) => Some(view! { <NotDone kind why again /> }),
        Done::NotYet | Done::Running | Done::Applied(_) => None,
    };
    view! {
        <form class="confirm" on:submit=submit>{form}</form>
        <div aria-live="polite">{after}</div>
    }
}

fn came_of(result: lake::Result<Came>) -> Done {
    match result {
        // The server answers a restore when it is over.
        Ok(Came::Goes(job)) => Done::Failed(Kind::Unreachable, format!("job {} goes on", job.id)),
        Ok(Came::Done(outcome)) => match outcome.applied {
            Some(applied) => Done::Applied(applied),
            None => Done::Failed(Kind::Invalid, outcome.plan.refused.unwrap_or_default()),
        },
        Err(error) => Done::Failed(error.kind(), in_one_line(&error)),
    }
}

/// The headline once it is done: the proof, and the way back.
#[component]
pub fn Proof(here: Here, applied: Applied, target: Version, base: Version) -> Markup {
    // A restore is always a commit.
    let version = applied.version.unwrap_or_default();
    let files = format::count(applied.proven_files);
    let as_of = here.href(|table| Route::Snapshot {
        table,
        at: At::Version(version),
    });
    let commit = here.href(|table| Route::Commit { table, version });
    let back = Route::restore(here.name(), base).href();
    view! {
        <p class="verdict" role="status">
            <b>{format!("Version {version} is version {target} again. ")}</b>
            {format!("Committed and proven in {} ms: its {files} active files are those of the plan, all {files} of them.", format::count(applied.took_ms))}
        </p>
        <Warnings warnings=applied.warnings />
        <p class="after row-acts">
            <a class="btn" href=as_of>"Open the table"</a>
            <a class="btn" href=commit>"Open the commit"</a>
            <a class="btn" href=back>{format!("The way back: version {base}…")}</a>
        </p>
    }
}
