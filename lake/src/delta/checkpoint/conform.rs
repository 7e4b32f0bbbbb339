//! Columns of a checkpoint in the types that this build writes, whatever types their writer chose.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Int64Array, MapArray, PrimitiveArray, StringArray, StructArray, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, FieldRef, Fields};

use super::columns::{as_long, as_text};
use crate::{Error, Kind, Result};

/// A struct with exactly these fields: those that it lacks are null, others are dropped.
pub(crate) fn conform(from: &StructArray, to: &Fields) -> Result<StructArray> {
    let column = |field: &FieldRef| match from.column_by_name(field.name()) {
        Some(column) => column_as(column, field),
        None => Ok(new_null_array(field.data_type(), from.len())),
    };
    let columns = to.iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(StructArray::try_new(
        to.clone(),
        columns,
        from.nulls().cloned(),
    )?)
}

fn column_as(from: &ArrayRef, to: &FieldRef) -> Result<ArrayRef> {
    let name = to.name();
    let odd = || Error::damaged(format!("`{name}` of a checkpoint is of another type"));
    Ok(match to.data_type() {
        same if same == from.data_type() => Arc::clone(from),
        nothing if from.data_type() == &DataType::Null => new_null_array(nothing, from.len()),
        DataType::Utf8 => Arc::new(as_text(from)?),
        DataType::Int64 => Arc::new(as_long(from, name)?),
        DataType::Int32 => Arc::new(narrowed(&as_long(from, name)?, name)?),
        DataType::Struct(fields) => {
            let from = from.as_struct_opt().ok_or_else(odd)?;
            let mut made = conform(from, fields)?;
            if name == "deletionVector" {
                made = without_hollow(made)?;
            }
            Arc::new(made)
        }
        DataType::Map(entries, sorted) => {
            let from = from.as_map_opt().ok_or_else(odd)?;
            Arc::new(text_map(from, entries, *sorted)?)
        }
        _ => return Err(odd()),
    })
}

fn narrowed(wide: &Int64Array, name: &str) -> Result<PrimitiveArray<Int32Type>> {
    wide.try_unary(i32::try_from)
        .map_err(|e| Error::damaged(format!("`{name}` does not fit its type")).because(e))
}

/// A struct whose first field is null says nothing, which some writers have for null.
fn without_hollow(array: StructArray) -> Result<StructArray> {
    let said = array.columns().first().and_then(|c| c.logical_nulls());
    let (fields, columns, nulls) = array.into_parts();
    let nulls = NullBuffer::union(nulls.as_ref(), said.as_ref());
    Ok(StructArray::try_new(fields, columns, nulls)?)
}

fn text_map(from: &MapArray, entries: &FieldRef, sorted: bool) -> Result<MapArray> {
    let DataType::Struct(fields) = entries.data_type() else {
        return Err(Error::new(
            Kind::Internal,
            "the entries of a map are a struct",
        ));
    };
    let pairs = from.entries();
    let keys: StringArray = as_text(pairs.column(0))?;
    let values: StringArray = as_text(pairs.column(1))?;
    let columns: Vec<ArrayRef> = vec![Arc::new(keys), Arc::new(values)];
    let pairs = StructArray::try_new(fields.clone(), columns, None)?;
    Ok(MapArray::try_new(
        Arc::clone(entries),
        from.offsets().clone(),
        pairs,
        from.nulls().cloned(),
        sorted,
    )?)
}
