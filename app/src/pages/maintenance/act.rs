//! The button that carries a plan out, how far it is, and what came of it.

use std::sync::Arc;

use lake::Kind;
use lake::plan::{Act, Applied, ApplyRequest, Job, JobState, Outcome, PlanRequest};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts::{self, Came, Watch};
use crate::asked::Asked;
use crate::format;
use crate::markup::{Children, Markup, view};
use crate::message::in_one_line;
use crate::parts::{Note, NoteKind};
use crate::route::{Query, Route};
use crate::signals::{Callback, Memo, RwSignal, effect};
use crate::words::count_of;

use super::super::common::{Here, NotDone, Warnings};
use super::jobs::Line;

/// How far an act is.
#[derive(Clone, PartialEq)]
pub enum Done {
    /// The plan is read.
    NotYet,
    /// The server was asked.
    Sent,
    /// It is carried out beside the page.
    Goes(Box<Job>),
    /// It was done.
    Applied(Applied),
    /// It was not, and why.
    Failed(Kind, String),
}

/// A plan, given as children, until it is carried out; from then on what was done.
#[component]
pub fn Stage(
    here: Here,
    planned: Asked<Outcome>,
    done: RwSignal<Done>,
    kind: Act,
    /// Whether objects are moved aside and not deleted.
    aside: bool,
    children: Children,
) -> Markup {
    let again = Callback::new(move |()| planned.again());
    let over = Memo::new(move |_| matches!(done.get(), Done::Applied(_)));
    effect(move || {
        if over.get() {
            here.look_again();
        }
    });
    let proof = Markup::live(move || match done.get() {
        Done::Applied(applied) => view! { <Proof here kind aside applied again /> },
        _ => Markup::Nothing,
    });
    view! {
        <div hidden=move || over.get()>{children}</div>
        <div aria-live="polite">{proof}</div>
    }
}

/// The button and what stands before it: a reason, and the table's name where nothing brings back
/// what is deleted.
#[component]
pub fn Confirm(
    here: Here,
    planned: Asked<Outcome>,
    done: RwSignal<Done>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
    /// What the button says: `Delete 320 objects`.
    verb: String,
    /// Whether the table's name must be typed.
    typed: bool,
) -> Markup {
    let reason = RwSignal::new(String::new());
    let name = RwSignal::new(String::new());
    let title = here.title();
    let plan = &outcome.plan;
    let id = plan.id.clone();
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
    // The plan that failed stays in sight until there is another one.
    let again = Callback::new(move |()| planned.again());
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
                <label for="confirm-reason">"Why? It is written into the table's own log; it may stay empty"</label>
                <input id="confirm-reason" class="field" autocomplete="off"
                    prop:value=move || reason.get() on:input=move |e| reason.set(event_target_value(&e)) />
                <button type="submit" class="btn main" disabled=move || !ready()>{label}</button>
            </div>
        })
    };
    let after = Markup::live(move || match done.get() {
        Done::NotYet | Done::Sent | Done::Applied(_) => Markup::Nothing,
        Done::Goes(job) => view! { <Goes job=*job done /> },
        Done::Failed(kind, why) => view! { <NotDone kind why again /> },
    });
    view! {
        <form class="confirm" on:submit=submit>{form}</form>
        <div aria-live="polite">{after}</div>
    }
}

/// What became of an act that the server was asked for.
pub fn came_of(result: lake::Result<Came>) -> Done {
    match result {
        Ok(Came::Goes(job)) => Done::Goes(job),
        Ok(Came::Done(outcome)) => match outcome.applied {
            Some(applied) => Done::Applied(applied),
            None => Done::Failed(Kind::Invalid, outcome.plan.refused.unwrap_or_default()),
        },
        Err(error) => Done::Failed(error.kind(), in_one_line(&error)),
    }
}

/// A job until it is over.
#[component]
pub fn Goes(job: Job, done: RwSignal<Done>) -> Markup {
    let watch = Watch::start(job);
    effect(move || {
        let over = watch
            .job
            .with(|job| job.state.is_over().then(|| ended(job)));
        if let Some(ended) = over {
            done.set(ended);
        }
    });
    Markup::live(move || {
        view! {
            <p class="soft s">"It goes on if you leave."</p>
            <Line job=watch.job.get() />
        }
    })
}

/// What came of a job that is over.
fn ended(job: &Job) -> Done {
    match (job.state, &job.result, &job.error) {
        (JobState::Done, Some(applied), _) => Done::Applied(applied.clone()),
        (_, _, Some(error)) => {
            let error = lake::Error::from(error.clone());
            Done::Failed(error.kind(), in_one_line(&error))
        }
        (JobState::Cancelled, Some(applied), _) => Done::Failed(
            Kind::Cancelled,
            format!(
                "{} were dealt with before, {}",
                count_of(applied.deleted, "object"),
                format::bytes(applied.bytes_deleted)
            ),
        ),
        (JobState::Cancelled, ..) => {
            Done::Failed(Kind::Cancelled, "Nothing was committed".to_owned())
        }
        _ => Done::Failed(
            Kind::Unreachable,
            "Its server died; the table is readable, and a new plan goes on from there".to_owned(),
        ),
    }
}

/// The headline once it is done, what is left to say, and where to go on.
#[component]
fn Proof(here: Here, kind: Act, aside: bool, applied: Applied, again: Callback<()>) -> Markup {
    // An act on a table is always a commit of it.
    let version = applied.version.unwrap_or_default();
    let commit = here.href(|table| Route::Commit { table, version });
    let (title, text) = told(kind, aside, &applied);
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
    let left = applied.failed.len() as u64;
    let quarantine = aside.then(|| {
        let query = Query::default().with("show", Some("quarantine"));
        let table = here.name();
        let href = Route::Maintenance { table }.with(query).href();
        view! { <a class="btn" href=href>"Open the quarantine"</a> }
    });
    view! {
        <p class="verdict" role="status"><b>{title}</b>" "{text}</p>
        {(left > 0).then(|| view! {
            <Note kind=NoteKind::Attention><span>
                <b>{format!("{} may still be where they were. ", count_of(left, "object"))}</b>
                "A new plan finds what is left."
            </span></Note>
            <ul class="missing">{keys}</ul>
        })}
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more as u64))}</p> })}
        <Warnings warnings=applied.warnings />
        <p class="after row-acts">
            <a class="btn" href=commit>{format!("Open version {version}")}</a>
            {quarantine}
            <button type="button" class="btn" on:click=move |_| again.run(())>"Plan again"</button>
        </p>
    }
}

/// Keys that are listed.
const KEYS: usize = 50;

/// What was done, in a few words and in figures.
fn told(kind: Act, aside: bool, applied: &Applied) -> (String, String) {
    let version = applied.version.unwrap_or_default();
    match kind {
        Act::Vacuum => {
            let done = if aside { "moved aside" } else { "deleted" };
            let objects = format::capital(&count_of(applied.deleted, "object"));
            let title = match applied.failed.len() as u64 {
                0 => format!("{objects} {done}."),
                left => format!("{objects} {done}, {} not.", format::count(left)),
            };
            let bytes = format::bytes(applied.bytes_deleted);
            let bytes = match aside {
                true => format!(
                    "{bytes} wait in the quarantine, and nothing is freed until they are deleted there."
                ),
                false => format!("{bytes} freed."),
            };
            let text = format!(
                "{bytes} The log says so in version {version}; every file that a version needs is where it was."
            );
            (title, text)
        }
        _ => (
            format!("Version {version} is committed and proven."),
            format!(
                "Its {} hold the same rows as before; {} from the put to the proof, {}.",
                count_of(applied.proven_files, "active file"),
                format::duration(applied.took_ms),
                count_of(u64::from(applied.attempts), "attempt")
            ),
        ),
    }
}

/// Why a plan cannot be carried out. That there is nothing to do is the headline already.
#[component]
pub fn Refused(why: String) -> Markup {
    if why.starts_with("nothing to") {
        return Markup::Nothing;
    }
    let why = format::capital(&format::visible(&why));
    view! { <Note kind=NoteKind::Attention><span>{why}"."</span></Note> }
}
