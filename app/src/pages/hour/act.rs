//! What can be done with an hour: publish a run, point back to an older one, compact, declare that
//! nothing happened. Each is planned first and carried out by the server.

use std::sync::Arc;

use lake::hours::State;
use lake::plan::{Act, Applied, ApplyRequest, Outcome, PlanRequest};
use lake::wire::hours::{HourReport, RunRow};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts;
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{NotDone, Warnings, fact};
use crate::pages::hours::exceptions::{note, state};
use crate::pages::maintenance::act::{Done, Goes, Refused, came_of};
use crate::parts::{Bytes, Count, Key};
use crate::session::session;
use crate::signals::{Callback, Memo, RwSignal};

/// The buttons, and the plan of the one that was pressed.
#[component]
pub fn Acts(dataset: String, report: Arc<HourReport>, again: Callback<()>) -> Markup {
    let session = session();
    let chosen = session.param("act");
    if !report.dataset.ours {
        return view! {
            <h2>"What you can do"</h2>
            <p class="soft s">"The markers of this dataset are another publisher's: they are read here and never written."</p>
        };
    }
    let button = move |act: String, name: String, why_not: Option<&'static str>| {
        let pressed = {
            let act = act.clone();
            move || (chosen.get().as_deref() == Some(&act)).to_string()
        };
        let press = move |_| session.nav.set("act", Some(act.clone()));
        let reason = why_not.map(|why| view! { <p class="soft s">{why}</p> });
        view! {
            <button type="button" class="btn act" disabled=why_not.is_some() aria-pressed=pressed on:click=press>{name}</button>
            {reason}
        }
    };
    let over = report.row.state != State::Open && report.row.state != State::Future;
    let waits = (!over).then_some("The hour has not ended");
    // What was published once is gone back to; its count is never written anew.
    let publish = report
        .runs
        .iter()
        .filter(|run| run.objects > 0 && run.matches.is_none());
    let publish = publish.take(3).map(|run| {
        let name = format!(
            "Publish run {} with {}…",
            short(run),
            format::counted(run.objects, "object")
        );
        button(format!("publish:{}", run.run_id), name, waits)
    });
    let back = report
        .runs
        .iter()
        .filter(|run| !run.current && run.matches == Some(true));
    // Two that race are told apart by pointing to one of them, which may be the one that stands.
    let racing = report.row.state == State::Racing;
    let kept = report.runs.iter().find(|run| racing && run.current);
    let kept = kept.filter(|run| run.matches == Some(true)).map(|run| {
        button(
            format!("repoint:{}", run.run_id),
            format!("Keep {}…", short(run)),
            None,
        )
    });
    let back = back.take(3).map(|run| {
        button(
            format!("repoint:{}", run.run_id),
            format!("Point back to {}…", short(run)),
            None,
        )
    });
    let any = report.runs.iter().any(|run| match run.matches {
        None => run.objects > 0,
        Some(matches) => matches && !run.current,
    });
    let stuck = (report.row.state < State::Racing && !any).then(|| view! {
        <p class="soft s">
            "A new run mends it: its writer puts the objects below a run_id= of their own and publishes that with its own count. No other run of this hour is whole."
        </p>
    });
    let nothing = report.row.objects == 0 && report.loose_total == 0 && report.marker_key.is_none();
    let compact = match (over, report.row.objects + report.loose_total) {
        (false, _) => waits,
        (true, 0) => Some("Compact needs objects"),
        // What is wrong would be wrong in the new run too.
        (true, _) if report.row.state < State::Late => {
            Some("Compact needs an hour that is closed or late")
        }
        _ => None,
    };
    let empty = nothing.then(|| {
        button(
            "empty".to_owned(),
            "Declare that nothing happened…".to_owned(),
            waits,
        )
    });
    let plan = {
        let report = Arc::clone(&report);
        Markup::live(move || match chosen.get() {
            Some(act) => {
                view! { <Planning dataset=dataset.clone() report=Arc::clone(&report) act again /> }
            }
            None => Markup::Nothing,
        })
    };
    view! {
        <h2>"What you can do"</h2>
        <div class="act-list">
            {publish.collect::<Markup>()}
            {stuck}
            {kept}
            {back.collect::<Markup>()}
            {button("compact".to_owned(), "Compact…".to_owned(), compact)}
            {empty}
        </div>
        {plan}
    }
}

fn short(run: &RunRow) -> String {
    format::shorten_middle(&run.run_id, 24)
}

/// What the address asks for; `None` where that is no act.
fn request(report: &HourReport, act: &str, count: Option<u64>) -> Option<PlanRequest> {
    let (kind, run) = act
        .split_once(':')
        .map_or((act, None), |(kind, run)| (kind, Some(run)));
    let base = PlanRequest {
        date: Some(report.row.date),
        hour: report.row.hour,
        run: run.map(str::to_owned),
        ..PlanRequest::default()
    };
    Some(match kind {
        "publish" => PlanRequest {
            kind: Act::Publish,
            count: Some(count?),
            replace: true,
            ..base
        },
        "repoint" => PlanRequest {
            kind: Act::Repoint,
            ..base
        },
        "compact" => PlanRequest {
            kind: Act::Compact,
            run: None,
            with_late: true,
            ..base
        },
        "empty" => PlanRequest {
            kind: Act::Publish,
            empty: true,
            run: None,
            ..base
        },
        _ => return None,
    })
}

/// The plan of one act. A publish asks for the writer's own count first: a listing that is compared
/// with itself proves nothing.
#[component]
fn Planning(dataset: String, report: Arc<HourReport>, act: String, again: Callback<()>) -> Markup {
    let counted = RwSignal::new(None::<u64>);
    let needs_count = act.starts_with("publish:");
    let text = RwSignal::new(String::new());
    let asked = {
        let (report, act) = (Arc::clone(&report), act.clone());
        Memo::new(move |_| request(&report, &act, counted.get()))
    };
    let planned = {
        let dataset = dataset.clone();
        Asked::new(move |_| {
            let (dataset, request) = (dataset.clone(), asked.get()?);
            Some(async move { acts::plan_hours(&dataset, &request).await })
        })
    };
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        counted.set(text.get_untracked().trim().parse().ok());
    };
    let form = needs_count.then(|| view! {
        <form class="ask" on:submit=submit>
            <label for="writer-count">"How many objects did the writer of the run count?"</label>
            <input id="writer-count" class="field mono" inputmode="numeric" autocomplete="off"
                prop:value=move || text.get() on:input=move |e| text.set(event_target_value(&e)) />
            <button type="submit" class="btn">"Plan it"</button>
        </form>
    });
    let shown = move || {
        asked.get()?;
        let dataset = dataset.clone();
        Some(planned.show("the plan", move |outcome| {
            let request = asked.get_untracked().unwrap_or_default();
            view! { <Planned dataset=dataset.clone() planned outcome request again /> }
        }))
    };
    view! { {form} {shown} }
}

#[component]
fn Planned(
    dataset: String,
    planned: Asked<Outcome>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
    again: Callback<()>,
) -> Markup {
    let plan = &outcome.plan;
    let hours = plan.hours.clone().unwrap_or_default();
    let findings = hours.findings.iter().map(note).collect::<Markup>();
    let marker = hours
        .marker
        .as_ref()
        .and_then(|marker| marker.get("run_id")?.as_str().map(str::to_owned));
    let facts = view! {
        <dl class="pairs">
            {marker.map(|run| fact("Marker names run", view! { <Key text=run max=40 /> }))}
            {hours.superseded_run.clone().map(|run| fact("In place of", view! { <Key text=run max=40 /> }))}
            {(plan.files_to_rewrite > 0).then(|| fact("Packs", view! { <Count n=plan.files_to_rewrite />" objects, "<Bytes n=plan.bytes_to_rewrite /> }))}
            {(plan.files_to_write > 0).then(|| fact("Writes", view! { <Count n=plan.files_to_write />" objects" }))}
        </dl>
    };
    let unchanged = hours
        .unchanged
        .clone()
        .map(|why| view! { <p class="soft">{format::capital(&format::visible(&why))}</p> });
    let refused = plan.refused.clone();
    let idle = refused.is_some() || unchanged.is_some();
    let refused = refused.map(|why| view! { <Refused why /> });
    let warnings = plan.warnings.clone();
    let confirm = (!idle)
        .then(|| view! { <Confirm dataset planned outcome=Arc::clone(&outcome) request again /> });
    view! {
        {facts}
        {findings}
        <Warnings warnings />
        {refused}
        {unchanged}
        {confirm}
    }
}

#[component]
fn Confirm(
    dataset: String,
    planned: Asked<Outcome>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
    again: Callback<()>,
) -> Markup {
    let done = RwSignal::new(Done::NotYet);
    let reason = RwSignal::new(String::new());
    let needed = request.empty;
    let verb = match (request.kind, request.empty) {
        (Act::Repoint, _) => "Point back",
        (Act::Compact, _) => "Compact",
        (_, true) => "Declare it empty",
        _ => "Publish",
    };
    let id = outcome.plan.id.clone();
    let inputs = ApplyRequest {
        table: String::new(),
        dataset: Some(dataset),
        request,
        as_of: outcome.plan.as_of,
        base_version: None,
        reason: String::new(),
    };
    let ready =
        move || done.get() == Done::NotYet && (!needed || !reason.with(|r| r.trim().is_empty()));
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        if done.get_untracked() != Done::NotYet {
            return;
        }
        done.set(Done::Sent);
        let reason = reason.get_untracked().trim().to_owned();
        let (id, inputs) = (
            id.clone(),
            ApplyRequest {
                reason,
                ..inputs.clone()
            },
        );
        spawn_local(async move {
            let result = acts::apply(&id, &inputs).await;
            done.try_set(came_of(result));
        });
    };
    let anew = Callback::new(move |()| planned.again());
    let label = move || {
        if done.get() == Done::Sent {
            "Working…"
        } else {
            verb
        }
    };
    let form = move || {
        let waits = matches!(done.get(), Done::NotYet | Done::Sent);
        let says = if needed {
            "Why did nothing come?"
        } else {
            "Why? It may stay empty"
        };
        waits.then(|| view! {
            <div class="confirm-line">
                <label for="confirm-reason">{says}</label>
                <input id="confirm-reason" class="field" autocomplete="off"
                    prop:value=move || reason.get() on:input=move |e| reason.set(event_target_value(&e)) />
                <button type="submit" class="btn main" disabled=move || !ready()>{label}</button>
            </div>
        })
    };
    let after = Markup::live(move || match done.get() {
        Done::NotYet | Done::Sent => Markup::Nothing,
        Done::Goes(job) => view! { <Goes job=*job done /> },
        Done::Applied(applied) => view! { <Proof applied again /> },
        Done::Failed(kind, why) => view! { <NotDone kind why again=anew /> },
    });
    view! {
        <form class="confirm" on:submit=submit>{form}</form>
        <div aria-live="polite">{after}</div>
    }
}

/// What became of the hour.
#[component]
fn Proof(applied: Applied, again: Callback<()>) -> Markup {
    let session = session();
    let look = move |_| {
        session.nav.set("act", None::<&str>);
        again.run(());
    };
    let hours = applied.hours.map(|hours| *hours);
    let now = hours.as_ref().and_then(|hours| hours.state).map(state);
    let registered =
        hours.as_ref().and_then(
            |hours| match (hours.registered, &hours.registration_error) {
                (Some(true), _) => Some("The catalog knows the partition.".to_owned()),
                (Some(false), Some(why)) => Some(format!(
                    "The marker stands; the catalog was not told: {}",
                    format::shorten(why, 300)
                )),
                _ => None,
            },
        );
    let message = hours
        .and_then(|hours| hours.message)
        .map(|m| format::capital(&format::visible(&m)));
    view! {
        <p class="verdict" role="status"><b>"Done. "</b>"The hour is now "{now}</p>
        {message.map(|text| view! { <p class="soft">{text}</p> })}
        {registered.map(|text| view! { <p class="soft s">{text}</p> })}
        <Warnings warnings=applied.warnings />
        <p class="after"><button type="button" class="btn" on:click=look>"Look at the hour again"</button></p>
    }
}
