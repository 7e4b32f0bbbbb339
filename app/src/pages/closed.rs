//! Up to when each dataset is closed: the manager's page. Nothing can be done on it.

pub mod called_out;
pub mod sentences;

use std::sync::Arc;

use lake::hours::{Day, Slot};
use lake::wire::hours::{ClosedReport, DatasetReport, Fresh, GridReport, HourRow};
use lake::wire::http::DatasetEntry;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, MouseEvent};

use crate::asked::Asked;
use crate::copy::{csv, download};
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{CopyButton, Empty, Facts, Head};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, RwSignal};

use super::hours::exceptions::{state, whose};
use super::hours::grid::{cells_class, column_names, day_name};
use super::hours::runs::{class, runs};
use super::hours::shown::Shown;
use super::hours::summary::{legend, moment, up_to};
use super::hours::whose::{deadline, owner, run_of, slot_of, why};

/// Exceptions of a dataset that are told.
const MOST: usize = 12;

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
            let today = Day::of(session.now.get_untracked());
            let (begin, _) = Shown::now(today, first).days();
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
        move || {
            let (grid, closed) = (grid.ok()?, closed.ok()?);
            Some(up_to(&grid.dataset, &closed, session.now))
        }
    };
    let href = Route::Hours {
        dataset: name.clone(),
    }
    .href();
    let body = grid.show("the hours", move |report| view! { <Month report /> });
    view! {
        <section class="dataset-closed">
            <h2><a href=href>{format::shorten(&entry.name, 80)}</a> <small>{entry.zone}</small></h2>
            <p class="closed-up-to">{line}</p>
            {body}
        </section>
    }
}

/// The month as rows of cells, each the way to its hour and none a way to act, and its exceptions
/// in words.
#[component]
fn Month(report: Arc<GridReport>) -> Markup {
    let session = session();
    let columns = report.days.first().map_or(24, |day| day.states.len());
    let rows = report.days.iter().rev().map(|day| {
        let width = day.states.len().max(1);
        let cells = runs(&day.states, true).into_iter().map(|run| {
            let style = format!("grid-column:{}/span {};--n:{}", run.first + 1, run.length, run.length);
            let sign = run.sign();
            view! { <i class=format!("cell {}", class(run.state)) style=style aria-hidden="true">{sign}</i> }
        });
        let (dataset, date) = (report.dataset.name.clone(), day.date);
        let open = move |event: MouseEvent| {
            if let Some(slot) = slot_at(&event, date, width) {
                let dataset = dataset.clone();
                session.nav.go(Route::Hour { dataset, slot });
            }
        };
        view! {
            <div class="hours-line">
                <span class="day">{day_name(day.date)}</span>
                <div class=cells_class(width) style=format!("--n:{width}") on:click=open><div class="run">{cells.collect::<Markup>()}</div></div>
            </div>
        }
    });
    let exceptions = report.attention.iter().take(MOST).map(|row| {
        let slot = slot_of(row);
        let dataset = report.dataset.name.clone();
        let href = Route::Hour { dataset, slot }.href();
        let whose = whose(&report.dataset, row.state);
        view! { <li>{state(row.state)} <span><a href=href>{slot.to_string()}</a>": "{why(row)}{whose}</span></li> }
    });
    let more = report.attention_total.saturating_sub(MOST as u64);
    let none = (report.attention_total == 0)
        .then(|| view! { <p class="soft">"No exceptions in these days"</p> });
    view! {
        <div class="hours small" aria-hidden="true">
            <div class="hours-head"><span></span><div class="names" style=format!("--n:{columns}")>{column_names(columns)}</div></div>
            {rows.collect::<Markup>()}
        </div>
        <ul class="reasons">{exceptions.collect::<Markup>()}</ul>
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more))}</p> })}
        {none}
    }
}

/// The hour of a day's row that was pressed.
fn slot_at(event: &MouseEvent, day: Day, width: usize) -> Option<Slot> {
    let row = event.current_target()?.dyn_into::<Element>().ok()?;
    let frame = row.get_bounding_client_rect();
    let x = (f64::from(event.client_x()) - frame.left()) / frame.width().max(1.0);
    let hour = (x.clamp(0.0, 1.0) * width as f64) as usize;
    Some(match width {
        1 => Slot::day(day),
        _ => Slot::hour(day, u8::try_from(hour.min(width - 1)).ok()?),
    })
}

/// A line each exception; a dataset without one has one line all the same.
fn as_csv(known: Known) -> String {
    let now = session().now.get_untracked();
    let known = known.get_untracked();
    let rows = known.iter().flat_map(|(name, grid, closed)| {
        let closed = closed.clone().unwrap_or_default();
        let blocked = closed.blocked_by.as_ref().map(|b| {
            let slot = Slot {
                day: b.date,
                hour: b.hour,
            };
            format!("{slot} is {}", b.state.words())
        });
        let needing = grid.as_ref().map(|grid| grid.attention_total.to_string());
        let all = grid.iter().flat_map(|grid| {
            let rows = grid.attention.iter();
            rows.map(move |row| Some((&grid.dataset, row)))
        });
        let mut all: Vec<_> = all.collect();
        if all.is_empty() {
            all.push(Option::None);
        }
        all.into_iter().map(move |exception| {
            let of = |cell: fn(&DatasetReport, &HourRow) -> Option<String>| {
                exception
                    .and_then(|(declared, row)| cell(declared, row))
                    .map(Into::into)
            };
            [
                Some(name.clone().into()),
                closed.up_to.map(|at| at.to_string().into()),
                closed.up_to.map(|at| moment(at, now).into()),
                blocked.clone().map(Into::into),
                needing.clone().map(Into::into),
                of(|_, row| Some(slot_of(row).to_string())),
                of(|_, row| Some(row.state.words().to_owned())),
                of(|_, row| why(row)),
                of(|declared, row| owner(declared, row.state).map(str::to_owned)),
                of(|_, row| run_of(row).map(str::to_owned)),
                of(|declared, row| Some(deadline(declared, slot_of(row)).to_string())),
            ]
        })
    });
    csv(
        &[
            "dataset",
            "closed_up_to",
            "as_read",
            "held_back_by",
            "exceptions_in_these_days",
            "hour",
            "state",
            "why",
            "owner",
            "run",
            "deadline",
        ],
        rows,
    )
}
