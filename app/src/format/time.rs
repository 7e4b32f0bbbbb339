//! Times: relative for reading, UTC for the record.

use chrono::{DateTime, Datelike, Timelike, Utc};
use lake::table::Time;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

fn at(time: Time) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(time.0)
}

/// Written by hand: the code that reads patterns such as `%Y` is a good part of a page's.
fn write(time: Time, how: fn(DateTime<Utc>) -> String) -> String {
    // `Time` holds instants that no calendar has; they are shown as the number they are.
    at(time).map_or_else(|| time.to_string(), how)
}

/// `2026-11-10 14:12:08`
fn seconds(t: DateTime<Utc>) -> String {
    let [year, month, day] = [t.year(), t.month() as i32, t.day() as i32];
    let [hour, minute, second] = [t.hour(), t.minute(), t.second()];
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// `10 Nov`
fn date(t: DateTime<Utc>) -> String {
    let month = MONTHS.get(t.month0() as usize).copied();
    format!("{} {}", t.day(), month.unwrap_or_default())
}

/// `02:41`
fn hour_minute(t: DateTime<Utc>) -> String {
    format!("{:02}:{:02}", t.hour(), t.minute())
}

/// The exact instant: `2026-11-10 02:41:07.112 UTC`.
pub fn utc(time: Time) -> String {
    write(time, |t| {
        format!("{}.{:03} UTC", seconds(t), t.timestamp_subsec_millis())
    })
}

/// The clock in the header: `2026-11-10 14:12:08 UTC`.
pub fn clock(time: Time) -> String {
    write(time, |t| format!("{} UTC", seconds(t)))
}

/// To the minute, as columns show it: `10 Nov 02:41`, with the year where it is not this one.
pub fn minute(time: Time, now: Time) -> String {
    if year(time) == year(now) {
        write(time, |t| format!("{} {}", date(t), hour_minute(t)))
    } else {
        minute_with_year(time)
    }
}

/// To the minute with the year: `10 Nov 2025 02:41`.
pub fn minute_with_year(time: Time) -> String {
    write(time, |t| {
        format!("{} {} {}", date(t), t.year(), hour_minute(t))
    })
}

/// The day with the year where it is not this one: `10 Nov`.
pub fn day(time: Time, now: Time) -> String {
    if year(time) == year(now) {
        month_day(time)
    } else {
        write(time, |t| format!("{} {}", date(t), t.year()))
    }
}

/// The day without its year: `10 Nov`.
pub fn month_day(time: Time) -> String {
    write(time, date)
}

fn year(time: Time) -> Option<i32> {
    at(time).map(|t| t.year())
}

/// How long ago: `11 h 31 min ago`, `in 5 min`, `just now`.
pub fn ago(time: Time, now: Time) -> String {
    let passed = i128::from(now.0) - i128::from(time.0);
    let size = u64::try_from(passed.unsigned_abs()).unwrap_or(u64::MAX);
    if size < 1_000 {
        return "just now".to_owned();
    }
    if passed > 0 {
        format!("{} ago", duration(size))
    } else {
        format!("in {}", duration(size))
    }
}

/// A length of time in its two largest units: `11 h 31 min`, `3 d 4 h`, `812 ms`.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    let two = |large: u64, unit: &str, small: u64, part: &str| {
        if small == 0 {
            format!("{large} {unit}")
        } else {
            format!("{large} {unit} {small} {part}")
        }
    };
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{seconds} s"),
        60..3_600 => two(
            minutes,
            "min",
            if minutes < 10 { seconds % 60 } else { 0 },
            "s",
        ),
        3_600..86_400 => two(hours, "h", minutes % 60, "min"),
        _ if days < 14 => two(days, "d", hours % 24, "h"),
        _ => format!("{} d", super::count(days)),
    }
}

/// A configured duration with a space before its unit: `400d` is `400 d`.
pub fn spaced(duration: &str) -> String {
    let unit = duration.find(|c: char| !c.is_ascii_digit());
    match unit.filter(|place| *place > 0) {
        Some(place) => {
            let (number, unit) = duration.split_at(place);
            format!("{number} {}", unit.trim_start())
        }
        None => duration.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_794_319_928_000); // 2026-11-10 14:12:08 UTC

    #[test]
    fn the_exact_instant_is_utc() {
        assert_eq!(clock(NOW), "2026-11-10 14:12:08 UTC");
        assert_eq!(utc(Time(NOW.0 + 7)), "2026-11-10 14:12:08.007 UTC");
        assert_eq!(utc(Time(i64::MAX)), i64::MAX.to_string());
    }

    #[test]
    fn units_have_room() {
        assert_eq!(spaced("400d"), "400 d");
        assert_eq!(spaced("3 y"), "3 y");
        assert_eq!(spaced("interval 1 week"), "interval 1 week");
        assert_eq!(spaced(""), "");
    }

    #[test]
    fn this_year_needs_no_year() {
        assert_eq!(minute(NOW, NOW), "10 Nov 14:12");
        assert_eq!(minute(Time(0), NOW), "1 Jan 1970 00:00");
        assert_eq!(day(Time(0), NOW), "1 Jan 1970");
    }

    #[test]
    fn relative_times_have_two_units() {
        let cases = [
            (0, "just now"),
            (12_000, "12 s ago"),
            (95_000, "1 min 35 s ago"),
            (41_460_000, "11 h 31 min ago"),
            (3_600_000, "1 h ago"),
            (273_600_000, "3 d 4 h ago"),
            (86_400_000 * 1_200, "1,200 d ago"),
        ];
        for (before, text) in cases {
            assert_eq!(ago(Time(NOW.0 - before), NOW), text);
        }
        assert_eq!(ago(Time(NOW.0 + 300_000), NOW), "in 5 min");
        assert_eq!(ago(Time(i64::MIN), Time(i64::MAX)), "213,503,982,334 d ago");
    }
}
