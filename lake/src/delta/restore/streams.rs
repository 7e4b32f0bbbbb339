//! What becomes of those who read the table as a stream. It is Spark that decides, which
//! `make engines` asks: each sentence names the error that it stops such a reader with.

use crate::delta::action::Metadata;
use crate::delta::schema::{Mapping, mapping};
use crate::plan::Plan;
use crate::wire::SchemaChangeKind;

/// The schema that a reader started with cannot read what comes, or what it has read.
const SCHEMA: &str = "DELTA_SCHEMA_CHANGED_WITH_VERSION";

/// A sentence on readers of the stream, where there is anything to say. `after` is the metadata that
/// is committed, if any is.
pub(super) fn streams(plan: &Plan, base: &Metadata, after: Option<&Metadata>) -> Option<String> {
    if after.is_some_and(|after| after.id != base.id) {
        return Some(
            "readers of the stream stop for good with \
             DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE: the table's id changes"
                .to_owned(),
        );
    }
    let mapped = [Some(base), after].into_iter().flatten();
    let mapped = mapped.map(mapping).any(|mode| mode != Mapping::None);
    let files = by_files(plan.files_to_add, plan.files_to_remove);
    let going_on = files.unwrap_or("readers of the stream go on");
    match fit(plan, mapped) {
        Fit::Same => files.map(str::to_owned),
        Fit::Narrower => Some(format!(
            "{going_on}; one that starts again stops for good with {SCHEMA}: the schema becomes narrower"
        )),
        Fit::Wider => Some(format!(
            "{going_on}; one that runs stops with {SCHEMA} and goes on when it starts again: the schema becomes wider"
        )),
        Fit::Neither(error) => Some(format!(
            "readers of the stream stop for good with {error}: the schema changes"
        )),
    }
}

fn by_files(come: u64, go: u64) -> Option<&'static str> {
    match (come, go) {
        (0, 0) => None,
        (_, 0) => Some("readers of the stream get the rows of the files that come back once more"),
        (0, _) => Some(
            "readers of the stream stop with DELTA_SOURCE_IGNORE_DELETE, unless ignoreDeletes, \
             skipChangeCommits or ignoreChanges is set",
        ),
        _ => Some(
            "readers of the stream stop with DELTA_SOURCE_TABLE_IGNORE_CHANGES, unless \
             skipChangeCommits (the commit is skipped) or ignoreChanges (whole files come again) is set",
        ),
    }
}

/// What the schemas before and after are to each other.
enum Fit {
    Same,
    /// What was written before does not fit the schema that comes.
    Narrower,
    /// What comes does not fit the schema from before.
    Wider,
    /// Neither fits the other, with the error that follows.
    Neither(&'static str),
}

fn fit(plan: &Plan, mapped: bool) -> Fit {
    let (mut narrower, mut wider) = (false, false);
    for change in &plan.schema {
        match change.change {
            // With column mapping, a column that goes is told from one that was never there.
            SchemaChangeKind::Renamed | SchemaChangeKind::Removed if mapped => {
                return Fit::Neither("DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG");
            }
            SchemaChangeKind::Renamed | SchemaChangeKind::Type => (narrower, wider) = (true, true),
            SchemaChangeKind::Removed => narrower = true,
            SchemaChangeKind::Added => wider = true,
            SchemaChangeKind::Nullability => match change.to.as_deref() {
                Some("not null") => narrower = true,
                _ => wider = true,
            },
        }
    }
    match (narrower, wider) {
        (false, false) => Fit::Same,
        (true, false) => Fit::Narrower,
        (false, true) => Fit::Wider,
        (true, true) => Fit::Neither(SCHEMA),
    }
}

#[cfg(test)]
mod tests;
