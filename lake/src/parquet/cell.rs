//! One cell of an Arrow array as text a person reads, the way the table's type wants it.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::bind::Shape;
use super::value;
use crate::{Error, Result};

/// Bytes of text one cell is cut at.
pub(crate) const CELL_LIMIT: usize = 256 * 1024;

/// Where a cell's text goes, up to the limit.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// Whether the limit was met and the rest left out.
    pub(crate) cut: bool,
}

impl Text {
    fn push(&mut self, text: &str) {
        let left = CELL_LIMIT.saturating_sub(self.text.len());
        if text.len() <= left {
            self.text.push_str(text);
            return;
        }
        self.text.push_str(&text[..text.floor_char_boundary(left)]);
        self.cut = true;
    }

    /// JSON's spelling of a text.
    fn quoted(&mut self, text: &str) {
        let shown = &text[..text.floor_char_boundary(CELL_LIMIT)];
        self.push(&serde_json::Value::from(shown).to_string());
        self.cut |= shown.len() < text.len();
    }
}

/// The text of a cell; `None` for null.
pub(crate) fn text(array: &dyn Array, row: usize, shape: &Shape) -> Result<Option<Text>> {
    if is_null(array, row) {
        return Ok(None);
    }
    let mut out = Text::default();
    match shape {
        Shape::Leaf(leaf) => out.push(&value::text(array, row, *leaf)?.text),
        _ => json(array, row, shape, &mut out)?,
    }
    if out.cut {
        out.text.push('…');
    }
    Ok(Some(out))
}

fn is_null(array: &dyn Array, row: usize) -> bool {
    array.data_type() == &DataType::Null || array.is_null(row)
}

/// A part of a nested value, as JSON.
fn json(array: &dyn Array, row: usize, shape: &Shape, out: &mut Text) -> Result<()> {
    if is_null(array, row) {
        out.push("null");
        return Ok(());
    }
    match shape {
        Shape::Leaf(leaf) => {
            let value = value::text(array, row, *leaf)?;
            match value.bare {
                true => out.push(&value.text),
                false => out.quoted(&value.text),
            }
        }
        Shape::Struct(fields) => {
            let array = array.as_struct_opt().ok_or_else(misfit)?;
            out.push("{");
            for (position, field) in fields.iter().enumerate() {
                if out.cut {
                    break;
                }
                out.push(if position > 0 { ", " } else { "" });
                out.quoted(&field.name);
                out.push(": ");
                match &field.source {
                    Some((child, shape)) => {
                        let child = array.columns().get(*child).ok_or_else(misfit)?;
                        json(child, row, shape, out)?;
                    }
                    None => out.push("null"),
                }
            }
            out.push("}");
        }
        Shape::List(shape) => {
            let items = items(array, row)?;
            out.push("[");
            for item in 0..items.len() {
                if out.cut {
                    break;
                }
                out.push(if item > 0 { ", " } else { "" });
                json(&items, item, shape, out)?;
            }
            out.push("]");
        }
        Shape::Map(key, value) => {
            let entries = array.as_map_opt().ok_or_else(misfit)?.value(row);
            let (keys, values) = match entries.columns() {
                [keys, values, ..] => (keys, values),
                _ => return Err(misfit()),
            };
            out.push("{");
            for entry in 0..entries.len() {
                if out.cut {
                    break;
                }
                out.push(if entry > 0 { ", " } else { "" });
                // JSON has no other keys than texts.
                match text(keys, entry, key)? {
                    Some(key) => out.quoted(&key.text),
                    None => out.push("null"),
                }
                out.push(": ");
                json(values, entry, value, out)?;
            }
            out.push("}");
        }
    }
    Ok(())
}

fn items(array: &dyn Array, row: usize) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::List(_) => Ok(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Ok(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(_, _) => Ok(array.as_fixed_size_list().value(row)),
        _ => Err(misfit()),
    }
}

fn misfit() -> Error {
    Error::damaged("the column's shape is not what its schema says")
}
