//! What a commit did, in few words, from what its writer noted. Pure, and never wrong-footed by
//! what a parameter holds: engines write strings of JSON, JSON, or anything else.

use lake::wire::CommitRow;
use serde_json::Value;

use crate::engine::read::from_json;
use crate::format::count;
use crate::words::flat;

mod parameter;

use parameter::{list, parameter};

/// The words, plain text of others still in it: show it through `format::shorten`.
pub(super) fn summary(commit: &CommitRow) -> String {
    let said = said(commit);
    if !said.is_empty() {
        return said;
    }
    match &commit.reason {
        Some(reason) => reason.clone(),
        None => String::new(),
    }
}

fn said(commit: &CommitRow) -> String {
    let operation = commit.operation.as_deref().unwrap_or_default();
    let operation = operation.to_ascii_uppercase();
    let of = |key| parameter(commit, key);
    let predicate = || of("predicate");
    match operation.as_str() {
        "DELETE" | "UPDATE" => predicate().unwrap_or_else(|| "every row".to_owned()),
        "MERGE" => merge(commit, predicate()),
        "WRITE"
        | "CREATE OR REPLACE TABLE AS SELECT"
        | "REPLACE TABLE AS SELECT"
        | "CREATE TABLE AS SELECT"
        | "CREATE TABLE"
        | "REPLACE TABLE"
        | "CREATE OR REPLACE TABLE" => write(commit, predicate()),
        "STREAMING UPDATE" => {
            let mode = of("outputMode").unwrap_or_default().to_ascii_lowercase();
            match of("epochId") {
                Some(epoch) => join(&[&mode, &format!("epoch {epoch}")]),
                None => mode,
            }
        }
        "OPTIMIZE" => optimize(commit, predicate()),
        "RESTORE" => match (of("version"), of("timestamp")) {
            (Some(version), _) => format!("to version {version}"),
            (None, Some(time)) => format!("to {time}"),
            (None, None) => String::new(),
        },
        "SET TBLPROPERTIES" | "UNSET TBLPROPERTIES" => properties(commit),
        "ADD COLUMNS" | "DROP COLUMNS" | "CHANGE COLUMN" | "CHANGE COLUMNS" | "RENAME COLUMN"
        | "REPLACE COLUMNS" => columns(commit),
        "VACUUM START" | "VACUUM END" => {
            let status = of("status").map(|s| s.to_ascii_lowercase());
            status.unwrap_or_else(|| retention(commit))
        }
        _ => rest(commit),
    }
}

fn merge(commit: &CommitRow, predicate: Option<String>) -> String {
    let clauses = [
        "matchedPredicates",
        "notMatchedPredicates",
        "notMatchedBySourcePredicates",
    ]
    .iter()
    .filter_map(|key| list(commit.parameters.get(*key)?))
    .map(|clauses| clauses.len() as u64)
    .sum::<u64>();
    // Without the ids that told them apart, both sides of a key's equation are one name.
    let key = |p: &str| {
        let (left, right) = p.split_once(" = ")?;
        (left == right).then(|| left.to_owned())
    };
    let on = predicate.map(|p| format!("on {}", key(&p).unwrap_or(p)));
    let on = on.unwrap_or_default();
    let clauses = match clauses {
        0 => String::new(),
        1 => "1 clause".to_owned(),
        n => format!("{} clauses", count(n)),
    };
    join(&[&on, &clauses])
}

fn write(commit: &CommitRow, predicate: Option<String>) -> String {
    let mode = parameter(commit, "mode")
        .unwrap_or_default()
        .to_ascii_lowercase();
    let mode = match predicate {
        Some(predicate) => format!("{mode} where {predicate}").trim_start().to_owned(),
        None => mode,
    };
    let by = commit.parameters.get("partitionBy").and_then(list);
    let created = commit.parent.is_none() || commit.version.0 == 0;
    let by = by.filter(|by| !by.is_empty() && created);
    let by = by.map(|by| format!("partitioned by {}", by.join(", ")));
    join(&[&mode, &by.unwrap_or_default()])
}

fn optimize(commit: &CommitRow, predicate: Option<String>) -> String {
    let files = match (commit.files_removed, commit.files_added) {
        (Some(0), Some(0)) => "nothing to do".to_owned(),
        (Some(from), Some(into)) => format!("{} files into {}", count(from), count(into)),
        _ => String::new(),
    };
    let order = commit.parameters.get("zOrderBy").and_then(list);
    let order = order.filter(|o| !o.is_empty());
    let order = order.map(|o| format!("ordered by {}", o.join(", ")));
    let rows = if commit.data_change {
        ""
    } else {
        "no rows changed"
    };
    let files = join_with(&[&files, rows], ", ");
    join(&[
        &files,
        &order.unwrap_or_default(),
        &predicate.unwrap_or_default(),
    ])
}

fn properties(commit: &CommitRow) -> String {
    let Some(properties) = commit.parameters.get("properties") else {
        return rest(commit);
    };
    let parsed = match properties {
        Value::String(text) => from_json(text).unwrap_or(Value::Null),
        other => other.clone(),
    };
    let short = |key: &str| key.strip_prefix("delta.").unwrap_or(key).to_owned();
    match parsed {
        Value::Object(map) => {
            let pairs = map
                .iter()
                .map(|(k, v)| format!("{} = {}", short(k), flat(v)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        Value::Array(keys) => {
            let keys = keys.iter().map(|k| short(&flat(k)));
            keys.collect::<Vec<_>>().join(", ")
        }
        _ => flat(properties),
    }
}

fn columns(commit: &CommitRow) -> String {
    let parameters = &commit.parameters;
    if let (Some(old), Some(new)) = (
        parameter(commit, "oldColumnPath"),
        parameter(commit, "newColumnPath"),
    ) {
        return format!("{old} to {new}");
    }
    let Some(columns) = parameters
        .get("columns")
        .or_else(|| parameters.get("column"))
    else {
        return rest(commit);
    };
    let parsed = match columns {
        Value::String(text) => from_json(text).unwrap_or_else(|_| columns.clone()),
        other => other.clone(),
    };
    let name = |column: &Value| {
        let inner = column.get("column").unwrap_or(column);
        match (inner.get("name"), inner.get("type")) {
            (Some(name), Some(Value::String(kind))) => format!("{} {kind}", flat(name)),
            (Some(name), _) => flat(name),
            _ => flat(inner),
        }
    };
    match &parsed {
        Value::Array(all) => all.iter().map(name).collect::<Vec<_>>().join(", "),
        one => name(one),
    }
}

fn retention(commit: &CommitRow) -> String {
    let millis = parameter(commit, "specifiedRetentionMillis")
        .or_else(|| parameter(commit, "defaultRetentionMillis"));
    match millis.and_then(|m| m.parse().ok()) {
        Some(millis) => format!("kept {}", crate::format::duration(millis)),
        None => String::new(),
    }
}

/// The first few parameters as they are.
fn rest(commit: &CommitRow) -> String {
    let Value::Object(map) = &commit.parameters else {
        return String::new();
    };
    let told = map
        .keys()
        .filter_map(|key| Some(format!("{key} {}", parameter(commit, key)?)));
    told.take(3).collect::<Vec<_>>().join(" · ")
}

fn join(parts: &[&str]) -> String {
    join_with(parts, " · ")
}

fn join_with(parts: &[&str], between: &str) -> String {
    let told = parts.iter().filter(|p| !p.is_empty());
    told.copied().collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::super::sample::commit;
    use super::*;
    use serde_json::json;

    fn of(operation: &str, parameters: Value) -> String {
        let mut c = commit(7, operation);
        c.parameters = parameters;
        summary(&c)
    }

    #[test]
    fn says_what_was_meant() {
        let cases = [
            (
                "DELETE",
                json!({"predicate": "[\"(region = 'US')\"]"}),
                "region = 'US'",
            ),
            (
                "DELETE",
                json!({"predicate": "[\"(a = 1)\", \"(b = 2)\"]"}),
                "a = 1 and b = 2",
            ),
            (
                "DELETE",
                json!({"predicate": "(a = 1) OR (b = 2)"}),
                "(a = 1) OR (b = 2)",
            ),
            ("DELETE", json!({}), "every row"),
            (
                "MERGE",
                json!({"predicate": "[\"(t.id = s.id)\"]", "matchedPredicates": "[{\"actionType\":\"update\"}]", "notMatchedPredicates": "[{\"actionType\":\"insert\"}]"}),
                "on t.id = s.id · 2 clauses",
            ),
            (
                "MERGE",
                json!({"predicate": "[\"(user_id#12L = user_id#31L)\"]"}),
                "on user_id",
            ),
            (
                "WRITE",
                json!({"mode": "Append", "partitionBy": "[]"}),
                "append",
            ),
            (
                "WRITE",
                json!({"mode": "Overwrite", "predicate": "region = 'UK'"}),
                "overwrite where region = 'UK'",
            ),
            (
                "RESTORE",
                json!({"version": 10, "timestamp": null}),
                "to version 10",
            ),
            (
                "RESTORE",
                json!({"version": null, "timestamp": "2026-11-29 15:02:53.251"}),
                "to 2026-11-29 15:02:53.251",
            ),
            (
                "STREAMING UPDATE",
                json!({"outputMode": "Append", "epochId": "4411"}),
                "append · epoch 4411",
            ),
            (
                "SET TBLPROPERTIES",
                json!({"properties": "{\"delta.deletedFileRetentionDuration\":\"3 days\"}"}),
                "deletedFileRetentionDuration = 3 days",
            ),
            (
                "ADD COLUMNS",
                json!({"columns": "[{\"column\":{\"name\":\"score\",\"type\":\"double\"}}]"}),
                "score double",
            ),
            (
                "RENAME COLUMN",
                json!({"oldColumnPath": "a", "newColumnPath": "b"}),
                "a to b",
            ),
            (
                "VACUUM START",
                json!({"defaultRetentionMillis": "604800000"}),
                "kept 7 d",
            ),
            (
                "CLONE",
                json!({"source": "x", "sourceVersion": 3}),
                "source x · sourceVersion 3",
            ),
        ];
        for (operation, parameters, text) in cases {
            assert_eq!(
                of(operation, parameters.clone()),
                text,
                "{operation} {parameters}"
            );
        }
    }

    #[test]
    fn optimize_says_how_many_into_how_many() {
        let mut c = commit(40, "OPTIMIZE");
        (c.files_removed, c.files_added, c.data_change) = (Some(60), Some(4), false);
        c.parameters = json!({"predicate": "[]", "zOrderBy": "[]"});
        assert_eq!(summary(&c), "60 files into 4, no rows changed");
        c.parameters = json!({"predicate": "[\"('event_date = 2026-11-28)\"]"});
        assert_eq!(
            summary(&c),
            "60 files into 4, no rows changed · event_date = 2026-11-28"
        );
    }

    #[test]
    fn odd_parameters_do_no_harm() {
        for odd in [
            json!(null),
            json!(7),
            json!("x"),
            json!([1]),
            json!({"predicate": {"a": []}}),
            json!({"predicate": "[", "properties": 3, "columns": [null], "mode": []}),
        ] {
            for operation in [
                "DELETE",
                "MERGE",
                "WRITE",
                "OPTIMIZE",
                "RESTORE",
                "SET TBLPROPERTIES",
                "ADD COLUMNS",
                "VACUUM END",
                "?",
            ] {
                let _ = of(operation, odd.clone());
            }
        }
        let mut reasoned = commit(1, "?");
        reasoned.reason = Some("because".to_owned());
        assert_eq!(summary(&reasoned), "because");
    }
}
