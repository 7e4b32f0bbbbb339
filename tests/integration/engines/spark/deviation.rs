//! Where ours differs from Spark's, and for what reason.

use std::collections::BTreeSet;
use std::fmt::Debug;

/// What is known to differ: the table, what of it, and why.
const KNOWN: &[(&str, &str, &str)] = &[(
    "without_statistics",
    "rows",
    "the log states no row count of its first file: unknown to us, counted in the file by Spark",
)];

/// What differs, as it was found.
#[derive(Debug, Default)]
pub(super) struct Deviations {
    found: Vec<Deviation>,
}

#[derive(Debug)]
struct Deviation {
    table: String,
    statement: String,
    what: String,
    text: String,
}

impl Deviations {
    pub(super) fn add(&mut self, table: &str, statement: &str, what: &str, text: &str) {
        self.found.push(Deviation {
            table: table.to_owned(),
            statement: statement.to_owned(),
            what: what.to_owned(),
            text: text.to_owned(),
        });
    }

    /// Prints each with its reason, where it has one, and says how many there are.
    pub(super) fn report(&self) -> usize {
        for deviation in &self.found {
            let Deviation {
                table,
                statement,
                what,
                text,
            } = deviation;
            let reason = deviation.reason().unwrap_or("UNEXPLAINED");
            println!("engines: {table}, {what}: {text} (after `{statement}`): {reason}");
        }
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
