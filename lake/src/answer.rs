//! Every question a person can ask of a table, answered by one function each.
//!
//! The worker answers the page with [`Reader::answer`], the server and the command line call the
//! functions. There is no second way to a figure.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

use crate::host::SharedHost;
use crate::table::{At, Version};
use crate::wire::{
    Answer, Ask, DiffReport, HistoryQuery, HistoryReport, LayoutReport, SnapshotReport, TableRef,
};
use crate::{Error, Kind, Result};

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

/// Answers questions and remembers the versions it rebuilt, which never change.
pub struct Reader {
    roots: Arc<dyn Roots>,
}

impl Reader {
    /// A reader that remembers nothing yet.
    pub fn new(roots: Arc<dyn Roots>) -> Self {
        Self { roots }
    }

    /// Answers one question. Dropping the future cancels the work.
    pub async fn answer(&self, ask: Ask, host: SharedHost) -> Result<Answer> {
        let _ = (&self.roots, ask, host);
        Err(Error::new(Kind::Internal, "not built yet"))
    }
}

/// A page of a table's history, newest first.
pub async fn history(
    root: &Root,
    query: &HistoryQuery,
    host: &SharedHost,
) -> Result<HistoryReport> {
    let _ = (root, query, host);
    Err(Error::new(Kind::Internal, "not built yet"))
}

/// One version; `paths` too where `with_files`.
pub async fn snapshot(
    root: &Root,
    at: At,
    with_files: bool,
    host: &SharedHost,
) -> Result<SnapshotReport> {
    let _ = (root, at, with_files, host);
    Err(Error::new(Kind::Internal, "not built yet"))
}

/// Two versions, in either order; `added` and `removed` too where `with_files`.
pub async fn diff(
    root: &Root,
    from: Version,
    to: Version,
    with_files: bool,
    host: &SharedHost,
) -> Result<DiffReport> {
    let _ = (root, from, to, with_files, host);
    Err(Error::new(Kind::Internal, "not built yet"))
}

/// Partitions and sizes; at most `partitions` of them, where given.
pub async fn layout(
    root: &Root,
    at: At,
    partitions: Option<usize>,
    host: &SharedHost,
) -> Result<LayoutReport> {
    let _ = (root, at, partitions, host);
    Err(Error::new(Kind::Internal, "not built yet"))
}
