//! Acts on some partitions only.

use crate::table::Partition;
use crate::{Error, Result};

/// Partitions that were asked for: logical name and value, `None` for null. Several values of one
/// column mean any of them; none at all means every partition.
pub type Partitions = Vec<(String, Option<String>)>;

/// Whether every name is a partition column of the table; the error says which are.
pub(crate) fn check_partitions(columns: &[String], wanted: &Partitions) -> Result<()> {
    for (column, _) in wanted {
        if !columns.contains(column) {
            return Err(Error::invalid(match columns {
                [] => format!("`{column}` is no partition column: the table has none"),
                _ => format!(
                    "`{column}` is no partition column: the table is partitioned by {}",
                    columns.join(", ")
                ),
            }));
        }
    }
    Ok(())
}

/// Whether a partition was asked for.
pub(crate) fn selected(partition: &Partition, wanted: &Partitions) -> bool {
    partition.iter().all(|(column, value)| {
        let mut wanted = wanted.iter().filter(|(c, _)| c == column).peekable();
        wanted.peek().is_none() || wanted.any(|(_, v)| v == value)
    })
}
