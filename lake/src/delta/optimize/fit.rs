//! How a column of a file becomes the table's column: by name or by id, at any depth, with nulls for
//! what the file lacks. What does not fit is an error, never a guess.

use std::sync::Arc;

use ::parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray, new_null_array};
use arrow_schema::{DataType, FieldRef};

use super::cast::{Cast, cast, castable};
use crate::schema::Field;
use crate::{Error, Kind, Result};

/// How an array of a file becomes one of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Leaf(Cast),
    /// For each of the table's fields, the child that holds it; `None` where the file lacks it.
    Struct(Vec<Option<(usize, Fit)>>),
    List(Box<Fit>),
    Map(Box<Fit>, Box<Fit>),
}

/// The place among `children` that holds `field`; `None` where none does.
pub(super) fn find(children: &[FieldRef], field: &Field, by_id: bool) -> Result<Option<usize>> {
    if by_id {
        let Some(id) = field.id else {
            let what = format!("the table's column `{}` has no field id", field.name);
            return Err(Error::damaged(what));
        };
        let own = |child: &FieldRef| {
            let id = child.metadata().get(PARQUET_FIELD_ID_META_KEY);
            id.and_then(|id| id.parse::<i64>().ok())
        };
        return one(
            children
                .iter()
                .enumerate()
                .filter(|(_, c)| own(c) == Some(id)),
            field,
        );
    }
    let name = field.physical_name();
    let all = || children.iter().enumerate();
    if let Some(exact) = one(all().filter(|(_, c)| c.name() == name), field)? {
        return Ok(Some(exact));
    }
    // Engines differ in whether case counts, so a column must be the only one alike.
    one(
        all().filter(|(_, c)| c.name().eq_ignore_ascii_case(name)),
        field,
    )
}

fn one<'a>(
    mut found: impl Iterator<Item = (usize, &'a FieldRef)>,
    field: &Field,
) -> Result<Option<usize>> {
    let first = found.next().map(|(at, _)| at);
    match found.next() {
        None => Ok(first),
        Some(_) => Err(Error::unsupported(format!(
            "two of its columns could be `{}`",
            field.name
        ))),
    }
}

/// How an array of the type `from` becomes the table's `field`, which is written as `to`.
pub(super) fn fit(from: &DataType, field: &Field, to: &DataType, by_id: bool) -> Result<Fit> {
    let no = || {
        Error::unsupported(format!(
            "its column `{}` is {from}, which is no {}",
            field.name, field.data_type
        ))
    };
    match (from, to, field.fields.as_slice()) {
        (DataType::Struct(children), DataType::Struct(wanted), fields) => {
            let mut own = Vec::with_capacity(fields.len());
            for (field, wanted) in fields.iter().zip(wanted) {
                let at = find(children, field, by_id)?;
                own.push(match at.and_then(|at| Some((at, children.get(at)?))) {
                    Some((at, child)) => {
                        let inner = fit(child.data_type(), field, wanted.data_type(), by_id)?;
                        Some((at, inner))
                    }
                    None => None,
                });
            }
            Ok(Fit::Struct(own))
        }
        (DataType::List(item), DataType::List(wanted), [element]) => Ok(Fit::List(Box::new(fit(
            item.data_type(),
            element,
            wanted.data_type(),
            by_id,
        )?))),
        (DataType::Map(entries, _), DataType::Map(wanted, _), [key, value]) => {
            let (Some([from_key, from_value]), Some([to_key, to_value])) =
                (pair(entries), pair(wanted))
            else {
                return Err(no());
            };
            let part = |from: &FieldRef, field: &Field, to: &FieldRef| {
                fit(from.data_type(), field, to.data_type(), by_id).map(Box::new)
            };
            Ok(Fit::Map(
                part(from_key, key, to_key)?,
                part(from_value, value, to_value)?,
            ))
        }
        _ => castable(from, to).map(Fit::Leaf).ok_or_else(no),
    }
}

fn pair(entries: &FieldRef) -> Option<&[FieldRef; 2]> {
    match entries.data_type() {
        DataType::Struct(fields) => fields.as_ref().try_into().ok(),
        _ => None,
    }
}

/// The array as the table has it.
pub(super) fn convert(array: &ArrayRef, fit: &Fit, to: &DataType) -> Result<ArrayRef> {
    match (fit, to) {
        (Fit::Leaf(how), _) => cast(array, *how, to),
        (Fit::Struct(own), DataType::Struct(wanted)) => {
            let from = array.as_struct_opt().ok_or_else(other)?;
            let mut columns = Vec::with_capacity(own.len());
            for (own, wanted) in own.iter().zip(wanted) {
                columns.push(match own {
                    Some((at, fit)) => {
                        let child = from.columns().get(*at).ok_or_else(other)?;
                        convert(child, fit, wanted.data_type())?
                    }
                    None => new_null_array(wanted.data_type(), from.len()),
                });
            }
            let nulls = from.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(
                wanted.clone(),
                columns,
                nulls,
                from.len(),
            )?))
        }
        (Fit::List(inner), DataType::List(wanted)) => {
            let from = array.as_list_opt::<i32>().ok_or_else(other)?;
            let values = convert(from.values(), inner, wanted.data_type())?;
            let (offsets, nulls) = (from.offsets().clone(), from.nulls().cloned());
            Ok(Arc::new(ListArray::try_new(
                Arc::clone(wanted),
                offsets,
                values,
                nulls,
            )?))
        }
        (Fit::Map(key, value), DataType::Map(wanted, sorted)) => {
            let from = array.as_map_opt().ok_or_else(other)?;
            let Some([to_key, to_value]) = pair(wanted) else {
                return Err(other());
            };
            let columns = vec![
                convert(from.keys(), key, to_key.data_type())?,
                convert(from.values(), value, to_value.data_type())?,
            ];
            let fields = vec![Arc::clone(to_key), Arc::clone(to_value)];
            let entries = StructArray::try_new(fields.into(), columns, None)?;
            let (offsets, nulls) = (from.offsets().clone(), from.nulls().cloned());
            Ok(Arc::new(MapArray::try_new(
                Arc::clone(wanted),
                offsets,
                entries,
                nulls,
                *sorted,
            )?))
        }
        _ => Err(other()),
    }
}

fn other() -> Error {
    Error::new(
        Kind::Internal,
        "an array came of another type than the file has",
    )
}
