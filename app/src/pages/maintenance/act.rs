//! The button that carries a plan out, how far it is, and what came of it.

use std::sync::Arc;

use lake::Kind;
use lake::plan::{Act, Applied, ApplyRequest, JobState, Outcome, PlanRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts::{self, Came, Watch};
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::message::in_one_line;
use crate::parts::{Note, NoteKind};
use crate::route::Route;
use crate::signals::{Callback, RwSignal};
use crate::words::count_of;

use super::super::common::{Here, NotDone, Warnings};
use super::jobs::Line;

/// How far the act is.
#[derive(Clone, PartialEq)]
enum Done {
    NotYet,
    Sent,
    Goes(Box<lake::plan::Job>),
    Applied(Applied),
    Failed(Kind, String),
}

/// The button and what stands before it: a reason, and the table's name where nothing brings back
/// what is deleted.
#[component]
pub fn Confirm(
    here: Here,
    planned: Asked<Outcome>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
    /// What the button says: `Delete 320 objects`.
    verb: String,
    /// Whether the table's name must be typed.
    typed: bool,
) -> Markup {
    let done = RwSignal::new(Done::NotYet);
    let reason = RwSignal::new(String::new());
    let name = RwSignal::new(String::new());
    let title = here.title();
    let plan = &outcome.plan;
    let (kind, id) = (plan.kind, plan.id.clone());
    let request = ApplyRequest {
        table: here.name(),
        dataset: None,
        request,
        as_of: plan.as_of,
        base_version: plan.base_version,
        reason: String::new(),
    };
    let fits = {
        let title = title.clone();
        move |text: &str| !typed || text.trim() == title
    };
    let submit = {
        let fits = fits.clone();
        move |event: web_sys::SubmitEvent| {
            event.prevent_default();
            if done.get_untracked() != Done::NotYet || !name.with_untracked(|text| fits(text)) {
                return;
            }
            done.set(Done::Sent);
            let request = ApplyRequest {
                reason: reason.get_untracked().trim().to_owned(),
                ..request.clone()
            };
            let id = id.clone();
            spawn_local(async move {
                let result = acts::apply(&id, &request).await;
                done.try_set(came_of(result));
            });
        }
    };
    let again = Callback::new(move |()| {
        done.set(Done::NotYet);
        planned.again();
    });
    let label = move || match done.get() {
        Done::Sent => "Working…".to_owned(),
        _ => verb.clone(),
    };
    let form = move || {
        let waits = matches!(done.get(), Done::NotYet | Done::Sent);
        let fits = fits.clone();
        let ready = move || name.with(|text| fits(text)) && done.get() == Done::NotYet;
        let label = label.clone();
        waits.then(|| view! {
            <div class="confirm-line">
                {typed.then(|| view! {
                    <label for="confirm-name">{format!("Nothing brings these back. Type the table's name: {title}")}</label>
                    <input id="confirm-name" class="field mono" autocomplete="off" spellcheck="false"
                        prop:value=move || name.get() on:input=move |e| name.set(event_target_value(&e)) />
                })}
                <label for="confirm-reason">"Why, if there is more to say than the act itself"</label>
                <input id="confirm-reason" class="field" autocomplete="off"
                    prop:value=move || reason.get() on:input=move |e| reason.set(event_target_value(&e)) />
                <button type="submit" class="btn main" disabled=move || !ready()>{label}</button>
            </div>
        })
    };
    let after = Markup::live(move || match done.get() {
        Done::NotYet | Done::Sent => Markup::Nothing,
        Done::Goes(job) => view! { <Goes here kind job=*job again /> },
        Done::Applied(applied) => view! { <Proof here kind applied again /> },
        Done::Failed(kind, why) => view! { <NotDone kind why again /> },
    });
    view! {
        <form class="confirm" on:submit=submit>{form}</form>
        <div aria-live="polite">{after}</div>
    }
}

fn came_of(result: lake::Result<Came>) -> Done {
    match result {
        Ok(Came::Goes(job)) => Done::Goes(job),
        Ok(Came::Done(outcome)) => match outcome.applied {
            Some(applied) => Done::Applied(applied),
            None => Done::Failed(Kind::Invalid, outcome.plan.refused.unwrap_or_default()),
        },
        Err(error) => Done::Failed(error.kind(), in_one_line(&error)),
    }
}

/// A job until it is over, and then what it did.
#[component]
fn Goes(here: Here, kind: Act, job: lake::plan::Job, again: Callback<()>) -> Markup {
    let watch = Watch::start(job);
    Markup::live(move || {
        let job = watch.job.get();
        match (&job.state, &job.result, &job.error) {
            (JobState::Done, Some(applied), _) => {
                view! { <Proof here kind applied=applied.clone() again /> }
            }
            (state, _, Some(error)) if state.is_over() => {
                let why = in_one_line(&lake::Error::from(error.clone()));
                let kind = lake::Error::from(error.clone()).kind();
                view! { <NotDone kind why again /> }
            }
            _ => view! {
                <p class="soft s">"It goes on if you leave; the jobs of this table find it again."</p>
                <Line job />
            },
        }
    })
}

#[component]
fn Proof(here: Here, kind: Act, applied: Applied, again: Callback<()>) -> Markup {
    let version = applied.committed();
    let commit = here.href(|table| Route::Commit { table, version });
    let (title, text) = told(kind, &applied);
    let failed = applied.failed.clone();
    let more = failed.len().saturating_sub(KEYS);
    let keys: Markup = failed
        .into_iter()
        .take(KEYS)
        .map(|failed| {
            let key = format::shorten_middle(&failed.key, 120);
            view! { <li><span class="mono">{key}</span>" "<span class="soft">{format::visible(&failed.why)}</span></li> }
        })
        .collect();
    let whole = applied.failed.is_empty();
    view! {
        <Note kind=if whole { NoteKind::Plain } else { NoteKind::Attention }>
            <span role="status"><b>{title}</b>{text}</span>
            <span class="acts">
                <a class="btn small" href=commit>{format!("Open version {version}")}</a>
                <button type="button" class="btn small" on:click=move |_| again.run(())>"Plan again"</button>
            </span>
        </Note>
        {(!whole).then(|| view! { <ul class="missing">{keys}</ul> })}
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more as u64))}</p> })}
        <Warnings warnings=applied.warnings />
    }
}

/// Keys that are listed.
const KEYS: usize = 50;

/// What was done, in a few words and in figures.
fn told(kind: Act, applied: &Applied) -> (String, String) {
    match kind {
        Act::Vacuum => {
            let title = match applied.failed.len() as u64 {
                0 => format!("{} deleted. ", count_of(applied.deleted, "object")),
                left => format!(
                    "{} deleted, {} not. ",
                    count_of(applied.deleted, "object"),
                    format::count(left)
                ),
            };
            let text = format!(
                "{} freed. The log says so in version {}; every file that a version needs is where it was.",
                format::bytes(applied.bytes_deleted),
                applied.committed()
            );
            (title, text)
        }
        // What is done to hours has a page of its own, and comes here never.
        Act::Publish
        | Act::Repoint
        | Act::Compact
        | Act::ExpireRuns
        | Act::Optimize
        | Act::Restore => (
            format!("Version {} is committed and proven. ", applied.committed()),
            format!(
                "Its {} hold the same rows as before; {} from the put to the proof, {}.",
                count_of(applied.proven_files, "active file"),
                format::duration(applied.took_ms),
                count_of(u64::from(applied.attempts), "attempt")
            ),
        ),
    }
}

/// Why a plan cannot be carried out: calm where there is nothing to do.
#[component]
pub fn Refused(why: String) -> Markup {
    let kind = match why.starts_with("nothing to") {
        true => NoteKind::Plain,
        false => NoteKind::Attention,
    };
    let why = format::capital(&format::visible(&why));
    view! { <Note kind><span>{why}"."</span></Note> }
}
