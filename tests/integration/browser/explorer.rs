//! The explorer as a person meets it: a browser, open at one of its pages.

use std::sync::Arc;

use lake::hours::Day;
use serde_json::{Value, json};
use tests::chromium::{Chromium, Look};
use tests::served::Served;

/// A browser in front of the sample lake.
pub(crate) struct Explorer {
    pub(crate) chromium: Chromium,
    pub(crate) served: Arc<Served>,
    /// The tables' names, as the server gives them.
    tables: Vec<String>,
}

impl Explorer {
    /// Opens the sample lake at a path.
    pub(crate) async fn open(look: Look, path: &str) -> Self {
        Self::over(Served::demo(), look, path).await
    }

    /// Opens what a server serves at a path.
    pub(crate) async fn over(served: Arc<Served>, look: Look, path: &str) -> Self {
        let chromium = Chromium::start(look).await;
        let mut explorer = Self {
            chromium,
            served,
            tables: Vec::new(),
        };
        let lake = explorer.asks("/api/lake").await;
        let tables = lake["tables"].as_array().unwrap().iter();
        explorer.tables = tables
            .map(|t| t["name"].as_str().unwrap().to_owned())
            .collect();
        explorer.go(path).await;
        explorer
    }

    /// Opens the sample lake at a page of a table: `table(look, "users", "/layout")`.
    pub(crate) async fn table(look: Look, table: &str, page: &str) -> Self {
        let explorer = Self::open(look, "/").await;
        explorer.go(&explorer.at(table, page)).await;
        explorer
    }

    /// The address of a page of a table: `at("users", "/layout")`.
    pub(crate) fn at(&self, table: &str, page: &str) -> String {
        format!("/t/{}{page}", self.name(table))
    }

    /// A table's whole name as one segment of an address: `users` may be called `curated/users`.
    fn name(&self, table: &str) -> String {
        let is = |name: &&String| name.rsplit('/').next() == Some(table);
        let name = self.tables.iter().find(is);
        segment(name.unwrap_or_else(|| panic!("no {table} in {:?}", self.tables)))
    }

    /// Opens a path as if it had been typed.
    pub(crate) async fn go(&self, path: &str) {
        self.chromium.web().go(&self.served.at(path)).await;
        self.chromium.settles().await;
    }

    /// What the server itself answers at a path of its interface.
    pub(crate) async fn asks(&self, path: &str) -> Value {
        let http = tests::http().build().unwrap();
        let answer = http.get(self.served.at(path)).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.unwrap()
    }

    /// The history of a table, newest first.
    pub(crate) async fn history(&self, table: &str) -> Vec<Value> {
        let report = self
            .asks(&format!(
                "/api/tables/{}/history?limit=1000",
                self.name(table)
            ))
            .await;
        report["commits"].as_array().unwrap().clone()
    }

    /// The newest version whose commit did this.
    pub(crate) async fn version_of(&self, table: &str, operation: &str) -> u64 {
        let commits = self.history(table).await;
        let commit = commits
            .iter()
            .find(|commit| commit["operation"] == json!(operation));
        let commit = commit.unwrap_or_else(|| panic!("{table} has no {operation}"));
        commit["version"].as_str().unwrap().parse().unwrap()
    }

    /// A day of the sample lake's hours: so many before the newest one.
    pub(crate) async fn day(&self, ago: i32) -> Day {
        let report = self.asks("/api/datasets/learning.progress/hours").await;
        let to: Day = report["to"].as_str().unwrap().parse().unwrap();
        to.plus(-ago)
    }

    /// The newest version.
    pub(crate) async fn latest(&self, table: &str) -> u64 {
        let commits = self.history(table).await;
        commits[0]["version"].as_str().unwrap().parse().unwrap()
    }

    /// The path of one data file of a version.
    pub(crate) async fn some_file(&self, table: &str, version: u64) -> String {
        let path = format!(
            "/api/tables/{}/snapshot?version={version}&files=true",
            self.name(table)
        );
        let report = self.asks(&path).await;
        report["paths"][0]["path"].as_str().unwrap().to_owned()
    }

    /// Ends the browser; the console must have had nothing to say.
    pub(crate) async fn close(self) {
        self.chromium.close().await;
    }
}

/// A text as one segment of an address.
pub(crate) fn segment(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'=' | b':' => {
                out.push(byte as char);
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
