//! A page of a version's files: filtered, sorted, cut.

use std::cmp::Ordering;

use super::cache::Table;
use crate::Result;
use crate::delta::files::FileRef;
use crate::delta::path::shown;
use crate::table::{DataFile, Version};
use crate::wire::{FileSort, FilesQuery, FilesReport};

/// Files that one page holds at most.
const LARGEST_PAGE: usize = 10_000;

impl Table {
    pub(super) async fn files(&self, version: Version, query: &FilesQuery) -> Result<FilesReport> {
        let snapshot = self.pinned(version).await?;
        let files = &snapshot.files;
        let wanted: Vec<bool> = files.partitions().iter().map(|p| query.takes(p)).collect();
        let text = query.text.as_deref().filter(|t| !t.is_empty());
        let takes = |f: &FileRef<'_>| {
            wanted
                .get(f.partition())
                .copied()
                .unwrap_or(query.partition.is_empty())
                && text.is_none_or(|t| shown(f.raw_path()).contains(t))
        };
        let mut rows: Vec<FileRef<'_>> = files.iter().filter(takes).collect();
        let matching = rows.len() as u64;
        let order = |a: &FileRef<'_>, b: &FileRef<'_>| {
            let by = match query.sort {
                FileSort::Path => Ordering::Equal,
                FileSort::Bytes => a.bytes().cmp(&b.bytes()),
                FileSort::Rows => a.rows().cmp(&b.rows()),
                FileSort::Modified => a.modified().cmp(&b.modified()),
            };
            let by = by.then_with(|| a.raw_path().cmp(b.raw_path()));
            if query.descending { by.reverse() } else { by }
        };
        let offset = usize::try_from(query.offset)
            .unwrap_or(usize::MAX)
            .min(rows.len());
        let limit = (query.limit as usize).min(LARGEST_PAGE);
        let end = offset.saturating_add(limit).min(rows.len());
        // Only what stands before the page's end has to be in order.
        if end > 0 && end < rows.len() {
            rows.select_nth_unstable_by(end - 1, order);
            rows.truncate(end);
        }
        rows.sort_unstable_by(order);
        let page = rows.get(offset..end).unwrap_or_default();
        Ok(FilesReport {
            matching,
            total: files.len() as u64,
            files: page.iter().map(|f| files.data_file(*f)).collect(),
        })
    }
}

/// The same for a list that is held already: how many match, and the page.
pub(super) fn page<T>(
    mut all: Vec<T>,
    query: &FilesQuery,
    file: impl Fn(&T) -> &DataFile,
) -> (u64, Vec<T>) {
    let text = query.text.as_deref().filter(|t| !t.is_empty());
    all.retain(|t| {
        let f = file(t);
        (query.partition.is_empty() || query.takes(&f.partition))
            && text.is_none_or(|t| f.path.contains(t))
    });
    // The list comes sorted by path, and the sort keeps equals in order.
    all.sort_by(|a, b| {
        let (a, b) = (file(a), file(b));
        let by = match query.sort {
            FileSort::Path => a.path.cmp(&b.path),
            FileSort::Bytes => a.bytes.cmp(&b.bytes),
            FileSort::Rows => a.rows.cmp(&b.rows),
            FileSort::Modified => a.modified.cmp(&b.modified),
        };
        if query.descending { by.reverse() } else { by }
    });
    let matching = all.len() as u64;
    let offset = usize::try_from(query.offset).unwrap_or(usize::MAX);
    (
        matching,
        all.into_iter()
            .skip(offset)
            .take((query.limit as usize).min(LARGEST_PAGE))
            .collect(),
    )
}
