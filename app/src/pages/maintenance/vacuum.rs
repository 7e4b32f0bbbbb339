//! What no version needs any more, and what goes with it.

use std::sync::Arc;

use lake::plan::{
    Act, Leftover, Origin, Outcome, Plan, PlanRequest, Spared as SparedObjects, VacuumDetail,
};
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
use super::act::{Confirm, Done, Refused, Stage};
use super::leftovers::{Left, Spared};

/// The plan of a vacuum, and what comes of it.
#[component]
pub fn Panel(here: Here) -> Markup {
    let session = session();
    let retain = session.param("retain");
    let short = session.param("short");
    let aside = session.param("aside");
    let request = move || PlanRequest {
        kind: Act::Vacuum,
        allow_short_retention: short.with(Option::is_some) && retain.with(Option::is_some),
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
        // What was allowed was allowed for another one.
        session.nav.set("short", None::<&str>);
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
    let aside = request.quarantine;
    let typed = !aside;
    let done = RwSignal::new(Done::NotYet);
    let shorter = detail.retention_ms < detail.table_retention_ms && !request.allow_short_retention;
    let confirm = match &plan.refused {
        Some(why) => view! {
            <Refused why=why.clone() />
            {shorter.then(|| view! { <AllowShort /> })}
        },
        None => {
            view! { <Confirm here planned done outcome=Arc::clone(&outcome) request verb typed /> }
        }
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
    // Where it is refused for its retention nothing was looked for.
    let looked = !shorter || plan.refused.is_none();
    let plan = plan.clone();
    view! {
        <Stage here planned done kind=Act::Vacuum aside>
            {looked.then(|| view! {
                <p class="verdict">{question(&plan, &detail)}</p>
                <Tiles plan=plan.clone() detail=detail.clone() />
            })}
            <Warnings warnings=plan.warnings />
            {(!kept.is_empty()).then(|| view! {
                <Note><span>{format!("Kept by name: {}. A vacuum by another engine does not know of pins.", kept.join(", "))}</span></Note>
            })}
            {confirm}
            <Left here detail=Arc::new(detail.clone()) />
            <Spared spared=detail.spared />
            <h2>"The same from a shell"</h2>
            <ShellLine command />
        </Stage>
    }
}

/// The way on where the table asks for more than was typed.
#[component]
fn AllowShort() -> Markup {
    let session = session();
    let allow = move |_| session.nav.set("short", Some("1"));
    view! {
        <p class="after"><button type="button" class="btn" on:click=allow>"Plan it all the same"</button></p>
    }
}

/// The question that the button answers.
fn question(plan: &Plan, detail: &VacuumDetail) -> Markup {
    let age = u64::try_from(detail.retention_ms).unwrap_or(0);
    let age = format::duration(age);
    match (plan.files_to_delete, detail.quarantine) {
        (0, aside) => {
            let done = if aside { "move aside" } else { "delete" };
            view! { <b>{format!("Nothing to {done}.")}</b>" No object that the newest version and the pinned ones can do without is older than "{age}"." }
        }
        (n, aside) => {
            let verb = if aside { "Move" } else { "Delete" };
            let tail = if aside { " aside?" } else { "?" };
            let bytes = plan.bytes_to_delete;
            let then = match aside {
                true => {
                    view! { "That frees nothing yet: "<Bytes n=bytes />" wait in the quarantine until they are deleted there." }
                }
                false => view! { "That frees "<Bytes n=bytes />"." },
            };
            view! {
                <b>{format!("{verb} {}{tail}", count_of(n, "object"))}</b>
                " The newest version and the pinned ones do without them, and have for more than "{age}". "
                {then}
            }
        }
    }
}

#[component]
fn Tiles(plan: Plan, detail: VacuumDetail) -> Markup {
    let bytes = |all: &[Leftover]| -> u64 { all.iter().map(|left| left.bytes).sum() };
    let never = |left: &&Leftover| left.origin == Origin::Uncommitted;
    let all = || detail.objects.iter().chain(&detail.waiting);
    let crashed = all().filter(never).count() as u64;
    let crashed_bytes: u64 = all().filter(never).map(|left| left.bytes).sum();
    // What was removed lately is not looked at one by one.
    let (lately, lately_bytes) = removed_lately(&detail);
    let young = detail.waiting.len() as u64 + lately;
    let young_bytes = bytes(&detail.waiting).saturating_add(lately_bytes);
    let of = |n: u64| view! { <em class="soft"><Bytes n /></em> };
    let goes = match detail.quarantine {
        true => "To move aside",
        false => "To delete",
    };
    view! {
        <dl class="tiles">
            {tile(goes, view! { <b><Count n=plan.files_to_delete /></b> {of(plan.bytes_to_delete)} })}
            {tile("Too young to go", view! { <b><Count n=young /></b> {of(young_bytes)} })}
            {tile("Never committed", view! { <b><Count n=crashed /></b> {of(crashed_bytes)} })}
            {tile("Versions lost to restore", view! { <b><Count n=detail.unrestorable.len() as u64 /></b> })}
        </dl>
    }
}

/// Objects, and their bytes, that were removed too lately to go.
pub fn removed_lately(detail: &VacuumDetail) -> (u64, u64) {
    let lately = |spared: &&SparedObjects| spared.why.starts_with("removed less than");
    let lately = detail.spared.iter().filter(lately);
    lately.fold((0, 0), |(n, bytes), spared| {
        (n + spared.objects, bytes.saturating_add(spared.bytes))
    })
}

fn words(request: &PlanRequest) -> Vec<&str> {
    let mut words = Vec::new();
    if let Some(retain) = &request.retain {
        words.extend(["--retain", retain]);
        if request.allow_short_retention {
            words.push("--allow-short-retention");
        }
    }
    if request.quarantine {
        words.push("--quarantine");
    }
    words
}
