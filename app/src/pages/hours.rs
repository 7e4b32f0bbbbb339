//! The hours of a dataset: up to when it is closed, the grid, and what needs a person.

pub mod exceptions;
pub mod grid;
pub mod inputs;
pub mod known;
pub mod picked;
pub mod runs;
pub mod shown;
pub mod summary;
pub mod whose;

use std::sync::Arc;

use lake::hours::{Day, Slot, State};
use lake::table::Time;
use lake::wire::hours::{ClosedReport, Fresh, GridReport};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::copy::{csv, download};
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{CopyButton, Empty, Facts, Head, ShellLine};
use crate::route::Route;
use crate::session::{Session, TableState, session};
use crate::signals::{Callback, Memo, RwSignal, Signal, effect};

use self::exceptions::Exceptions;
use self::grid::Grid;
use self::picked::{Pick, Picked};
use self::shown::Shown;
use self::summary::{ClosedUpTo, Counts};
use self::whose::{deadline, run_of, slot_of, unit, why};

/// How often the open hours are looked at again.
const EVERY: std::time::Duration = std::time::Duration::from_secs(60);

/// A year is read a quarter at a time, newest first.
const PARTS: usize = 4;

/// The hours that the page shows.
#[derive(Clone, Copy)]
pub struct Hours {
    /// Which window.
    pub shown: Memo<Option<Shown>>,
    /// Its parts, newest first.
    pub parts: [Asked<GridReport>; PARTS],
    /// How fresh the next question is to be.
    fresh: RwSignal<Fresh>,
}

impl Hours {
    fn find(session: Session, dataset: String) -> Self {
        let param = session.param("at");
        let today = Memo::new(move |_| session.now.with(|now| Day::of(*now)));
        let first = {
            let dataset = dataset.clone();
            Memo::new(move |_| {
                let lake = session.lake.ok()?;
                lake.datasets.iter().find(|d| d.name == dataset)?.first
            })
        };
        let known = Memo::new(move |_| session.lake.ok().is_some());
        let shown = Memo::new(move |_| {
            let (today, first) = (today.get(), first.get());
            known
                .get()
                .then(|| param.with(|at| Shown::read(at.as_deref(), today, first)))
        });
        let fresh = RwSignal::new(Fresh::Known);
        let part = |i: usize, before: Option<Asked<GridReport>>| {
            let dataset = dataset.clone();
            Asked::new(move |progress| {
                // The first cells come before the rest is asked for.
                if before.is_some_and(|before| before.get().is_none()) {
                    return None;
                }
                let days = *shown.get()?.parts().get(i)?;
                let engine = session.engine().watched(progress);
                let (dataset, fresh) = (dataset.clone(), fresh.get_untracked());
                Some(async move { engine.hours(dataset, days.0, days.1, fresh).await })
            })
        };
        let first = part(0, None);
        let second = part(1, Some(first));
        let third = part(2, Some(second));
        let fourth = part(3, Some(third));
        Self {
            shown,
            parts: [first, second, third, fourth],
            fresh,
        }
    }

    /// What has come, newest part first.
    pub fn come(self) -> Vec<Arc<GridReport>> {
        let parts = self
            .shown
            .with(|s| s.as_ref().map_or(0, |s| s.parts().len()));
        self.parts
            .into_iter()
            .take(parts)
            .map_while(Asked::ok)
            .collect()
    }

    /// Asks again: the open hours, or everything.
    pub fn again(self, fresh: Fresh) {
        self.fresh.set(fresh);
        let parts = self
            .shown
            .with_untracked(|s| s.as_ref().map_or(1, |s| s.parts().len()));
        // Nothing changes in a part of the past but what a person asks for.
        let asked = if fresh == Fresh::Again { parts } else { 1 };
        for part in self.parts.into_iter().take(asked) {
            part.again();
        }
    }
}

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let dataset = session
        .route
        .with_untracked(|r| r.dataset().unwrap_or_default().to_owned());
    let hours = Hours::find(session, dataset.clone());
    let [newest, ..] = hours.parts;
    let refresh = set_interval_with_handle(
        move || {
            if !document().hidden() && !newest.pending() {
                hours.again(Fresh::Refresh);
            }
        },
        EVERY,
    );
    on_cleanup(move || {
        if let Ok(refresh) = refresh {
            refresh.clear();
        }
    });
    let closed = closed(session, &dataset, newest);
    note_state(session, &dataset, newest);
    let title = Signal::stored(dataset.clone());
    let window_title = Signal::stored(format!("{dataset} · hours"));
    let facts = move || newest.ok().map(|report| facts(&report));
    let link = Callback::new(|()| window().location().href().unwrap_or_default());
    let print = |_| drop(window().print());
    let save = {
        let name = format!("{}-hours.csv", dataset.replace(['/', ' '], "-"));
        move |_| download(&name, CSV, &as_csv(&hours.come(), None))
    };
    let body = newest.show("the hours", {
        let dataset = dataset.clone();
        move |report| view! { <Body hours report dataset=dataset.clone() closed /> }
    });
    view! {
        <Head title window_title facts>
            <CopyButton label="Copy link" done="Link copied" text=link />
            <button type="button" class="btn small" on:click=print>"Print"</button>
            <button type="button" class="btn small" on:click=save>"CSV"</button>
        </Head>
        <Tabs dataset />
        {body}
    }
}

#[component]
fn Body(
    hours: Hours,
    report: Arc<GridReport>,
    dataset: String,
    closed: Memo<Option<ClosedReport>>,
) -> Markup {
    let declared = Arc::new(report.dataset.clone());
    let days = Memo::new(move |_| {
        hours
            .come()
            .iter()
            .map(|part| part.days.len())
            .sum::<usize>()
    });
    let command = {
        let dataset = dataset.clone();
        Signal::derive(move || {
            let shown = hours.shown.get();
            let (from, to) = shown
                .map(|s| s.days())
                .unwrap_or((Day::of(Time(0)), Day::of(Time(0))));
            crate::copy::shell(&[
                "tidemark",
                "hours",
                &dataset,
                "--from",
                &from.to_string(),
                "--to",
                &to.to_string(),
            ])
        })
    };
    let expected = Arc::clone(&declared);
    let none = move || {
        (days.get() == 0).then(|| view! {
            <Empty title=format!("No {}s in this window", unit(&expected))>
                <p class="soft">"Nothing is expected before the dataset's first day, and later days have not begun."</p>
            </Empty>
        })
    };
    view! {
        <ClosedUpTo declared=Arc::clone(&declared) closed />
        <Counts hours dataset=dataset.clone() />
        {none}
        <Grid hours dataset=dataset.clone() />
        <Picked hours dataset=dataset.clone() />
        <Exceptions hours declared closed />
        <div class="no-print">
            <h2>"The same from a shell"</h2>
            <ShellLine command />
        </div>
    }
}

/// Hours, Layout of the dataset at hand.
#[component]
pub fn Tabs(dataset: String) -> Markup {
    let session = session();
    let on = move |here: fn(&Route) -> bool| move || session.route.with(here).then_some("page");
    let hours = Route::Hours {
        dataset: dataset.clone(),
    }
    .href();
    let layout = Route::DatasetLayout { dataset }.href();
    let of_hours = |route: &Route| matches!(route, Route::Hours { .. } | Route::Hour { .. });
    view! {
        <nav class="tabs" aria-label="Pages of the dataset">
            <a href=hours aria-current=on(of_hours)>"Hours"</a>
            <a href=layout aria-current=on(|route| matches!(route, Route::DatasetLayout { .. }))>"Layout"</a>
        </nav>
    }
}

/// What is declared, in a line.
pub fn facts(report: &GridReport) -> Markup {
    let dataset = &report.dataset;
    let expects = match (dataset.every_hour, dataset.partition.len()) {
        (true, 2) => "expects every hour",
        (true, _) => "expects every day",
        (false, _) => "expects what comes",
    };
    let unit = unit(dataset);
    let grace = format::duration(dataset.grace.max(0) as u64);
    let facts = [
        dataset.zone.clone(),
        dataset.partition.join(", "),
        expects.to_owned(),
        format!("closes {grace} after the {unit}"),
    ];
    let facts = facts
        .into_iter()
        .map(|fact| view! { {format::shorten(&fact, 80)} });
    let facts: Vec<Markup> = facts.collect();
    view! { <Facts facts /> }
}

/// Up to when the dataset is closed; asked for by itself where the window does not tell.
fn closed(
    session: Session,
    dataset: &str,
    newest: Asked<GridReport>,
) -> Memo<Option<ClosedReport>> {
    let dataset = dataset.to_owned();
    let unread = Memo::new(move |_| newest.ok().is_some_and(|r| r.closed.unread.is_some()));
    let asked = Asked::new(move |progress| {
        if !unread.get() {
            return None;
        }
        let (engine, dataset) = (session.engine().watched(progress), dataset.clone());
        Some(async move { engine.closed(dataset).await })
    });
    Memo::new(move |_| {
        let own = newest.ok()?.closed.clone();
        match own.unread {
            None => Some(own),
            Some(_) => Some(asked.ok().map_or(own, |found| found.as_ref().clone())),
        }
    })
}

/// Tells the rail. Hours of long ago say nothing of how the dataset is, and what was seen to need a
/// person over many days is not taken back over few.
pub fn note_state(session: Session, dataset: &str, newest: Asked<GridReport>) {
    let dataset = dataset.to_owned();
    let known = session.states.of(&dataset);
    let past = |report: &GridReport| report.to < Day::of(report.now);
    let few = |report: &GridReport| report.to.since(report.from) < 7;
    effect(move || {
        let state = match newest.get() {
            None => return,
            Some(Err(_)) => TableState::Broken,
            Some(Ok(report)) => {
                let worst = session
                    .lake
                    .ok()
                    .map_or(State::Late, |lake| lake.attention.hour);
                match report.counts.iter().any(|(state, _)| *state <= worst) {
                    true => TableState::Attention,
                    false if past(&report) => return,
                    false if few(&report) && known.get_untracked() == TableState::Attention => {
                        return;
                    }
                    false => TableState::Calm,
                }
            }
        };
        session.states.note(&dataset, state);
    });
}

/// What CSV is called.
pub const CSV: &str = "text/csv;charset=utf-8";

/// Every hour of the window, or of what is selected of it, oldest first. Why, whose and which run is
/// said of those that need a person.
pub fn as_csv(parts: &[Arc<GridReport>], pick: Option<&Pick>) -> String {
    let days = parts
        .iter()
        .rev()
        .flat_map(|part| part.days.iter().map(move |day| (part, day)));
    let rows = days.flat_map(|(part, day)| {
        let width = day.states.len();
        let inside = match pick {
            None => Some((0, width)),
            Some(pick) => pick.hours_of(day.date, width),
        };
        let (first, length) = inside.unwrap_or_default();
        let letters = day.states.chars().enumerate().skip(first).take(length);
        letters.map(move |(i, letter)| {
            let hour = u8::try_from(i).ok().filter(|_| width > 1);
            let slot = Slot {
                day: day.date,
                hour,
            };
            let row = part.attention.iter().find(|row| slot_of(row) == slot);
            let state = State::of_letter(letter);
            let figure = |all: &[u64]| all.get(i).map(|n| n.to_string().into());
            let remark = || {
                let remark = day.remark(i)?.words();
                Some(format::capital(remark))
            };
            [
                Some(day.date.to_string().into()),
                hour.map(|hour| hour.to_string().into()),
                state.map(|state| state.words().into()),
                figure(&day.objects),
                figure(&day.bytes),
                day.listed_at.map(|at| at.to_string().into()),
                row.and_then(why).or_else(remark).map(Into::into),
                row.and_then(|row| row.owner.clone()).map(Into::into),
                row.and_then(run_of).map(|run| run.to_owned().into()),
                Some(deadline(&part.dataset, slot).to_string().into()),
            ]
        })
    });
    csv(
        &[
            "date",
            "hour",
            "state",
            "objects",
            "bytes",
            "listed_at",
            "why",
            "owner",
            "run",
            "deadline",
        ],
        rows,
    )
}
