//! What every page shares: the address, the lake, the worker, the clock, the keys, the theme.

use lake::table::Time;
use lake::wire::http::{LakeReport, TableEntry};
use lake::wire::{ErrorReport, Format, TableRef};
use lake::{Error, Kind, Result};
use leptos::prelude::*;
use serde::de::DeserializeOwned;

use crate::asked::Asked;
use crate::engine::Engine;
use crate::engine::read::from_json;
use crate::keys::Keys;
use crate::late::Late;
use crate::nav::Nav;
use crate::route::{Query, Route};
use crate::signals::{Memo, RwSignal, StoredValue};
use crate::theme::Theme;

mod states;

pub use states::{TableState, TableStates};

/// The one context. Everything in it is a signal or a handle, so it is copied freely.
#[derive(Clone, Copy)]
pub struct Session {
    /// Where the page is, and how it goes elsewhere.
    pub nav: Nav,
    /// The page and what it is about.
    pub route: Memo<Route>,
    /// The address's parameters.
    pub query: Memo<Query>,
    /// Zones and tables this person may see.
    pub lake: Asked<LakeReport>,
    /// The browser's clock, to the second.
    pub now: RwSignal<Time>,
    /// Light, dark, or as the system says.
    pub theme: RwSignal<Theme>,
    /// Who listens to which key.
    pub keys: Keys,
    /// One sentence of what just happened, spoken and shown for a moment.
    pub notice: RwSignal<Option<String>>,
    /// How each table is, as far as it was looked at.
    pub states: TableStates,
    /// The code of the pages that the first paint does not need.
    pub late: Late,
    engine: StoredValue<Engine>,
    table: Memo<Option<Result<TableEntry, ErrorReport>>>,
}

/// The session. Only below [`Session::provide`].
pub fn session() -> Session {
    expect_context()
}

impl Session {
    /// Starts the worker and the clock, asks for the lake, and puts the session into context.
    pub fn provide() -> Self {
        let nav = Nav::start();
        let route = nav.route();
        let lake = Asked::new(|_| Some(fetch_lake()));
        let now = RwSignal::new(browser_time());
        let _ = set_interval_with_handle(
            move || now.set(browser_time()),
            std::time::Duration::from_secs(1),
        );
        let table = Memo::new(move |_| {
            let name = route.with(|r| r.table().map(str::to_owned))?;
            let found = lake.get()?.and_then(|report| find_table(&report, &name));
            Some(found.map_err(|error| ErrorReport::from(&error)))
        });
        let session = Self {
            nav,
            route,
            query: nav.query(),
            lake,
            now,
            theme: Theme::start(),
            keys: Keys::start(),
            notice: RwSignal::new(None),
            states: TableStates::new(),
            late: Late::start(),
            engine: StoredValue::new(Engine::start("")),
            table,
        };
        provide_context(session);
        session
    }

    /// The worker.
    pub fn engine(self) -> Engine {
        self.engine.get_value()
    }

    /// The table that the address names, tracked. `None` before the lake is known and on pages
    /// that are not about a table.
    pub fn table(self) -> Option<Result<TableEntry>> {
        self.table.get().map(|found| found.map_err(Error::from))
    }

    /// The same as the worker wants it; `None` too where there is no such table.
    pub fn table_ref(self) -> Option<TableRef> {
        let entry = self.table.get()?.ok()?;
        Some(TableRef {
            zone: entry.zone,
            prefix: entry.prefix,
        })
    }

    /// What people call the table: its name without its zone's.
    pub fn title(self) -> Option<String> {
        let entry = self.table()?.ok()?;
        let own = entry.name.strip_prefix(&format!("{}/", entry.zone));
        Some(own.unwrap_or(&entry.name).to_owned())
    }

    /// The table as the command line takes it anywhere: its path on disk, else its URL. A name
    /// would need the server's configuration.
    pub fn location(self) -> Option<String> {
        let entry = self.table()?.ok()?;
        let lake = self.lake.ok()?;
        let zone = lake.zones.iter().find(|z| z.name == entry.zone)?;
        Some(place(&zone.url, &entry.prefix))
    }

    /// A parameter of the address, tracked.
    pub fn param(self, key: &'static str) -> Memo<Option<String>> {
        Memo::new(move |_| self.query.with(|q| q.get(key).map(str::to_owned)))
    }

    /// Says what just happened: `Link copied`.
    pub fn say(self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        self.notice.set(Some(sentence.clone()));
        set_timeout(
            move || {
                self.notice.update(|shown| {
                    if shown.as_ref() == Some(&sentence) {
                        *shown = None;
                    }
                });
            },
            std::time::Duration::from_secs(4),
        );
    }

    /// Whether the browser reads this zone's bucket itself, which needs the bucket's consent.
    pub fn reads_redirected(self, zone: &str) -> bool {
        self.lake.ok().is_some_and(|lake| {
            let zone = lake.zones.iter().find(|z| z.name == zone);
            zone.is_some_and(|z| z.reads == "redirect")
        })
    }
}

/// Where a prefix of a zone is. A path on disk is written as one unless its URL had to escape it.
fn place(zone: &str, prefix: &str) -> String {
    let zone = zone.trim_end_matches('/');
    let zone = match zone.strip_prefix("file://") {
        Some(path) if !path.contains('%') => path,
        _ => zone,
    };
    match prefix {
        "" => zone.to_owned(),
        prefix => format!("{zone}/{prefix}"),
    }
}

/// The table called `name`: a configured or discovered name, else `<zone>/<prefix>` of a zone
/// that exists, whether or not the table was discovered.
pub fn find_table(lake: &LakeReport, name: &str) -> Result<TableEntry> {
    let named = lake.tables.iter().find(|t| t.name == name);
    let at = |zone: &str, prefix: &str| {
        let listed = lake.tables.iter();
        let mut listed = listed.filter(|t| t.zone == zone && t.prefix == prefix);
        listed.next().cloned()
    };
    if let Some(entry) = named {
        return Ok(entry.clone());
    }
    let (zone, prefix) = name.split_once('/').unwrap_or((name, ""));
    let prefix = prefix.trim_matches('/');
    if let Some(entry) = at(zone, prefix) {
        return Ok(entry);
    }
    if lake.zones.iter().any(|z| z.name == zone) {
        return Ok(TableEntry {
            name: name.to_owned(),
            zone: zone.to_owned(),
            prefix: prefix.to_owned(),
            format: Format::Delta,
            configured: false,
            reads: Vec::new(),
        });
    }
    Err(Error::not_found(format!(
        "no table and no zone is called “{}”",
        crate::format::shorten(name, 80)
    )))
}

/// The one JSON shape that all surfaces share for a refusal.
#[derive(serde::Deserialize)]
struct Refusal {
    error: ErrorReport,
}

async fn fetch_lake() -> Result<LakeReport> {
    answered(gloo_net::http::Request::get("/api/lake").send().await).await
}

/// What the server answered, or why it did not.
pub async fn answered<T: DeserializeOwned>(
    response: std::result::Result<gloo_net::http::Response, gloo_net::Error>,
) -> Result<T> {
    let silent = |_| Error::new(Kind::Unreachable, "Tidemark's own server does not answer");
    let response = response.map_err(silent)?;
    let text = response.text().await.map_err(silent)?;
    if response.ok() {
        return from_json(&text)
            .map_err(|e| Error::new(Kind::Internal, "the server's answer").because(e));
    }
    Err(refused(response.status(), &text))
}

/// Why the server refused, from the text of its answer.
pub fn refused(status: u16, text: &str) -> Error {
    match from_json::<Refusal>(text) {
        Ok(refusal) => Error::from(refusal.error),
        Err(_) => Error::new(
            Kind::Unreachable,
            format!("Tidemark's own server answered {status}"),
        ),
    }
}

fn browser_time() -> Time {
    Time(js_sys::Date::now() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lake::wire::http::ZoneReport;

    fn sample() -> LakeReport {
        let zone = ZoneReport {
            name: "curated".to_owned(),
            url: "file:///x/".to_owned(),
            owner: None,
            format: None,
            keep: None,
            reads: "proxy".to_owned(),
            error: None,
        };
        let table = TableEntry {
            name: "users".to_owned(),
            zone: "curated".to_owned(),
            prefix: "u/users".to_owned(),
            format: Format::Delta,
            configured: true,
            reads: Vec::new(),
        };
        LakeReport {
            zones: vec![zone],
            tables: vec![table],
            ..LakeReport::default()
        }
    }

    #[test]
    fn a_shell_finds_a_table_without_the_configuration() {
        assert_eq!(place("file:///srv/lake/", "u/users"), "/srv/lake/u/users");
        assert_eq!(place("file:///a%20b/", "users"), "file:///a%20b/users");
        assert_eq!(place("s3://b/curated/", ""), "s3://b/curated");
    }

    #[test]
    fn a_table_has_its_name_and_its_place() {
        let lake = sample();
        assert_eq!(find_table(&lake, "users").unwrap().prefix, "u/users");
        assert_eq!(find_table(&lake, "curated/u/users").unwrap().name, "users");
    }

    #[test]
    fn a_place_in_a_known_zone_needs_no_discovery() {
        let entry = find_table(&sample(), "curated/deep/er").unwrap();
        assert_eq!(
            (entry.zone.as_str(), entry.prefix.as_str()),
            ("curated", "deep/er")
        );
        assert_eq!(find_table(&sample(), "curated").unwrap().prefix, "");
        let error = find_table(&sample(), "elsewhere/x").unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }
}
