//! Every question that a page can ask of a table, asked in process.

use std::sync::Arc;

use lake::answer::{Reader, Root, Roots};
use lake::host::Quiet;
use lake::table::{At, Version};
use lake::wire::{Answer, Ask, FilesQuery, HistoryQuery, TableRef};
use lake::{Error, Kind, Result};
use serde::de::DeserializeOwned;

/// A reader of one table.
pub struct Asking {
    reader: Reader,
    table: TableRef,
}

struct One(Root);

impl Roots for One {
    fn root(&self, _: &TableRef) -> Result<Root> {
        Ok(self.0.clone())
    }
}

impl Asking {
    /// A reader that remembers nothing yet.
    pub fn of(root: &Root) -> Self {
        Self {
            reader: Reader::new(Arc::new(One(root.clone()))),
            table: TableRef {
                zone: "tests".to_owned(),
                prefix: root.path.to_string(),
            },
        }
    }

    /// Answers one question.
    pub async fn ask(&self, ask: impl FnOnce(TableRef) -> Ask) -> Result<Answer> {
        let ask = ask(self.table.clone());
        self.reader.answer(ask, Arc::new(Quiet)).await
    }

    /// Asks everything about a version, and gives the questions that were refused with their
    /// reasons. Each answer must survive the way to the page, and no reason may be a fault of ours
    /// or leave out where it happened.
    pub async fn everything(&self, version: u64) -> Vec<(&'static str, Error)> {
        let at = At::Version(Version(version));
        let version = Version(version);
        let before = Version(version.0.saturating_sub(1));
        let files = || FilesQuery {
            limit: 50,
            ..FilesQuery::default()
        };
        let history = HistoryQuery {
            limit: 50,
            before: Some(version.next()),
        };
        let mut refused = Vec::new();
        type Question = Box<dyn FnOnce(TableRef) -> Ask + Send>;
        let questions: Vec<(&'static str, Question)> = vec![
            (
                "overview",
                Box::new(|table| Ask::Overview {
                    table,
                    rows_removed: 0.2,
                }),
            ),
            (
                "history",
                Box::new(move |table| Ask::History {
                    table,
                    query: history,
                }),
            ),
            (
                "commit",
                Box::new(move |table| Ask::Commit { table, version }),
            ),
            (
                "actions",
                Box::new(move |table| Ask::Actions {
                    table,
                    version,
                    offset: 0,
                    limit: 50,
                }),
            ),
            ("resolve", Box::new(move |table| Ask::Resolve { table, at })),
            (
                "snapshot",
                Box::new(move |table| Ask::Snapshot { table, at }),
            ),
            (
                "files",
                Box::new(move |table| Ask::Files {
                    table,
                    version,
                    query: files(),
                }),
            ),
            (
                "diff",
                Box::new(move |table| Ask::Diff {
                    table,
                    from: before,
                    to: version,
                }),
            ),
            (
                "diff files",
                Box::new(move |table| Ask::DiffFiles {
                    table,
                    from: before,
                    to: version,
                    query: files(),
                }),
            ),
            ("layout", Box::new(move |table| Ask::Layout { table, at })),
            (
                "presence",
                Box::new(move |table| Ask::Presence { table, version }),
            ),
        ];
        for (name, ask) in questions {
            match self.ask(ask).await {
                Ok(answer) => {
                    let text = serde_json::to_string(&answer).unwrap();
                    assert!(
                        arrives(&answer, &text),
                        "{name} of version {version} changes on its way"
                    );
                }
                Err(error) => {
                    assert_ne!(
                        error.kind(),
                        Kind::Internal,
                        "{name} of version {version}: {error}"
                    );
                    assert!(
                        error.location().is_some(),
                        "{name} of version {version} does not say where: {error}"
                    );
                    refused.push((name, error));
                }
            }
        }
        refused
    }
}

/// Whether the page reads from the text what the worker wrote.
fn arrives(answer: &Answer, text: &str) -> bool {
    fn same<T: DeserializeOwned + PartialEq>(report: &T, text: &str) -> bool {
        serde_json::from_str::<T>(text).is_ok_and(|read| read == *report)
    }
    match answer {
        Answer::Overview(report) => same(report, text),
        Answer::History(report) => same(report, text),
        Answer::Commit(report) => same(report, text),
        Answer::Actions(report) => same(report, text),
        Answer::Resolve(report) => same(report, text),
        Answer::Snapshot(report) => same(report, text),
        Answer::Files(report) => same(report, text),
        Answer::Diff(report) => same(report, text),
        Answer::DiffFiles(report) => same(report, text),
        Answer::Layout(report) => same(report, text),
        Answer::File(report) => same(report, text),
        Answer::Pages(report) => same(report, text),
        Answer::Rows(report) => same(report, text),
        Answer::Presence(report) => same(report, text),
        Answer::Hours(report) => same(report, text),
        Answer::Hour(report) => same(report, text),
        Answer::Closed(report) => same(report, text),
    }
}
