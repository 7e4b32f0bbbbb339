//! Up to when, and how many hours are how.

use lake::hours::State;
use lake::table::Time;
use lake::wire::hours::{Blocked, ClosedReport};
use leptos::prelude::*;

use crate::format;
use crate::markup::{Markup, view};
use crate::route::{Query, Route};
use crate::session::session;
use crate::signals::{Memo, RwSignal};

use super::Hours;
use super::runs::{class, glyph};

/// The one line that a manager reads: up to when, and what holds it back.
#[component]
pub fn ClosedUpTo(dataset: String, closed: Memo<Option<ClosedReport>>) -> Markup {
    let now = session().now;
    let line = move || {
        let closed = closed.get()?;
        Some(up_to(&dataset, &closed, now))
    };
    view! { <p class="closed-up-to">{line}</p> }
}

/// The sentence of one dataset.
pub fn up_to(dataset: &str, closed: &ClosedReport, now: RwSignal<Time>) -> Markup {
    if let Some(why) = &closed.unknown {
        return view! { <span class="soft">{format::capital(&format::visible(why))}</span> };
    }
    if let Some((from, to)) = closed.unread {
        return view! {
            <span class="soft" role="status">{format!("Closed up to: reading the days from {from} to {to}…")}</span>
        };
    }
    let blocked = closed.blocked_by.as_ref().map(|blocked| {
        let open = blocked.state == State::Open || blocked.state == State::Future;
        let text = format!(
            "{} is {}",
            place(blocked, closed.up_to),
            blocked.state.words()
        );
        let href = hour(dataset, blocked).href();
        let behind = closed.up_to.map(|up_to| {
            move || {
                let late = now.get().0.saturating_sub(up_to.0);
                (late > 0).then(|| format!("{} behind: ", format::duration(late as u64)))
            }
        });
        let behind = behind.map(|behind| view! { {behind} });
        match open {
            true => view! { <span class="soft">{behind}<a href=href>{text}</a></span> },
            false => view! { <span class="soft">{behind}<a class="go" href=href>{text}</a></span> },
        }
    });
    match closed.up_to {
        Some(up_to) => view! {
            <span class="soft">"Closed up to"</span>
            <b title=format::utc(up_to)>{moment(up_to, now.get_untracked())}</b>
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

fn hour(dataset: &str, blocked: &Blocked) -> Route {
    let slot = lake::hours::Slot {
        day: blocked.date,
        hour: blocked.hour,
    };
    Route::Hour {
        dataset: dataset.to_owned(),
        slot,
    }
}

/// The window, its counts, and the way to others.
#[component]
pub fn Counts(hours: Hours, dataset: String) -> Markup {
    let session = session();
    let counts = move || {
        let mut all = std::collections::BTreeMap::<State, u64>::new();
        for part in hours.come() {
            for (state, count) in &part.counts {
                *all.entry(*state).or_default() += count;
            }
        }
        let total = all.values().sum::<u64>();
        let mut order = vec![State::Closed, State::OverBudget];
        order.extend(
            State::ALL
                .into_iter()
                .filter(|s| !s.is_closed() && *s != State::Future),
        );
        let parts = order.into_iter().filter_map(|state| {
            let count = all.get(&state)?;
            Some(format!("{} {}", format::count(*count), state.words()))
        });
        let listed = parts.collect::<Vec<_>>().join(", ");
        format!("{}: {listed}", format::counted(total, "hour"))
    };
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
    let _ = session;
    view! {
        <h2 class="window">
            {move || hours.shown.get().map(|shown| shown.name())}
            <small>{counts}</small>
            {reading}
            <span class="end acts">{ways}</span>
        </h2>
    }
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
    view! { <ul class="hours-legend">{items.collect::<Markup>()}</ul> }
}
