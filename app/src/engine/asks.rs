//! One method a question, each with the type of its answer.

use lake::Result;
use lake::hours::{Day, Slot};
use lake::table::{At, Version};
use lake::wire::file::{FileReport, PagesReport, RowsReport};
use lake::wire::hours::{ClosedReport, Fresh, GridReport, HourReport};
use lake::wire::{
    ActionsReport, Ask, CommitReport, DiffFilesReport, DiffReport, FilesQuery, FilesReport,
    HistoryQuery, HistoryReport, LayoutReport, OverviewReport, PresenceReport, ResolveReport,
    SnapshotReport, TableRef,
};

use super::Engine;

impl Engine {
    /// What the lake page shows of a table. `rows_removed` is the share of a table's rows that one
    /// commit may remove unremarked.
    pub async fn overview(&self, table: TableRef, rows_removed: f64) -> Result<OverviewReport> {
        self.ask(Ask::Overview {
            table,
            rows_removed,
        })
        .await
    }

    /// A page of the history, newest first.
    pub async fn history(&self, table: TableRef, query: HistoryQuery) -> Result<HistoryReport> {
        self.ask(Ask::History { table, query }).await
    }

    /// One commit and what it changed.
    pub async fn commit(&self, table: TableRef, version: Version) -> Result<CommitReport> {
        self.ask(Ask::Commit { table, version }).await
    }

    /// Raw lines of a commit, from line `offset`.
    pub async fn actions(
        &self,
        table: TableRef,
        version: Version,
        offset: u64,
        limit: u32,
    ) -> Result<ActionsReport> {
        self.ask(Ask::Actions {
            table,
            version,
            offset,
            limit,
        })
        .await
    }

    /// Which version a time or `latest` means.
    pub async fn resolve(&self, table: TableRef, at: At) -> Result<ResolveReport> {
        self.ask(Ask::Resolve { table, at }).await
    }

    /// One version, without its files.
    pub async fn snapshot(&self, table: TableRef, at: At) -> Result<SnapshotReport> {
        self.ask(Ask::Snapshot { table, at }).await
    }

    /// A page of one version's files.
    pub async fn files(
        &self,
        table: TableRef,
        version: Version,
        query: FilesQuery,
    ) -> Result<FilesReport> {
        self.ask(Ask::Files {
            table,
            version,
            query,
        })
        .await
    }

    /// Two versions compared, in either order.
    pub async fn diff(&self, table: TableRef, from: Version, to: Version) -> Result<DiffReport> {
        self.ask(Ask::Diff { table, from, to }).await
    }

    /// A page of the files that differ between two versions.
    pub async fn diff_files(
        &self,
        table: TableRef,
        from: Version,
        to: Version,
        query: FilesQuery,
    ) -> Result<DiffFilesReport> {
        self.ask(Ask::DiffFiles {
            table,
            from,
            to,
            query,
        })
        .await
    }

    /// Partitions, sizes, small files.
    pub async fn layout(&self, table: TableRef, at: At) -> Result<LayoutReport> {
        self.ask(Ask::Layout { table, at }).await
    }

    /// A data file's footer. `path` is as the version's files name it.
    pub async fn file(
        &self,
        table: TableRef,
        version: Version,
        path: String,
    ) -> Result<FileReport> {
        self.ask(Ask::File {
            table,
            version,
            path,
        })
        .await
    }

    /// The pages of one column chunk.
    pub async fn pages(
        &self,
        table: TableRef,
        version: Version,
        path: String,
        row_group: u32,
        column: u32,
    ) -> Result<PagesReport> {
        self.ask(Ask::Pages {
            table,
            version,
            path,
            row_group,
            column,
        })
        .await
    }

    /// Rows of a data file as a reader gets them, from the position `offset`.
    pub async fn rows(
        &self,
        table: TableRef,
        version: Version,
        path: String,
        offset: u64,
        limit: u32,
    ) -> Result<RowsReport> {
        self.ask(Ask::Rows {
            table,
            version,
            path,
            offset,
            limit,
        })
        .await
    }

    /// Whether the data files of a version are still there.
    pub async fn presence(&self, table: TableRef, version: Version) -> Result<PresenceReport> {
        self.ask(Ask::Presence { table, version }).await
    }

    /// How the hours of a window stand.
    pub async fn hours(
        &self,
        dataset: String,
        from: Day,
        to: Day,
        fresh: Fresh,
    ) -> Result<GridReport> {
        self.ask(Ask::Hours {
            dataset,
            from,
            to,
            fresh,
        })
        .await
    }

    /// One hour with all its evidence.
    pub async fn hour(&self, dataset: String, slot: Slot, fresh: Fresh) -> Result<HourReport> {
        self.ask(Ask::Hour {
            dataset,
            slot,
            fresh,
        })
        .await
    }

    /// Up to when a dataset is closed, read from its first day on.
    pub async fn closed(&self, dataset: String) -> Result<ClosedReport> {
        self.ask(Ask::Closed { dataset }).await
    }
}
