//! A Delta table's columns: `schemaString` to the one tree of fields (PROTOCOL, "Schema
//! Serialization Format").

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::action::Metadata;
use crate::schema::{Field, Schema};
use crate::table::Partition;
use crate::{Error, Kind, Result};

/// How columns are found in data files (PROTOCOL, "Column Mapping").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// By their logical name.
    #[default]
    None,
    /// By their physical name.
    Name,
    /// By their field id.
    Id,
}

/// Nesting deeper than this is refused: it is no schema, and it would exhaust a stack.
const DEEPEST: usize = 64;

/// Reads the schema of a table; without columns where the log leaves the schema out.
pub fn parse(metadata: &Metadata) -> Result<Schema> {
    let text = &metadata.schema_string;
    if text.is_empty() {
        return Ok(Schema::default());
    }
    let value: Value = serde_json::from_str(text).map_err(|e| {
        match e.to_string().contains("recursion limit") {
            true => Error::new(
                Kind::TooLarge,
                "metaData.schemaString is nested deeper than this build reads",
            ),
            false => Error::damaged("metaData.schemaString is not JSON").because(e),
        }
    })?;
    let Some(Value::Array(fields)) = value.get("fields") else {
        return Err(Error::damaged("metaData.schemaString has no fields"));
    };
    Ok(Schema {
        fields: fields.iter().map(|f| field(f, 0)).collect::<Result<_>>()?,
    })
}

/// The table's column mapping mode.
pub fn mapping(metadata: &Metadata) -> Mapping {
    match metadata
        .configuration
        .get("delta.columnMapping.mode")
        .map(String::as_str)
    {
        Some("name") => Mapping::Name,
        Some("id") => Mapping::Id,
        _ => Mapping::None,
    }
}

fn field(value: &Value, depth: usize) -> Result<Field> {
    let Some(name) = value.get("name").and_then(Value::as_str) else {
        return Err(Error::damaged(
            "metaData.schemaString has a field without a name",
        ));
    };
    let empty = Map::new();
    let metadata = value
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let nullable = value
        .get("nullable")
        .and_then(Value::as_bool)
        .unwrap_or(true);
    let mut built = typed(name, nullable, value.get("type"), depth)?;
    built.id = metadata
        .get("delta.columnMapping.id")
        .and_then(Value::as_i64);
    let physical = metadata
        .get("delta.columnMapping.physicalName")
        .and_then(Value::as_str);
    built.physical = physical.filter(|p| *p != name).map(str::to_owned);
    built.notes = metadata
        .iter()
        .filter(|(key, _)| !key.starts_with("delta.columnMapping."))
        .map(|(key, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            (key.clone(), text)
        })
        .collect();
    Ok(built)
}

fn typed(name: &str, nullable: bool, data_type: Option<&Value>, depth: usize) -> Result<Field> {
    if depth > DEEPEST {
        return Err(Error::damaged("metaData.schemaString is nested too deeply"));
    }
    let leaf = |data_type: &str, fields| Field {
        name: name.to_owned(),
        data_type: data_type.to_owned(),
        nullable,
        fields,
        id: None,
        physical: None,
        notes: Vec::new(),
    };
    let part = |key: &str| data_type.and_then(|t| t.get(key));
    let flag = |key: &str| part(key).and_then(Value::as_bool).unwrap_or(true);
    match data_type {
        Some(Value::String(primitive)) => Ok(leaf(primitive, Vec::new())),
        Some(Value::Object(_)) => match part("type").and_then(Value::as_str) {
            Some("struct") => {
                let Some(Value::Array(fields)) = part("fields") else {
                    return Err(Error::damaged(format!("the struct `{name}` has no fields")));
                };
                let fields = fields
                    .iter()
                    .map(|f| field(f, depth + 1))
                    .collect::<Result<_>>()?;
                Ok(leaf("struct", fields))
            }
            Some("array") => {
                let nullable = flag("containsNull");
                let element = typed("element", nullable, part("elementType"), depth + 1)?;
                Ok(leaf("array", vec![element]))
            }
            Some("map") => {
                let key = typed("key", false, part("keyType"), depth + 1)?;
                let value = typed(
                    "value",
                    flag("valueContainsNull"),
                    part("valueType"),
                    depth + 1,
                )?;
                Ok(leaf("map", vec![key, value]))
            }
            Some(other) => Ok(leaf(other, Vec::new())),
            None => Err(Error::damaged(format!("the field `{name}` has no type"))),
        },
        _ => Err(Error::damaged(format!("the field `{name}` has no type"))),
    }
}

/// Puts logical names, in the table's order, on partition values that a log keys by physical name.
/// A value that is missing is null; the flag says that one was.
pub(crate) fn logical_partition(
    columns: &[(String, String)],
    raw: &[(String, Option<String>)],
) -> (Partition, bool) {
    let mut missing = false;
    let mut partition = IndexMap::with_capacity(columns.len());
    for (logical, physical) in columns {
        let value = raw
            .iter()
            .find(|(key, _)| key == physical)
            .map(|(_, value)| value.clone());
        missing |= value.is_none();
        partition.insert(logical.clone(), value.flatten());
    }
    (partition, missing)
}

/// Logical and physical names of the partition columns.
pub(crate) fn partition_names(metadata: &Metadata, schema: &Schema) -> Vec<(String, String)> {
    let physical = |logical: &String| {
        let field = schema.fields.iter().find(|f| f.name == *logical);
        field.map_or_else(|| logical.clone(), |f| f.physical_name().to_owned())
    };
    metadata
        .partition_columns
        .iter()
        .map(|logical| (logical.clone(), physical(logical)))
        .collect()
}
