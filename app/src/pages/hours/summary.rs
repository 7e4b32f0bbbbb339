//! Up to when, and how many hours are how.

use std::sync::Arc;

use lake::hours::{Remark, Slot, State};
use lake::table::Time;
use lake::wire::hours::{Blocked, ClosedReport, DatasetReport, GridReport};
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::{Memo, RwSignal};

use super::Hours;
use super::runs::{class, glyph, remark_sign};
use super::whose::{counted, deadline};

/// The one line that a manager reads: up to when, and what holds it back.
#[component]
pub fn ClosedUpTo(declared: Arc<DatasetReport>, closed: Memo<Option<ClosedReport>>) -> Markup {
    let now = session().now;
    let line = move || {
        let closed = closed.get()?;
        Some(up_to(&declared, &closed, now))
    };
    view! { <p class="closed-up-to">{line}</p> }
}

/// The sentence of one dataset. An hour that is open is not behind: it has until its deadline.
pub fn up_to(declared: &DatasetReport, closed: &ClosedReport, now: RwSignal<Time>) -> Markup {
    if let Some(why) = &closed.unknown {
        return view! { <span class="soft">{format::capital(&format::visible(why))}</span> };
    }
    if let Some((from, to)) = closed.unread {
        return view! {
            <span class="soft" role="status">{format!("Closed up to: reading the days from {from} to {to}…")}</span>
        };
    }
    let blocked = closed.blocked_by.as_ref().map(|blocked| {
        let slot = Slot {
            day: blocked.date,
            hour: blocked.hour,
        };
        let text = format!(
            "{} is {}",
            place(blocked, closed.up_to),
            blocked.state.words()
        );
        let dataset = declared.name.clone();
        let href = Route::Hour { dataset, slot }.href();
        if matches!(blocked.state, State::Open | State::Future) {
            let due = moment(deadline(declared, slot), now.get_untracked());
            return view! { <span class="soft">"On time: "<a href=href>{text}</a>{format!(", due by {due}")}</span> };
        }
        let behind = closed.up_to.map(|up_to| {
            move || {
                let late = now.get().0.saturating_sub(up_to.0);
                (late > 0).then(|| format!("{} behind: ", format::duration(late as u64)))
            }
        });
        let behind = behind.map(|behind| view! { {behind} });
        view! { <span class="soft">{behind}<a class="go" href=href>{text}</a></span> }
    });
    let on_paper = |up_to| format!("{} UTC", format::minute_with_year(up_to));
    match closed.up_to {
        Some(up_to) => view! {
            <span class="soft">"Closed up to"</span>
            <b class="exact" title=format::utc(up_to) data-at=on_paper(up_to)>{moment(up_to, now.get_untracked())}</b>
            {blocked}
        },
        None => view! { <b>"Nothing is closed yet"</b> {blocked} },
    }
}

/// `10 Nov 08:00 UTC`
pub fn moment(time: Time, now: Time) -> String {
    format!("{} UTC", format::minute(time, now))
}

/// The hour that blocks: its clock alone where the day is that of `up_to`.
fn place(blocked: &Blocked, up_to: Option<Time>) -> String {
    let same = up_to.is_some_and(|time| lake::hours::Day::of(time) == blocked.date);
    match blocked.hour {
        Some(hour) if same => format!("{hour:02}:00"),
        Some(hour) => format!("{} {hour:02}:00", blocked.date),
        None => blocked.date.to_string(),
    }
}

/// The window, its counts, and the way to others.
#[component]
pub fn Counts(hours: Hours, dataset: String) -> Markup {
    let counts = move || counts(&hours.come());
    let reading = move || {
        let parts = hours
            .shown
            .with(|s| s.as_ref().map_or(0, |s| s.parts().len()));
        let come = hours.come().len();
        (come < parts).then(|| view! {
            <span class="soft s" role="status">{format!("reading: {come} of {parts} quarters")}</span>
        })
    };
    let to = move |shown: super::Shown| {
        let query = Query::default().with("at", shown.param());
        Route::Hours {
            dataset: dataset.clone(),
        }
        .with(query)
        .href()
    };
    let ways =
        move || {
            let shown = hours.shown.get()?;
            let to = to.clone();
            let before = shown.before();
            let back = shown.has_before().then(|| view! {
            <a class="btn small" href=to(before) rel="prev">{format!("‹ {}", before.name())}</a>
        });
            let forth = shown.after().map(|after| view! {
            <a class="btn small" href=to(after) rel="next">{format!("{} ›", after.name())}</a>
        });
            let other = if shown.is_month() { "Year" } else { "Month" };
            Some(view! { {back} {forth} <a class="btn small" href=to(shown.other())>{other}</a> })
        };
    view! {
        <h2 class="window">
            {move || hours.shown.get().map(|shown| shown.name())}
            <small>{counts}</small>
            {reading}
            <span class="end acts">{ways}</span>
        </h2>
    }
}

/// `84 hours: 70 closed, 14 empty (2 declared), 12 to come`; those before the dataset's first day
/// are none of it.
fn counts(parts: &[Arc<GridReport>]) -> String {
    let mut all = std::collections::BTreeMap::<State, u64>::new();
    let mut hourly = true;
    for part in parts {
        hourly = part.dataset.partition.len() > 1;
        let first = part.dataset.first;
        let days = part.days.iter();
        let days = days.filter(|day| first.is_none_or(|first| day.date >= first));
        for state in days.flat_map(|day| day.states.chars().filter_map(State::of_letter)) {
            *all.entry(state).or_default() += 1;
        }
    }
    if all.is_empty() {
        return match parts.first().and_then(|part| part.dataset.first) {
            Some(first) => format!("nothing was expected before {first}"),
            None => String::new(),
        };
    }
    let declared: u64 = parts.iter().map(|part| part.declared_empty).sum();
    let total: u64 = all.values().sum();
    let mut order = vec![State::Closed, State::OverBudget];
    let others = State::ALL.into_iter();
    order.extend(others.filter(|s| !s.is_closed() && *s != State::Future));
    order.push(State::Future);
    let words = order.into_iter().filter_map(|state| {
        let count = format::count(*all.get(&state)?);
        Some(match state {
            State::Future => format!("{count} to come"),
            State::Empty if declared > 0 => {
                format!("{count} empty ({} declared)", format::count(declared))
            }
            state => format!("{count} {}", state.words()),
        })
    });
    let words = words.collect::<Vec<_>>().join(", ");
    format!("{}: {words}", counted(total, hourly))
}

/// The signs and what they mean.
pub fn legend() -> Markup {
    let order = [
        State::Closed,
        State::OverBudget,
        State::Open,
        State::Late,
        State::Incomplete,
        State::Racing,
        State::Mutated,
        State::Lost,
        State::Invalid,
        State::Future,
        State::Empty,
    ];
    let items = order.into_iter().map(|state| view! {
        <li><i class=format!("cell {}", class(state)) aria-hidden="true">{glyph(state)}</i> {state.words()}</li>
    });
    let remarks = Remark::ALL.into_iter().map(|remark| view! {
        <li><i class="cell closed" aria-hidden="true"><u>{remark_sign(remark)}</u></i> {format!("closed, {}", remark.words())}</li>
    });
    view! { <ul class="hours-legend">{items.collect::<Markup>()}{remarks.collect::<Markup>()}</ul> }
}
