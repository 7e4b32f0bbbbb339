//! Statistics of a new file, counted from what is written into it (PROTOCOL, "Per-file Statistics").

mod bounds;
mod wanted;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, FieldRef};

use super::columns::Columns;
use crate::Result;
use crate::delta::snapshot::State;
use crate::schema::Field;
use bounds::Bounds;
pub(super) use wanted::Wanted;

/// Statistics in the making.
#[derive(Clone, Debug)]
pub(super) struct Stats {
    rows: u64,
    /// The columns with statistics, each with its place in a batch.
    columns: Vec<(usize, Node)>,
}

#[derive(Clone, Debug)]
struct Node {
    /// The physical name, as JSON.
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Leaf {
        nulls: u64,
        bounds: Option<Bounds>,
    },
    /// The children with statistics, each with its place.
    Struct(Vec<(usize, Node)>),
}

impl Stats {
    /// Statistics of nothing yet, of the columns that the table has them of.
    pub(super) fn new(state: &State, columns: &Columns) -> Self {
        let mut wanted = Wanted::of(state);
        let arrow = columns.arrow.fields();
        Self {
            rows: 0,
            columns: nodes(&columns.fields, arrow, &mut wanted, &mut Vec::new()),
        }
    }

    /// Rows counted.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes what is written.
    pub(super) fn take(&mut self, batch: &RecordBatch) {
        self.rows += batch.num_rows() as u64;
        for (at, node) in &mut self.columns {
            if let Some(array) = batch.columns().get(*at) {
                node.take(array, None);
            }
        }
    }

    /// The statistics as the text that an add has.
    pub(super) fn finish(&self) -> Result<String> {
        let object = |pick: &dyn Fn(&Node) -> Option<String>| {
            object(self.columns.iter().map(|(_, node)| node), pick).unwrap_or_else(|| "{}".into())
        };
        Ok(format!(
            r#"{{"numRecords":{},"minValues":{},"maxValues":{},"nullCount":{},"tightBounds":true}}"#,
            self.rows,
            object(&|node| node.text(&|_, bounds| bounds.as_ref()?.min())),
            object(&|node| node.text(&|_, bounds| bounds.as_ref()?.max())),
            object(&|node| node.text(&|nulls, _| Some(nulls.to_string()))),
        ))
    }
}

impl Node {
    fn take(&mut self, array: &ArrayRef, above: Option<&NullBuffer>) {
        // What lies in a null is null.
        let nulls = NullBuffer::union(above, array.logical_nulls().as_ref());
        match &mut self.kind {
            Kind::Leaf {
                nulls: count,
                bounds,
            } => {
                *count += nulls.as_ref().map_or(0, |n| n.null_count() as u64);
                if let Some(bounds) = bounds {
                    bounds.take(array.as_ref(), nulls.as_ref());
                }
            }
            Kind::Struct(children) => {
                let Some(array) = array.as_struct_opt() else {
                    return;
                };
                for (at, child) in children {
                    if let Some(column) = array.columns().get(*at) {
                        child.take(column, nulls.as_ref());
                    }
                }
            }
        }
    }

    fn text(&self, figure: &dyn Fn(u64, &Option<Bounds>) -> Option<String>) -> Option<String> {
        match &self.kind {
            Kind::Leaf { nulls, bounds } => figure(*nulls, bounds),
            Kind::Struct(children) => {
                object(children.iter().map(|(_, node)| node), &|n| n.text(figure))
            }
        }
    }
}

/// An object of what has a figure; `None` where nothing has.
fn object<'a>(
    nodes: impl Iterator<Item = &'a Node>,
    figure: &dyn Fn(&Node) -> Option<String>,
) -> Option<String> {
    let members: Vec<String> = nodes
        .filter_map(|node| Some(format!("{}:{}", node.name, figure(node)?)))
        .collect();
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
}

fn nodes(
    fields: &[Field],
    arrow: &[FieldRef],
    wanted: &mut Wanted,
    above: &mut Vec<(String, String)>,
) -> Vec<(usize, Node)> {
    let mut nodes = Vec::new();
    for (at, (field, own)) in fields.iter().zip(arrow).enumerate() {
        let physical = field.physical_name().to_owned();
        above.push((field.name.clone(), physical.clone()));
        let kind = match own.data_type() {
            DataType::Struct(children) => {
                let own = self::nodes(&field.fields, children, wanted, above);
                (!own.is_empty()).then_some(Kind::Struct(own))
            }
            leaf => wanted.takes(above).then(|| Kind::Leaf {
                nulls: 0,
                bounds: Bounds::of(leaf),
            }),
        };
        above.pop();
        if let Some(kind) = kind {
            let name = serde_json::Value::String(physical).to_string();
            nodes.push((at, Node { name, kind }));
        }
    }
    nodes
}

#[cfg(test)]
mod tests;
