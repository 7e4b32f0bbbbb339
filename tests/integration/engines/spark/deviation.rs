//! Where ours differs from Spark's, and for what reason.

use std::collections::BTreeSet;
use std::fmt::Debug;

/// What is known to differ: the table, what of it, and why.
const KNOWN: &[(&str, &str, &str)] = &[
    (
        "without_statistics",
        "rows",
        "the log states no row count of its first file: unknown to us, counted in the file by Spark",
    ),
    (
        "checkpoints_without_statistics",
        "rows",
        "the checkpoint states no row counts: unknown to us, counted in the files by Spark",
    ),
    (
        "in_commit_timestamps_ended",
        "history timestamp",
        "the table no longer asks for in-commit timestamps: the commits that have them keep them for \
         us, whereas Spark goes by the times of files alone, which a copy of the table changes",
    ),
];

/// What differs, as it was found.
#[derive(Debug, Default)]
pub(super) struct Deviations {
    found: Vec<Deviation>,
}

#[derive(Debug, PartialEq)]
struct Deviation {
    table: String,
    statement: String,
    what: String,
    text: String,
}

impl Deviations {
    /// Prints it with its reason, where it has one. Time travel meets again what was met before.
    pub(super) fn add(&mut self, table: &str, statement: &str, what: &str, text: &str) {
        let deviation = Deviation {
            table: table.to_owned(),
            statement: statement.to_owned(),
            what: what.to_owned(),
            text: text.to_owned(),
        };
        if self.found.contains(&deviation) {
            return;
        }
        let reason = deviation.reason().unwrap_or("UNEXPLAINED");
        let statement = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("engines: spark: {table}, {what}: {text} (after `{statement}`): {reason}");
        self.found.push(deviation);
    }

    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// # Panics
    /// If one has no reason, or a reason has no deviation.
    pub(super) fn assert_all_known(&self, only_some: bool) {
        let unknown = self.found.iter().filter(|d| d.reason().is_none()).count();
        assert_eq!(unknown, 0, "deviations without a reason");
        let found: BTreeSet<(&str, &str)> = self
            .found
            .iter()
            .map(|d| (d.table.as_str(), d.what.as_str()))
            .collect();
        let gone = |(table, what, _): &&(&str, &str, &str)| !found.contains(&(*table, *what));
        let gone: Vec<_> = KNOWN.iter().filter(gone).collect();
        assert!(
            only_some || gone.is_empty(),
            "these no longer differ: {gone:?}"
        );
    }
}

impl Deviation {
    fn reason(&self) -> Option<&'static str> {
        let known = KNOWN
            .iter()
            .find(|(table, what, _)| *table == self.table && *what == self.what);
        known.map(|(_, _, reason)| *reason)
    }
}

/// Compares one thing after another and keeps what differs.
pub(super) struct Comparison<'a> {
    pub(super) table: &'a str,
    pub(super) statement: &'a str,
    pub(super) found: &'a mut Deviations,
}

impl Comparison<'_> {
    pub(super) fn same<T: PartialEq + Debug>(&mut self, what: &str, ours: T, theirs: T) {
        if ours != theirs {
            let text = format!("{ours:?} instead of {theirs:?}");
            self.found.add(self.table, self.statement, what, &text);
        }
    }

    pub(super) fn failed(&mut self, what: &str, error: &lake::Error) {
        let text = error.to_string();
        self.found.add(self.table, self.statement, what, &text);
    }
}
