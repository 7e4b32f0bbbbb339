//! Which days a page shows: a month or a year, as the address says.

use lake::hours::Day;

/// A window of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    year: i32,
    /// 1 to 12; `None` for the whole year.
    month: Option<u32>,
    first: Option<Day>,
    today: Day,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days before today that are shown whatever the month.
const WEEK: i32 = 6;

impl Shown {
    /// The month of today.
    pub fn now(today: Day, first: Option<Day>) -> Self {
        let (year, month, _) = today.date();
        Self {
            year,
            month: Some(month),
            first,
            today,
        }
    }

    /// The window of a parameter: `2026-11`, `2026`; the month of today where it is none.
    pub fn read(at: Option<&str>, today: Day, first: Option<Day>) -> Self {
        let here = Self::now(today, first);
        let Some(at) = at else { return here };
        let (year, month) = match at.split_once('-') {
            None => (at.parse().ok(), None),
            Some((year, month)) => (year.parse().ok(), month.parse::<u32>().ok()),
        };
        let fits = month.is_none_or(|month| (1..=12).contains(&month));
        match year.filter(|year| (1..=9998).contains(year) && fits) {
            Some(year) if month.is_some() || !at.contains('-') => Self {
                year,
                month,
                ..here
            },
            _ => here,
        }
    }

    /// As the address has it; `None` for the page without it.
    pub fn param(self) -> Option<String> {
        let (year, month, _) = self.today.date();
        match self.month {
            Some(m) if (self.year, m) == (year, month) => None,
            Some(m) => Some(format!("{:04}-{m:02}", self.year)),
            None => Some(format!("{:04}", self.year)),
        }
    }

    /// `November 2026`, `2026`; a month that is young says that it is not alone.
    pub fn name(self) -> String {
        match self.month {
            Some(month) => {
                let name = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
                let more = match self.days().0 < self.whole().0 {
                    true => " and the days before",
                    false => "",
                };
                format!("{name} {}{more}", self.year)
            }
            None => self.year.to_string(),
        }
    }

    /// The window before.
    #[must_use]
    pub fn before(self) -> Self {
        match self.month {
            Some(1) => Self {
                year: self.year - 1,
                month: Some(12),
                ..self
            },
            Some(month) => Self {
                month: Some(month - 1),
                ..self
            },
            None => Self {
                year: self.year - 1,
                ..self
            },
        }
    }

    /// The window after; `None` where it has not begun.
    pub fn after(self) -> Option<Self> {
        let after = match self.month {
            Some(12) => Self {
                year: self.year + 1,
                month: Some(1),
                ..self
            },
            Some(month) => Self {
                month: Some(month + 1),
                ..self
            },
            None => Self {
                year: self.year + 1,
                ..self
            },
        };
        (after.whole().0 <= self.today).then_some(after)
    }

    /// Whether there can be anything in the window before.
    pub fn has_before(self) -> bool {
        self.first.is_none_or(|first| first < self.whole().0) && self.year > 1
    }

    /// Whether it is a month.
    pub fn is_month(self) -> bool {
        self.month.is_some()
    }

    /// The year of a month, or today's month (the last one of a past year) of a year.
    #[must_use]
    pub fn other(self) -> Self {
        let (year, month, _) = self.today.date();
        match self.month {
            Some(_) => Self {
                month: None,
                ..self
            },
            None if self.year == year => Self {
                month: Some(month),
                ..self
            },
            None => Self {
                month: Some(12),
                ..self
            },
        }
    }

    fn whole(self) -> (Day, Day) {
        let day = |year, month| Day::from_date(year, month, 1).unwrap_or(self.today);
        match self.month {
            Some(12) => (day(self.year, 12), day(self.year + 1, 1).plus(-1)),
            Some(month) => (day(self.year, month), day(self.year, month + 1).plus(-1)),
            None => (day(self.year, 1), day(self.year + 1, 1).plus(-1)),
        }
    }

    /// First and last day: from the dataset's first on, until today. Today's month has the last
    /// [`WEEK`] in any case: on its first day people ask about yesterday.
    pub fn days(self) -> (Day, Day) {
        let (mut from, to) = self.whole();
        if self.param().is_none() {
            from = from.min(self.today.plus(-WEEK));
        }
        let first = self.first.filter(|first| *first <= to).unwrap_or(from);
        let from = from.max(first);
        (from, to.min(self.today).max(from))
    }

    /// The days in parts that are asked for one after another, newest first: a month is one, a
    /// year is quarters.
    pub fn parts(self) -> Vec<(Day, Day)> {
        let (from, to) = self.days();
        if self.month.is_some() {
            return vec![(from, to)];
        }
        let quarters = [10, 7, 4, 1].into_iter().filter_map(|month| {
            let begin = Day::from_date(self.year, month, 1)?;
            let end = match month {
                10 => Day::from_date(self.year + 1, 1, 1)?,
                month => Day::from_date(self.year, month + 3, 1)?,
            };
            let (begin, end) = (begin.max(from), end.plus(-1).min(to));
            (begin <= end).then_some((begin, end))
        });
        quarters.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    fn shown(at: Option<&str>) -> Shown {
        Shown::read(at, day("2026-11-10"), Some(day("2025-03-15")))
    }

    #[test]
    fn the_address_names_a_month_or_a_year() {
        assert_eq!(shown(None).name(), "November 2026");
        assert_eq!(shown(None).param(), None);
        assert_eq!(shown(Some("2026-11")).param(), None);
        assert_eq!(shown(Some("2025-12")).param().as_deref(), Some("2025-12"));
        assert_eq!(shown(Some("2025")).name(), "2025");
        for odd in [
            "",
            "x",
            "2026-13",
            "2026-00",
            "2026-",
            "99999",
            "-1",
            "2026-11-10",
        ] {
            assert_eq!(shown(Some(odd)), shown(None), "{odd}");
        }
    }

    #[test]
    fn windows_end_today_and_begin_with_the_dataset() {
        assert_eq!(shown(None).days(), (day("2026-11-01"), day("2026-11-10")));
        assert_eq!(
            shown(Some("2025-03")).days(),
            (day("2025-03-15"), day("2025-03-31"))
        );
        assert_eq!(
            shown(Some("2025-12")).days(),
            (day("2025-12-01"), day("2025-12-31"))
        );
        assert_eq!(shown(None).after(), None);
        assert_eq!(
            shown(Some("2026-10")).after().unwrap().name(),
            "November 2026"
        );
        assert_eq!(shown(Some("2026-01")).before().name(), "December 2025");
        assert!(!shown(Some("2025-03")).has_before());
        assert!(shown(Some("2025-04")).has_before());
    }

    #[test]
    fn a_young_month_is_not_alone() {
        let on = |today: &str, first: &str| Shown::now(day(today), Some(day(first)));
        let first = on("2026-12-01", "2025-03-15");
        assert_eq!(first.days(), (day("2026-11-25"), day("2026-12-01")));
        assert_eq!(first.name(), "December 2026 and the days before");
        assert_eq!(first.before().name(), "November 2026");
        assert_eq!(first.before().days().0, day("2026-11-01"));
        let seventh = on("2026-12-07", "2025-03-15");
        assert_eq!(seventh.days().0, day("2026-12-01"));
        assert_eq!(seventh.name(), "December 2026");
        // Nothing is shown from before the dataset's first day.
        assert_eq!(on("2026-12-01", "2026-11-28").days().0, day("2026-11-28"));
    }

    #[test]
    fn a_year_is_read_by_quarters_newest_first() {
        let year = shown(Some("2026"));
        assert_eq!(
            year.parts(),
            [
                (day("2026-10-01"), day("2026-11-10")),
                (day("2026-07-01"), day("2026-09-30")),
                (day("2026-04-01"), day("2026-06-30")),
                (day("2026-01-01"), day("2026-03-31")),
            ]
        );
        assert_eq!(
            shown(Some("2025")).parts().last().unwrap().0,
            day("2025-03-15")
        );
        assert_eq!(year.other().name(), "November 2026");
    }
}
