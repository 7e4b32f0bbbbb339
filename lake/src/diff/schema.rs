//! Two schemas compared field by field: by column id or physical name, so that a rename is one
//! rename and not one field gone and another come.

use crate::schema::{Field, Schema};
use crate::wire::{SchemaChange, SchemaChangeKind};

/// What differs, in the order of the new schema; removed fields come after their siblings.
pub fn schema_changes(from: &Schema, to: &Schema) -> Vec<SchemaChange> {
    let mut changes = Vec::new();
    compare("", "", &from.fields, &to.fields, &mut changes);
    changes
}

fn compare(
    from_path: &str,
    to_path: &str,
    from: &[Field],
    to: &[Field],
    changes: &mut Vec<SchemaChange>,
) {
    for new in to {
        let path = join(to_path, &new.name);
        let Some(old) = from.iter().find(|old| same(old, new)) else {
            changes.push(change(
                SchemaChangeKind::Added,
                path,
                None,
                Some(described(new)),
            ));
            continue;
        };
        if old.name != new.name {
            let before = join(from_path, &old.name);
            changes.push(change(
                SchemaChangeKind::Renamed,
                path.clone(),
                Some(before),
                Some(path.clone()),
            ));
        }
        if old.data_type != new.data_type {
            let (old, new) = (old.data_type.clone(), new.data_type.clone());
            changes.push(change(
                SchemaChangeKind::Type,
                path.clone(),
                Some(old),
                Some(new),
            ));
        }
        if old.nullable != new.nullable {
            let word = |nullable| Some(if nullable { "nullable" } else { "not null" }.to_owned());
            changes.push(change(
                SchemaChangeKind::Nullability,
                path.clone(),
                word(old.nullable),
                word(new.nullable),
            ));
        }
        compare(
            &join(from_path, &old.name),
            &path,
            &old.fields,
            &new.fields,
            changes,
        );
    }
    for old in from
        .iter()
        .filter(|old| !to.iter().any(|new| same(old, new)))
    {
        changes.push(change(
            SchemaChangeKind::Removed,
            join(from_path, &old.name),
            Some(described(old)),
            None,
        ));
    }
}

fn same(old: &Field, new: &Field) -> bool {
    match (old.id, new.id) {
        (Some(old_id), Some(new_id))
            if old.physical_name() != old.name || new.physical_name() != new.name =>
        {
            old_id == new_id && old.physical_name() == new.physical_name()
        }
        _ => old.physical_name() == new.physical_name(),
    }
}

fn change(
    change: SchemaChangeKind,
    field: String,
    from: Option<String>,
    to: Option<String>,
) -> SchemaChange {
    SchemaChange {
        change,
        field,
        from,
        to,
    }
}

/// A type with what is inside it: `array<struct<a: long>>`.
fn described(field: &Field) -> String {
    let inside = |f: &Field| format!("{}: {}", f.name, described(f));
    match (field.data_type.as_str(), field.fields.as_slice()) {
        ("array", [element]) => format!("array<{}>", described(element)),
        ("map", [key, value]) => format!("map<{}, {}>", described(key), described(value)),
        ("struct", fields) => format!(
            "struct<{}>",
            fields.iter().map(inside).collect::<Vec<_>>().join(", ")
        ),
        (other, _) => other.to_owned(),
    }
}

fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, data_type: &str, physical: Option<&str>) -> Field {
        Field {
            name: name.to_owned(),
            data_type: data_type.to_owned(),
            nullable: true,
            fields: Vec::new(),
            id: None,
            physical: physical.map(str::to_owned),
            notes: Vec::new(),
        }
    }

    fn words(from: Vec<Field>, to: Vec<Field>) -> Vec<String> {
        let changes = schema_changes(&Schema { fields: from }, &Schema { fields: to });
        let one = |c: &SchemaChange| {
            format!(
                "{:?} {} {:?} {:?}",
                c.change,
                c.field,
                c.from.as_deref(),
                c.to.as_deref()
            )
        };
        changes.iter().map(one).collect()
    }

    #[test]
    fn a_rename_is_one_rename() {
        let from = vec![
            field("a", "long", Some("col-1")),
            field("b", "integer", Some("col-2")),
        ];
        let to = vec![
            field("z", "long", Some("col-1")),
            field("b", "long", Some("col-2")),
            field("a", "string", Some("col-3")),
        ];
        let right = [
            r#"Renamed z Some("a") Some("z")"#,
            r#"Type b Some("integer") Some("long")"#,
            r#"Added a None Some("string")"#,
        ];
        assert_eq!(words(from, to), right);
    }

    #[test]
    fn nested_fields_have_dotted_paths() {
        let mut from = field("s", "struct", None);
        let mut to = from.clone();
        from.fields = vec![field("x", "long", None)];
        to.fields = vec![field("y", "array", None)];
        to.fields[0].fields = vec![field("element", "long", None)];
        let right = [
            r#"Added s.y None Some("array<long>")"#,
            r#"Removed s.x Some("long") None"#,
        ];
        assert_eq!(words(vec![from], vec![to]), right);
    }
}
