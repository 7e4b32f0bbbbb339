//! Row ids of new files (PROTOCOL, "Row Tracking").

use crate::Result;
use crate::delta::action::{Domain, Protocol};
use crate::delta::snapshot::State;
use crate::delta::verbatim::{Fields, raw};
use crate::table::Version;

/// The field of an add that holds the id of its first row.
pub(crate) const BASE_ROW_ID: &str = "baseRowId";

/// The field of an add that holds the version in which its rows came.
pub(crate) const SINCE_VERSION: &str = "defaultRowCommitVersion";

const ROW_TRACKING: &str = "delta.rowTracking";

/// Gives out row ids that no row ever had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowIds {
    highest: i64,
    version: Version,
    given: bool,
}

impl RowIds {
    /// Ids above those that the table gave out so far, for a commit of `version`. `None` where files
    /// have none.
    pub(crate) fn new(state: &State, protocol: &Protocol, version: Version) -> Option<Self> {
        let tracks = protocol.writer_features.iter().any(|f| f == "rowTracking");
        let mark = || state.domains.get(ROW_TRACKING).and_then(|text| mark(text));
        tracks.then(|| Self {
            highest: mark().unwrap_or(-1),
            version,
            given: false,
        })
    }

    /// Gives an add of `records` rows its ids.
    pub(crate) fn give(&mut self, add: &mut Fields, records: i64) -> Result<()> {
        add.insert(
            BASE_ROW_ID.to_owned(),
            raw(&self.highest.saturating_add(1))?,
        );
        add.insert(SINCE_VERSION.to_owned(), raw(&self.version.0)?);
        self.highest = self.highest.saturating_add(records.max(0));
        self.given = true;
        Ok(())
    }

    /// The domain that says how far the ids are given out; `None` where none was.
    pub(crate) fn domain(&self) -> Option<Domain> {
        let highest = self.highest;
        self.given.then(|| Domain {
            domain: ROW_TRACKING.to_owned(),
            configuration: Some(format!(
                r#"{{"rowIdHighWaterMark":{highest},"domainName":"delta.rowTracking"}}"#
            )),
            removed: false,
        })
    }
}

fn mark(configuration: &str) -> Option<i64> {
    let value: serde_json::Value = serde_json::from_str(configuration).ok()?;
    value.get("rowIdHighWaterMark")?.as_i64()
}
