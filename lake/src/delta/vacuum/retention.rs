//! For how long what is removed is kept.

use super::Request;
use crate::delta::action::Metadata;
use crate::delta::write::{duration, duration_in_words};
use crate::{Error, Result};

const PROPERTY: &str = "delta.deletedFileRetentionDuration";

/// What a table keeps removed files for unless it says otherwise.
const WEEK: i64 = 7 * 24 * HOUR;

/// A writer may take this long from its first file to its commit.
const HOUR: i64 = 3_600_000;

/// The retention of one vacuum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retention {
    /// What counts.
    pub(super) millis: i64,
    /// What the table asks for.
    pub(super) table: i64,
}

/// The retention, and why it is refused.
pub(super) fn retention(
    metadata: &Metadata,
    request: &Request,
) -> Result<(Retention, Option<String>)> {
    if request.retain.is_some_and(|millis| millis < 0) {
        return Err(Error::invalid("a retention is not below zero"));
    }
    let property = metadata.configuration.get(PROPERTY);
    let stated = property.map(|text| (text, duration(text)));
    let table = stated.and_then(|(_, millis)| millis).unwrap_or(WEEK);
    let retention = Retention {
        millis: request.retain.unwrap_or(table),
        table,
    };
    Ok((retention, refused(retention, stated, request)))
}

fn refused(
    retention: Retention,
    stated: Option<(&String, Option<i64>)>,
    request: &Request,
) -> Option<String> {
    if let Some((text, None)) = stated
        && !request.allow_short
    {
        return Some(format!(
            "how long the table keeps removed files cannot be read ({PROPERTY} = {text}): \
             give a retention, and allow it to be short"
        ));
    }
    let (asked, table) = (
        duration_in_words(retention.millis),
        duration_in_words(retention.table),
    );
    if retention.millis < retention.table && !request.allow_short {
        return Some(format!(
            "a retention of {asked} is shorter than the table's own of {table} ({PROPERTY}): \
             files that a running query or writer needs may be deleted"
        ));
    }
    (retention.millis < HOUR && !request.below_an_hour).then(|| {
        format!(
            "a retention of {asked} is below an hour, which is allowed on a local disk alone: \
             files that are being written would be deleted"
        )
    })
}
