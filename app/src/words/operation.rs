//! What a commit did, in one line, from its own `operation` and `operationParameters`.

use lake::wire::CommitRow;
use serde_json::Value;

use super::figure::{count_of, joined};
use crate::engine::read::from_json;
use crate::format;

/// One line beside the operation's name. Empty where the commit does not say.
///
/// Parameters are free JSON: whatever does not have the expected shape is shown as it stands.
pub fn summary(commit: &CommitRow) -> String {
    let Some(operation) = commit.operation.as_deref() else {
        return String::new();
    };
    let p = Parameters(&commit.parameters);
    let line = match operation.to_ascii_uppercase().as_str() {
        "WRITE" | "STREAMING UPDATE" => write(&p),
        "DELETE" | "UPDATE" => p.predicate().unwrap_or_else(|| "every row".to_owned()),
        "MERGE" => merge(&p),
        "OPTIMIZE" => optimize(&p, commit),
        "RESTORE" => restore(&p),
        "SET TBLPROPERTIES" => properties(&p),
        "UNSET TBLPROPERTIES" => p.names("properties"),
        "ADD COLUMNS"
        | "ADD COLUMN"
        | "REPLACE COLUMNS"
        | "CHANGE COLUMN"
        | "CHANGE COLUMNS"
        | "UPDATE FIELD METADATA"
        | "ALTER COLUMN" => columns(&p),
        "RENAME COLUMN" => match (p.text("oldColumnPath"), p.text("newColumnPath")) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            _ => String::new(),
        },
        "DROP COLUMNS" | "DROP COLUMN" => p.names("columns"),
        "ADD CONSTRAINT" | "DROP CONSTRAINT" => constraint(&p),
        "VACUUM START" => match p.number("specifiedRetentionMillis") {
            Some(millis) => format!("keeping {}", format::duration(millis)),
            None => String::new(),
        },
        "VACUUM END" => p.text("status").unwrap_or_default().to_lowercase(),
        "CLONE" => match (p.text("source"), p.text("sourceVersion")) {
            (Some(source), Some(version)) => format!("of {source}, version {version}"),
            (Some(source), None) => format!("of {source}"),
            _ => String::new(),
        },
        other if other.contains("TABLE") => create(&p),
        _ => String::new(),
    };
    if line.is_empty() { p.first_few() } else { line }
}

/// A predicate as a person would write it: Spark's list of strings joined, the expression ids
/// (`letter#39791`) and one pair of outer brackets gone. `None` where there is none.
pub fn predicate_text(value: &Value) -> Option<String> {
    let list = match value {
        Value::String(text) => match from_json::<Vec<String>>(text) {
            Ok(list) => list,
            Err(_) => vec![text.clone()],
        },
        Value::Array(items) => items.iter().map(flat).collect(),
        _ => return None,
    };
    let parts: Vec<String> = list
        .iter()
        .map(|p| bare(&without_ids(p.trim())))
        .filter(|p| !p.is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// A JSON value in one line: text without its quotes, everything else as JSON.
pub fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

struct Parameters<'a>(&'a Value);

impl Parameters<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|v| !v.is_null())
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(flat).filter(|text| !text.is_empty())
    }

    fn number(&self, key: &str) -> Option<u64> {
        match self.get(key)? {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64(),
        }
    }

    /// Writers put JSON into strings; this is the JSON.
    fn inner(&self, key: &str) -> Option<Value> {
        match self.get(key)? {
            Value::String(text) => from_json(text).ok(),
            other => Some(other.clone()),
        }
    }

    fn predicate(&self) -> Option<String> {
        ["predicate", "mergePredicate"]
            .iter()
            .find_map(|key| self.get(key).and_then(predicate_text))
    }

    fn list(&self, key: &str) -> Vec<Value> {
        match self.inner(key) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        }
    }

    fn names(&self, key: &str) -> String {
        let names: Vec<String> = self.list(key).iter().map(flat).collect();
        names.join(", ")
    }

    /// For operations nobody told us about.
    fn first_few(&self) -> String {
        let Some(map) = self.0.as_object() else {
            return String::new();
        };
        let empty = |v: &Value| v.is_null() || matches!(flat(v).as_str(), "" | "[]" | "{}");
        let shown: Vec<String> = map
            .iter()
            .filter(|(_, v)| !empty(v))
            .take(3)
            .map(|(k, v)| format!("{k} {}", flat(v)))
            .collect();
        shown.join(", ")
    }
}

fn write(p: &Parameters<'_>) -> String {
    let mode = p.text("mode").or_else(|| p.text("outputMode"));
    let mut line = mode.unwrap_or_default().to_lowercase();
    if let Some(predicate) = p.predicate() {
        line = format!("{line} where {predicate}").trim().to_owned();
    }
    if let Some(epoch) = p.text("epochId") {
        line = format!("{line}, batch {epoch}");
    }
    line
}

fn merge(p: &Parameters<'_>) -> String {
    let clauses: u64 = [
        "matchedPredicates",
        "notMatchedPredicates",
        "notMatchedBySourcePredicates",
    ]
    .iter()
    .map(|key| p.list(key).len() as u64)
    .sum();
    let on = p.predicate().map(|predicate| format!("on {predicate}"));
    let how = (clauses > 0).then(|| count_of(clauses, "clause"));
    [on, how]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ")
}

fn optimize(p: &Parameters<'_>, commit: &CommitRow) -> String {
    let mut parts = Vec::new();
    if let (Some(removed), Some(added)) = (commit.files_removed, commit.files_added) {
        if removed + added == 0 {
            parts.push("nothing to pack".to_owned());
        } else {
            parts.push(format!(
                "{} into {}",
                count_of(removed, "file"),
                format::count(added)
            ));
        }
        if !commit.data_change {
            parts.push("no rows changed".to_owned());
        }
    }
    if let Some(predicate) = p.predicate() {
        parts.push(predicate);
    }
    for (key, word) in [("zOrderBy", "z-order by"), ("clusterBy", "clustered by")] {
        let names = p.names(key);
        if !names.is_empty() {
            parts.push(format!("{word} {names}"));
        }
    }
    parts.join(", ")
}

fn restore(p: &Parameters<'_>) -> String {
    match (p.text("version"), p.text("timestamp")) {
        (Some(version), _) => format!("to version {version}"),
        (None, Some(time)) => format!("to {time} UTC"),
        _ => String::new(),
    }
}

fn properties(p: &Parameters<'_>) -> String {
    let Some(Value::Object(map)) = p.inner("properties") else {
        return String::new();
    };
    let parts: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{key} = {}", flat(value)))
        .collect();
    parts.join(", ")
}

/// Columns added or changed: Spark wraps each in `{"column":…}`, others do not.
fn columns(p: &Parameters<'_>) -> String {
    let mut list = p.list("columns");
    list.extend(p.list("fields"));
    list.extend(p.inner("column"));
    let parts: Vec<String> = list
        .iter()
        .filter_map(|item| {
            let column = item.get("column").unwrap_or(item);
            let name = column.get("name").map(flat)?;
            Some(match column.get("type") {
                Some(Value::String(kind)) => format!("{name} {kind}"),
                Some(Value::Object(kind)) => {
                    let kind = kind.get("type").map(flat).unwrap_or_default();
                    format!("{name} {kind}").trim_end().to_owned()
                }
                _ => name,
            })
        })
        .collect();
    parts.join(", ")
}

fn constraint(p: &Parameters<'_>) -> String {
    let named = |item: &Value| {
        let name = item.get("name").map(flat)?;
        let expression = item.get("expr").map(flat);
        Some(match expression {
            Some(expression) => format!("{name}: {expression}"),
            None => name,
        })
    };
    let listed: Vec<String> = p.list("constraints").iter().filter_map(named).collect();
    if !listed.is_empty() {
        return listed.join(", ");
    }
    named(p.0).unwrap_or_default()
}

fn create(p: &Parameters<'_>) -> String {
    let by = |key: &str, word: &str| {
        let names: Vec<String> = p.list(key).iter().map(flat).collect();
        (!names.is_empty()).then(|| format!("{word} {}", joined(&names)))
    };
    let parts = [
        p.text("mode").map(|mode| mode.to_lowercase()),
        by("partitionBy", "partitioned by"),
        by("clusterBy", "clustered by"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Drops Spark's expression ids: `#` and digits after a name, and the `L` of a long one.
fn without_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('#') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = &after[1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let named = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '`');
        if digits == 0 || !named {
            out.push('#');
            rest = after;
            continue;
        }
        let after = &after[digits..];
        rest = match after.strip_prefix('L') {
            Some(tail) if !tail.starts_with(char::is_alphanumeric) => tail,
            _ => after,
        };
    }
    out.push_str(rest);
    out
}

/// Takes away one pair of brackets that encloses everything.
fn bare(text: &str) -> String {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text.to_owned();
    };
    let mut depth = 0i32;
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return text.to_owned();
        }
    }
    inner.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::words::samples::commit;

    fn said(operation: &str, parameters: Value) -> String {
        summary(&CommitRow {
            operation: Some(operation.to_owned()),
            parameters,
            ..commit()
        })
    }

    #[test]
    fn predicates_lose_what_only_spark_needs() {
        let text = |v: Value| predicate_text(&v).unwrap_or_default();
        assert_eq!(text(json!("[\"(letter#39791 = a)\"]")), "letter = a");
        assert_eq!(text(json!("[\"(id#6039L = 2)\"]")), "id = 2");
        assert_eq!(text(json!("id = 1 ")), "id = 1");
        assert_eq!(
            text(json!("[\"((`id` >= 120L) AND (`id` <= 125L))\"]")),
            "(`id` >= 120L) AND (`id` <= 125L)"
        );
        assert_eq!(
            text(json!("[\"a = 1\",\"(b = '#7')\"]")),
            "a = 1 and b = '#7'"
        );
        assert_eq!(predicate_text(&json!("[]")), None);
        assert_eq!(text(json!("(a) or (b)")), "(a) or (b)");
    }

    #[test]
    fn every_writer_says_merge_its_own_way() {
        let spark = json!({"predicate": "[\"(t.id#1 = s.id#2)\"]",
            "matchedPredicates": "[{\"actionType\":\"update\"}]",
            "notMatchedPredicates": "[{\"actionType\":\"insert\"}]"});
        assert_eq!(said("MERGE", spark), "on t.id = s.id · 2 clauses");
        let rust = json!({"mergePredicate": "t.id = s.id",
            "matchedPredicates": "[{\"actionType\":\"delete\"}]"});
        assert_eq!(said("MERGE", rust), "on t.id = s.id · 1 clause");
    }

    #[test]
    fn writes_name_mode_predicate_and_batch() {
        assert_eq!(
            said("WRITE", json!({"mode": "Append", "partitionBy": "[]"})),
            "append"
        );
        assert_eq!(
            said(
                "WRITE",
                json!({"mode": "Overwrite", "predicate": "region = 'UK'"})
            ),
            "overwrite where region = 'UK'"
        );
        assert_eq!(
            said(
                "STREAMING UPDATE",
                json!({"outputMode": "Append", "epochId": "7"})
            ),
            "append, batch 7"
        );
        assert_eq!(said("DELETE", json!({"predicate": "[]"})), "every row");
    }

    #[test]
    fn optimize_counts_its_own_actions() {
        let row = CommitRow {
            operation: Some("OPTIMIZE".into()),
            parameters: json!({"predicate": "[]", "zOrderBy": "[\"id\"]"}),
            files_added: Some(4),
            files_removed: Some(60),
            data_change: false,
            ..commit()
        };
        assert_eq!(
            summary(&row),
            "60 files into 4, no rows changed, z-order by id"
        );
    }

    #[test]
    fn schema_and_property_changes_name_what_they_touch() {
        assert_eq!(
            said(
                "ADD COLUMNS",
                json!({"columns": "[{\"column\":{\"name\":\"j\",\"type\":\"integer\"}}]"})
            ),
            "j integer"
        );
        assert_eq!(
            said(
                "ADD COLUMN",
                json!({"fields": "[{\"name\":\"n\",\"type\":{\"type\":\"struct\",\"fields\":[]}}]"})
            ),
            "n struct"
        );
        assert_eq!(
            said(
                "CHANGE COLUMN",
                json!({"column": "{\"name\":\"b\",\"type\":\"short\"}"})
            ),
            "b short"
        );
        assert_eq!(
            said(
                "SET TBLPROPERTIES",
                json!({"properties": "{\"delta.appendOnly\":\"true\"}"})
            ),
            "delta.appendOnly = true"
        );
        assert_eq!(
            said(
                "RENAME COLUMN",
                json!({"oldColumnPath": "a", "newColumnPath": "b"})
            ),
            "a to b"
        );
        assert_eq!(
            said(
                "ADD CONSTRAINT",
                json!({"constraints": "[{\"name\":\"ok\",\"expr\":\"v < 1\"}]"})
            ),
            "ok: v < 1"
        );
        assert_eq!(said("DROP CONSTRAINT", json!({"name": "ok"})), "ok");
    }

    #[test]
    fn restores_name_version_or_time() {
        assert_eq!(
            said("RESTORE", json!({"version": 10, "timestamp": null})),
            "to version 10"
        );
        assert_eq!(
            said(
                "RESTORE",
                json!({"version": null, "timestamp": "2026-11-29 15:02:53.251"})
            ),
            "to 2026-11-29 15:02:53.251 UTC"
        );
    }

    #[test]
    fn what_nobody_told_us_about_is_shown_as_it_stands() {
        assert_eq!(
            said("REORG", json!({"applyPurge": true, "x": "[]"})),
            "applyPurge true"
        );
        assert_eq!(said("WRITE", json!([1, 2])), "");
        assert_eq!(
            said("SET TBLPROPERTIES", json!({"properties": "{broken"})),
            "properties {broken"
        );
        assert_eq!(
            summary(&CommitRow {
                operation: None,
                ..commit()
            }),
            ""
        );
    }
}
