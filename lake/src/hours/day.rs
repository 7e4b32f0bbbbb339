//! Days and hours of the UTC calendar, as partitions name them.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, NaiveDate};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::table::Time;
use crate::{Error, Result};

/// Milliseconds of an hour.
pub const HOUR: i64 = 3_600_000;
/// Milliseconds of a day. UTC has no longer and no shorter ones.
pub const DAY: i64 = 24 * HOUR;

/// A day of the UTC calendar, counted from 1970-01-01. In JSON and in keys it is `2026-11-10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i32);

/// Days from 1970-01-01 to the last that four digits can write.
const LAST: i32 = 2_932_896;
/// Days from 1970-01-01 back to the first of the year 0.
const FIRST: i32 = -719_528;
/// Days from the first of the year 1 to 1970-01-01, counted from one.
const EPOCH: i32 = 719_163;

impl Day {
    /// The day an instant lies in; the nearest that can be written where there is none.
    pub fn of(time: Time) -> Self {
        let days = time.0.div_euclid(DAY);
        Self(days.clamp(FIRST.into(), LAST.into()) as i32)
    }

    /// Its first instant.
    pub fn start(self) -> Time {
        Time(i64::from(self.0) * DAY)
    }

    /// The day so many days later, or earlier; the nearest that can be written.
    #[must_use]
    pub fn plus(self, days: i32) -> Self {
        Self(self.0.saturating_add(days).clamp(FIRST, LAST))
    }

    /// Days from `other` to this one.
    pub fn since(self, other: Self) -> i32 {
        self.0 - other.0
    }

    /// Year, month from 1, day from 1.
    pub fn date(self) -> (i32, u32, u32) {
        match NaiveDate::from_num_days_from_ce_opt(self.0 + EPOCH) {
            Some(date) => (date.year(), date.month(), date.day()),
            None => (1970, 1, 1),
        }
    }

    /// The day of a year, month from 1 and day from 1.
    pub fn from_date(year: i32, month: u32, day: u32) -> Option<Self> {
        let date = NaiveDate::from_ymd_opt(year, month, day)?;
        let days = date.num_days_from_ce() - EPOCH;
        (FIRST..=LAST).contains(&days).then_some(Self(days))
    }

    /// 0 for Monday.
    pub fn weekday(self) -> u32 {
        // 1970-01-01 was a Thursday.
        (self.0 + 3).rem_euclid(7) as u32
    }

    /// The days from this one to `last`, both included.
    pub fn to(self, last: Self) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (self.0..=last.0).map(Self)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl FromStr for Day {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |from: usize, to: usize| {
            let digits = text.get(from..to)?;
            let all = digits.bytes().all(|b| b.is_ascii_digit());
            if all {
                digits.parse::<u32>().ok()
            } else {
                None
            }
        };
        let bytes = text.as_bytes();
        let shaped =
            bytes.len() == 10 && bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-');
        let day = shaped.then(|| {
            let year = i32::try_from(number(0, 4)?).ok()?;
            Self::from_date(year, number(5, 7)?, number(8, 10)?)
        });
        day.flatten()
            .ok_or_else(|| Error::invalid(format!("`{text}` is not a date: write 2026-11-10")))
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

/// What one marker closes: an hour, or a whole day where the dataset has no hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// The day.
    #[serde(rename = "date")]
    pub day: Day,
    /// 0 to 23; `None` for the whole day.
    pub hour: Option<u8>,
}

impl Slot {
    /// An hour of a day.
    pub fn hour(day: Day, hour: u8) -> Self {
        Self {
            day,
            hour: Some(hour),
        }
    }

    /// A whole day.
    pub fn day(day: Day) -> Self {
        Self { day, hour: None }
    }

    /// Its first instant.
    pub fn start(self) -> Time {
        Time(self.day.start().0 + i64::from(self.hour.unwrap_or(0)) * HOUR)
    }

    /// The first instant after it.
    pub fn end(self) -> Time {
        let length = if self.hour.is_some() { HOUR } else { DAY };
        Time(self.start().0 + length)
    }
}

impl fmt::Display for Slot {
    /// `2026-11-10 08:00`, or the date alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hour {
            Some(hour) => write!(f, "{} {hour:02}:00", self.day),
            None => self.day.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_written() {
        for text in [
            "2026-11-10",
            "1970-01-01",
            "2024-02-29",
            "0000-01-01",
            "9999-12-31",
        ] {
            assert_eq!(text.parse::<Day>().unwrap().to_string(), text);
        }
        for text in [
            "2026-11-31",
            "2025-02-29",
            "2026-1-1",
            "+026-11-10",
            "2026-11-10 ",
            "",
            "２０26-11-10",
        ] {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
        let day: Day = "2026-11-10".parse().unwrap();
        assert_eq!(day.weekday(), 1);
        assert_eq!(day.plus(-10).to_string(), "2026-10-31");
        assert_eq!(Day::of(Time(i64::MAX)).to_string(), "9999-12-31");
        assert_eq!(Day::of(Time(-1)).to_string(), "1969-12-31");
    }

    #[test]
    fn an_hour_ends_where_the_next_begins() {
        let day: Day = "2026-11-10".parse().unwrap();
        assert_eq!(Slot::hour(day, 23).end(), day.plus(1).start());
        assert_eq!(Slot::day(day).end(), day.plus(1).start());
        assert_eq!(Slot::hour(day, 8).to_string(), "2026-11-10 08:00");
        assert_eq!(
            Slot::hour(day, 8).start(),
            Time::parse("2026-11-10T08:00:00Z").unwrap()
        );
    }
}
