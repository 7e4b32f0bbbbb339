//! What a run must pass before a marker names it: the contract of its columns, and completeness.

use std::sync::Arc;

use object_store::ObjectStore;

use crate::Result;
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::judge::Completeness;
use crate::hours::listing::Object;
use crate::table::Time;
use crate::wire::Finding;

/// What the gates found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gated {
    /// What the contract has against the run.
    pub(crate) findings: Vec<Finding>,
    /// The newest event by the files' own statistics.
    pub(crate) newest: Option<Time>,
    /// What the gate of completeness found.
    pub(crate) completeness: Option<Completeness>,
    /// Why the run may not be published.
    pub(crate) refused: Option<String>,
}

/// Puts a run to them.
pub(crate) async fn gates(
    dataset: &Dataset,
    _store: &Arc<dyn ObjectStore>,
    _slot: Slot,
    _run: &[Object],
    _host: &SharedHost,
) -> Result<Gated> {
    let mut gated = Gated::default();
    let declares = dataset.complete.is_some()
        || dataset.event_time.is_some()
        || !dataset.prohibited_columns.is_empty()
        || !dataset.columns.is_empty();
    if declares {
        gated.refused =
            Some("this build cannot check the dataset's contract and completeness".to_owned());
    }
    Ok(gated)
}
