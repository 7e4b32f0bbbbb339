//! Up to when each dataset is closed: the manager's page. Nothing can be done on it.

pub mod called_out;
pub mod sentences;

use std::sync::Arc;

use lake::hours::Day;
use lake::wire::hours::{ClosedReport, Fresh, GridReport};
use lake::wire::http::DatasetEntry;
use leptos::prelude::*;

use crate::asked::Asked;
use crate::copy::{csv, download};
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{CopyButton, Empty, Facts, Head};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, RwSignal};

use super::hours::exceptions::state;
use super::hours::grid::{cells_class, day_name};
use super::hours::runs::{class, runs};
use super::hours::summary::{legend, moment, up_to};

/// What is known of the datasets, in the configuration's order: for the export.
type Known = RwSignal<Vec<(String, Option<Arc<GridReport>>, Option<ClosedReport>)>>;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let known: Known = RwSignal::new(Vec::new());
    let print = |_| drop(window().print());
    let save = move |_| download("closed-hours.csv", "text/csv;charset=utf-8", &as_csv(known));
    let link = Callback::new(|()| window().location().href().unwrap_or_default());
    let facts = move || {
        let lake = session.lake.ok()?;
        let all = format::counted(lake.datasets.len() as u64, "dataset");
        let now = format::clock(session.now.get());
        Some(view! { <Facts facts=vec![view! { {all} }, view! { {now} }] /> })
    };
    let body = session.lake.show("the lake", move |lake| {
        if lake.datasets.is_empty() {
            return view! { <None /> };
        }
        known.set(
            lake.datasets
                .iter()
                .map(|d| (d.name.clone(), Option::None, Option::None))
                .collect(),
        );
        let all = lake.datasets.iter().enumerate();
        let all = all.map(|(i, entry)| view! { <Dataset entry=entry.clone() i known /> });
        view! { {all.collect::<Markup>()} {legend()} }
    });
    view! {
        <Head title="Closed hours" facts>
            <CopyButton label="Copy link" done="Link copied" text=link />
            <button type="button" class="btn small" on:click=print>"Print"</button>
            <button type="button" class="btn small" on:click=save>"CSV"</button>
        </Head>
        {body}
    }
}

/// How a dataset is declared, where none is.
#[component]
fn None() -> Markup {
    view! {
        <Empty title="No dataset is declared">
            <p class="soft">"Plain files below event_date=…/hour=… are a dataset once tidemark.toml declares them:"</p>
            <pre tabindex="0">"[[dataset]]\nname = \"learning.progress\"\nzone = \"raw\"\nprefix = \"learning/progress/\"\npartition = [\"event_date\", \"hour\"]\nfirst = \"2026-11-01\""</pre>
        </Empty>
    }
}

/// One dataset: up to when, its month, its exceptions in words.
#[component]
fn Dataset(entry: DatasetEntry, i: usize, known: Known) -> Markup {
    let session = session();
    let name = entry.name.clone();
    let first = entry.first;
    let grid = {
        let name = name.clone();
        Asked::new(move |progress| {
            let now = session.now.get_untracked();
            let today = Day::of(now);
            let (year, month, _) = today.date();
            let begin = Day::from_date(year, month, 1).unwrap_or(today);
            let begin = first.map_or(begin, |first| first.clamp(begin, today));
            let (engine, name) = (session.engine().watched(progress), name.clone());
            Some(async move { engine.hours(name, begin, today, Fresh::Known).await })
        })
    };
    let closed = {
        let name = name.clone();
        Asked::new(move |progress| {
            // The month first; it is a part of the answer.
            grid.ok()?;
            let (engine, name) = (session.engine().watched(progress), name.clone());
            Some(async move { engine.closed(name).await })
        })
    };
    crate::signals::effect(move || {
        let (grid, closed) = (grid.ok(), closed.ok().map(|c| c.as_ref().clone()));
        known.update(|all| {
            if let Some(known) = all.get_mut(i) {
                (known.1, known.2) = (grid, closed);
            }
        });
    });
    let line = {
        let name = name.clone();
        move || {
            let closed = closed.ok()?;
            Some(up_to(&name, &closed, session.now))
        }
    };
    let href = Route::Hours {
        dataset: name.clone(),
    }
    .href();
    let body = grid.show(
        "the hours",
        move |report| view! { <Month name=name.clone() report /> },
    );
    view! {
        <section class="dataset-closed">
            <h2><a href=href>{format::shorten(&entry.name, 80)}</a> <small>{entry.zone}</small></h2>
            <p class="closed-up-to">{line}</p>
            {body}
        </section>
    }
}

/// The month as rows of cells, without a way to act, and its exceptions in words.
#[component]
fn Month(name: String, report: Arc<GridReport>) -> Markup {
    let rows = report.days.iter().rev().map(|day| {
        let width = day.states.len().max(1);
        let cells = runs(&day.states, true).into_iter().map(|run| {
            let style = format!("grid-column:{}/span {};--n:{}", run.first + 1, run.length, run.length);
            let sign = run.sign();
            view! { <i class=format!("cell {}", class(run.state)) style=style aria-hidden="true">{sign}</i> }
        });
        view! {
            <div class="hours-line">
                <span class="day">{day_name(day.date)}</span>
                <div class=cells_class(width) style=format!("--n:{width}")><div class="run">{cells.collect::<Markup>()}</div></div>
            </div>
        }
    });
    let exceptions = report.attention.iter().take(12).map(|row| {
        let slot = lake::hours::Slot { day: row.date, hour: row.hour };
        let why = row.reasons.first().map(|r| format::capital(&format::visible(&r.message)));
        let href = Route::Hour { dataset: name.clone(), slot }.href();
        view! { <li>{state(row.state)} <span><a href=href>{slot.to_string()}</a>": "{why}</span></li> }
    });
    let more = report.attention_total.saturating_sub(12);
    let none = (report.attention_total == 0)
        .then(|| view! { <p class="soft">"No exceptions this month"</p> });
    view! {
        <div class="hours small" aria-hidden="true">{rows.collect::<Markup>()}</div>
        <ul class="reasons">{exceptions.collect::<Markup>()}</ul>
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more))}</p> })}
        {none}
    }
}

fn as_csv(known: Known) -> String {
    let now = session().now.get_untracked();
    let rows = known
        .get_untracked()
        .into_iter()
        .map(|(name, grid, closed)| {
            let closed = closed.unwrap_or_default();
            let blocked = closed.blocked_by.as_ref().map(|b| {
                let slot = lake::hours::Slot {
                    day: b.date,
                    hour: b.hour,
                };
                format!("{slot} is {}", b.state.words())
            });
            let needing = grid.map(|grid| grid.attention_total.to_string());
            [
                Some(name.into()),
                closed.up_to.map(|at| at.to_string().into()),
                closed.up_to.map(|at| moment(at, now).into()),
                blocked.map(Into::into),
                needing.map(Into::into),
            ]
        });
    csv(
        &[
            "dataset",
            "closed_up_to",
            "as_read",
            "held_back_by",
            "exceptions_this_month",
        ],
        rows,
    )
}
