//! The line between strip and list: filter, measure, folding, and how much is shown of how much.

use lake::wire::CommitRow;
use leptos::prelude::*;

use crate::copy::csv;
use crate::format::{count, counted};
use crate::markup::{Markup, view};
use crate::parts::{CopyButton, Export};
use crate::signals::{Callback, Signal};

use super::Timeline;
use super::items::Item;
use super::measure::{Measure, rows_of};

/// The tools.
#[component]
pub fn Tools(timeline: Timeline) -> Markup {
    let session = timeline.session;
    let nav = session.nav;
    let text = session.param("q");
    let maintenance = session.param("maintenance");
    let type_filter = move |event| {
        let text = event_target_value(&event);
        nav.set("q", Some(text).filter(|t| !t.is_empty()));
    };
    let choose = move |event| {
        let name = event_target_value(&event);
        let chosen = Some(name).filter(|n| n != Measure::default().name());
        nav.set("by", chosen);
    };
    let fold = move |event| {
        timeline.unfolded.set(Vec::new());
        nav.set("fold", (!event_target_checked(&event)).then_some("off"));
    };
    let hide = move |event| {
        nav.set(
            "maintenance",
            (!event_target_checked(&event)).then_some("hide"),
        );
    };
    let measures = Measure::ALL.into_iter().map(|m| {
        view! { <option value=m.name() selected=move || timeline.measure.get() == m>{m.name()}</option> }
    });
    let link = Callback::new(move |()| window().location().href().unwrap_or_default());
    let name = Signal::derive(move || format!("{}-history", timeline.table()));
    view! {
        <div class="tools">
            <input class="field" type="search" aria-label="Filter commits"
                placeholder="Filter: operation, person, text…"
                title="Words that must all be there. op:merge and by:ana look at operation and person alone, region=UK at what the commit says of partitions"
                prop:value=move || text.get().unwrap_or_default() on:input=type_filter />
            <label class="tick">
                <span class="unseen">"Measure of the bars"</span>
                <select class="bare" on:change=choose>{measures.collect::<Markup>()}</select>
            </label>
            <label class="tick">
                <input type="checkbox" prop:checked=move || timeline.fold.get() on:change=fold />
                "fold small commits"
            </label>
            <label class="tick">
                <input type="checkbox" prop:checked=move || maintenance.with(|m| m.as_deref() != Some("hide")) on:change=hide />
                "maintenance"
            </label>
            <span class="end">
                <span class="shown soft s" role="status">{move || shown(timeline)}</span>
                <CopyButton label="Copy link" done="Link copied" text=link />
                <Export name csv=Callback::new(move |()| as_csv(timeline)) json=Callback::new(move |()| as_json(timeline)) />
            </span>
        </div>
    }
}

/// `49 commits, 10 shown, 34 folded`, and what is not read.
fn shown(timeline: Timeline) -> String {
    let total = timeline.store.total();
    let read = timeline.store.read_total();
    let (shown, folded, left_out) = timeline.items.with(|i| (i.shown, i.folded, i.left_out));
    let mut parts = vec![counted(total, "commit")];
    if read < total {
        parts.push(format!("{} read", count(read)));
    }
    if folded > 0 || left_out > 0 || read < total {
        parts.push(format!("{} shown", count(shown)));
    }
    if folded > 0 {
        parts.push(format!("{} folded", count(folded)));
    }
    if left_out > 0 {
        parts.push(format!("{} left out", count(left_out)));
    }
    parts.join(", ")
}

/// The commits that were read and are wanted, newest first, folded ones too.
fn wanted(timeline: Timeline) -> Vec<CommitRow> {
    let items = timeline.items.get_untracked();
    let commits = timeline.store.commits.get_untracked();
    // Rows that wait hold no commit; a long history is mostly those.
    let mut rows = Vec::new();
    for (_, commit) in commits.iter().rev() {
        let version = commit.version.0;
        let shown = items.index_of(version).and_then(|i| items.at(i));
        let is = match shown {
            Some(Item::Commit(c)) => c.version.0 == version,
            Some(Item::Fold(run)) => run.oldest <= version && version <= run.newest,
            _ => false,
        };
        if is {
            rows.push(commit.as_ref().clone());
        }
    }
    rows
}

fn as_json(timeline: Timeline) -> String {
    serde_json::to_string_pretty(&wanted(timeline)).unwrap_or_default()
}

fn as_csv(timeline: Timeline) -> String {
    let head = [
        "version",
        "timestamp",
        "operation",
        "what",
        "user",
        "engine",
        "reason",
        "files_added",
        "files_removed",
        "bytes_added",
        "bytes_removed",
        "rows_added",
        "rows_removed",
        "data_change",
        "damaged",
    ];
    let figure = |n: Option<u64>| n.map(|n| n.to_string().into());
    let rows = wanted(timeline);
    let rows = rows.iter().map(|c| {
        let text = |t: &Option<String>| t.clone().map(Into::into);
        let (came, went) = rows_of(c);
        [
            Some(c.version.to_string().into()),
            c.timestamp.map(|t| t.to_string().into()),
            text(&c.operation),
            Some(super::summary::summary(c).into()),
            text(&c.user),
            text(&c.engine),
            text(&c.reason),
            figure(c.files_added),
            figure(c.files_removed),
            figure(c.bytes_added),
            figure(c.bytes_removed),
            figure(came),
            figure(went),
            Some(c.data_change.to_string().into()),
            text(&c.damaged),
        ]
    });
    csv(&head, rows)
}
