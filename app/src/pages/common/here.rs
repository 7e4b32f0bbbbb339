//! The table that the page is about: its names for people, for the worker, for a shell, for SQL.

use lake::wire::TableRef;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::copy::shell;
use crate::route::Route;
use crate::session::{Session, TableState, session};
use crate::signals::StoredValue;
use crate::words::sql_path;

/// The table at hand. A page is made anew for another table, so this never changes on a page.
#[derive(Clone, Copy)]
pub struct Here(StoredValue<Names>);

struct Names {
    name: String,
    /// The name that the rail knows it by.
    listed: String,
    title: String,
    table: TableRef,
    location: String,
    url: String,
}

impl Here {
    /// The table of the address. Pages about a table are shown only once it is known.
    pub fn find() -> Self {
        let session = session();
        let name = session
            .route
            .with_untracked(|r| r.table().unwrap_or_default().to_owned());
        let entry = untrack(|| session.table()).and_then(Result::ok);
        let zone = entry.as_ref().map(|e| e.zone.clone()).unwrap_or_default();
        let prefix = entry.as_ref().map(|e| e.prefix.clone()).unwrap_or_default();
        let zone_url = untrack(|| session.lake.ok()).and_then(|lake| {
            let found = lake.zones.iter().find(|z| z.name == zone);
            found.map(|z| z.url.clone())
        });
        let url = joined(&zone_url.unwrap_or_default(), &prefix);
        let location = untrack(|| session.location()).unwrap_or_else(|| name.clone());
        let title = untrack(|| session.title()).unwrap_or_else(|| name.clone());
        let listed = entry.map_or_else(|| name.clone(), |e| e.name);
        let here = Self(StoredValue::new(Names {
            name,
            listed,
            title,
            table: TableRef { zone, prefix },
            location,
            url,
        }));
        here.look_after_dot(session);
        here
    }

    /// Who came by a link sees how the table is, too, as if the lake had been looked at before.
    fn look_after_dot(self, session: Session) {
        let listed = self.0.with_value(|n| n.listed.clone());
        if session.states.of(&listed).get_untracked() == TableState::Unknown {
            self.look_again();
        }
    }

    /// Asks how the table is: after an act it is not as the rail has it.
    pub fn look_again(self) {
        let session = session();
        let Some(lake) = untrack(|| session.lake.ok()) else {
            return;
        };
        let share = lake.attention.rows_removed;
        let (listed, table) = (self.0.with_value(|n| n.listed.clone()), self.table());
        spawn_local(async move {
            let state = match session.engine().overview(table, share).await {
                Ok(report) if report.attention.is_empty() => TableState::Calm,
                Ok(_) => TableState::Attention,
                Err(_) => TableState::Broken,
            };
            session.states.note(&listed, state);
        });
    }

    /// What people call it.
    pub fn title(self) -> String {
        self.0.with_value(|n| n.title.clone())
    }

    /// Its whole name, which its addresses begin with.
    pub fn name(self) -> String {
        self.0.with_value(|n| n.name.clone())
    }

    /// What the worker calls it.
    pub fn table(self) -> TableRef {
        self.0.with_value(|n| n.table.clone())
    }

    /// `tidemark <command> <table> <rest>`, ready for a shell.
    pub fn command(self, command: &str, rest: &[&str]) -> String {
        self.0.with_value(|n| {
            let mut words = vec!["tidemark", command, n.location.as_str()];
            words.extend_from_slice(rest);
            shell(&words)
        })
    }

    /// The table for Spark SQL: by its location.
    pub fn sql(self) -> String {
        self.0.with_value(|n| sql_path(&n.url))
    }

    /// The server's own answer about the table, as JSON.
    pub fn api(self, question: &str, parameters: &str) -> String {
        let page = Route::Timeline { table: self.name() }.href();
        let segment = page.strip_prefix("/t/").unwrap_or(&page);
        format!("/api/tables/{segment}/{question}?{parameters}")
    }

    /// The address of one of its pages.
    pub fn href(self, route: impl FnOnce(String) -> Route) -> String {
        route(self.name()).href()
    }
}

fn joined(url: &str, prefix: &str) -> String {
    let url = url.trim_end_matches('/');
    if prefix.is_empty() || url.is_empty() {
        return url.to_owned();
    }
    format!("{url}/{prefix}")
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn urls_and_prefixes_meet_in_one_slash() {
        assert_eq!(joined("s3://b/lake/", "users"), "s3://b/lake/users");
        assert_eq!(joined("s3://b", ""), "s3://b");
        assert_eq!(joined("", "x"), "");
    }
}
