//! Every question a person can ask of a table or a dataset, answered by one function each.
//!
//! The worker answers the page with [`Reader::answer`], the server and the command line call the
//! functions. There is no second way to a figure.

mod cache;
mod commit;
mod file;
mod files;
mod hours;
mod overview;
mod presence;

use std::sync::Arc;

use futures::future::BoxFuture;
use object_store::ObjectStore;
use object_store::path::Path;

use crate::delta::features::unsupported_for_writing;
use crate::delta::log::{Head, Log};
use crate::delta::pins;
use crate::delta::snapshot::Snapshot;
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::table::{At, Time, Version};
use crate::wire::{
    Answer, Ask, CommitRow, DiffFilesReport, DiffReport, Format, HistoryQuery, HistoryReport,
    LayoutReport, ResolveReport, SnapshotReport, TableRef,
};
use crate::{Error, Result};
use cache::Table;

/// Where a table lies.
#[derive(Clone, Debug)]
pub struct Root {
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// The table's root in the store.
    pub path: Path,
    /// What a person calls it: a URL or a name. Repeated in reports, never parsed.
    pub location: String,
}

/// Finds the store behind a table's name.
pub trait Roots: Send + Sync {
    /// The table's root; an error where there is no such zone or the prefix is not a key.
    fn root(&self, table: &TableRef) -> Result<Root>;
}

/// Finds what is declared of a dataset, and knows the time.
pub trait Datasets: Send + Sync {
    /// The dataset of a name; an error where there is none.
    fn dataset<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<Dataset>>>;

    /// The wall clock of whoever asks: hours end by it.
    fn now(&self) -> Time;
}

/// Partitions of a layout that a page gets.
const PAGE_PARTITIONS: usize = 5_000;

/// Answers questions and remembers the versions it rebuilt, which never change.
pub struct Reader {
    roots: Arc<dyn Roots>,
    cache: cache::Cache,
    hours: hours::Hours,
}

impl Reader {
    /// A reader that remembers nothing yet, and knows of no dataset.
    pub fn new(roots: Arc<dyn Roots>) -> Self {
        Self {
            roots,
            cache: cache::Cache::default(),
            hours: hours::Hours::default(),
        }
    }

    /// The same reader, which answers questions about these datasets too.
    #[must_use]
    pub fn with_datasets(mut self, datasets: Arc<dyn Datasets>) -> Self {
        self.hours = hours::Hours::of(datasets);
        self
    }

    /// Answers one question. Dropping the future cancels the work.
    pub async fn answer(&self, ask: Ask, host: SharedHost) -> Result<Answer> {
        let table = |table: &TableRef| -> Result<Table> {
            Ok(Table {
                root: self.roots.root(table)?,
                cache: self.cache.of(table),
                host: Arc::clone(&host),
            })
        };
        Ok(match ask {
            Ask::Overview {
                table: t,
                rows_removed,
            } => Answer::Overview(table(&t)?.overview(rows_removed).await?),
            Ask::History { table: t, query } => Answer::History(table(&t)?.history(&query).await?),
            Ask::Commit { table: t, version } => Answer::Commit(table(&t)?.commit(version).await?),
            Ask::Actions {
                table: t,
                version,
                offset,
                limit,
            } => Answer::Actions(table(&t)?.actions(version, offset, limit).await?),
            Ask::Resolve { table: t, at } => Answer::Resolve(table(&t)?.resolve(at).await?),
            Ask::Snapshot { table: t, at } => {
                Answer::Snapshot(table(&t)?.snapshot(at, false).await?)
            }
            Ask::Files {
                table: t,
                version,
                query,
            } => Answer::Files(table(&t)?.files(version, &query).await?),
            Ask::Diff { table: t, from, to } => {
                Answer::Diff(table(&t)?.diff(from, to, false).await?)
            }
            Ask::DiffFiles {
                table: t,
                from,
                to,
                query,
            } => {
                let changes = table(&t)?.changes(Some(from), to).await?;
                let all = changes.files();
                let total = all.len() as u64;
                let (matching, files) = files::page(all, &query, |c| &c.file);
                Answer::DiffFiles(DiffFilesReport {
                    matching,
                    total,
                    files,
                })
            }
            Ask::Layout { table: t, at } => {
                Answer::Layout(table(&t)?.layout(at, Some(PAGE_PARTITIONS)).await?)
            }
            Ask::File {
                table: t,
                version,
                path,
            } => Answer::File(table(&t)?.file(version, &path).await?),
            Ask::Pages {
                table: t,
                version,
                path,
                row_group,
                column,
            } => Answer::Pages(table(&t)?.pages(version, &path, row_group, column).await?),
            Ask::Rows {
                table: t,
                version,
                path,
                offset,
                limit,
            } => Answer::Rows(table(&t)?.rows(version, &path, offset, limit).await?),
            Ask::Presence { table: t, version } => {
                Answer::Presence(table(&t)?.presence(version).await?)
            }
            Ask::Hours {
                dataset,
                from,
                to,
                fresh,
            } => {
                let hours = self.hours.dataset(&*self.roots, &dataset, &host).await?;
                Answer::Hours(hours.grid(from, to, fresh).await?)
            }
            Ask::Hour {
                dataset,
                slot,
                fresh,
            } => {
                let hours = self.hours.dataset(&*self.roots, &dataset, &host).await?;
                Answer::Hour(hours.hour(slot, fresh).await?)
            }
            Ask::Closed { dataset } => {
                let hours = self.hours.dataset(&*self.roots, &dataset, &host).await?;
                Answer::Closed(hours.closed().await?)
            }
        })
    }
}

/// A page of a table's history, newest first.
pub async fn history(
    root: &Root,
    query: &HistoryQuery,
    host: &SharedHost,
) -> Result<HistoryReport> {
    Table::once(root, host).history(query).await
}

/// One version; `paths` too where `with_files`.
pub async fn snapshot(
    root: &Root,
    at: At,
    with_files: bool,
    host: &SharedHost,
) -> Result<SnapshotReport> {
    Table::once(root, host).snapshot(at, with_files).await
}

/// Two versions, in either order; `added` and `removed` too where `with_files`.
pub async fn diff(
    root: &Root,
    from: Version,
    to: Version,
    with_files: bool,
    host: &SharedHost,
) -> Result<DiffReport> {
    Table::once(root, host).diff(from, to, with_files).await
}

/// Partitions and sizes; at most `partitions` of them, where given.
pub async fn layout(
    root: &Root,
    at: At,
    partitions: Option<usize>,
    host: &SharedHost,
) -> Result<LayoutReport> {
    Table::once(root, host).layout(at, partitions).await
}

impl Table {
    fn log(&self) -> Log {
        Log::new(Arc::clone(&self.root.store), self.root.path.clone())
    }

    async fn history(&self, query: &HistoryQuery) -> Result<HistoryReport> {
        let log = self.log();
        // Asked beside the log, so that they cost no round trip.
        let (head, pins) = futures::future::join(log.head(), pins::list(&self.root)).await;
        let head = head?;
        let mut page = log.history(&head, query, &self.host).await?;
        let extent = head.extent();
        let mut warnings = head.warnings.clone();
        warnings.extend(page.warnings);
        match pins {
            Ok(pins) => {
                for pin in pins {
                    let rows = page.rows.iter_mut();
                    for row in rows.filter(|row| row.version == pin.version) {
                        row.refs.push(pin.name.clone());
                    }
                }
            }
            Err(error) => warnings.push(format!("pins cannot be read: {error}")),
        }
        Ok(HistoryReport {
            location: self.root.location.clone(),
            format: Format::Delta,
            latest_version: head.latest,
            earliest_version: earliest(extent.earliest, &page.rows),
            first_commit: extent.first_commit,
            commits: page.rows,
            next_before: page.next_before,
            warnings,
        })
    }

    async fn resolve(&self, at: At) -> Result<ResolveReport> {
        let log = self.log();
        let head = log.head().await?;
        let version = log.resolve(&head, at).await?;
        let query = HistoryQuery {
            limit: 1,
            before: Some(version.next()),
        };
        let page = log.history(&head, &query, &self.host).await?;
        let timestamp = page
            .rows
            .first()
            .filter(|r| r.version == version)
            .and_then(|r| r.timestamp);
        Ok(ResolveReport {
            version,
            timestamp,
            latest: version == head.latest,
        })
    }

    async fn snapshot(&self, at: At, with_files: bool) -> Result<SnapshotReport> {
        let log = self.log();
        let head = log.head().await?;
        let version = log.resolve(&head, at).await?;
        let snapshot = self.snapshot_at(&log, &head, version).await?;
        let mut report = report(&self.root.location, &snapshot);
        report.warnings.splice(0..0, head.warnings.iter().cloned());
        if with_files {
            let mut paths: Vec<_> = snapshot
                .files
                .iter()
                .map(|f| snapshot.files.data_file(f))
                .collect();
            paths.sort_by(|a, b| a.path.cmp(&b.path));
            report.paths = Some(paths);
        }
        Ok(report)
    }

    async fn layout(&self, at: At, partitions: Option<usize>) -> Result<LayoutReport> {
        let log = self.log();
        let head = log.head().await?;
        let version = log.resolve(&head, at).await?;
        let snapshot = self.snapshot_at(&log, &head, version).await?;
        Ok(crate::layout::layout(
            &self.root.location,
            &snapshot,
            partitions,
        ))
    }

    async fn diff(&self, from: Version, to: Version, with_files: bool) -> Result<DiffReport> {
        let changes = self.changes(Some(from), to).await?;
        let mut report = changes.report(Some(from), to);
        if with_files {
            let list = |files: &[crate::diff::Changed]| {
                let mut files: Vec<_> = files.iter().map(|c| c.file.clone()).collect();
                files.sort_by(|a, b| a.path.cmp(&b.path));
                files
            };
            report.added = Some(list(&changes.added));
            report.removed = Some(list(&changes.removed));
        }
        Ok(report)
    }

    async fn snapshot_at(&self, log: &Log, head: &Head, version: Version) -> Result<Arc<Snapshot>> {
        let identity = head.identity(version);
        if let Some(known) = self.cache.snapshot(version, identity.as_deref()) {
            return Ok(known);
        }
        let why = |error: Error| match head.rebuildable(version) {
            Some(false) if version <= head.latest => {
                let earliest = head
                    .extent()
                    .earliest
                    .map(|v| format!("; the oldest that can is {v}"));
                let sentence = format!(
                    "version {version} can no longer be rebuilt from the log{}",
                    earliest.unwrap_or_default()
                );
                error.within(sentence)
            }
            _ => error,
        };
        let snapshot = Arc::new(log.snapshot(head, version, &self.host).await.map_err(why)?);
        self.cache.remember(version, identity, &snapshot);
        Ok(snapshot)
    }
}

/// The oldest version that can be rebuilt, as far as the listing and these commits tell.
fn earliest(listed: Option<Version>, rows: &[CommitRow]) -> Option<Version> {
    let lost = |row: &&CommitRow| row.restorable == Some(false);
    match rows.iter().find(|row| Some(row.version) == listed) {
        Some(row) if lost(&row) => {
            let oldest_first = rows.iter().rev();
            oldest_first.skip_while(lost).map(|row| row.version).next()
        }
        _ => listed,
    }
}

fn report(location: &str, snapshot: &Snapshot) -> SnapshotReport {
    let state = &snapshot.state;
    let files = &snapshot.files;
    let protocol = match serde_json::to_value(&state.protocol) {
        Ok(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    SnapshotReport {
        location: location.to_owned(),
        format: Format::Delta,
        version: state.version,
        timestamp: state.timestamp,
        files: files.len() as u64,
        bytes: files.iter().fold(0, |sum, f| sum.saturating_add(f.bytes())),
        rows: files
            .iter()
            .try_fold(0u64, |sum, f| sum.checked_add(f.rows()?)),
        deleted_rows: files
            .iter()
            .fold(0, |sum, f| sum.saturating_add(f.deleted_rows())),
        partition_columns: state.metadata.partition_columns.clone(),
        schema: state.schema.clone(),
        properties: state.metadata.configuration.clone(),
        protocol,
        paths: None,
        table_id: Some(state.metadata.id.clone()),
        name: state.metadata.name.clone(),
        description: state.metadata.description.clone(),
        created: state.metadata.created_time.map(crate::table::Time),
        domains: state.domains.clone(),
        transactions: state
            .transactions
            .iter()
            .map(|(app, transaction)| (app.clone(), transaction.version))
            .collect(),
        checkpoint: state.checkpoint,
        commits_read: state.commits_read,
        unsupported_writer_features: unsupported_for_writing(&state.protocol),
        warnings: state.warnings.clone(),
    }
}
