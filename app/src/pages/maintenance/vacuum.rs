//! What no version needs any more, and what goes with it.

use std::sync::Arc;

use lake::plan::{Act, Outcome, Plan, PlanRequest, VacuumDetail};
use leptos::prelude::*;

use crate::acts;
use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Bytes, Count, Note, ShellLine};
use crate::session::session;
use crate::signals::RwSignal;
use crate::words::count_of;

use super::super::common::{Here, Warnings, tile};
use super::act::{Confirm, Refused};
use super::aside::Aside;
use super::leftovers::{Left, Spared};

/// The plan of a vacuum, and what comes of it.
#[component]
pub fn Panel(here: Here) -> Markup {
    let session = session();
    let retain = session.param("retain");
    let aside = session.param("aside");
    let request = move || PlanRequest {
        kind: Act::Vacuum,
        allow_short_retention: retain.with(Option::is_some),
        retain: retain.get(),
        quarantine: aside.with(Option::is_some),
        ..Default::default()
    };
    let planned = Asked::new(move |_| {
        let (name, request) = (here.name(), request());
        Some(async move { acts::plan(&name, &request).await })
    });
    view! {
        <Options />
        {planned.show("the plan: every object below the table's root is listed", move |outcome| {
            let request = untrack(request);
            view! { <Planned here planned outcome request /> }
        })}
        <Aside here />
    }
}

/// How long, and whether aside.
#[component]
fn Options() -> Markup {
    let session = session();
    let retain = session.param("retain");
    let aside = session.param("aside");
    let text = RwSignal::new(retain.get_untracked().unwrap_or_default());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let text = text.get_untracked();
        let text = text.trim();
        session
            .nav
            .set("retain", (!text.is_empty()).then_some(text));
    };
    let toggle = move |_| {
        let on = aside.with_untracked(Option::is_none);
        session.nav.set("aside", on.then_some("1"));
    };
    view! {
        <form class="ask" on:submit=submit>
            <label for="retain">"Keep what is younger than; empty is what the table says"</label>
            <input id="retain" class="field mono" autocomplete="off" spellcheck="false"
                placeholder="7d, 168h, interval 1 week" prop:value=move || text.get()
                on:input=move |e| text.set(event_target_value(&e)) />
            <button type="submit" class="btn">"Plan it"</button>
            <label class="tick inline" title="Into _tidemark/quarantine below the table, to be deleted from there later">
                <input type="checkbox" prop:checked=move || aside.with(Option::is_some) on:change=toggle />
                "Move aside instead of deleting"
            </label>
        </form>
    }
}

#[component]
fn Planned(
    here: Here,
    planned: Asked<Outcome>,
    outcome: Arc<Outcome>,
    request: PlanRequest,
) -> Markup {
    let plan = &outcome.plan;
    let detail = plan.vacuum.clone().unwrap_or_default();
    let command = here.command("vacuum", &words(&request));
    let verb = match (request.quarantine, plan.files_to_delete) {
        (true, n) => format!("Move {} aside", count_of(n, "object")),
        (false, n) => format!("Delete {}", count_of(n, "object")),
    };
    let typed = !request.quarantine;
    let confirm = match &plan.refused {
        Some(why) => view! { <Refused why=why.clone() /> },
        None => view! { <Confirm here planned outcome=Arc::clone(&outcome) request verb typed /> },
    };
    let kept: Vec<String> = detail
        .pins
        .iter()
        .map(|pin| {
            format!(
                "{} (version {})",
                format::shorten(&pin.name, 60),
                pin.version
            )
        })
        .collect();
    view! {
        <p class="verdict">{question(plan, &detail)}</p>
        <Tiles plan=plan.clone() detail=detail.clone() />
        <Warnings warnings=plan.warnings.clone() />
        {(!kept.is_empty()).then(|| view! {
            <Note><span>{format!("Kept by name: {}. A vacuum by another engine does not know of pins.", kept.join(", "))}</span></Note>
        })}
        {confirm}
        <Left here detail=Arc::new(detail.clone()) />
        <Spared spared=detail.spared />
        <h2>"The same from a shell"</h2>
        <ShellLine command />
    }
}

/// The question that the button answers.
fn question(plan: &Plan, detail: &VacuumDetail) -> Markup {
    let age = u64::try_from(detail.retention_ms).unwrap_or(0);
    let age = format::duration(age);
    match plan.files_to_delete {
        0 => {
            view! { <b>"Nothing to delete."</b>" No object that no version needs is older than "{age}"." }
        }
        n => view! {
            <b>{if detail.quarantine { "Move aside " } else { "Delete " }}{count_of(n, "object")}"?"</b>
            " No version needs them any more, and they are older than "{age}". That frees "<Bytes n=plan.bytes_to_delete />"."
        },
    }
}

#[component]
fn Tiles(plan: Plan, detail: VacuumDetail) -> Markup {
    let young: u64 = detail.waiting.iter().map(|left| left.bytes).sum();
    let never = |left: &&lake::plan::Leftover| left.origin == lake::plan::Origin::Uncommitted;
    let all = || detail.objects.iter().chain(&detail.waiting);
    let crashed = all().filter(never).count() as u64;
    let crashed_bytes: u64 = all().filter(never).map(|left| left.bytes).sum();
    let of = |n: u64| view! { <em class="soft"><Bytes n /></em> };
    view! {
        <dl class="tiles">
            {tile("To delete", view! { <b><Count n=plan.files_to_delete /></b> {of(plan.bytes_to_delete)} })}
            {tile("Too young to delete", view! { <b><Count n=detail.waiting.len() as u64 /></b> {of(young)} })}
            {tile("Never committed", view! { <b><Count n=crashed /></b> {of(crashed_bytes)} })}
            {tile("Versions lost to restore", view! { <b><Count n=detail.unrestorable.len() as u64 /></b> })}
        </dl>
    }
}

fn words(request: &PlanRequest) -> Vec<&str> {
    let mut words = Vec::new();
    if let Some(retain) = &request.retain {
        words.extend(["--retain", retain, "--allow-short-retention"]);
    }
    if request.quarantine {
        words.push("--quarantine");
    }
    words
}
