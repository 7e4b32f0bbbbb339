//! A restore that cannot be: why, which files are gone, and what can be done instead.

use lake::plan::{Act, Plan, PlanRequest};
use lake::table::Version;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::acts;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{Note, NoteKind};
use crate::route::{Query, Route};
use crate::signals::RwSignal;
use crate::words::count_of;

use super::super::common::Here;

/// Missing keys listed.
const KEYS: usize = 20;

/// Why not. Where files are gone they are listed once, with the ways round.
#[component]
pub fn Refused(here: Here, plan: Plan, why: String) -> Markup {
    let missing = &plan.missing_files;
    let Some(target) = plan.target_version.filter(|_| !missing.is_empty()) else {
        // Nothing to restore is no fault.
        let kind = match why.starts_with("nothing to") {
            true => NoteKind::Plain,
            false => NoteKind::Attention,
        };
        let why = format::capital(&format::visible(&why));
        return view! {
            <Note kind><span><b>"This cannot be done. "</b>{why}"."</span></Note>
        };
    };
    let gone = missing.len() as u64;
    let are = if gone == 1 { "is" } else { "are" };
    let more = missing.len().saturating_sub(KEYS);
    let keys: Markup = missing
        .iter()
        .take(KEYS)
        .map(|key| view! { <li class="mono">{format::shorten_middle(key, 120)}</li> })
        .collect();
    let query = Query::default()
        .with("to", Some(&target.to_string()))
        .with("missing", Some("leave"));
    let table = here.name();
    let without = Route::Restore { table }.with(query).href();
    view! {
        <Note kind=NoteKind::Attention>
            <span>
                <b>"This cannot be done. "</b>
                {format!("{} of version {target} {are} no longer in the store.", count_of(gone, "file"))}
            </span>
            <span class="acts">
                <a class="btn small" href=without title="What is gone stays lost; the plan says how many rows that is">
                    {if gone == 1 { "Plan it without it…" } else { "Plan it without them…" }}
                </a>
            </span>
        </Note>
        <Nearest here target newest=plan.base() />
        <h2>"Gone" <small>{count_of(gone, "file")}</small></h2>
        <ul class="missing">{keys}</ul>
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more as u64))}</p> })}
    }
}

/// How far the search for a version is that can be restored.
#[derive(Clone, PartialEq)]
enum Search {
    NotYet,
    At(Version),
    Found(Option<Version>),
}

/// The oldest later version that can be restored, looked for when it is asked for: each that is
/// tried is planned.
#[component]
fn Nearest(here: Here, target: Version, newest: Version) -> Markup {
    let search = RwSignal::new(Search::NotYet);
    let look = move |_| {
        if matches!(search.get_untracked(), Search::At(_)) {
            return;
        }
        search.set(Search::At(target.next()));
        let table = here.name();
        spawn_local(async move {
            let found = nearest(&table, target, newest, search).await;
            search.try_set(Search::Found(found));
        });
    };
    let said = move || match search.get() {
        Search::NotYet => Markup::Nothing,
        Search::At(version) => {
            view! { <span class="soft s">{format!("Looking at version {version}")}</span> }
        }
        Search::Found(None) => {
            view! { <span>"No version after it can be restored, but for the newest itself."</span> }
        }
        Search::Found(Some(version)) => {
            let href = Route::restore(here.name(), version).href();
            view! { <a class="btn" href=href>{format!("Plan version {version}, the nearest that can be")}</a> }
        }
    };
    let asks = move || matches!(search.get(), Search::NotYet | Search::At(_));
    view! {
        <p class="after row-acts" aria-live="polite">
            {move || asks().then(|| view! {
                <button type="button" class="btn" on:click=look
                    disabled=move || matches!(search.get(), Search::At(_))>
                    "Find the nearest later version that can be restored"
                </button>
            })}
            {said}
        </p>
    }
}

/// What vacuums deleted, older versions needed: between a version that lacks files and the newest,
/// which lacks none, the first that lacks none is found by halving.
async fn nearest(
    table: &str,
    target: Version,
    newest: Version,
    search: RwSignal<Search>,
) -> Option<Version> {
    let (mut lacks, mut whole) = (target.0, newest.0);
    while whole.saturating_sub(lacks) > 1 {
        let middle = Version(lacks + (whole - lacks) / 2);
        if search.try_set(Search::At(middle)).is_some() {
            return None;
        }
        let request = PlanRequest {
            kind: Act::Restore,
            version: Some(middle),
            ..Default::default()
        };
        let can = match acts::plan(table, &request).await {
            Ok(outcome) => outcome.plan.missing_files.is_empty(),
            Err(_) => false,
        };
        match can {
            true => whole = middle.0,
            false => lacks = middle.0,
        }
    }
    Some(Version(whole)).filter(|found| *found != newest)
}
