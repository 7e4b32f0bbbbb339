//! One method a question, each with the type of its answer.

use lake::Result;
use lake::table::{At, Version};
use lake::wire::file::{FileReport, PagesReport, RowsReport};
use lake::wire::{
    ActionsReport, Answer, Ask, CommitReport, DiffFilesReport, DiffReport, FilesQuery, FilesReport,
    HistoryQuery, HistoryReport, LayoutReport, OverviewReport, PresenceReport, ResolveReport,
    SnapshotReport, TableRef,
};

use super::{Engine, unexpected};

/// Asks, and takes the answer of the same name.
macro_rules! answer {
    ($engine:expr, $name:ident { $($field:ident),* }) => {
        match $engine.ask(Ask::$name { $($field),* }).await? {
            Answer::$name(report) => Ok(report),
            other => Err(unexpected(&other)),
        }
    };
}

impl Engine {
    /// What the lake page shows of a table. `rows_removed` is the share of a table's rows that one
    /// commit may remove unremarked.
    pub async fn overview(&self, table: TableRef, rows_removed: f64) -> Result<OverviewReport> {
        answer!(
            self,
            Overview {
                table,
                rows_removed
            }
        )
    }

    /// A page of the history, newest first.
    pub async fn history(&self, table: TableRef, query: HistoryQuery) -> Result<HistoryReport> {
        answer!(self, History { table, query })
    }

    /// One commit and what it changed.
    pub async fn commit(&self, table: TableRef, version: Version) -> Result<CommitReport> {
        answer!(self, Commit { table, version })
    }

    /// Raw lines of a commit, from line `offset`.
    pub async fn actions(
        &self,
        table: TableRef,
        version: Version,
        offset: u64,
        limit: u32,
    ) -> Result<ActionsReport> {
        answer!(
            self,
            Actions {
                table,
                version,
                offset,
                limit
            }
        )
    }

    /// Which version a time or `latest` means.
    pub async fn resolve(&self, table: TableRef, at: At) -> Result<ResolveReport> {
        answer!(self, Resolve { table, at })
    }

    /// One version, without its files.
    pub async fn snapshot(&self, table: TableRef, at: At) -> Result<SnapshotReport> {
        answer!(self, Snapshot { table, at })
    }

    /// A page of one version's files.
    pub async fn files(
        &self,
        table: TableRef,
        version: Version,
        query: FilesQuery,
    ) -> Result<FilesReport> {
        answer!(
            self,
            Files {
                table,
                version,
                query
            }
        )
    }

    /// Two versions compared, in either order.
    pub async fn diff(&self, table: TableRef, from: Version, to: Version) -> Result<DiffReport> {
        answer!(self, Diff { table, from, to })
    }

    /// A page of the files that differ between two versions.
    pub async fn diff_files(
        &self,
        table: TableRef,
        from: Version,
        to: Version,
        query: FilesQuery,
    ) -> Result<DiffFilesReport> {
        answer!(
            self,
            DiffFiles {
                table,
                from,
                to,
                query
            }
        )
    }

    /// Partitions, sizes, small files.
    pub async fn layout(&self, table: TableRef, at: At) -> Result<LayoutReport> {
        answer!(self, Layout { table, at })
    }

    /// A data file's footer. `path` is as the version's files name it.
    pub async fn file(
        &self,
        table: TableRef,
        version: Version,
        path: String,
    ) -> Result<FileReport> {
        answer!(
            self,
            File {
                table,
                version,
                path
            }
        )
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
        answer!(
            self,
            Pages {
                table,
                version,
                path,
                row_group,
                column
            }
        )
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
        answer!(
            self,
            Rows {
                table,
                version,
                path,
                offset,
                limit
            }
        )
    }

    /// Whether the data files of a version are still there.
    pub async fn presence(&self, table: TableRef, version: Version) -> Result<PresenceReport> {
        answer!(self, Presence { table, version })
    }
}
