//! Deletion vectors: which rows of a data file are no longer there (PROTOCOL, "Deletion Vectors").

use serde::{Deserialize, Serialize};

/// Where a deletion vector is and how much it masks (PROTOCOL, "Deletion Vector Descriptor Schema").
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// `u` relative, `i` inline, `p` absolute.
    pub storage_type: String,
    /// Random prefix and base85 uuid, base85 bytes, or a URL.
    pub path_or_inline_dv: String,
    /// Where the vector starts in its file; absent for inline ones.
    pub offset: Option<i64>,
    /// Bytes of the serialised vector.
    pub size_in_bytes: i64,
    /// Rows masked.
    pub cardinality: i64,
}

impl Descriptor {
    /// The id that tells two vectors of one file apart (PROTOCOL, "Derived Fields").
    pub fn unique_id(&self) -> String {
        match self.offset {
            Some(offset) => format!("{}{}@{offset}", self.storage_type, self.path_or_inline_dv),
            None => format!("{}{}", self.storage_type, self.path_or_inline_dv),
        }
    }
}
