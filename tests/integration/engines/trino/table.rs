//! One table, acted on by us, and as Trino and deltalake read it.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::table::At;
use lake::wire::{CommitRow, HistoryQuery};
use object_store::path::Path;
use serde_json::{Value, json};
use tests::place;
use tests::seaweed::{BUCKET, SeaweedFs};
use tests::trino::{Rows, Trino};

use super::super::acts;

const FOLDER: &str = "trino";

/// A table, and the rows of its versions.
pub(super) struct Table<'a> {
    seaweed: &'a SeaweedFs,
    trino: &'a Trino,
    name: &'static str,
    root: Root,
    /// What deltalake read of each version when it was the newest.
    rows: BTreeMap<u64, Rows>,
    pub(super) acts: usize,
    pub(super) statements: usize,
}

impl<'a> Table<'a> {
    pub(super) fn new(seaweed: &'a SeaweedFs, trino: &'a Trino, name: &'static str) -> Self {
        let root = Root {
            store: Arc::new(seaweed.store()),
            path: Path::from(FOLDER).join(name),
            location: format!("s3://{BUCKET}/{FOLDER}/{name}"),
        };
        Self {
            seaweed,
            trino,
            name,
            root,
            rows: BTreeMap::new(),
            acts: 0,
            statements: 0,
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.root.location
    }

    pub(super) fn write_by_deltalake(&self) {
        self.deltalake("write", &[]);
    }

    /// Every version so far by Trino as by deltalake.
    pub(super) async fn look(&mut self) {
        let versions: Vec<u64> = (0..=self.head().await).collect();
        for (version, rows) in versions.iter().zip(self.by_deltalake(&versions)) {
            assert_same(&self.by_trino(Some(*version)).await, &rows, self.name);
            self.rows.insert(*version, rows);
        }
    }

    /// Restores a version: Trino reads its rows again.
    pub(super) async fn restore(&mut self, version: u64) {
        let head = self.head().await;
        let outcome = acts::restore(&self.root, version, head).await.unwrap();
        assert!(outcome.applied.is_some(), "{:?}", outcome.plan);
        let rows = self.rows[&version].clone();
        self.acted(head, rows, "RESTORE").await;
    }

    /// Packs: the rows stay.
    pub(super) async fn optimize(&mut self) {
        let head = self.head().await;
        let outcome = acts::optimize(&self.root).await.unwrap();
        assert!(outcome.applied.is_some(), "{:?}", outcome.plan);
        let rows = self.rows[&head].clone();
        self.acted(head, rows, "OPTIMIZE").await;
    }

    /// Deletes what the newest version does not need: its rows stay.
    pub(super) async fn vacuum(&mut self) {
        let head = self.head().await;
        // The store's clock counts whole seconds, and what is of this one is not yet old.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let applied = acts::vacuum(&self.root).await.unwrap().applied.unwrap();
        assert!(
            applied.deleted > 0 && applied.failed.is_empty(),
            "{applied:?}"
        );
        let rows = self.rows[&head].clone();
        self.acted(head, rows, "VACUUM END").await;
    }

    /// Trino after an act of ours that left these rows: now, and the version before.
    async fn acted(&mut self, head: u64, rows: Rows, operation: &str) {
        let made = self.head().await;
        let about = format!("{} at {made}, {operation}", self.name);
        assert!(made > head, "{about}: no commit");
        for version in head + 1..=made {
            self.rows.insert(version, rows.clone());
        }
        assert_same(&self.by_trino(None).await, &rows, &about);
        let before = self.by_trino(Some(made - 1)).await;
        assert_same(&before, &self.rows[&(made - 1)], &about);
        let newest = &self.newest_commit().await;
        assert_eq!(newest.operation.as_deref(), Some(operation), "{about}");
        assert_eq!(self.history_by_trino(made).await, told(newest), "{about}");
        self.acts += 1;
    }

    /// Trino executes statements, and all read the same rows after each.
    pub(super) async fn written_on(&mut self, statements: &[&str]) {
        let host: SharedHost = Arc::new(Quiet);
        for statement in statements {
            let before = self.head().await;
            self.trino.run(statement).await;
            let version = self.head().await;
            assert!(version > before, "{statement}: no commit");
            let rows = self.by_trino(None).await;
            let read = self.by_deltalake(&[version]);
            assert_same(&rows, &read[0], statement);
            let ours = answer::snapshot(&self.root, At::Latest, false, &host).await;
            let ours = ours.unwrap_or_else(|e| panic!("{statement}: {e}"));
            assert_eq!(ours.rows, Some(rows.len() as u64), "{statement}");
            self.rows.insert(version, rows);
            self.statements += 1;
        }
    }

    async fn head(&self) -> u64 {
        acts::head(&self.root).await.unwrap()
    }

    async fn newest_commit(&self) -> CommitRow {
        let host: SharedHost = Arc::new(Quiet);
        let query = HistoryQuery {
            limit: 1,
            before: None,
        };
        let history = answer::history(&self.root, &query, &host).await;
        history.unwrap().commits.remove(0)
    }

    async fn by_trino(&self, version: Option<u64>) -> Rows {
        let at = version.map_or(String::new(), |v| format!("for version as of {v}"));
        let columns = "id, region, score, to_unixtime(seen)";
        let statement = format!("select {columns} from {} {at}", self.name);
        sorted(self.trino.run(&statement).await)
    }

    /// What Trino says of a commit: operation, parameters, the version it was made from, its author.
    async fn history_by_trino(&self, version: u64) -> Value {
        let select =
            "select operation, cast(operation_parameters as json), read_version, user_name from";
        let statement = format!(
            "{select} \"{}$history\" where version = {version}",
            self.name
        );
        let rows = self.trino.run(&statement).await;
        let [row] = rows.as_slice() else {
            panic!("{statement}: {rows:?}")
        };
        let parameters: Value = serde_json::from_str(row[1].as_str().unwrap()).unwrap();
        json!([row[0], parameters, row[2], row[3]])
    }

    fn by_deltalake(&self, versions: &[u64]) -> Vec<Rows> {
        let words: Vec<String> = versions.iter().map(u64::to_string).collect();
        let text = self.deltalake("read", &words);
        let rows: Vec<Rows> = text
            .lines()
            .map(|line| sorted(serde_json::from_str(line).unwrap()))
            .collect();
        assert_eq!(rows.len(), versions.len(), "{text}");
        rows
    }

    fn deltalake(&self, verb: &str, words: &[String]) -> String {
        let output = Command::new(place::venv("python"))
            .arg(place::repository().join("tests/peers/learners.py"))
            .args([verb, self.url()])
            .args(words)
            .envs(self.seaweed.environment())
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{verb} {}: {complaint}",
            self.url()
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The same of a commit of ours, its parameters as texts, which is what Trino makes of all.
fn told(row: &CommitRow) -> Value {
    let text = |value: &Value| match value {
        Value::Null => Value::Null,
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    };
    let parameters: serde_json::Map<String, Value> = row
        .parameters
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), text(value)))
        .collect();
    json!([row.operation, parameters, row.version.0 - 1, row.user])
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort_by_cached_key(|row| json!(row).to_string());
    rows
}

fn assert_same(some: &Rows, others: &Rows, about: &str) {
    assert!(!some.is_empty(), "{about}: no rows");
    assert!(
        some == others,
        "{about}: {} rows instead of {}, the first that differs: {:?}",
        some.len(),
        others.len(),
        some.iter().zip(others).find(|(a, b)| a != b)
    );
}
