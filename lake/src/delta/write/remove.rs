//! Removes, made of the adds that they undo.

use super::row_ids::{BASE_ROW_ID, SINCE_VERSION};
use crate::Result;
use crate::delta::verbatim::{Fields, raw};

/// What a remove repeats of the add that it undoes.
const KEPT: &[&str] = &[
    "path",
    "partitionValues",
    "size",
    "stats",
    "tags",
    "deletionVector",
    BASE_ROW_ID,
    SINCE_VERSION,
];

/// Makes an add the remove of what it brought. When is said by whoever writes it.
pub(crate) fn as_remove(fields: &mut Fields, data_change: bool) -> Result<()> {
    fields.retain(|name, _| KEPT.contains(&name.as_str()));
    fields.insert("dataChange".to_owned(), raw(&data_change)?);
    fields.insert("extendedFileMetadata".to_owned(), raw(&true)?);
    Ok(())
}
