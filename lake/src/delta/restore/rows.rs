//! The actions on files: what an add and a remove carry, row ids, and whether files of another time
//! fit the table as it is.

use hashbrown::HashMap;

use crate::Result;
use crate::delta::action::{Domain, Protocol};
use crate::delta::commit::{lines, parse_line};
use crate::delta::log::Log;
use crate::delta::path::canonical;
use crate::delta::schema::mapping;
use crate::delta::snapshot::{Snapshot, State};
use crate::delta::stats::num_records;
use crate::delta::verbatim::{Fields, raw};
use crate::delta::write::{BASE_ROW_ID, RowIds, SINCE_VERSION};
use crate::diff::schema::schema_changes;
use crate::table::Version;
use crate::wire::SchemaChangeKind;

/// An add as a restore writes it.
pub(super) fn as_add(fields: &mut Fields) -> Result<()> {
    fields.insert("dataChange".to_owned(), raw(&true)?);
    Ok(())
}

/// Gives every add its row ids where the table tracks rows (PROTOCOL, "Row Tracking"): its own, those
/// of the last action on its path, or fresh ones; and the domain's mark where fresh ones were given.
pub(super) async fn track(
    log: &Log,
    base: &Snapshot,
    protocol: &Protocol,
    target: Version,
    adds: &mut [Fields],
) -> Result<Option<Domain>> {
    let ids = RowIds::new(&base.state, protocol, base.state.version.next());
    let Some(mut ids) = ids.filter(|_| !adds.iter().all(|add| add.contains_key(BASE_ROW_ID)))
    else {
        return Ok(None);
    };
    let known = last_ids(log, target, base.state.version).await?;
    for add in adds.iter_mut().filter(|add| !add.contains_key(BASE_ROW_ID)) {
        let path: String = add.get("path").map_or_else(String::new, |p| text(p.get()));
        if let Some((id, since)) = known.get(canonical(&path).as_ref()) {
            add.insert(BASE_ROW_ID.to_owned(), raw(id)?);
            add.insert(SINCE_VERSION.to_owned(), raw(since)?);
            continue;
        }
        let stats = add.get("stats").map(|s| text(s.get()));
        ids.give(add, stats.as_deref().and_then(num_records).unwrap_or(0))?;
    }
    Ok(ids.domain())
}

/// Row ids of the last action on each path in the commits after `target`.
async fn last_ids(
    log: &Log,
    target: Version,
    head: Version,
) -> Result<HashMap<String, (i64, i64)>> {
    let mut known = HashMap::new();
    for version in target.next().0..=head.0 {
        let Some((_, bytes)) = log.read_commit(Version(version)).await? else {
            continue;
        };
        for (_, line) in lines(&bytes) {
            let Ok(parsed) = parse_line(line) else {
                continue;
            };
            let path = match (&parsed.add, &parsed.remove) {
                (Some(add), _) => &add.path,
                (_, Some(remove)) => &remove.path,
                _ => continue,
            };
            let path = canonical(path).into_owned();
            let fields: indexmap::IndexMap<String, Fields> =
                serde_json::from_slice(line).unwrap_or_default();
            let number = |name: &str| {
                let action = fields.get("add").or_else(|| fields.get("remove"))?;
                action.get(name)?.get().parse::<i64>().ok()
            };
            if let (Some(id), Some(since)) = (number(BASE_ROW_ID), number(SINCE_VERSION)) {
                known.insert(path, (id, since));
            }
        }
    }
    Ok(known)
}

fn text(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_default()
}

/// Why files of `then` do not fit a table that stays as it is `now`.
pub(super) fn fits(now: &State, then: &State) -> Option<String> {
    let version = then.version;
    let no = |what: &str| {
        Some(format!(
            "files of version {version} do not fit the table as it is now: {what}; restore the whole table"
        ))
    };
    if now.metadata.partition_columns != then.metadata.partition_columns {
        return no("it is partitioned otherwise");
    }
    if mapping(&now.metadata) != mapping(&then.metadata) {
        return no("its columns are mapped otherwise");
    }
    if now.metadata.id != then.metadata.id {
        return no("it was replaced by another table");
    }
    for change in schema_changes(&then.schema, &now.schema) {
        let field = &change.field;
        match change.change {
            // A file without a column has null in it, and one with more shows less.
            SchemaChangeKind::Removed | SchemaChangeKind::Renamed => {}
            SchemaChangeKind::Added => {
                let column = now.schema.fields.iter().find(|f| f.name == *field);
                if column.is_some_and(|c| !c.nullable) {
                    return no(&format!("`{field}` must not be null since then"));
                }
            }
            SchemaChangeKind::Type => return no(&format!("`{field}` has another type")),
            SchemaChangeKind::Nullability if change.to.as_deref() == Some("not null") => {
                return no(&format!("`{field}` must not be null since then"));
            }
            SchemaChangeKind::Nullability => {}
        }
    }
    let checks = |state: &State| -> Vec<(String, String)> {
        let all = state.metadata.configuration.iter();
        all.filter(|(key, _)| key.starts_with("delta.constraints."))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };
    let old = checks(then);
    let new = checks(now).into_iter().find(|check| !old.contains(check));
    new.and_then(|(name, rule)| {
        let name = name.trim_start_matches("delta.constraints.").to_owned();
        no(&format!("the check `{name}` ({rule}) was added since"))
    })
}
