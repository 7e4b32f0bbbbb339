//! The bytes of a commit, action by action.

use bytes::Bytes;
use serde::Serialize;

use super::Info;
use crate::delta::action::{Domain, Metadata, Protocol};
use crate::delta::verbatim::{Fields, raw};
use crate::table::Time;
use crate::{Error, Kind, Result};

/// One line of a commit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Line<'a> {
    CommitInfo(&'a Info),
    MetaData(&'a Metadata),
    Add(&'a Fields),
    Remove(&'a Fields),
    DomainMetadata(&'a Domain),
    Protocol(&'a Protocol),
}

/// A commit that is being written.
#[derive(Default)]
pub(crate) struct Body(Vec<u8>);

impl Body {
    /// A commit that starts with what is said of it.
    pub(crate) fn new(info: &Info) -> Result<Self> {
        let mut body = Self::default();
        body.push(&Line::CommitInfo(info))?;
        Ok(body)
    }

    /// Adds an action.
    pub(crate) fn push(&mut self, line: &Line<'_>) -> Result<()> {
        serde_json::to_writer(&mut self.0, line).map_err(|e| {
            Error::new(Kind::Internal, "an action that JSON cannot hold").because(e)
        })?;
        self.0.push(b'\n');
        Ok(())
    }

    /// Adds removes, as of `now`.
    pub(crate) fn push_removes(&mut self, removes: &[Fields], now: Time) -> Result<()> {
        let deleted = raw(&now.0)?;
        for remove in removes {
            let mut remove = remove.clone();
            remove.insert("deletionTimestamp".to_owned(), deleted.clone());
            self.push(&Line::Remove(&remove))?;
        }
        Ok(())
    }

    /// The whole of it.
    pub(crate) fn finish(self) -> Bytes {
        Bytes::from(self.0)
    }
}
