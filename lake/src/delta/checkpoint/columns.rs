//! Columns of a checkpoint as plain arrays, whatever type their writer gave them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::DataType;

use crate::{Error, Result};

pub(super) fn present(array: &StringArray) -> impl Iterator<Item = usize> + '_ {
    (0..array.len()).filter(|row| array.is_valid(*row))
}

pub(super) fn structure<'a>(batch: &'a RecordBatch, name: &str) -> Option<&'a StructArray> {
    batch.column_by_name(name).and_then(|c| c.as_struct_opt())
}

/// Text of any kind. By hand: arrow's `cast` is a megabyte of WebAssembly, for every pair of types.
pub(super) fn as_text(column: &ArrayRef) -> Result<StringArray> {
    if let Some(text) = column.as_string_opt::<i32>() {
        return Ok(text.clone());
    }
    if let Some(text) = column.as_string_opt::<i64>() {
        return Ok(StringArray::from_iter(text.iter()));
    }
    if let Some(text) = column.as_string_view_opt() {
        return Ok(StringArray::from_iter(text.iter()));
    }
    if column.data_type() == &DataType::Null {
        return Ok(StringArray::new_null(column.len()));
    }
    // A writer may leave out that its bytes are text.
    if let Some(bytes) = column.as_binary_opt::<i32>() {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        return Ok(StringArray::from_iter(
            bytes.iter().map(|bytes| bytes.and_then(text)),
        ));
    }
    Err(Error::damaged("a text column holds something else"))
}

/// A text column of a struct with the struct's own nulls applied.
pub(super) fn text(parent: &StructArray, name: &str) -> Result<Option<StringArray>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(None);
    };
    let text = as_text(column)?;
    let nulls = arrow_buffer::NullBuffer::union(text.nulls(), parent.nulls());
    let (offsets, values, _) = text.into_parts();
    Ok(Some(StringArray::try_new(offsets, values, nulls)?))
}

/// A number column of a struct as 64 bits, with the struct's own nulls applied.
pub(super) fn long(parent: &StructArray, name: &str) -> Result<Option<Int64Array>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(None);
    };
    let numbers = as_long(column, name)?;
    let nulls = arrow_buffer::NullBuffer::union(numbers.nulls(), parent.nulls());
    let (_, values, _) = numbers.into_parts();
    Ok(Some(Int64Array::try_new(values, nulls)?))
}

/// Numbers of any size as 64 bits.
pub(super) fn as_long(column: &ArrayRef, name: &str) -> Result<Int64Array> {
    let numbers = match column.data_type() {
        DataType::Int64 => column.as_primitive_opt().cloned(),
        DataType::Int32 => widened::<Int32Type>(column),
        DataType::Int16 => widened::<Int16Type>(column),
        DataType::Int8 => widened::<Int8Type>(column),
        DataType::UInt32 => widened::<UInt32Type>(column),
        DataType::Null => Some(Int64Array::new_null(column.len())),
        _ => None,
    };
    numbers.ok_or_else(|| Error::damaged(format!("`{name}` is no number")))
}

fn widened<T: ArrowPrimitiveType<Native: Into<i64>>>(column: &ArrayRef) -> Option<Int64Array> {
    let narrow = column.as_primitive_opt::<T>()?;
    Some(narrow.iter().map(|n| n.map(Into::into)).collect())
}

pub(super) fn strings(parent: &StructArray, name: &str, row: usize) -> Result<Vec<String>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(Vec::new());
    };
    let Some(list) = column.as_list_opt::<i32>() else {
        return Err(Error::damaged(format!("`{name}` is no list")));
    };
    if list.is_null(row) {
        return Ok(Vec::new());
    }
    let mut values = list.value(row);
    // Some writers wrap each element in a group of its own.
    if let Some(group) = values.as_struct_opt()
        && let [only] = group.columns()
    {
        values = Arc::clone(only);
    }
    let values = as_text(&values)?;
    Ok(present(&values)
        .map(|at| values.value(at).to_owned())
        .collect())
}

pub(super) fn map_of(
    parent: &StructArray,
    name: &str,
    row: usize,
) -> Result<Vec<(String, String)>> {
    let Some(column) = parent.column_by_name(name) else {
        return Ok(Vec::new());
    };
    let Some(map) = column.as_map_opt() else {
        return Err(Error::damaged(format!("`{name}` is no map")));
    };
    if map.is_null(row) {
        return Ok(Vec::new());
    }
    let entries = map.value(row);
    let (keys, values) = (as_text(entries.column(0))?, as_text(entries.column(1))?);
    let pair = |at: usize| {
        (
            keys.value(at).to_owned(),
            if values.is_valid(at) {
                values.value(at).to_owned()
            } else {
                String::new()
            },
        )
    };
    Ok((0..entries.len()).map(pair).collect())
}
