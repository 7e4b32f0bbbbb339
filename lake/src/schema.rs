//! One tree of fields for every format.

use serde::{Deserialize, Serialize};

/// A table's columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// Top-level columns in the table's order.
    pub fields: Vec<Field>,
}

/// A column or a part of one.
///
/// A struct has its fields below it, an array one field `element`, a map the fields `key` and
/// `value`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Logical name: what people and queries say.
    pub name: String,
    /// `long`, `decimal(10,2)`, `struct`, `array`, `map`… as the format spells it.
    #[serde(rename = "type")]
    pub data_type: String,
    /// Whether nulls may occur.
    pub nullable: bool,
    /// Parts of a nested type.
    pub fields: Vec<Field>,
    /// The format's field id, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Name in data files, statistics and partition values, where it differs from `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<String>,
    /// Comment, generation expression and whatever else the table notes about the field; text as
    /// it stands, other JSON as JSON.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<(String, String)>,
}

impl Field {
    /// Name in data files.
    pub fn physical_name(&self) -> &str {
        self.physical.as_deref().unwrap_or(&self.name)
    }
}

impl Schema {
    /// Number of columns that hold values: leaves of the tree.
    pub fn leaves(&self) -> u64 {
        fn count(fields: &[Field]) -> u64 {
            fields
                .iter()
                .map(|f| {
                    if f.fields.is_empty() {
                        1
                    } else {
                        count(&f.fields)
                    }
                })
                .sum()
        }
        count(&self.fields)
    }
}
