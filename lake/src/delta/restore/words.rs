//! What a person should know before they say yes.

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::streams::streams;
use crate::delta::action::{Metadata, Protocol};
use crate::delta::files::FileRef;
use crate::delta::key::Key;
use crate::delta::snapshot::{Snapshot, State};
use crate::delta::write::{commit_in_words, duration};
use crate::diff::protocol_keys;
use crate::plan::Plan;
use crate::table::Time;
use crate::wire::{CommitRow, SchemaChangeKind};

/// Names listed in a sentence; the rest is counted.
const NAMED: usize = 5;

/// A week, which is what a table keeps removed files for unless it says otherwise.
const RETENTION: i64 = 7 * 24 * 3600 * 1000;

fn listed(names: &[String]) -> String {
    let shown = names
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().checked_sub(NAMED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

pub(super) fn missing(version: crate::table::Version, keys: &[String]) -> String {
    let (files, are) = match keys.len() {
        1 => ("file", "is"),
        _ => ("files", "are"),
    };
    format!(
        "version {version} cannot be restored: {} {files} of it {are} no longer in the store: {}",
        keys.len(),
        listed(keys)
    )
}

/// How missing files come back that vacuums moved aside.
pub(super) fn aside(files: u64) -> String {
    match files {
        0 => String::new(),
        n => format!(
            "; {n} of them only moved aside: `tidemark quarantine LOCATION --put-back` brings them back"
        ),
    }
}

/// What goes missing where missing files are left out.
pub(super) fn left_out(files: &[FileRef<'_>], missing: &HashSet<Key>) -> String {
    let gone = files.iter().filter(|f| missing.contains(&f.key()));
    let rows = gone
        .clone()
        .try_fold(0u64, |sum, f| sum.checked_add(f.rows()?));
    let rows = match rows {
        Some(rows) => format!("{rows} rows"),
        None => "an unknown number of rows".to_owned(),
    };
    format!(
        "{} files cannot come back because they, or their deletion vectors, are gone: {rows} stay lost",
        gone.count()
    )
}

/// All other warnings, the gravest first.
pub(super) fn warnings(
    base: &Snapshot,
    back: &Snapshot,
    plan: &Plan,
    protocol: Option<&Protocol>,
    metadata: Option<&Metadata>,
) -> Vec<String> {
    let mut all = Vec::new();
    let after = plan.commits_undone();
    if after > plan.undone.len() as u64 {
        all.push(format!(
            "{after} commits are undone, of which the newest {} are listed",
            plan.undone.len()
        ));
    }
    all.extend(erased(&plan.undone));
    all.extend(unfinished_vacuum(&plan.undone));
    all.extend(old(&back.state, plan.as_of));
    if let Some(protocol) = protocol {
        all.extend(features(&base.state.protocol, protocol));
    }
    for change in &plan.schema {
        if change.change == SchemaChangeKind::Type {
            let text = |t: &Option<String>| t.clone().unwrap_or_default();
            all.push(format!(
                "`{}` becomes {} again, which was widened to {} since",
                change.field,
                text(&change.to),
                text(&change.from)
            ));
        }
    }
    all.extend(streams(plan, &base.state.metadata, metadata));
    all
}

fn named(rows: &[CommitRow], operations: &[&str]) -> Vec<String> {
    let of = |row: &&CommitRow| {
        row.operation
            .as_deref()
            .is_some_and(|o| operations.contains(&o))
    };
    rows.iter().filter(of).map(commit_in_words).collect()
}

fn erased(undone: &[CommitRow]) -> Option<String> {
    let commits = named(undone, &["DELETE", "UPDATE", "MERGE"]);
    (!commits.is_empty()).then(|| {
        format!(
            "values that were deleted or masked since come back: {}; what was erased for privacy must be erased again",
            listed(&commits)
        )
    })
}

fn unfinished_vacuum(undone: &[CommitRow]) -> Option<String> {
    let vacuum = undone.iter().find(|row| {
        row.operation
            .as_deref()
            .is_some_and(|o| o.starts_with("VACUUM"))
    })?;
    (vacuum.operation.as_deref() == Some("VACUUM START")).then(|| {
        format!(
            "{} has no end: a vacuum may be deleting files that this plan found",
            commit_in_words(vacuum)
        )
    })
}

/// Files removed longer ago than the table keeps them may be vacuumed at any time.
fn old(back: &State, now: Time) -> Option<String> {
    let kept = back
        .metadata
        .configuration
        .get("delta.deletedFileRetentionDuration");
    let kept = kept.and_then(|text| duration(text)).unwrap_or(RETENTION);
    let at = back.timestamp?;
    (now.0.saturating_sub(at.0) > kept).then(|| {
        format!(
            "version {} is older than the table keeps removed files ({} days): a vacuum may delete them while they are restored",
            back.version,
            kept / (24 * 3600 * 1000)
        )
    })
}

fn features(before: &Protocol, after: &Protocol) -> Option<String> {
    let names = |p: &Protocol| -> BTreeSet<String> {
        let keys = protocol_keys(p);
        let features = ["readerFeatures", "writerFeatures"]
            .iter()
            .filter_map(|k| keys.get(*k));
        features
            .flat_map(|f| f.split(", "))
            .map(str::to_owned)
            .collect()
    };
    let back: Vec<String> = names(after).difference(&names(before)).cloned().collect();
    (!back.is_empty()).then(|| format!("table features come back: {}", listed(&back)))
}
