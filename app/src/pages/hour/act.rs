//! What can be done with an hour: publish a run, point back to an older one, compact, declare that
//! nothing happened. Each is planned first and carried out by the server.

use std::sync::Arc;

use lake::hours::State;
use lake::plan::{Act, Applied, ApplyRequest, Outcome, PlanRequest};
use lake::wire::hours::HourReport;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts;
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::pages::common::{NotDone, Warnings, fact};
use crate::pages::hours::exceptions::note;
use crate::pages::hours::whose::unit;
use crate::pages::maintenance::act::{Done, Goes, Refused, came_of};
use crate::parts::{Bytes, Key, ShellLine};
use crate::session::session;
use crate::signals::{Callback, Memo, RwSignal, Signal, effect};

use super::offers::{advice, late, offers, spoiled};

/// The buttons, and the plan of the one that was pressed.
#[component]
pub fn Acts(dataset: String, report: Arc<HourReport>, told: Callback<Applied>) -> Markup {
    let session = session();
    let chosen = session.param("act");
    if !report.dataset.ours {
        return view! {
            <h2>"What you can do"</h2>
            <p class="soft s">"The markers of this dataset are another publisher's: they are read here and never written."</p>
        };
    }
    let button = move |act: String, name: String| {
        let pressed = {
            let act = act.clone();
            move || (chosen.get().as_deref() == Some(&act)).to_string()
        };
        let press = move |_| session.nav.set("act", Some(act.clone()));
        view! { <button type="button" class="btn act" aria-pressed=pressed on:click=press>{name}</button> }
    };
    let waits = matches!(report.row.state, State::Open | State::Future);
    let buttons = offers(&report).into_iter().map(|offer| {
        let note = offer
            .note
            .map(|note| view! { <p class="soft s">{note}</p> });
        view! { {button(offer.act, offer.name)} {note} }
    });
    let buttons: Vec<Markup> = buttons.collect();
    let advice = advice(&report);
    let none = (buttons.is_empty() && advice.is_none()).then_some(match waits {
        true => format!("The {} has not ended", unit(&report.dataset)),
        false => "Nothing has to be done".to_owned(),
    });
    let advice = advice.map(|(text, command)| {
        view! {
            <p class="s">{text}</p>
            <ShellLine command=Signal::stored(command) />
        }
    });
    let spoiled = spoiled(&report).map(|text| view! { <p class="soft s">{text}</p> });
    let spoiled = spoiled.collect::<Markup>();
    let plan = {
        let report = Arc::clone(&report);
        Markup::live(move || match chosen.get() {
            Some(act) => {
                view! { <Planning dataset=dataset.clone() report=Arc::clone(&report) act told /> }
            }
            None => Markup::Nothing,
        })
    };
    view! {
        <h2>"What you can do"</h2>
        {advice}
        <div class="act-list">
            {buttons}
            {spoiled}
            {none.map(|text| view! { <p class="soft s">{text}</p> })}
        </div>
        {plan}
    }
}

/// What the address asks for; `None` where that is no act.
fn request(
    report: &HourReport,
    act: &str,
    count: Option<u64>,
    with_late: bool,
) -> Option<PlanRequest> {
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
            with_late,
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
fn Planning(
    dataset: String,
    report: Arc<HourReport>,
    act: String,
    told: Callback<Applied>,
) -> Markup {
    let counted = RwSignal::new(None::<u64>);
    let needs_count = act.starts_with("publish:");
    let text = RwSignal::new(String::new());
    let wrong = RwSignal::new(false);
    let with_late = RwSignal::new(false);
    let late = late(&report);
    let asked = {
        let (report, act) = (Arc::clone(&report), act.clone());
        Memo::new(move |_| request(&report, &act, counted.get(), with_late.get()))
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
        let count = text.get_untracked().trim().parse().ok();
        wrong.set(count.is_none());
        counted.set(count);
    };
    let form = needs_count.then(|| view! {
        <form class="ask" on:submit=submit>
            <label for="writer-count">"How many objects did the writer of the run count?"</label>
            <input id="writer-count" class="field mono" inputmode="numeric" autocomplete="off"
                prop:value=move || text.get() on:input=move |e| text.set(event_target_value(&e)) />
            <button type="submit" class="btn">"Plan it"</button>
            {move || wrong.get().then(|| view! { <p class="go s" role="alert">"The count is a whole number, in digits: 4"</p> })}
        </form>
    });
    let choice = (act == "compact" && late > 0).then(|| {
        view! {
            <p class="after">
                <label class="tick">
                    <input type="checkbox" prop:checked=move || with_late.get()
                        on:change=move |event| with_late.set(event_target_checked(&event)) />
                    {format!("Take late keys in ({})", format::count(late))}
                </label>
            </p>
        }
    });
    let shown = move || {
        asked.get()?;
        let dataset = dataset.clone();
        Some(planned.show("the plan", move |outcome| {
            let request = asked.get_untracked().unwrap_or_default();
            view! { <Planned dataset=dataset.clone() late planned outcome request told /> }
        }))
    };
    view! { {form} {choice} {shown} }
}

#[component]
fn Planned(
    dataset: String,
    planned: Asked<Outcome>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
    /// Late keys that there are.
    late: u64,
    told: Callback<Applied>,
) -> Markup {
    let plan = &outcome.plan;
    let late = (late > 0 && request.kind == Act::Compact).then(|| {
        let what = match request.with_late {
            true => "taken in",
            false => "left out",
        };
        fact("Late keys", format!("{} {what}", format::count(late)))
    });
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
            {(plan.files_to_rewrite > 0).then(|| fact("Packs", view! { {format::counted(plan.files_to_rewrite, "object")} ", " <Bytes n=plan.bytes_to_rewrite /> }))}
            {late}
            {(plan.files_to_write > 0).then(|| fact("Writes", view! { {format::counted(plan.files_to_write, "object")} }))}
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
        .then(|| view! { <Confirm dataset planned outcome=Arc::clone(&outcome) request told /> });
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
    told: Callback<Applied>,
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
    effect(move || {
        if let Done::Applied(applied) = done.get() {
            told.run(applied);
        }
    });
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
        Done::NotYet | Done::Sent | Done::Applied(_) => Markup::Nothing,
        Done::Goes(job) => view! { <Goes job=*job done /> },
        Done::Failed(kind, why) => view! { <NotDone kind why again=anew /> },
    });
    view! {
        <form class="confirm" on:submit=submit>{form}</form>
        <div aria-live="polite">{after}</div>
    }
}
