//! One table at one version, ours against Spark's.

use std::collections::BTreeMap;
use std::sync::Arc;

use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::schema::Schema;
use lake::table::{At, Version};
use lake::wire::{CommitRow, HistoryQuery, SnapshotReport};
use serde_json::{Value, json};

use super::deviation::{Comparison, Deviations};
use super::driver::Facts;
use crate::peers::{our_columns, their_columns};

fn comparison<'a>(facts: &'a Facts, found: &'a mut Deviations) -> Comparison<'a> {
    Comparison {
        table: &facts.table,
        statement: &facts.statement,
        found,
    }
}

fn host() -> SharedHost {
    Arc::new(Quiet)
}

/// The newest version and the history, right after the statement.
pub(super) async fn now(root: &Root, facts: &Facts, found: &mut Deviations) {
    let mut compared = comparison(facts, found);
    match answer::snapshot(root, At::Latest, true, &host()).await {
        Ok(ours) => snapshot(root, &ours, facts, &mut compared),
        Err(error) => compared.failed("snapshot", &error),
    }
    history(root, facts, &mut compared).await;
}

/// The same version, after others have come.
pub(super) async fn then(root: &Root, facts: &Facts, found: &mut Deviations) {
    let mut compared = comparison(facts, found);
    let at = At::Version(Version(facts.version));
    match answer::snapshot(root, at, true, &host()).await {
        Ok(ours) => snapshot(root, &ours, facts, &mut compared),
        Err(error) => compared.failed("time travel", &error),
    }
}

/// What came and went from one statement to the next one makes up the difference.
pub(super) async fn between(root: &Root, from: &Facts, to: &Facts, found: &mut Deviations) {
    let mut compared = comparison(to, found);
    let versions = (Version(from.version), Version(to.version));
    let diff = match answer::diff(root, versions.0, versions.1, false, &host()).await {
        Ok(diff) => diff,
        Err(error) => return compared.failed("diff", &error),
    };
    let totals = diff.totals;
    let net = |came: u64, went: u64| came as i128 - went as i128;
    compared.same(
        "files between",
        net(totals.files_added, totals.files_removed),
        net(to.files, from.files),
    );
    compared.same(
        "bytes between",
        net(totals.bytes_added, totals.bytes_removed),
        net(to.bytes, from.bytes),
    );
    if let (Some(came), Some(went)) = (totals.rows_added, totals.rows_removed) {
        compared.same("rows between", net(came, went), net(to.rows, from.rows));
    }
}

fn snapshot(root: &Root, ours: &SnapshotReport, theirs: &Facts, compared: &mut Comparison<'_>) {
    compared.same("version", ours.version.0, theirs.version);
    compared.same("files", ours.files, theirs.files);
    compared.same("bytes", ours.bytes, theirs.bytes);
    compared.same("rows", ours.rows, Some(theirs.rows));
    let files = ours.paths.iter().flatten();
    let mut paths: Vec<String> = files
        .map(|file| match file.path.contains("://") {
            true => file.path.clone(),
            false => format!("{}/{}", root.location, file.path),
        })
        .collect();
    paths.sort();
    let without = |some: &[String], others: &[String]| -> Vec<String> {
        let new = some.iter().filter(|path| !others.contains(path));
        new.cloned().collect()
    };
    compared.same(
        "paths",
        without(&paths, &theirs.paths),
        without(&theirs.paths, &paths),
    );
    compared.same("id", ours.table_id.as_deref(), Some(theirs.id.as_str()));
    let (mut our_lines, mut their_lines) = (Vec::new(), Vec::new());
    our_columns("", &ours.schema.fields, &mut our_lines);
    their_columns("", &theirs.schema, &mut their_lines);
    compared.same("schema", our_lines, their_lines);
    compared.same(
        "partition columns",
        &ours.partition_columns,
        &theirs.partition_columns,
    );
    compared.same(
        "clustering columns",
        clustering_columns(ours),
        theirs.clustering_columns.clone(),
    );
    let properties: BTreeMap<String, String> = ours
        .properties
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    compared.same("properties", &properties, &theirs.properties);
    let version = |key: &str| ours.protocol.get(key).and_then(Value::as_u64);
    compared.same(
        "reader version",
        version("minReaderVersion"),
        Some(theirs.reader_version),
    );
    compared.same(
        "writer version",
        version("minWriterVersion"),
        Some(theirs.writer_version),
    );
    // Without a list, the version stands for the features.
    if let Some(Value::Array(features)) = ours.protocol.get("writerFeatures") {
        let mut features: Vec<&str> = features.iter().filter_map(Value::as_str).collect();
        features.sort_unstable();
        compared.same(
            "features",
            features,
            theirs.features.iter().map(String::as_str).collect(),
        );
    }
}

/// Logical names, out of the domain that names the columns as data files do.
fn clustering_columns(ours: &SnapshotReport) -> Vec<String> {
    let Some(domain) = ours.domains.get("delta.clustering") else {
        return Vec::new();
    };
    let domain: Value = serde_json::from_str(domain).unwrap();
    let columns: Vec<Vec<String>> =
        serde_json::from_value(domain["clusteringColumns"].clone()).unwrap();
    columns
        .iter()
        .map(|physical| logical(&ours.schema, physical))
        .collect()
}

fn logical(schema: &Schema, physical: &[String]) -> String {
    let mut fields = schema.fields.as_slice();
    let mut names = Vec::new();
    for name in physical {
        let field = fields.iter().find(|f| f.physical_name() == name).unwrap();
        names.push(field.name.clone());
        fields = &field.fields;
    }
    names.join(".")
}

/// Every commit with what its writer says of it and with the instant that time travel goes by.
async fn history(root: &Root, theirs: &Facts, compared: &mut Comparison<'_>) {
    let query = HistoryQuery {
        limit: 1_000,
        before: None,
    };
    let ours = match answer::history(root, &query, &host()).await {
        Ok(ours) => ours,
        Err(error) => return compared.failed("history", &error),
    };
    let damaged: Vec<_> = ours
        .commits
        .iter()
        .filter_map(|c| c.damaged.clone())
        .collect();
    compared.same("damaged commits", damaged, Vec::new());
    let ours: Vec<Value> = ours.commits.iter().map(commit).collect();
    compared.same("commits", ours.len(), theirs.history.len());
    for (ours, theirs) in ours.iter().zip(&theirs.history) {
        for key in [
            "version",
            "operation",
            "timestamp",
            "metrics",
            "reason",
            "engine",
        ] {
            compared.same(&format!("history {key}"), &ours[key], &theirs[key]);
        }
    }
}

fn commit(row: &CommitRow) -> Value {
    // Where a writer gives no metrics, Spark says null.
    let metrics = match &row.metrics {
        Value::Object(map) if !map.is_empty() => row.metrics.clone(),
        _ => Value::Null,
    };
    json!({
        "version": row.version.0,
        "operation": row.operation,
        "timestamp": row.timestamp.map(|t| t.0),
        "metrics": metrics,
        "reason": row.reason,
        "engine": row.engine,
    })
}
