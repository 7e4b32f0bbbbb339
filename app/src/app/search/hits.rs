//! What a search text can mean without asking anybody: pure.

use lake::table::{At, Version};
use lake::wire::http::LakeReport;

use crate::format::lower;
use crate::order::sorted;
use crate::route::Route;

/// Something found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// `table`, `commit`, `snapshot`, `diff`, `key`.
    pub(super) kind: &'static str,
    /// What is shown.
    pub(super) text: String,
    /// Where it is.
    pub(super) to: Route,
}

/// Most tables shown.
const MOST: usize = 8;

/// Tables by name, then, on a page about a table, versions of it.
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
    let tables = lake.into_iter().flat_map(|l| &l.tables);
    let named: Vec<_> = tables
        .filter_map(|t| {
            let whole = lower(&format!("{}/{}", t.zone, t.name));
            let place = lower(&t.name).find(&wanted);
            let place = place.or_else(|| whole.find(&wanted).map(|p| p + 1_000))?;
            Some((place, t.name.len(), t))
        })
        .collect();
    let named = sorted(named, |(a, m, x), (b, n, y)| {
        (a, m, &x.name).cmp(&(b, n, &y.name))
    });
    found.extend(named.into_iter().take(MOST).map(|(_, _, t)| Hit {
        kind: "table",
        text: t.name.clone(),
        to: Route::Timeline {
            table: t.name.clone(),
        },
    }));
    found
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
    use lake::wire::http::TableEntry;

    fn lake(names: &[&str]) -> LakeReport {
        let tables = names.iter().map(|name| TableEntry {
            name: (*name).to_owned(),
            zone: "curated".to_owned(),
            prefix: (*name).to_owned(),
            format: Format::Delta,
            configured: true,
            reads: Vec::new(),
        });
        LakeReport {
            tables: tables.collect(),
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
    fn a_number_is_a_version_of_the_table_at_hand() {
        assert_eq!(texts("48", "/t/users"), ["/t/users/c/48", "/t/users/v/48"]);
        assert_eq!(texts("v48", "/t/users").len(), 2);
        assert!(texts("48", "/").is_empty());
        assert_eq!(texts("47 .. 48", "/t/users"), ["/t/users/diff/47..48"]);
    }
}
