//! What a table needs now and then: cleaned up, packed, kept; and who is at it.

pub mod act;
pub mod aside;
pub mod jobs;
pub mod leftovers;
pub mod optimize;
pub mod pins;
pub mod vacuum;

use leptos::prelude::*;

use crate::asked::Asked;
use crate::markup::{Markup, view};
use crate::parts::{Head, Note, Tabs};
use crate::session::session;
use crate::signals::{Memo, Signal};

use super::common::{Here, Switch};

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let here = Here::find();
    let title = Signal::stored(here.title());
    let window_title = Signal::derive(move || format!("{} · maintenance", here.title()));
    let show = session.param("show");
    let choices = vec![
        ("vacuum", "Vacuum", None),
        ("optimize", "Optimize", None),
        ("quarantine", "Quarantine", None),
        ("pins", "Pins", None),
        ("jobs", "Jobs", None),
    ];
    let shown = Memo::new(move |_| show.get().unwrap_or_default());
    let body = Markup::live(move || match shown.get().as_str() {
        "optimize" => view! { <optimize::Panel here /> },
        "quarantine" => view! { <aside::Panel here /> },
        "pins" => view! { <pins::Panel here /> },
        "jobs" => view! { <jobs::Panel here /> },
        _ => view! { <vacuum::Panel here /> },
    });
    view! {
        <Head title window_title />
        <Tabs />
        <Switch label="What is maintained" choices />
        <Busy here />
        {body}
    }
}

/// That somebody is at it, on the way to a plan.
#[component]
fn Busy(here: Here) -> Markup {
    let session = session();
    let jobs = Asked::new(move |_| {
        // Asked again whenever another part of the page is looked at.
        session.query.track();
        let name = here.name();
        Some(async move { crate::acts::jobs(&name).await })
    });
    let note = move || {
        let on_jobs = session.query.with(|q| q.get("show") == Some("jobs"));
        let jobs = jobs.ok().filter(|_| !on_jobs)?;
        let busy = jobs.jobs.iter().find(|job| !job.state.is_over())?;
        let what = jobs::what(busy.kind);
        let to = session.route.with(|route| {
            let query = crate::route::Query::default();
            route.clone().with(query.with("show", Some("jobs"))).href()
        });
        Some(view! {
            <Note>
                <span>{format!("{what} is being carried out on this table.")}</span>
                <span class="acts"><a class="btn small" href=to>"See how far it is"</a></span>
            </Note>
        })
    };
    view! { <div aria-live="polite">{note}</div> }
}
