//! A selection of hours, which the address carries, and what can be done with it.

use std::fmt;
use std::str::FromStr;

use lake::hours::{Day, Slot, State};
use lake::wire::hours::{Fresh, GridDay, HourRow};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::copy::{download, shell};
use crate::format;
use crate::markup::{Markup, view};
use crate::parts::ShellLine;
use crate::route::{Query, Route};
use crate::session::{Session, session};
use crate::signals::{Memo, RwSignal, Signal};

use super::exceptions::state;
use super::whose::{counted, slot_of};
use super::{CSV, Hours, as_csv};

/// Hours of a selection whose acts are listed.
const ACTS: usize = 12;

/// Hours next to each other in time, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    first: Slot,
    last: Slot,
}

/// What the address selects.
pub fn pick(session: Session) -> Memo<Option<Pick>> {
    Memo::new(move |_| session.query.with(|query| query.read("sel")))
}

impl Pick {
    /// The hours from one to another, in either order.
    pub fn new(a: Slot, b: Slot) -> Self {
        Self {
            first: a.min(b),
            last: a.max(b),
        }
    }

    /// The end that stays where `moving` is the other one.
    pub fn anchor(&self, moving: Option<Slot>) -> Option<Slot> {
        match moving {
            Some(slot) if slot == self.first => Some(self.last),
            Some(slot) if slot == self.last => Some(self.first),
            _ => None,
        }
    }

    /// First hour and how many hours of a day of `width` hours.
    pub fn hours_of(&self, day: Day, width: usize) -> Option<(usize, usize)> {
        if day < self.first.day || day > self.last.day || width == 0 {
            return None;
        }
        let of = |slot: Slot, other: usize| {
            if slot.day == day {
                slot.hour.map_or(other, usize::from).min(width - 1)
            } else {
                other
            }
        };
        let (first, last) = (of(self.first, 0), of(self.last, width - 1));
        Some((first, last - first + 1))
    }

    /// Whether an hour is in it.
    pub fn holds(&self, slot: Slot) -> bool {
        self.hours_of(slot.day, if slot.hour.is_some() { 24 } else { 1 })
            .is_some_and(|(first, length)| {
                let hour = slot.hour.map_or(0, usize::from);
                (first..first + length).contains(&hour)
            })
    }

    /// The days it touches.
    pub fn days(&self) -> (Day, Day) {
        (self.first.day, self.last.day)
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |slot: Slot| match slot.hour {
            Some(hour) => format!("{}T{hour:02}", slot.day),
            None => slot.day.to_string(),
        };
        write!(f, "{}..{}", one(self.first), one(self.last))
    }
}

impl FromStr for Pick {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let slot = |text: &str| -> Option<Slot> {
            let Some((day, hour)) = text.split_once('T') else {
                return Some(Slot::day(text.parse().ok()?));
            };
            let hour = hour
                .parse::<u8>()
                .ok()
                .filter(|h| *h < 24 && hour.len() == 2)?;
            Some(Slot::hour(day.parse().ok()?, hour))
        };
        let (a, b) = text.split_once("..").unwrap_or((text, text));
        let (a, b) = (slot(a).ok_or(())?, slot(b).ok_or(())?);
        // One end by the day and one by the hour is no range of either.
        if a.hour.is_some() == b.hour.is_some() {
            Ok(Self::new(a, b))
        } else {
            Err(())
        }
    }
}

/// The selected hours: how they are, and what can be done with them.
#[component]
pub fn Picked(hours: Hours, dataset: String) -> Markup {
    let session = session();
    let pick = pick(session);
    let listing = RwSignal::new(false);
    let shown = move || {
        let pick = pick.get()?;
        let parts = hours.come();
        let days: Vec<&GridDay> = parts.iter().flat_map(|part| &part.days).collect();
        let attention = parts.iter().flat_map(|part| &part.attention);
        let inside = attention.filter(|row| pick.holds(slot_of(row)));
        let rows = inside.cloned().collect::<Vec<_>>();
        let counts = counts(&pick, &days);
        Some(view! { <Selection hours pick counts rows dataset=dataset.clone() listing /> })
    };
    view! { <div aria-live="polite">{shown}</div> }
}

fn counts(pick: &Pick, days: &[&GridDay]) -> Vec<(State, u64)> {
    let mut all = std::collections::BTreeMap::<State, u64>::new();
    for day in days {
        let Some((first, length)) = pick.hours_of(day.date, day.states.len()) else {
            continue;
        };
        let letters = day.states.chars().skip(first).take(length);
        for state in letters.filter_map(State::of_letter) {
            *all.entry(state).or_default() += 1;
        }
    }
    all.into_iter().collect()
}

#[component]
fn Selection(
    hours: Hours,
    pick: Pick,
    counts: Vec<(State, u64)>,
    /// Those of the hours that need a person, worst first.
    rows: Vec<HourRow>,
    dataset: String,
    listing: RwSignal<bool>,
) -> Markup {
    let session = session();
    let hourly = pick.first.hour.is_some();
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let said = counts
        .iter()
        .map(|(state, count)| format!("{} {}", format::count(*count), state.words()));
    let said = said.collect::<Vec<_>>().join(", ");
    let closed = counts
        .iter()
        .all(|(state, _)| state.is_closed() || *state == State::Empty);
    let (from, to) = (pick.first.start(), pick.last.end());
    let check = shell(&[
        "tidemark",
        "check",
        &dataset,
        "--from",
        &utc(from),
        "--to",
        &utc(to),
    ]);
    let partitions = shell(&[
        "tidemark",
        "partitions",
        &dataset,
        "--from",
        &pick.first.day.to_string(),
        "--to",
        &pick.last.day.to_string(),
    ]);
    let again = {
        let dataset = dataset.clone();
        move |_| {
            let (engine, dataset) = (session.engine(), dataset.clone());
            let (from_day, to_day) = pick.days();
            listing.set(true);
            spawn_local(async move {
                let listed = engine.hours(dataset, from_day, to_day, Fresh::Again).await;
                listing.try_set(false);
                match listed {
                    Ok(_) => {
                        session.say("Listed again");
                        hours.again(Fresh::Known);
                    }
                    Err(error) => session.say(crate::message::in_one_line(&error)),
                }
            });
        }
    };
    let one = (pick.first == pick.last).then(|| {
        let href = Route::Hour {
            dataset: dataset.clone(),
            slot: pick.first,
        }
        .href();
        view! { <a class="btn small" href=href>"Open it"</a> }
    });
    let acts = rows.iter().take(ACTS).map(|row| act(&dataset, row));
    let more = rows.len().saturating_sub(ACTS);
    let acts = (!rows.is_empty()).then(|| view! {
        <ul class="reasons">{acts.collect::<Markup>()}</ul>
        {(more > 0).then(|| view! { <p class="soft s">{format!("and {} more: select fewer", format::count(more as u64))}</p> })}
    });
    let save = {
        let name = format!("{}-{pick}.csv", dataset.replace(['/', ' '], "-"));
        move |_| {
            download(
                &name.replace("..", "-"),
                CSV,
                &as_csv(&hours.come(), Some(&pick)),
            )
        }
    };
    let refused: u64 = counts
        .iter()
        .filter(|(state, _)| !state.is_closed())
        .map(|(_, count)| count)
        .sum();
    let partitions_say = match refused {
        0 => "Its partitions, for a catalog:".to_owned(),
        n => format!(
            "Its partitions, for a catalog: no statement for {}, which a reader may not scan",
            counted(n, hourly)
        ),
    };
    let clear = move |_| session.nav.set("sel", None::<&str>);
    let label = move || {
        if listing.get() {
            "Listing…"
        } else {
            "List again now"
        }
    };
    let name = match pick.first == pick.last {
        true => pick.first.to_string(),
        false => format!("{} to {}", pick.first, pick.last),
    };
    view! {
        <section class="selection">
            <h2>{name} <small>{format!("{}: {said}", counted(total, hourly))}</small></h2>
            <p>
                {one}
                <button type="button" class="btn small" disabled=move || listing.get() on:click=again>{label}</button>
                <button type="button" class="btn small" on:click=save>"CSV of these"</button>
                <button type="button" class="btn small quiet" on:click=clear>"Clear selection"</button>
            </p>
            {acts}
            <p class="soft s">{match closed {
                true => "A reader may scan all of it:",
                false => "A reader must wait: this exits with 1 until all of it is closed",
            }}</p>
            <ShellLine command=Signal::stored(check) />
            <p class="soft s">{partitions_say}</p>
            <ShellLine command=Signal::stored(partitions) />
        </section>
    }
}

/// An hour and the way to what can be done with it: each is planned by itself.
fn act(dataset: &str, row: &HourRow) -> Markup {
    let slot = slot_of(row);
    let route = Route::Hour {
        dataset: dataset.to_owned(),
        slot,
    };
    let href = route.href();
    // A late hour's loose keys become its first run, one over budget gets a better one.
    let compact = row.state == State::OverBudget || row.state == State::Late && row.objects > 0;
    let way = match compact {
        true => {
            let query = Query::default().with("act", Some("compact"));
            let name = format!("Compact {slot}");
            view! { <a class="btn small" href=route.with(query).href() aria-label=name>"Compact…"</a> }
        }
        false => {
            let name = format!("What can be done with {slot}");
            view! { <a class="btn small" href=href.clone() aria-label=name>"Look closer"</a> }
        }
    };
    view! { <li>{state(row.state)} <span><a href=href>{slot.to_string()}</a>" " {way}</span></li> }
}

/// `2026-11-10T08:00:00Z`
fn utc(time: lake::table::Time) -> String {
    time.to_string().replace(".000Z", "Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_in_the_address() {
        let text = "2026-11-09T22..2026-11-10T03";
        let pick: Pick = text.parse().unwrap();
        assert_eq!(pick.to_string(), text);
        let back: Pick = "2026-11-10T03..2026-11-09T22".parse().unwrap();
        assert_eq!(back, pick);
        let one: Pick = "2026-11-10T03".parse().unwrap();
        assert_eq!(one.to_string(), "2026-11-10T03..2026-11-10T03");
        for odd in [
            "",
            "..",
            "2026-11-10T24",
            "2026-11-10T3",
            "2026-11-10..2026-11-10T03",
        ] {
            assert!(odd.parse::<Pick>().is_err(), "{odd}");
        }
    }

    #[test]
    fn a_day_has_its_part_of_a_selection() {
        let pick: Pick = "2026-11-09T22..2026-11-11T03".parse().unwrap();
        let of = |day: &str| pick.hours_of(day.parse().unwrap(), 24);
        assert_eq!(of("2026-11-08"), None);
        assert_eq!(of("2026-11-09"), Some((22, 2)));
        assert_eq!(of("2026-11-10"), Some((0, 24)));
        assert_eq!(of("2026-11-11"), Some((0, 4)));
        let holds = |day: &str, hour| pick.holds(Slot::hour(day.parse().unwrap(), hour));
        assert!(!holds("2026-11-09", 21) && holds("2026-11-09", 22) && holds("2026-11-11", 3));
        assert!(!holds("2026-11-11", 4) && !holds("2026-11-12", 0));
        let days: Pick = "2026-11-09..2026-11-11".parse().unwrap();
        assert_eq!(
            days.hours_of("2026-11-10".parse().unwrap(), 1),
            Some((0, 1))
        );
    }
}
