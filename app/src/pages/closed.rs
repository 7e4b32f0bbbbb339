//! Up to when each dataset is closed: the manager's page. Nothing can be done on it.

pub mod called_out;
pub mod sentences;

use std::sync::Arc;

use lake::hours::{Day, Slot, State};
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
use crate::signals::{Callback, Memo, RwSignal};

use super::hours::exceptions::{holds, how, whose, words};
use super::hours::grid::{cells_class, column_names, day_name, remarks};
use super::hours::inputs::{Unclosed, named, unclosed};
use super::hours::runs::{class, runs};
use super::hours::shown::Shown;
use super::hours::summary::{legend, up_to};
use super::hours::whose::{deadline, run_of, slot_of, why};

/// Exceptions of a dataset that are told.
const MOST: usize = 12;

/// What is known of the datasets, in the configuration's order: for the export.
type Known = RwSignal<Vec<Come>>;

/// What has come of a dataset of this name.
type Come = (String, Option<Arc<GridReport>>, Option<ClosedReport>);

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
        view! { {legend()} {all.collect::<Markup>()} }
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
    let body = grid.show(
        "the hours",
        move |report| view! { <Month report known closed /> },
    );
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
fn Month(report: Arc<GridReport>, known: Known, closed: Asked<ClosedReport>) -> Markup {
    let session = session();
    let columns = report.days.first().map_or(24, |day| day.states.len());
    let rows = report.days.iter().rev().map(|day| {
        let width = day.states.len().max(1);
        let cells = runs(&day.states, true).into_iter().map(|run| {
            let style = format!("grid-column:{}/span {};--n:{}", run.first + 1, run.length, run.length);
            let sign = run.sign();
            view! { <i class=format!("cell {}", class(run.state)) style=style aria-hidden="true">{sign}</i> }
        });
        let remarks = remarks(day);
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
                <div class=cells_class(width) style=format!("--n:{width}") on:click=open><div class="run">{cells.collect::<Markup>()}</div>{remarks}</div>
            </div>
        }
    });
    let exceptions = {
        let report = Arc::clone(&report);
        let closed = Memo::new(move |_| closed.ok().map(|closed| closed.as_ref().clone()));
        Markup::live(move || {
            let holds = holds(&closed);
            let rows = report.attention.iter().take(MOST);
            let lines = rows.map(|row| exception(&report.dataset, row, holds(row), known));
            view! { <ul class="reasons">{lines.collect::<Markup>()}</ul> }
        })
    };
    let more = report.attention_total.saturating_sub(MOST as u64);
    let none = (report.attention_total == 0)
        .then(|| view! { <p class="soft">"No exceptions in these days"</p> });
    view! {
        <div class="hours small" aria-hidden="true">
            <div class="hours-head"><span></span><div class="names" style=format!("--n:{columns}")>{column_names(columns)}</div></div>
            {rows.collect::<Markup>()}
        </div>
        {exceptions}
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more", format::count(more))}</p> })}
        {none}
    }
}

/// An hour that needs a person, why, and whose it is; one that only waits is nobody's here.
fn exception(declared: &DatasetReport, row: &HourRow, holds: bool, known: Known) -> Markup {
    let slot = slot_of(row);
    let dataset = declared.name.clone();
    let href = Route::Hour { dataset, slot }.href();
    let waits = known.with(|known| waits(declared, row, known));
    let whose = waits.is_none().then(|| whose(row));
    let waits = waits.map(|input| view! { ". Waits for " {named(&input)} });
    let holds = holds.then_some("holds the rest back. ");
    view! { <li>{how(row)} <span><a href=href>{slot.to_string()}</a>": "{holds}{why(row)}{whose}{waits}</span></li> }
}

/// What a late hour waits for in what its dataset is built from, as far as that has come.
fn waits(declared: &DatasetReport, row: &HourRow, known: &[Come]) -> Option<Unclosed> {
    let late = row.state == State::Late;
    declared.reads.iter().filter(|_| late).find_map(|input| {
        let (_, grid, _) = known.iter().find(|(name, ..)| name == input)?;
        unclosed(input, &grid.as_ref()?.days, slot_of(row))
    })
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
        let all = grid.iter().flat_map(|grid| {
            let rows = grid.attention.iter();
            rows.map(move |row| Some((&grid.dataset, row)))
        });
        let mut all: Vec<_> = all.collect();
        if all.is_empty() {
            all.push(Option::None);
        }
        let known = &known;
        all.into_iter().map(move |exception| {
            let of = |cell: &dyn Fn(&DatasetReport, &HourRow) -> Option<String>| {
                exception
                    .and_then(|(declared, row)| cell(declared, row))
                    .map(Into::into)
            };
            let of_grid =
                |cell: fn(&GridReport) -> String| grid.as_ref().map(|grid| cell(grid).into());
            [
                Some(name.clone().into()),
                of_grid(|grid| grid.dataset.zone.clone()),
                Some(now.to_string().into()),
                closed.up_to.map(|at| at.to_string().into()),
                blocked.clone().map(Into::into),
                of_grid(|grid| grid.from.to_string()),
                of_grid(|grid| grid.to.to_string()),
                of_grid(|grid| grid.attention_total.to_string()),
                of(&|_, row| Some(row.date.to_string())),
                of(&|_, row| row.hour.map(|hour| hour.to_string())),
                of(&|_, row| Some(words(row))),
                of(&|_, row| why(row)),
                of(&|declared, row| {
                    let input = waits(declared, row, known)?;
                    Some(format!("{} {}", input.dataset, input.slot))
                }),
                of(&|_, row| row.owner.clone()),
                of(&|_, row| run_of(row).map(str::to_owned)),
                of(&|declared, row| Some(deadline(declared, slot_of(row)).to_string())),
            ]
        })
    });
    csv(
        &[
            "dataset",
            "zone",
            "read_at",
            "closed_up_to",
            "held_back_by",
            "from",
            "to",
            "exceptions",
            "date",
            "hour",
            "state",
            "why",
            "waits_for",
            "owner",
            "run",
            "deadline",
        ],
        rows,
    )
}
