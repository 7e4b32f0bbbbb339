//! One data file of a table, looked at: footer, pages, rows.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use roaring::RoaringTreemap;

use crate::schema::Schema;
use crate::table::DataFile;
use crate::wire::file::{FileReport, PagesReport, RowsReport};
use crate::{Error, Kind, Result};

/// A data file with what its table knows of it.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// Key of the object.
    pub path: Path,
    /// What the log says.
    pub file: DataFile,
    /// `add.stats` as it stands in the log.
    pub log_stats: Option<String>,
    /// The table's columns at the version looked at.
    pub schema: Schema,
    /// Logical names, in the table's order.
    pub partition_columns: Vec<String>,
    /// Whether columns are found in the file by field id and not by physical name.
    pub by_id: bool,
    /// Positions in the file that are masked.
    pub masked: Option<Arc<RoaringTreemap>>,
}

/// The footer beside the log's own figures.
pub async fn report(file: &TableFile) -> Result<FileReport> {
    let _ = file;
    Err(Error::new(Kind::Internal, "not built yet"))
}

/// The pages of one column chunk, from the offset index or from the page headers.
pub async fn pages(file: &TableFile, row_group: u32, column: u32) -> Result<PagesReport> {
    let _ = (file, row_group, column);
    Err(Error::new(Kind::Internal, "not built yet"))
}

/// Up to `limit` rows from position `offset` on, as a reader of the table gets them.
pub async fn rows(file: &TableFile, offset: u64, limit: u32) -> Result<RowsReport> {
    let _ = (file, offset, limit);
    Err(Error::new(Kind::Internal, "not built yet"))
}
