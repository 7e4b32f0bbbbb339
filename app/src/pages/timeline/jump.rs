//! Go to a version or to a time: what it resolves to is shown before going there.

use lake::Result;
use lake::table::{At, Time};
use lake::wire::ResolveReport;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format::utc;
use crate::markup::{Markup, NodeRef, view};
use crate::route::Route;
use crate::signals::{RwSignal, effect};

use super::Timeline;

/// What is asked for and what it resolves to.
#[component]
pub fn Form(timeline: Timeline, open: RwSignal<bool>) -> Markup {
    let session = timeline.session;
    let now = Time(session.now.get_untracked().0 / 60_000 * 60_000);
    let text = RwSignal::new(now.to_string().replace(":00.000Z", ":00Z"));
    let wanted = RwSignal::new(None::<Result<At>>);
    let resolved = Asked::new(move |progress| {
        let at = wanted.get()?.ok()?;
        let table = session.table_ref()?;
        let engine = session.engine().watched(progress);
        Some(async move { engine.resolve(table, at).await })
    });
    let field = NodeRef::<leptos::html::Input>::new();
    effect(move || {
        if let Some(field) = field.get() {
            let _ = field.focus();
            field.select();
        }
    });
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        wanted.set(Some(text.get_untracked().parse()));
    };
    let refused = move || {
        let error = wanted.get()?.err()?;
        Some(view! { <p class="go" id="jump-why" role="alert">{error.message().to_owned()}</p> })
    };
    let answer = move || {
        let asked = wanted.get()?.ok()?;
        let answer = resolved.show("which version that is", move |report| {
            view! { <Resolved timeline asked report=report.as_ref().clone() open /> }
        });
        Some(answer)
    };
    view! {
        <form class="jump" on:submit=submit>
            <label for="jump-at">"RFC 3339 with an offset, or a version"</label>
            <div>
                <input node_ref=field id="jump-at" class="field mono" autocomplete="off" spellcheck="false"
                    aria-describedby="jump-why" prop:value=move || text.get()
                    on:input=move |e| {
                        text.set(event_target_value(&e));
                        wanted.set(None);
                    } />
                <button type="submit" class="btn main">"Find the version"</button>
            </div>
            {refused}
            {answer}
        </form>
    }
}

#[component]
fn Resolved(timeline: Timeline, asked: At, report: ResolveReport, open: RwSignal<bool>) -> Markup {
    let version = report.version;
    let when = report.timestamp.map(|t| format!(", committed {}", utc(t)));
    let why = match asked {
        At::Time(_) if report.latest => " is the newest version, and no commit is later",
        At::Time(_) => " is the last at or before it",
        _ if report.latest => " is the newest version",
        _ => " is in the log",
    };
    let show = move |_| {
        open.set(false);
        timeline.go_to_version(version.0);
    };
    let as_of = Route::Snapshot {
        table: timeline.table(),
        at: At::Version(version),
    };
    view! {
        <p role="status">"Version "<b class="mono">{version.to_string()}</b>{when}{why}"."</p>
        <div class="acts">
            <button type="button" class="btn main" on:click=show>"Show it in the history"</button>
            <a class="btn" href=as_of.href()>"Open the table as of it"</a>
            <a class="btn" href=timeline.commit(version.0).href()>"Open the commit"</a>
        </div>
    }
}
