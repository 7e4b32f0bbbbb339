//! What a dataset is built from. It waits where an hour that it needs is not closed, so whoever
//! sees it late looks there first.

use lake::hours::{Day, Slot, State};
use lake::wire::hours::{Fresh, GridDay, GridReport};

use crate::asked::Asked;
use crate::format;
use crate::markup::{Markup, view};
use crate::route::Route;
use crate::session::session;
use crate::signals::Memo;

/// Days of an input that are looked at for one page.
const MOST_DAYS: i32 = 31;

/// The inputs' hours over some days, each input asked by itself.
#[derive(Clone)]
pub struct Inputs(Vec<(String, Asked<GridReport>)>);

/// An hour of an input that is not closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclosed {
    /// The input.
    pub dataset: String,
    /// The worst of its hours that are needed.
    pub slot: Slot,
    /// How that one stands.
    pub state: State,
    /// How many others are not closed either.
    pub more: usize,
}

impl Inputs {
    /// Asks for the hours of each as soon as it is known which days; the newest of them where they
    /// are many.
    pub fn new(names: &[String], days: Memo<Option<(Day, Day)>>) -> Self {
        let session = session();
        let ask = |name: &String| {
            let own = name.clone();
            let asked = Asked::new(move |progress| {
                let (from, to) = days.get()?;
                let from = from.max(to.plus(1 - MOST_DAYS));
                let (engine, name) = (session.engine().watched(progress), own.clone());
                Some(async move { engine.hours(name, from, to, Fresh::Known).await })
            });
            (name.clone(), asked)
        };
        Self(names.iter().map(ask).collect())
    }

    /// What an hour waits for, as far as it is known; followed.
    pub fn unclosed(&self, slot: Slot) -> Vec<Unclosed> {
        let found = self.0.iter().filter_map(|(name, asked)| {
            let report = asked.ok()?;
            unclosed(name, &report.days, slot)
        });
        found.collect()
    }
}

/// What an hour waits for in one input: the same hour of it, or any of the day where one of the two
/// is a whole day.
pub fn unclosed(dataset: &str, days: &[GridDay], slot: Slot) -> Option<Unclosed> {
    let day = days.iter().find(|day| day.date == slot.day)?;
    let hourly = day.states.len() > 1;
    let states = day.states.chars().zip(0_u8..);
    let states = states.filter_map(|(letter, hour)| Some((State::of_letter(letter)?, hour)));
    let needed = states.filter(|(_, hour)| !hourly || slot.hour.is_none_or(|own| own == *hour));
    let open = needed.filter(|(state, _)| !state.lets_pass() && *state != State::Future);
    let mut open: Vec<(State, u8)> = open.collect();
    open.sort_unstable();
    let (state, hour) = *open.first()?;
    Some(Unclosed {
        dataset: dataset.to_owned(),
        slot: match hourly {
            true => Slot::hour(day.date, hour),
            false => Slot::day(day.date),
        },
        state,
        more: open.len() - 1,
    })
}

/// `learning.progress 2026-11-29 10:00, which is mutated`
pub fn named(unclosed: &Unclosed) -> Markup {
    let href = Route::Hour {
        dataset: unclosed.dataset.clone(),
        slot: unclosed.slot,
    }
    .href();
    let name = format!(
        "{} {}",
        format::shorten(&unclosed.dataset, 80),
        unclosed.slot
    );
    let more = match unclosed.more {
        0 => String::new(),
        n => format!(", and {} more are not closed", format::count(n as u64)),
    };
    view! { <a href=href>{name}</a> {format!(", which is {}{more}", unclosed.state.words())} }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(states: &str) -> GridDay {
        GridDay {
            date: "2026-11-10".parse().unwrap(),
            remarks: String::new(),
            states: states.to_owned(),
            objects: Vec::new(),
            bytes: Vec::new(),
            listed_at: None,
        }
    }

    #[test]
    fn an_hour_waits_for_the_same_hour_and_a_day_for_all() {
        let days = [day("CCMCCCCCTCCCEBCCCCCOFFFF")];
        let date = days[0].date;
        let of = |slot| unclosed("in", &days, slot).map(|u| (u.slot, u.state, u.more));
        assert_eq!(
            of(Slot::hour(date, 2)),
            Some((Slot::hour(date, 2), State::Mutated, 0))
        );
        for closed in [0, 12, 13, 21] {
            assert_eq!(of(Slot::hour(date, closed)), None, "{closed}");
        }
        assert_eq!(
            of(Slot::day(date)),
            Some((Slot::hour(date, 2), State::Mutated, 2))
        );
        assert_eq!(of(Slot::hour(date.plus(1), 2)), None);
    }

    #[test]
    fn an_hour_of_an_input_by_days_waits_for_the_day() {
        let days = [day("O")];
        let date = days[0].date;
        let found = unclosed("in", &days, Slot::hour(date, 7)).unwrap();
        assert_eq!((found.slot, found.state), (Slot::day(date), State::Open));
    }
}
