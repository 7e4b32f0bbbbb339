//! An earlier version put back: which one, the plan, the reason, the proof, and the way back.

pub mod confirm;
pub mod plan;

use lake::plan::{Act, PlanRequest};
use lake::table::At;
use leptos::prelude::*;

use crate::acts;
use crate::asked::Asked;
use crate::markup::{Markup, view};
use crate::parts::{Head, Tabs};
use crate::session::session;
use crate::signals::{RwSignal, Signal};

use super::common::Here;

use self::plan::Planned;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let here = Here::find();
    let to = session.param("to");
    let planned = Asked::new(move |_| {
        let to = to.get().filter(|to| !to.is_empty())?;
        let name = here.name();
        Some(async move { acts::plan(&name, &request(&to)?).await })
    });
    let title = Signal::stored(here.title());
    let window_title = Signal::derive(move || format!("{} · restore", here.title()));
    let plan = move || {
        to.get().filter(|to| !to.is_empty())?;
        Some(planned.show("the plan", move |outcome| {
            let asked = to.with_untracked(|to| request(to.as_deref().unwrap_or_default()));
            view! { <Planned here planned outcome request=asked.unwrap_or_default() /> }
        }))
    };
    view! {
        <Head title window_title />
        <Tabs />
        <Ask />
        {plan}
    }
}

fn request(to: &str) -> lake::Result<PlanRequest> {
    let (version, at) = match to.parse()? {
        At::Version(version) => (Some(version), None),
        At::Time(time) => (None, Some(time)),
        At::Latest => (None, None),
    };
    Ok(PlanRequest {
        kind: Act::Restore,
        version,
        at,
        ..Default::default()
    })
}

/// Which version: a number, or a time before which all was well.
#[component]
fn Ask() -> Markup {
    let session = session();
    let asked = session.param("to");
    let text = RwSignal::new(asked.get_untracked().unwrap_or_default());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        session.nav.set("to", Some(text.get_untracked().trim()));
    };
    view! {
        <form class="ask" on:submit=submit>
            <label for="restore-to">"Back to version, or to the last version before a time"</label>
            <input id="restore-to" class="field mono" autocomplete="off" spellcheck="false"
                placeholder="47, or 2026-11-29T03:00:00Z" prop:value=move || text.get()
                on:input=move |e| text.set(event_target_value(&e)) />
            <button type="submit" class="btn">"Plan it"</button>
        </form>
    }
}
