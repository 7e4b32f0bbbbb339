//! One data file of a table, looked at: footer, pages, rows.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use roaring::RoaringTreemap;

use super::reader::ParquetFile;
use super::{footer, preview};
use crate::schema::Schema;
use crate::table::DataFile;
use crate::wire::file::{FileReport, PagesReport, RowsReport};
use crate::{Error, Result};

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

/// The footer beside the log's own figures, from one or two reads. Very wide files are reported in
/// part, and say so.
pub async fn report(file: &TableFile) -> Result<FileReport> {
    let parquet = ParquetFile::open(&file.store, &file.path).await?;
    Ok(footer::report(file, &parquet))
}

/// The pages of one column chunk, from the offset index or from the page headers.
pub async fn pages(file: &TableFile, row_group: u32, column: u32) -> Result<PagesReport> {
    let parquet = ParquetFile::open(&file.store, &file.path).await?;
    let (Ok(group), Ok(column)) = (usize::try_from(row_group), usize::try_from(column)) else {
        return Err(Error::not_found("no such column chunk"));
    };
    let report = super::pages::report(&parquet, group, column).await;
    report.map_err(|e| e.at("key", &file.path))
}

/// Up to `limit` rows from position `offset` on, as a reader of the table gets them: masked rows
/// left out, partition values put in, columns by the table's names and types. One answer is bounded
/// in rows and in bytes; `next` says where it goes on.
///
/// A column that cannot be read is a warning, unless none can.
pub async fn rows(file: &TableFile, offset: u64, limit: u32) -> Result<RowsReport> {
    let parquet = ParquetFile::open(&file.store, &file.path).await?;
    let report = preview::rows(file, &parquet, offset, limit).await;
    report.map_err(|e| e.at("key", &file.path))
}

#[cfg(test)]
mod tests;
