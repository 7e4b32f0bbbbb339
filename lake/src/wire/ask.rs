//! The questions a page asks the worker, and the envelopes they travel in.
//!
//! The enums are tagged from outside: any other tag makes serde buffer each message, which costs the
//! page a second decoder of every report.

use serde::{Deserialize, Serialize};

use super::file::{FileReport, PagesReport, RowsReport};
use super::hours::{ClosedReport, Fresh, GridReport, HourReport};
use super::{
    ActionsReport, CommitReport, DiffFilesReport, DiffReport, ErrorReport, FilesReport,
    HistoryReport, LayoutReport, OverviewReport, PresenceReport, ResolveReport, SnapshotReport,
};
use crate::host::Progress;
use crate::hours::{Day, Slot};
use crate::table::{At, Partition, Version};

/// A table, by where it lies: a zone's name and the prefix of the table's root in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableRef {
    /// The zone's name in the configuration.
    pub zone: String,
    /// Decoded key prefix of the table's root inside the zone, without a slash at either end.
    /// Empty where the zone is the table.
    pub prefix: String,
}

/// Which commits of a history are wanted: the newest `limit` ones older than `before`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HistoryQuery {
    /// At most this many commits.
    pub limit: u32,
    /// Only commits with a lower version.
    pub before: Option<Version>,
}

impl Default for HistoryQuery {
    fn default() -> Self {
        Self {
            limit: 50,
            before: None,
        }
    }
}

/// What a list of files is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSort {
    /// By decoded path.
    #[default]
    Path,
    /// By size in bytes.
    Bytes,
    /// By rows a reader gets.
    Rows,
    /// By the time the log states.
    Modified,
}

/// One page of a list of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilesQuery {
    /// Files skipped.
    pub offset: u64,
    /// At most this many files.
    pub limit: u32,
    /// What the list is sorted by.
    pub sort: FileSort,
    /// Largest first.
    pub descending: bool,
    /// Only paths that contain this text.
    pub text: Option<String>,
    /// Only files whose partition has these values: `null` for null.
    pub partition: Vec<(String, Option<String>)>,
}

/// A question about a table or a dataset. Each is answered by the [`Answer`] of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are by name and type")]
pub enum Ask {
    /// What the lake page shows of a table, for at most a few small reads.
    Overview { table: TableRef, rows_removed: f64 },
    /// A page of the history.
    History {
        table: TableRef,
        query: HistoryQuery,
    },
    /// One commit and what it changed.
    Commit { table: TableRef, version: Version },
    /// The raw lines of a commit.
    Actions {
        table: TableRef,
        version: Version,
        offset: u64,
        limit: u32,
    },
    /// Which version is meant.
    Resolve { table: TableRef, at: At },
    /// One version, without its files.
    Snapshot { table: TableRef, at: At },
    /// A page of one version's files.
    Files {
        table: TableRef,
        version: Version,
        query: FilesQuery,
    },
    /// Two versions, in either order, without files.
    Diff {
        table: TableRef,
        from: Version,
        to: Version,
    },
    /// A page of the files that differ between two versions.
    DiffFiles {
        table: TableRef,
        from: Version,
        to: Version,
        query: FilesQuery,
    },
    /// Partitions, sizes, small files.
    Layout { table: TableRef, at: At },
    /// A data file's footer.
    File {
        table: TableRef,
        version: Version,
        path: String,
    },
    /// The pages of one column chunk.
    Pages {
        table: TableRef,
        version: Version,
        path: String,
        row_group: u32,
        column: u32,
    },
    /// Rows of a data file as a reader gets them.
    Rows {
        table: TableRef,
        version: Version,
        path: String,
        offset: u64,
        limit: u32,
    },
    /// Whether the data files of a version are still there: one HEAD a file, bounded.
    Presence { table: TableRef, version: Version },
    /// How the hours of a window stand, from its first day to its last, both included.
    Hours {
        dataset: String,
        from: Day,
        to: Day,
        fresh: Fresh,
    },
    /// One hour with all its evidence.
    Hour {
        dataset: String,
        slot: Slot,
        fresh: Fresh,
    },
    /// Up to when a dataset is closed: reads from its first day on what is not known yet, as far as
    /// the first hour that is neither closed nor empty.
    Closed { dataset: String },
}

/// The answer to an [`Ask`]. It is written as its report alone: who asked knows which one comes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "each answers the question of the same name")]
pub enum Answer {
    Overview(OverviewReport),
    History(HistoryReport),
    Commit(CommitReport),
    Actions(ActionsReport),
    Resolve(ResolveReport),
    Snapshot(SnapshotReport),
    Files(FilesReport),
    Diff(DiffReport),
    DiffFiles(DiffFilesReport),
    Layout(LayoutReport),
    File(FileReport),
    Pages(PagesReport),
    Rows(RowsReport),
    Presence(PresenceReport),
    Hours(GridReport),
    Hour(HourReport),
    Closed(ClosedReport),
}

/// What the page posts to the worker, as JSON text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are by name and type")]
pub enum Envelope {
    /// First message: the page's build and where the server answers.
    Hello { build: String, base: String },
    /// A question; `id` is the page's.
    Ask { id: u64, ask: Ask },
    /// Nobody waits for this answer any more.
    Cancel { id: u64 },
}

/// What the worker posts to the page: a list of its JSON text and, with an answer, of the answer's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields say what they are by name and type")]
pub enum Message {
    /// The worker's first message: it listens from now on, and this is its build, which must be
    /// the page's. The page answers with [`Envelope::Hello`].
    Ready { build: String },
    /// How far a question has come.
    Progress { id: u64, progress: Progress },
    /// There is an answer; it stands beside this message.
    Answer { id: u64 },
    /// Why there is none.
    Failed { id: u64, error: ErrorReport },
    /// The worker's last message: it broke, and answers nothing any more.
    Crashed { message: String },
}

impl FilesQuery {
    /// Whether a file with this partition is wanted.
    pub fn takes(&self, partition: &Partition) -> bool {
        self.partition
            .iter()
            .all(|(name, value)| partition.get(name).is_some_and(|v| v == value))
    }
}
