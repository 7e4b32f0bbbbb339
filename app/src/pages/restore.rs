//! An earlier version put back: which one, the plan, the reason, the proof, and the way back.

pub mod confirm;
pub mod missing;
pub mod plan;

use lake::plan::{Act, PlanRequest};
use lake::table::At;
use lake::{Error, Result};
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
    let missing = session.param("missing");
    let asked = move || {
        let to = to.get().filter(|to| !to.is_empty())?;
        Some(request(&to, missing.with(Option::is_some)))
    };
    let planned = Asked::new(move |_| {
        let request = asked()?;
        let name = here.name();
        Some(async move { acts::plan(&name, &request?).await })
    });
    let title = Signal::stored(here.title());
    let window_title = Signal::derive(move || format!("{} · restore", here.title()));
    let plan = move || {
        to.get().filter(|to| !to.is_empty())?;
        Some(planned.show("the plan", move |outcome| {
            let request = untrack(asked).and_then(Result::ok).unwrap_or_default();
            view! { <Planned here planned outcome request /> }
        }))
    };
    view! {
        <Head title window_title />
        <Tabs />
        <Ask />
        {plan}
    }
}

/// What is to be planned, of a version's number or a time.
fn request(to: &str, allow_missing: bool) -> Result<PlanRequest> {
    let (version, at) = match to.parse().map_err(|error: Error| neither(to, error))? {
        At::Version(version) => (Some(version), None),
        At::Time(time) => (None, Some(time)),
        At::Latest => (None, None),
    };
    Ok(PlanRequest {
        kind: Act::Restore,
        version,
        at,
        allow_missing,
        ..Default::default()
    })
}

/// What is neither a version nor a time; of a time without its offset the two readings are told.
fn neither(to: &str, error: Error) -> Error {
    match error.sentence() {
        told if told.contains("is not a time") => Error::invalid(format!(
            "`{to}` is neither a version nor a time: write a number such as 47, or a time with its \
             offset such as 2026-11-29T03:00:00Z"
        )),
        _ => error,
    }
}

/// Which version: a number, or a time before which all was well.
#[component]
fn Ask() -> Markup {
    let session = session();
    let asked = session.param("to");
    let text = RwSignal::new(asked.get_untracked().unwrap_or_default());
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        session.nav.set("missing", None::<&str>);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_times_are_both_told_of() {
        assert_eq!(request("47", false).unwrap().version.unwrap().0, 47);
        assert!(request("2026-11-29T03:00:00Z", true).unwrap().at.is_some());
        for text in ["-1", "2026-11-29", "yesterday"] {
            let told = request(text, false).unwrap_err().to_string();
            assert!(told.contains("neither a version nor a time"), "{told}");
        }
        let told = request("2026-11-29T03:00", false).unwrap_err().to_string();
        assert!(told.contains("has no offset"), "{told}");
    }
}
