//! One commit: what it says and what it changed.

use super::cache::Table;
use crate::delta::commit::{Summary, action_name, lines, parse_line};
use crate::delta::path::{LOG, commit_key};
use crate::table::Version;
use crate::wire::{ActionLine, ActionsReport, CommitReport, ErrorReport, HistoryQuery};
use crate::{Error, Result};

/// Bytes of a line that are shown.
const SHOWN: usize = 64 * 1024;

/// Lines that one page holds at most.
const LARGEST_PAGE: usize = 2_000;

impl Table {
    pub(super) async fn commit(&self, version: Version) -> Result<CommitReport> {
        let log = self.log();
        let head = log.head().await?;
        let Some((meta, bytes)) = log.read_commit(version).await? else {
            return Err(self.no_commit(version, head.latest));
        };
        let query = HistoryQuery {
            limit: 1,
            before: Some(version.next()),
        };
        let page = log.history(&head, &query, &self.host).await?;
        let summary = Summary::read(&bytes);
        let times = crate::delta::commit::commit_times(&meta, &bytes);
        let row = page.rows.into_iter().find(|r| r.version == version);
        let row = row.unwrap_or_else(|| crate::delta::history::row(version, times, &summary));
        let (diff, diff_error) = match self.changes(version.previous(), version).await {
            Ok(changes) => (Some(changes.report(version.previous(), version)), None),
            Err(error) => (None, Some(ErrorReport::from(&error))),
        };
        Ok(CommitReport {
            location: self.root.location.clone(),
            commit: row,
            latest_version: head.latest,
            diff,
            diff_error,
            log_key: format!("{LOG}/{:020}.json", version.0),
            log_bytes: bytes.len() as u64,
            actions: summary.actions,
            commit_info: summary.commit_info.unwrap_or_default(),
        })
    }

    fn no_commit(&self, version: Version, latest: Version) -> Error {
        let message = if version > latest {
            format!("there is no version {version}: the newest is {latest}")
        } else {
            format!("the commit of version {version} is no longer in the log")
        };
        Error::not_found(message).at("key", commit_key(&self.root.path, version))
    }

    pub(super) async fn actions(
        &self,
        version: Version,
        offset: u64,
        limit: u32,
    ) -> Result<ActionsReport> {
        let log = self.log();
        let Some((_, bytes)) = log.read_commit(version).await? else {
            return Err(self.no_commit(version, version));
        };
        let all: Vec<(u64, &[u8])> = lines(&bytes).collect();
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let page = all
            .iter()
            .skip(offset)
            .take((limit as usize).min(LARGEST_PAGE));
        let one = |(line, text): &(u64, &[u8])| {
            let damaged = parse_line(text).err().map(|e| e.to_string());
            ActionLine {
                line: *line,
                action: action_name(text)
                    .filter(|_| damaged.is_none())
                    .unwrap_or_default(),
                text: String::from_utf8_lossy(text.get(..SHOWN).unwrap_or(text)).into_owned(),
                bytes: text.len() as u64,
                damaged,
            }
        };
        Ok(ActionsReport {
            total: all.len() as u64,
            lines: page.map(one).collect(),
        })
    }
}
