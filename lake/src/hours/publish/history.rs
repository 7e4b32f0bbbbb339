//! The markers that were: how they hang together, and where a replaced one is kept.

use std::sync::Arc;

use bytes::Bytes;
use hashbrown::HashSet;
use object_store::ObjectStore;

use super::put::{Stands, create};
use super::run::segment;
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::judge::Markers;
use crate::hours::listing::path;
use crate::hours::marker::Marker;
use crate::hours::template::Template;
use crate::{Error, Kind, Result};

/// Markers of one run that are kept.
const KEPT: u32 = 1000;

/// The run that a new marker supersedes: that of the current one, or the last one that was current
/// where somebody took the current one away.
pub(super) fn head(markers: &Markers) -> Option<String> {
    if let Some(current) = markers.marker() {
        return Some(current.run_id.clone());
    }
    let followed: HashSet<&str> = markers
        .history()
        .flat_map(|(_, m)| m.superseded())
        .collect();
    let all = markers.history();
    let mut heads: Vec<_> = all
        .filter(|(_, m)| !followed.contains(m.run_id.as_str()))
        .collect();
    heads.sort_by_key(|(object, _)| object.put);
    heads.last().map(|(_, marker)| marker.run_id.clone())
}

/// Keeps a marker that is about to be replaced, beside the current one. It is created and never
/// overwritten: a run that was current twice is kept twice.
pub(super) async fn keep(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
    bytes: &Bytes,
    host: &SharedHost,
) -> Result<()> {
    let template = Template::of(dataset);
    let run = match Marker::parse(dataset, slot, bytes) {
        Ok(marker) => segment(&marker.run_id),
        // As far as a name can be made of it: two damaged markers differ in it.
        Err(_) => format!("unreadable-{:08x}", crc32fast::hash(bytes)),
    };
    for nth in 1..=KEPT {
        let name = match nth {
            1 => run.clone(),
            nth => format!("{run}~{nth}"),
        };
        let key = path(&template.superseded(slot, &name))?;
        match create(store, &key, bytes, host).await? {
            Stands::Ours => return Ok(()),
            Stands::Theirs(_) => {}
        }
    }
    Err(Error::new(
        Kind::TooLarge,
        format!("run {run} was current {KEPT} times: no more of its markers are kept"),
    ))
}
