//! The metaData of a restore: the target's, with what must never go back kept from the head.

use indexmap::IndexMap;
use serde_json::Value;

use crate::delta::action::Metadata;
use crate::delta::write::in_commit_timestamps;
use crate::table::{Time, Version};
use crate::{Error, Result};

const MAX_COLUMN_ID: &str = "delta.columnMapping.maxColumnId";
const ENABLED_AT: &str = "delta.inCommitTimestampEnablementVersion";
const ENABLED_WHEN: &str = "delta.inCommitTimestampEnablementTimestamp";
/// Names of the columns that hold row ids once they are written out; files that have them are found
/// by them.
const MATERIALIZED: &[&str] = &[
    "delta.rowTracking.materializedRowIdColumnName",
    "delta.rowTracking.materializedRowCommitVersionColumnName",
];

/// The metaData to commit. Identity columns, column ids and row ids never come twice.
pub(super) fn metadata(head: &Metadata, target: &Metadata) -> Result<Metadata> {
    let mut kept = target.clone();
    let known = |key: &str| head.configuration.get(key).cloned();
    if let Some(highest) = higher(known(MAX_COLUMN_ID), kept.configuration.get(MAX_COLUMN_ID)) {
        kept.configuration.insert(MAX_COLUMN_ID.to_owned(), highest);
    }
    for key in MATERIALIZED {
        if let Some(name) = known(key) {
            kept.configuration.insert((*key).to_owned(), name);
        }
    }
    if in_commit_timestamps(&kept) && in_commit_timestamps(head) {
        for key in [ENABLED_AT, ENABLED_WHEN] {
            match known(key) {
                Some(value) => kept.configuration.insert(key.to_owned(), value),
                None => kept.configuration.shift_remove(key),
            };
        }
    }
    if let Some(text) = identities(&head.schema_string, &kept.schema_string)? {
        kept.schema_string = text;
    }
    Ok(kept)
}

/// Where in-commit timestamps start with this commit, says so (PROTOCOL, "In-Commit Timestamps").
pub(super) fn enable(kept: &mut Metadata, head: &Metadata, version: Version, at: Time) {
    if in_commit_timestamps(kept) && !in_commit_timestamps(head) {
        let mut say = |key: &str, value: String| kept.configuration.insert(key.to_owned(), value);
        say(ENABLED_AT, version.to_string());
        say(ENABLED_WHEN, at.0.to_string());
    }
}

fn higher(head: Option<String>, target: Option<&String>) -> Option<String> {
    let number = |text: &String| text.parse::<i64>().ok();
    match (head, target) {
        (Some(head), Some(target)) if number(&head) <= number(target) => Some(target.clone()),
        (head, target) => head.or_else(|| target.cloned()),
    }
}

/// The target's schema with the high-water marks of identity columns that are further along in the
/// head; `None` where none is. Columns are the same by physical name.
fn identities(head: &str, target: &str) -> Result<Option<String>> {
    const MARK: &str = "delta.identity.highWaterMark";
    const STEP: &str = "delta.identity.step";
    if !head.contains(MARK) {
        return Ok(None);
    }
    let read = |text: &str| -> Result<Value> {
        serde_json::from_str(text)
            .map_err(|e| Error::damaged("metaData.schemaString is not JSON").because(e))
    };
    let (head, mut target) = (read(head)?, read(target)?);
    let mut marks: IndexMap<String, i64> = IndexMap::new();
    for field in fields(&head) {
        if let Some(mark) = note(field, MARK).and_then(Value::as_i64) {
            marks.insert(physical(field), mark);
        }
    }
    let mut changed = false;
    let Some(Value::Array(own)) = target.get_mut("fields") else {
        return Ok(None);
    };
    for field in own {
        let Some(mark) = marks.get(&physical(field)).copied() else {
            continue;
        };
        let Some(step) = note(field, STEP).and_then(Value::as_i64) else {
            continue;
        };
        let before = note(field, MARK).and_then(Value::as_i64);
        let further = match step < 0 {
            true => before.map_or(mark, |b| b.min(mark)),
            false => before.map_or(mark, |b| b.max(mark)),
        };
        if Some(further) != before
            && let Some(Value::Object(notes)) = field.get_mut("metadata")
        {
            notes.insert(MARK.to_owned(), further.into());
            changed = true;
        }
    }
    Ok(changed.then(|| target.to_string()))
}

fn fields(schema: &Value) -> impl Iterator<Item = &Value> {
    let fields = schema.get("fields").and_then(Value::as_array);
    fields.into_iter().flatten()
}

fn note<'a>(field: &'a Value, key: &str) -> Option<&'a Value> {
    field.get("metadata")?.get(key)
}

fn physical(field: &Value) -> String {
    let name = note(field, "delta.columnMapping.physicalName").or_else(|| field.get("name"));
    name.and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(marks: &str, configuration: &[(&str, &str)]) -> Metadata {
        let own = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
        Metadata {
            schema_string: format!(
                r#"{{"type":"struct","fields":[{{"name":"id","type":"long","nullable":true,"metadata":{{{marks}}}}}]}}"#
            ),
            configuration: configuration.iter().map(own).collect(),
            ..Default::default()
        }
    }

    fn mark(metadata: &Metadata) -> Option<i64> {
        let schema: Value = serde_json::from_str(&metadata.schema_string).unwrap();
        note(
            fields(&schema).next().unwrap(),
            "delta.identity.highWaterMark",
        )?
        .as_i64()
    }

    #[test]
    fn an_identity_is_never_given_twice() {
        let up = |n: i64| {
            table(
                &format!(r#""delta.identity.step":1,"delta.identity.highWaterMark":{n}"#),
                &[],
            )
        };
        assert_eq!(mark(&metadata(&up(50), &up(10)).unwrap()), Some(50));
        assert_eq!(mark(&metadata(&up(10), &up(50)).unwrap()), Some(50));
        let down = |n: i64| {
            table(
                &format!(r#""delta.identity.step":-1,"delta.identity.highWaterMark":{n}"#),
                &[],
            )
        };
        assert_eq!(mark(&metadata(&down(-50), &down(-10)).unwrap()), Some(-50));
        let none = table(r#""delta.identity.step":1"#, &[]);
        assert_eq!(mark(&metadata(&up(50), &none).unwrap()), Some(50));
        // Nothing to keep: the target's text to the letter.
        assert_eq!(metadata(&none, &up(7)).unwrap(), up(7));
    }

    #[test]
    fn column_ids_never_go_back() {
        let at = |n: &str| table("", &[(MAX_COLUMN_ID, n)]);
        let plain = table("", &[]);
        let kept = |head: &Metadata, target: &Metadata| {
            let kept = metadata(head, target).unwrap();
            kept.configuration.get(MAX_COLUMN_ID).cloned()
        };
        assert_eq!(kept(&at("10"), &at("9")).as_deref(), Some("10"));
        assert_eq!(kept(&at("9"), &at("10")).as_deref(), Some("10"));
        assert_eq!(kept(&at("3"), &plain).as_deref(), Some("3"));
        assert_eq!(kept(&plain, &plain), None);
    }

    #[test]
    fn in_commit_timestamps_name_where_they_start() {
        let on = |version: &str| {
            let pair = [
                ("delta.enableInCommitTimestamps", "true"),
                (ENABLED_AT, version),
                (ENABLED_WHEN, "17"),
            ];
            table("", &pair)
        };
        let off = table("", &[]);
        let start = |head: &Metadata, target: &Metadata| {
            let mut kept = metadata(head, target).unwrap();
            enable(&mut kept, head, Version(9), Time(90));
            let at = |key: &str| kept.configuration.get(key).cloned();
            (at(ENABLED_AT), at(ENABLED_WHEN))
        };
        let some = |a: &str, b: &str| (Some(a.to_owned()), Some(b.to_owned()));
        assert_eq!(start(&on("5"), &on("2")), some("5", "17"));
        assert_eq!(start(&off, &on("2")), some("9", "90"));
        assert_eq!(start(&on("5"), &off), (None, None));
    }
}
