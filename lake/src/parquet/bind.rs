//! Which part of a file holds which field of the table: by name or by id, at any depth.

use ::parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use ::parquet::schema::types::Type;
use arrow_schema::{DataType, Field as ArrowField, FieldRef};

use crate::schema::Field;

/// What a leaf's text should look like, by the table's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// As the file has it.
    AsIs,
    Text,
    Binary,
    Uuid,
    Double,
    /// With this many digits after the point.
    Decimal(u8),
    Timestamp,
    TimestampNtz,
}

/// How an Arrow array is shown as a field of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Leaf(Leaf),
    Struct(Vec<StructField>),
    List(Box<Shape>),
    Map(Box<Shape>, Box<Shape>),
}

/// A field of a shown struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StructField {
    pub(crate) name: String,
    /// The child array and its shape; `None` where the file lacks the field.
    pub(crate) source: Option<(usize, Shape)>,
}

/// The child of `group` that holds `field`.
pub(crate) fn child(group: &Type, field: &Field, by_id: bool) -> Option<usize> {
    let children = group.is_group().then(|| group.get_fields())?;
    position(
        field,
        by_id,
        children.iter().map(|child| {
            let info = child.get_basic_info();
            (child.name(), info.has_id().then(|| i64::from(info.id())))
        }),
    )
}

fn arrow_child(children: &[FieldRef], field: &Field, by_id: bool) -> Option<usize> {
    let children = children.iter().map(|child| {
        let id = child.metadata().get(PARQUET_FIELD_ID_META_KEY);
        (child.name().as_str(), id.and_then(|id| id.parse().ok()))
    });
    position(field, by_id, children)
}

fn position<'a>(
    field: &Field,
    by_id: bool,
    children: impl Iterator<Item = (&'a str, Option<i64>)> + Clone,
) -> Option<usize> {
    if by_id {
        return field
            .id
            .and_then(|id| children.clone().position(|(_, own)| own == Some(id)));
    }
    let name = field.physical_name();
    if let Some(exact) = children.clone().position(|(own, _)| own == name) {
        return Some(exact);
    }
    // Spark finds columns whatever their case, where that is not ambiguous.
    let mut alike = children
        .enumerate()
        .filter(|(_, (own, _))| own.eq_ignore_ascii_case(name));
    match (alike.next(), alike.next()) {
        (Some((one, _)), None) => Some(one),
        _ => None,
    }
}

/// The shape that shows an array of `arrow` as the table's `field`. Where the two do not fit, the
/// array is shown as the file has it.
pub(crate) fn shape(arrow: &DataType, field: Option<&Field>, by_id: bool) -> Shape {
    match arrow {
        DataType::Struct(children) => {
            match field.filter(|f| f.data_type == "struct" && !f.fields.is_empty()) {
                Some(field) => Shape::Struct(
                    field
                        .fields
                        .iter()
                        .map(|own| StructField {
                            name: own.name.clone(),
                            source: arrow_child(children, own, by_id).and_then(|at| {
                                let child = children.get(at)?;
                                Some((at, shape(child.data_type(), Some(own), by_id)))
                            }),
                        })
                        .collect(),
                ),
                None => Shape::Struct(
                    children
                        .iter()
                        .enumerate()
                        .map(|(at, child)| StructField {
                            name: child.name().clone(),
                            source: Some((at, shape(child.data_type(), None, by_id))),
                        })
                        .collect(),
                ),
            }
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let own = field.and_then(|f| only(&f.fields));
            Shape::List(Box::new(shape(item.data_type(), own, by_id)))
        }
        DataType::Map(entries, _) => {
            let own = field.map(|f| f.fields.as_slice()).unwrap_or_default();
            let entry = |at: usize| {
                let data_type = entry_type(entries, at);
                Box::new(shape(&data_type, own.get(at), by_id))
            };
            Shape::Map(entry(0), entry(1))
        }
        _ => Shape::Leaf(field.map_or(Leaf::AsIs, |f| leaf(&f.data_type))),
    }
}

fn only(fields: &[Field]) -> Option<&Field> {
    match fields {
        [field] => Some(field),
        _ => None,
    }
}

fn entry_type(entries: &ArrowField, at: usize) -> DataType {
    match entries.data_type() {
        DataType::Struct(fields) => fields.get(at).map(|f| f.data_type().clone()),
        _ => None,
    }
    .unwrap_or(DataType::Null)
}

/// Whether the array can be shown as the table's field: nested beside nested, leaf beside leaf.
pub(crate) fn fits(arrow: &DataType, field: &Field) -> bool {
    match field.data_type.as_str() {
        "struct" => matches!(arrow, DataType::Struct(_)),
        "array" | "list" => matches!(
            arrow,
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _)
        ),
        "map" => matches!(arrow, DataType::Map(_, _)),
        _ => !arrow.is_nested(),
    }
}

fn leaf(data_type: &str) -> Leaf {
    match data_type {
        "string" => Leaf::Text,
        "binary" => Leaf::Binary,
        "uuid" => Leaf::Uuid,
        "double" => Leaf::Double,
        "timestamp" | "timestamptz" | "timestamptz_ns" => Leaf::Timestamp,
        "timestamp_ntz" | "timestamp_ns" => Leaf::TimestampNtz,
        _ if data_type.starts_with("varchar(") || data_type.starts_with("char(") => Leaf::Text,
        _ => match decimal_scale(data_type) {
            Some(scale) => Leaf::Decimal(scale),
            None => Leaf::AsIs,
        },
    }
}

/// Scale of `decimal(p,s)` as formats spell it, with or without a blank.
fn decimal_scale(data_type: &str) -> Option<u8> {
    let inner = data_type.strip_prefix("decimal(")?.strip_suffix(')')?;
    let (_, scale) = inner.split_once(',')?;
    scale.trim().parse().ok().filter(|scale| *scale <= 76)
}

/// Whether values of the table's type are numbers.
pub(crate) fn is_numeric(data_type: &str) -> bool {
    matches!(
        data_type,
        "byte" | "short" | "integer" | "int" | "long" | "float" | "double"
    ) || data_type.starts_with("decimal")
}

/// Dotted logical path of every leaf below `group`, in the file's order; `None` where the table
/// has no such field.
pub(crate) fn logical_paths(group: &Type, fields: &[Field], by_id: bool) -> Vec<Option<String>> {
    let mut paths = Vec::new();
    members(group, fields, by_id, "", &mut paths);
    paths
}

fn members(
    group: &Type,
    fields: &[Field],
    by_id: bool,
    above: &str,
    paths: &mut Vec<Option<String>>,
) {
    let held: Vec<Option<usize>> = fields.iter().map(|f| child(group, f, by_id)).collect();
    for (at, part) in group.get_fields().iter().enumerate() {
        let own = held.iter().position(|held| *held == Some(at));
        let own = own.and_then(|own| fields.get(own));
        below(part, own, by_id, above, paths);
    }
}

fn below(
    part: &Type,
    field: Option<&Field>,
    by_id: bool,
    above: &str,
    paths: &mut Vec<Option<String>>,
) {
    let path = field.map(|f| match above {
        "" => f.name.clone(),
        _ => format!("{above}.{}", f.name),
    });
    if part.is_primitive() {
        paths.push(path);
        return;
    }
    let above = path.as_deref().unwrap_or_default();
    let parts = part.get_fields();
    match (
        field.map(|f| (f.data_type.as_str(), f.fields.as_slice())),
        parts,
    ) {
        (Some(("struct", fields)), _) => members(part, fields, by_id, above, paths),
        (Some(("array" | "list", [element])), [repeated]) => {
            // Three levels put a group between list and element, two do not.
            match repeated.is_group().then(|| repeated.get_fields()) {
                Some([inner])
                    if repeated.name() != "array" && !repeated.name().ends_with("_tuple") =>
                {
                    below(inner, Some(element), by_id, above, paths);
                }
                _ => below(repeated, Some(element), by_id, above, paths),
            }
        }
        (Some(("map", [key, value])), [entries]) if entries.is_group() => {
            for (at, inner) in entries.get_fields().iter().enumerate() {
                let own = [key, value].get(at).copied();
                below(inner, own, by_id, above, paths);
            }
        }
        _ => {
            for inner in parts {
                below(inner, None, by_id, above, paths);
            }
        }
    }
}
