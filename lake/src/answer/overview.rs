//! What the lake page shows of a table, and what in it needs a person.

use super::cache::Table;
use crate::Result;
use crate::delta::log::{Head, Log};
use crate::predicate::predicate_text;
use crate::table::Version;
use crate::wire::{Attention, CommitRow, Format, HistoryQuery, OverviewReport, SchemaChangeKind};

/// Commits an overview looks at.
const RECENT: u32 = 48;

/// Things called out at most.
const MOST: usize = 5;

/// A table's totals after a commit.
#[derive(Clone, Copy, Default)]
struct Totals {
    files: Option<u64>,
    bytes: Option<u64>,
    rows: Option<u64>,
}

impl Table {
    pub(super) async fn overview(&self, rows_removed: f64) -> Result<OverviewReport> {
        let log = self.log();
        let head = log.head().await?;
        let query = HistoryQuery {
            limit: RECENT,
            before: None,
        };
        let page = log.history_with_removed(&head, &query, &self.host).await?;
        let totals = self.totals(&log, &head).await;
        let mut attention = damaged(&page.rows);
        attention.extend(losses(&page.rows, totals, rows_removed));
        attention.extend(self.columns(&page.rows).await);
        attention.truncate(MOST);
        Ok(OverviewReport {
            format: Format::Delta,
            version: head.latest,
            recent: page.rows,
            files: totals.files,
            bytes: totals.bytes,
            rows: totals.rows,
            attention,
        })
    }

    /// Totals of the newest version: from a short log itself, else from its checksum file.
    async fn totals(&self, log: &Log, head: &Head) -> Totals {
        if head.is_short()
            && let Ok(snapshot) = self.snapshot_at(log, head, head.latest).await
        {
            let files = &snapshot.files;
            return Totals {
                files: Some(files.len() as u64),
                bytes: Some(files.iter().fold(0, |sum, f| sum.saturating_add(f.bytes()))),
                rows: files
                    .iter()
                    .try_fold(0u64, |sum, f| sum.checked_add(f.rows()?)),
            };
        }
        match log.checksum(head.latest).await {
            Some(sum) => Totals {
                files: Some(sum.num_files),
                bytes: Some(sum.table_size_bytes),
                rows: None,
            },
            None => Totals::default(),
        }
    }

    /// Columns that recent commits dropped or retyped. Only the newest few that touch metadata are
    /// compared.
    async fn columns(&self, rows: &[CommitRow]) -> Vec<Attention> {
        let mut found = Vec::new();
        for row in rows
            .iter()
            .filter(|r| r.metadata_change && r.version.0 > 0)
            .take(3)
        {
            let Some(before) = row.version.previous() else {
                continue;
            };
            let Ok(changes) = self.changes(Some(before), row.version).await else {
                continue;
            };
            for change in changes.report(Some(before), row.version).schema {
                let (rule, what) = match change.change {
                    SchemaChangeKind::Removed => (
                        "column_dropped",
                        format!(
                            "Version {} dropped the column {}",
                            row.version, change.field
                        ),
                    ),
                    SchemaChangeKind::Type => (
                        "column_retyped",
                        format!(
                            "Version {} made {} {} (it was {})",
                            row.version,
                            change.field,
                            change.to.unwrap_or_default(),
                            change.from.unwrap_or_default()
                        ),
                    ),
                    _ => continue,
                };
                found.push(Attention {
                    rule: rule.to_owned(),
                    version: Some(row.version),
                    what,
                    detail: by(row),
                    restore_to: Some(before),
                });
            }
        }
        found
    }
}

/// `by ana: region = 'US'`, as far as the commit says.
fn by(row: &CommitRow) -> String {
    let who = row
        .user
        .as_ref()
        .or(row.engine.as_ref())
        .map(|u| format!("by {u}"));
    let predicate = row.parameters.get("predicate");
    let predicate = predicate.and_then(|p| predicate_text(p, |t| serde_json::from_str(t).ok()));
    let predicate = predicate.filter(|p| p != "true");
    let parts: Vec<String> = [who, predicate].into_iter().flatten().collect();
    parts.join(": ")
}

fn damaged(rows: &[CommitRow]) -> Vec<Attention> {
    let one = |row: &CommitRow| {
        let why = row.damaged.clone()?;
        let what = format!("Version {} cannot be read in full", row.version);
        Some(Attention {
            rule: "damaged".to_owned(),
            version: Some(row.version),
            what,
            detail: why,
            restore_to: row.version.previous(),
        })
    };
    rows.iter().filter_map(one).take(1).collect()
}

/// Commits that took a large share of the table's rows (files, where rows are unknown) without
/// bringing them back, and ones that replaced the whole table. One whose loss a later commit made
/// good is not called out, and neither is a restore: whoever put an earlier version back undid
/// what came after it.
fn losses(rows: &[CommitRow], totals: Totals, share: f64) -> Vec<Attention> {
    let mut after = totals;
    // Most that the table held after any later commit.
    let mut regained = (totals.rows.unwrap_or(0), totals.files.unwrap_or(0));
    let mut found = Vec::new();
    let mut newest: Option<Version> = None;
    for row in rows {
        let before = Totals {
            files: undo(after.files, row.files_added, row.files_removed),
            rows: undo(after.rows, row.rows_added, row.rows_removed),
            bytes: None,
        };
        let lost =
            |before: Option<u64>, after: Option<u64>| Some((before?, before?.checked_sub(after?)?));
        let by_rows =
            lost(before.rows, after.rows).map(|(all, lost)| (all, lost, "rows", regained.0));
        // Merging files loses files and no row, so files are asked only where rows are unknown.
        let by_files =
            lost(before.files, after.files).map(|(all, lost)| (all, lost, "files", regained.1));
        let loss = by_rows.or(if before.rows.is_none() {
            by_files
        } else {
            None
        });
        if row.data_change
            && row.operation.as_deref() != Some("RESTORE")
            && let Some((all, lost, unit, regained)) = loss
            && all > 0
            && lost as f64 >= share * all as f64
            && regained < all
        {
            let percent = (lost as f64 * 100.0 / all as f64).round();
            let tail = match newest {
                None => "No commit came after it.",
                Some(_) => "Commits came after it.",
            };
            let by = match by(row) {
                by if by.is_empty() => String::new(),
                by => format!(", {by}"),
            };
            found.push(Attention {
                rule: "rows_removed".to_owned(),
                version: Some(row.version),
                what: format!("Version {} removed {percent} % of the {unit}", row.version),
                detail: format!("in one commit{by}. {tail}"),
                restore_to: row.version.previous(),
            });
        }
        regained.0 = regained.0.max(before.rows.unwrap_or(0));
        regained.1 = regained.1.max(before.files.unwrap_or(0));
        newest = newest.or(Some(row.version));
        after = before;
    }
    found.sort_by_key(|a| std::cmp::Reverse(a.version));
    found
}

fn undo(after: Option<u64>, added: Option<u64>, removed: Option<u64>) -> Option<u64> {
    (after? + removed?).checked_sub(added?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn commit(version: u64, operation: &str, rows: [u64; 2]) -> CommitRow {
        let row = json!({
            "version": version.to_string(), "timestamp": null, "writer_timestamp": null,
            "in_commit": false, "operation": operation, "parameters": null, "user": null,
            "engine": null, "reason": null, "metrics": null, "files_added": 1,
            "files_removed": 1, "bytes_added": 1, "bytes_removed": 1, "rows_added": rows[0],
            "rows_removed": rows[1], "data_change": true, "parent": null, "refs": [],
            "damaged": null, "restorable": null, "metadata_change": false,
        });
        serde_json::from_value(row).unwrap()
    }

    fn called_out(rows: &[CommitRow], left: u64) -> Vec<Version> {
        let totals = Totals {
            files: Some(1),
            bytes: None,
            rows: Some(left),
        };
        let found = losses(rows, totals, 0.2);
        found.iter().filter_map(|a| a.version).collect()
    }

    #[test]
    fn what_was_restored_on_purpose_is_not_called_out() {
        let mut rows = vec![commit(1, "DELETE", [0, 80]), commit(0, "WRITE", [100, 0])];
        assert_eq!(called_out(&rows, 20), [Version(1)]);
        rows.insert(0, commit(2, "RESTORE", [80, 0]));
        assert_eq!(called_out(&rows, 100), []);
        // The way back takes the same rows again, and says so.
        rows.insert(0, commit(3, "RESTORE", [0, 80]));
        assert_eq!(called_out(&rows, 20), []);
        rows.insert(0, commit(4, "DELETE", [0, 10]));
        assert_eq!(called_out(&rows, 10), [Version(4)]);
    }
}
