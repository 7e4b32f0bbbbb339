//! One data file of a version: what the table knows of it, then its bytes.

use std::sync::Arc;

use super::cache::Table;
use crate::delta::commit::{lines, parse_line};
use crate::delta::files::{FileRef, Source};
use crate::delta::log::{Log, read_optional};
use crate::delta::path::{Location, canonical, locate, shown};
use crate::delta::schema::Mapping;
use crate::delta::snapshot::Snapshot;
use crate::delta::{checkpoint, vector};
use crate::parquet::file::{self, TableFile};
use crate::parquet::reader::ParquetFile;
use crate::table::Version;
use crate::wire::file::{FileReport, PagesReport, RowsReport};
use crate::{Error, Result};

/// Commits searched for a file's statistics at most.
const SEARCHED: u64 = 1_000;

impl Table {
    pub(super) async fn file(&self, version: Version, path: &str) -> Result<FileReport> {
        let snapshot = self.pinned(version).await?;
        let found = find(&snapshot, path)?;
        let mut table_file = self.table_file(&snapshot, found, false).await?;
        table_file.log_stats = self.statistics(&snapshot, found).await?;
        file::report(&table_file).await
    }

    pub(super) async fn pages(
        &self,
        version: Version,
        path: &str,
        row_group: u32,
        column: u32,
    ) -> Result<PagesReport> {
        let snapshot = self.pinned(version).await?;
        let table_file = self
            .table_file(&snapshot, find(&snapshot, path)?, false)
            .await?;
        file::pages(&table_file, row_group, column).await
    }

    pub(super) async fn rows(
        &self,
        version: Version,
        path: &str,
        offset: u64,
        limit: u32,
    ) -> Result<RowsReport> {
        let snapshot = self.pinned(version).await?;
        let table_file = self
            .table_file(&snapshot, find(&snapshot, path)?, true)
            .await?;
        file::rows(&table_file, offset, limit).await
    }

    async fn table_file(
        &self,
        snapshot: &Snapshot,
        found: FileRef<'_>,
        with_vector: bool,
    ) -> Result<TableFile> {
        let path = match locate(&self.root.path, found.raw_path())? {
            Location::Inside(path) => path,
            Location::Outside(url) => {
                return Err(Error::unsupported(format!(
                    "the file lies outside the table, at {url}, and is not followed"
                )));
            }
        };
        let masked = match found.vector().filter(|_| with_vector) {
            Some(descriptor) => Some(Arc::new(
                vector::load(&self.root.store, &self.root.path, &descriptor).await?,
            )),
            None => None,
        };
        Ok(TableFile {
            store: Arc::clone(&self.root.store),
            path,
            file: snapshot.files.data_file(found),
            log_stats: None,
            schema: snapshot.state.schema.clone(),
            partition_columns: snapshot.state.metadata.partition_columns.clone(),
            by_id: snapshot.state.mapping == Mapping::Id,
            masked,
        })
    }

    /// `add.stats` as it stands in the log. Read only here, from where the add came from.
    async fn statistics(&self, snapshot: &Snapshot, found: FileRef<'_>) -> Result<Option<String>> {
        let log = self.log();
        match found.source() {
            Source::Parquet { path, row_group } => {
                let file = ParquetFile::open(&log.store, path).await?;
                checkpoint::statistics(&file, *row_group, found.raw_path()).await
            }
            Source::Json(path) if path.as_ref().ends_with(".json") => {
                let read = read_optional(&log.store, path).await?;
                Ok(read.and_then(|(_, bytes)| in_lines(&bytes, found.raw_path())))
            }
            Source::Json(_) => {
                self.statistics_of_commits(&log, snapshot, found.raw_path())
                    .await
            }
        }
    }

    async fn statistics_of_commits(
        &self,
        log: &Log,
        snapshot: &Snapshot,
        raw: &str,
    ) -> Result<Option<String>> {
        let newest = snapshot.state.version.0;
        let oldest = snapshot
            .state
            .checkpoint
            .map_or(0, |v| v.0 + 1)
            .max(newest.saturating_sub(SEARCHED));
        let batch: Vec<u64> = (oldest..=newest).rev().collect();
        for versions in batch.chunks(64) {
            let reads = versions.iter().map(|v| log.read_commit(Version(*v)));
            for read in futures::future::try_join_all(reads).await? {
                if let Some((_, bytes)) = read
                    && memchr::memmem::find(&bytes, b"\"add\"").is_some()
                    && let Some(stats) = in_lines(&bytes, raw)
                {
                    return Ok(Some(stats));
                }
            }
        }
        Ok(None)
    }
}

fn in_lines(bytes: &[u8], raw: &str) -> Option<String> {
    let wanted = canonical(raw);
    lines(bytes).find_map(|(_, text)| {
        let add = parse_line(text).ok()?.add?;
        (canonical(&add.path) == wanted).then(|| add.stats.map(|s| s.into_owned()))?
    })
}

fn find<'a>(snapshot: &'a Snapshot, path: &str) -> Result<FileRef<'a>> {
    let found = snapshot.files.iter().find(|f| shown(f.raw_path()) == path);
    found.ok_or_else(|| {
        Error::not_found(format!(
            "version {} has no such file",
            snapshot.state.version
        ))
        .at("key", path)
    })
}
