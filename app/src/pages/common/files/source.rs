//! Where a list of files comes from.

use std::rc::Rc;

use lake::table::{DataFile, Version};
use lake::wire::{ChangedFile, FileChange, FilesQuery, TableRef};

use crate::engine::Engine;
use crate::pages::common::filter::Filter;
use crate::pages::common::paged::{Fetch, Page};
use crate::parts::Sort;

use super::file_sort;

/// Which files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// All of a version.
    Of(Version),
    /// Those that differ between two versions.
    Between(Version, Version),
}

impl Files {
    /// The version that holds a file of the list.
    pub fn holder(self, change: Option<FileChange>) -> Version {
        match (self, change) {
            (Self::Of(version), _) => version,
            (Self::Between(from, _), Some(FileChange::Removed)) => from,
            (Self::Between(_, to), _) => to,
        }
    }

    /// Whether files that came and files that left are in one list.
    pub fn mixed(self) -> bool {
        matches!(self, Self::Between(..))
    }
}

/// A file of the list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Whether it came or left.
    pub change: Option<FileChange>,
    /// The file.
    pub file: DataFile,
}

impl Listed {
    /// Tells the row from every other.
    pub fn key(&self) -> String {
        format!("{:?}{}", self.change, self.file.path)
    }
}

/// How the list is asked for.
pub fn fetch(
    engine: Engine,
    table: TableRef,
    files: Files,
    filter: Filter,
    sort: &Sort,
) -> Fetch<Listed> {
    let query = FilesQuery {
        offset: 0,
        limit: 0,
        sort: file_sort(sort),
        descending: sort.descending,
        text: filter.text,
        partition: filter.partition,
    };
    Rc::new(move |offset, limit| {
        let (engine, table) = (engine.clone(), table.clone());
        let query = FilesQuery {
            offset,
            limit,
            ..query.clone()
        };
        Box::pin(async move {
            Ok(match files {
                Files::Of(version) => {
                    let report = engine.files(table, version, query).await?;
                    let plain = |file| Listed { change: None, file };
                    Page {
                        items: report.files.into_iter().map(plain).collect(),
                        matching: report.matching,
                        total: report.total,
                    }
                }
                Files::Between(from, to) => {
                    let report = engine.diff_files(table, from, to, query).await?;
                    let changed = |ChangedFile { change, file }| Listed {
                        change: Some(change),
                        file,
                    };
                    Page {
                        items: report.files.into_iter().map(changed).collect(),
                        matching: report.matching,
                        total: report.total,
                    }
                }
            })
        })
    })
}
