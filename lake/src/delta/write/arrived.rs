//! Somebody else committed first.

use crate::delta::log::{Head, Log};
use crate::host::SharedHost;
use crate::table::Version;
use crate::wire::{CommitRow, HistoryQuery};
use crate::{Error, Kind};

/// Commits that are named.
const NAMED: u32 = 20;

/// Which commits came after `expected`, as an error.
pub(crate) async fn arrived(log: &Log, head: &Head, expected: Version, host: &SharedHost) -> Error {
    let query = HistoryQuery {
        limit: NAMED,
        before: None,
    };
    let rows = match log.history(head, &query, host).await {
        Ok(page) => page.rows,
        Err(_) => Vec::new(),
    };
    let newer = rows.iter().filter(|row| row.version > expected);
    let words: Vec<String> = newer.map(commit_in_words).collect();
    let what = match expected > head.latest {
        true => format!("the newest version is {}, not {expected}", head.latest),
        false => format!(
            "somebody committed after version {expected}: {}",
            words.join("; ")
        ),
    };
    Error::new(Kind::Conflict, what)
}

/// A commit in a few words: `version 6 (WRITE by ana)`.
pub(crate) fn commit_in_words(row: &CommitRow) -> String {
    let what = row.operation.as_deref().unwrap_or("a commit");
    match &row.user {
        Some(user) => format!("version {} ({what} by {user})", row.version),
        None => format!("version {} ({what})", row.version),
    }
}
