//! One hour: how it stands, the evidence for each thing that is said of it, and what to do.

pub mod act;
pub mod around;
pub mod aside;
pub mod evidence;
pub mod objects;
pub mod offers;
pub mod outcome;

use std::sync::Arc;

use lake::hours::{Slot, State};
use lake::plan::Applied;
use lake::wire::hours::{Fresh, HourReport};
use leptos::prelude::*;

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::{CopyButton, Facts, Head, When};
use crate::route::Route;
use crate::session::session;
use crate::signals::{Callback, Memo, RwSignal, Signal, effect};

use super::hours::Tabs;
use super::hours::grid::day_name;
use super::hours::runs::{class, glyph};

use self::act::Acts;
use self::around::Held;
use self::aside::Aside;
use self::evidence::Evidence;
use self::objects::{Objects, Runs};
use self::outcome::Told;

/// The page.
#[component]
pub fn Page() -> Markup {
    let session = session();
    let dataset = session
        .route
        .with_untracked(|r| r.dataset().unwrap_or_default().to_owned());
    let slot = Memo::new(move |before: Option<&Slot>| {
        let here = session.route.with(|route| match route {
            Route::Hour { slot, .. } => Some(*slot),
            _ => None,
        });
        // The page is about to go where the address names another.
        here.or(before.copied())
            .unwrap_or(Slot::day(lake::hours::Day::of(lake::table::Time(0))))
    });
    let fresh = RwSignal::new(Fresh::Refresh);
    let report = {
        let dataset = dataset.clone();
        Asked::new(move |progress| {
            let (engine, dataset) = (session.engine().watched(progress), dataset.clone());
            let (slot, fresh) = (slot.get(), fresh.get_untracked());
            Some(async move { engine.hour(dataset, slot, fresh).await })
        })
    };
    let title = Signal::derive(move || title(slot.get()));
    let window_title = {
        let dataset = dataset.clone();
        Signal::derive(move || format!("{dataset} · {}", slot.get()))
    };
    let facts = {
        let dataset = dataset.clone();
        move || {
            let href = Route::Hours {
                dataset: dataset.clone(),
            }
            .href();
            let listed = report.ok().and_then(|report| report.row.listed_at);
            let mut facts = vec![view! { <a href=href>{dataset.clone()}</a> }];
            facts.extend(listed.map(|at| view! { "listed " <When at=Some(at) /> }));
            view! { <Facts facts /> }
        }
    };
    let neighbour = {
        let dataset = dataset.clone();
        move |to: fn(Slot) -> Slot, name: &'static str, rel: &'static str| {
            let dataset = dataset.clone();
            let href = move || {
                Route::Hour {
                    dataset: dataset.clone(),
                    slot: to(slot.get()),
                }
                .href()
            };
            view! { <a class="btn small" href=href rel=rel>{name}</a> }
        }
    };
    let before = neighbour(before, "‹ Before", "prev");
    let after = neighbour(after, "After ›", "next");
    let again = move |_| {
        fresh.set(Fresh::Again);
        report.again();
    };
    // What was done belongs to its hour, until something else is begun there.
    let outcome = RwSignal::new(None::<Applied>);
    let act = session.param("act");
    effect(move || {
        slot.track();
        outcome.set(None);
    });
    effect(move || {
        if act.get().is_some() {
            outcome.set(None);
        }
    });
    let told = Callback::new(move |applied| {
        outcome.set(Some(applied));
        session.nav.set("act", None::<&str>);
        fresh.set(Fresh::Again);
        report.again();
    });
    let link = Callback::new(|()| window().location().href().unwrap_or_default());
    let body = report.show("the hour", {
        let dataset = dataset.clone();
        move |report| view! { <Body dataset=dataset.clone() report told /> }
    });
    view! {
        <Head title window_title facts>
            {before}
            {after}
            <button type="button" class="btn small" on:click=again>"List again now"</button>
            <CopyButton label="Copy link" done="Link copied" text=link />
        </Head>
        <Tabs dataset />
        <Told told=outcome />
        {body}
    }
}

/// `Tue 10 Nov 2026, 08:00 – 09:00 UTC`
fn title(slot: Slot) -> String {
    let (year, ..) = slot.day.date();
    match slot.hour {
        Some(hour) => format!(
            "{} {year}, {hour:02}:00 – {:02}:00 UTC",
            day_name(slot.day),
            hour + 1
        ),
        None => format!("{} {year}, UTC", day_name(slot.day)),
    }
}

fn before(slot: Slot) -> Slot {
    match slot.hour {
        Some(0) => Slot::hour(slot.day.plus(-1), 23),
        Some(hour) => Slot::hour(slot.day, hour - 1),
        None => Slot::day(slot.day.plus(-1)),
    }
}

fn after(slot: Slot) -> Slot {
    match slot.hour {
        Some(23..) => Slot::hour(slot.day.plus(1), 0),
        Some(hour) => Slot::hour(slot.day, hour + 1),
        None => Slot::day(slot.day.plus(1)),
    }
}

#[component]
fn Body(dataset: String, report: Arc<HourReport>, told: Callback<Applied>) -> Markup {
    view! {
        <Verdict report=Arc::clone(&report) />
        <Held report=Arc::clone(&report) />
        <div class="columns hour-columns">
            <aside class="hour-acts" aria-label="What to do">
                <Acts dataset=dataset.clone() report=Arc::clone(&report) told />
            </aside>
            <div class="hour-evidence">
                <Evidence report=Arc::clone(&report) />
                <Runs report=Arc::clone(&report) />
                <Objects report=Arc::clone(&report) />
            </div>
            <aside class="hour-more" aria-label="For readers">
                <Aside dataset report />
            </aside>
        </div>
    }
}

/// The state in a word and the first reason in a sentence.
#[component]
fn Verdict(report: Arc<HourReport>) -> Markup {
    let state = report.row.state;
    let first = report.row.reasons.first();
    let key = first.and_then(|reason| evidence::key(&report, reason));
    let said = match (first, state, &report.closed_by) {
        (Some(reason), ..) => reason.message.clone(),
        (None, State::Closed, closed_by) => {
            let objects = format::counted(report.row.objects, "object");
            let bytes = format::bytes(report.row.bytes);
            match closed_by {
                Some((key, put)) => {
                    let name = key.rsplit('/').next().unwrap_or(key);
                    let put = format::minute(*put, report.now);
                    format!(
                        "{objects}, {bytes}: closed by {name}, which another publisher put {put} UTC"
                    )
                }
                None => format!("{objects}, {bytes}: marker and listing agree"),
            }
        }
        _ => String::new(),
    };
    let word = format::capital(state.words());
    view! {
        <p class=format!("verdict hour-verdict is-{}", class(state))>
            <i class=format!("cell {}", class(state)) aria-hidden="true">{glyph(state)}</i>
            <b>{word}"."</b>" "{format::capital(&format::visible(&said))}
        </p>
        {key}
        {replay(&report)}
    }
}

/// Until when an hour that is wrong can be had anew.
fn replay(report: &HourReport) -> Option<Markup> {
    let until = report
        .replay_until
        .filter(|_| report.row.state < State::Late)?;
    let at = format::minute_with_year(until);
    let text = match until < report.now {
        true => {
            format!("The topic could be replayed until {at} UTC: these objects are the last copy")
        }
        false => format!("The topic can be replayed until {at} UTC"),
    };
    Some(view! { <p class="note warning"><span>{text}</span></p> })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_follow_each_other() {
        let day: lake::hours::Day = "2026-11-10".parse().unwrap();
        assert_eq!(
            title(Slot::hour(day, 8)),
            "Tue 10 Nov 2026, 08:00 – 09:00 UTC"
        );
        assert_eq!(title(Slot::day(day)), "Tue 10 Nov 2026, UTC");
        assert_eq!(before(Slot::hour(day, 0)), Slot::hour(day.plus(-1), 23));
        assert_eq!(after(Slot::hour(day, 23)), Slot::hour(day.plus(1), 0));
        assert_eq!(after(Slot::day(day)), Slot::day(day.plus(1)));
    }
}
