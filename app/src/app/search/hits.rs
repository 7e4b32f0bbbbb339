//! What a search text can mean without asking anybody: pure.

use lake::hours::Slot;
use lake::table::{At, Version};
use lake::wire::http::LakeReport;

use crate::format::lower;
use crate::order::sorted;
use crate::route::Route;

/// Something found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// `table`, `dataset`, `hour`, `commit`, `snapshot`, `diff`, `key`.
    pub(super) kind: &'static str,
    /// What is shown.
    pub(super) text: String,
    /// Where it is.
    pub(super) to: Route,
}

/// Most names shown.
const MOST: usize = 8;

/// Versions, on a page about a table, then tables, datasets and their hours by name.
pub(super) fn hits(text: &str, lake: Option<&LakeReport>, here: &Route) -> Vec<Hit> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(table) = here.table() {
        versions(text, table, &mut found);
    }
    let wanted = lower(text);
    let mut named: Vec<(usize, Hit)> = Vec::new();
    for table in lake.into_iter().flat_map(|l| &l.tables) {
        named.extend(place(&wanted, &table.zone, &table.name).map(|place| {
            let to = Route::Timeline {
                table: table.name.clone(),
            };
            (place, hit("table", table.name.clone(), to))
        }));
    }
    for dataset in lake.into_iter().flat_map(|l| &l.datasets) {
        let name = || dataset.name.clone();
        named.extend(place(&wanted, &dataset.zone, &dataset.name).map(|place| {
            let to = Route::Hours { dataset: name() };
            (place, hit("dataset", name(), to))
        }));
        if let Some((words, slot)) = slot(&wanted, dataset.hourly)
            && let Some(place) = place(words, &dataset.zone, &dataset.name)
        {
            let text = format!("{} {slot}", dataset.name);
            let dataset = name();
            named.push((place, hit("hour", text, Route::Hour { dataset, slot })));
        }
    }
    let named = sorted(named, |(a, x), (b, y)| {
        (a, x.text.len(), &x.text).cmp(&(b, y.text.len(), &y.text))
    });
    found.extend(named.into_iter().take(MOST).map(|(_, hit)| hit));
    found
}

fn hit(kind: &'static str, text: String, to: Route) -> Hit {
    Hit { kind, text, to }
}

/// How far from its beginning a name has the words in it; `zone/name` comes last.
fn place(wanted: &str, zone: &str, name: &str) -> Option<usize> {
    let whole = lower(&format!("{zone}/{name}"));
    let place = lower(name).find(wanted);
    place.or_else(|| whole.find(wanted).map(|p| p + 1_000))
}

/// `name 2026-11-30 23`, `name 2026-11-30`: the name and the hour, or the day of a dataset by days.
fn slot(wanted: &str, hourly: bool) -> Option<(&str, Slot)> {
    let (before, last) = wanted.rsplit_once(' ')?;
    if !hourly {
        return Some((before.trim(), Slot::day(last.parse().ok()?)));
    }
    let hour = last.strip_suffix(":00").unwrap_or(last);
    let hour = hour.parse::<u8>().ok().filter(|hour| *hour < 24)?;
    let (name, day) = before.trim().rsplit_once(' ')?;
    Some((name.trim(), Slot::hour(day.parse().ok()?, hour)))
}

fn versions(text: &str, table: &str, found: &mut Vec<Hit>) {
    let table = || table.to_owned();
    if let Some((from, to)) = text.split_once("..")
        && let (Ok(from), Ok(to)) = (from.trim().parse(), to.trim().parse())
    {
        found.push(Hit {
            kind: "diff",
            text: format!("{from} .. {to}"),
            to: Route::Diff {
                table: table(),
                from,
                to,
            },
        });
    }
    let number = text.strip_prefix('v').unwrap_or(text);
    if let Ok(version) = number.parse::<Version>() {
        found.push(Hit {
            kind: "commit",
            text: format!("version {version}: what it changed"),
            to: Route::Commit {
                table: table(),
                version,
            },
        });
        found.push(Hit {
            kind: "snapshot",
            text: format!("version {version}: the table as of it"),
            to: Route::Snapshot {
                table: table(),
                at: At::Version(version),
            },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lake::wire::Format;
    use lake::wire::http::{DatasetEntry, TableEntry};

    fn lake(names: &[&str]) -> LakeReport {
        let tables = names.iter().map(|name| TableEntry {
            name: (*name).to_owned(),
            zone: "curated".to_owned(),
            prefix: (*name).to_owned(),
            format: Format::Delta,
            configured: true,
            reads: Vec::new(),
        });
        let datasets = [("learning.progress", true), ("learning.daily", false)];
        let datasets = datasets.map(|(name, hourly)| DatasetEntry {
            name: name.to_owned(),
            zone: "raw".to_owned(),
            prefix: name.replace('.', "/"),
            hourly,
            first: None,
            reads: Vec::new(),
        });
        LakeReport {
            tables: tables.collect(),
            datasets: datasets.into(),
            ..LakeReport::default()
        }
    }

    fn texts(text: &str, here: &str) -> Vec<String> {
        let lake = lake(&["users", "power_users", "orders"]);
        let found = hits(text, Some(&lake), &Route::parse(here));
        found.into_iter().map(|hit| hit.to.href()).collect()
    }

    #[test]
    fn names_that_start_so_come_first() {
        assert_eq!(texts("USERS", "/"), ["/t/users", "/t/power_users"]);
        assert_eq!(texts("curated/o", "/"), ["/t/orders"]);
        assert!(texts("  ", "/").is_empty());
    }

    #[test]
    fn datasets_are_found_by_name_and_their_hours_by_day_and_hour() {
        let [daily, hourly] = ["/d/learning.daily", "/d/learning.progress"];
        assert_eq!(texts("LEARN", "/"), [daily, hourly]);
        assert_eq!(texts("raw/learning.p", "/"), [hourly]);
        let hour = format!("{hourly}/2026-11-10/08");
        for text in [
            "progress 2026-11-10 8",
            "learning.progress 2026-11-10 08:00",
        ] {
            assert_eq!(texts(text, "/t/users"), [hour.as_str()], "{text}");
        }
        assert_eq!(
            texts("daily 2026-11-10", "/"),
            [format!("{daily}/2026-11-10")]
        );
        for odd in [
            "progress 2026-11-10",
            "progress 2026-11-10 24",
            "daily 2026-11-10 08",
        ] {
            assert!(texts(odd, "/").is_empty(), "{odd}");
        }
    }

    #[test]
    fn a_number_is_a_version_of_the_table_at_hand() {
        assert_eq!(texts("48", "/t/users"), ["/t/users/c/48", "/t/users/v/48"]);
        assert_eq!(texts("v48", "/t/users").len(), 2);
        assert!(texts("48", "/").is_empty());
        assert_eq!(texts("47 .. 48", "/t/users"), ["/t/users/diff/47..48"]);
    }
}
