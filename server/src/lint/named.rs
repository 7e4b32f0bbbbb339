//! The runs that a dataset's markers name, with their age, for rules that could delete them.

use std::collections::BTreeMap;

use futures::TryStreamExt as _;
use lake::hours::dataset::MarkerKind;
use lake::hours::lint::{Named, ZoneDecl};
use lake::hours::listing::Object;
use lake::hours::template::{Template, Tree};
use lake::hours::{Marker, Slot, lint};
use lake::table::Time;
use lake::wire::Severity;
use lake::wire::hours::LintFinding;
use lake::{Error, Result};
use object_store::ObjectStoreExt as _;
use object_store::path::Path;

use super::{KEYS, of};
use crate::datasets::Placed;

/// Hours whose runs are listed: those that have a superseded one. Of others, a run is as old as its
/// marker.
const LISTED: usize = 200;

/// The markers of one slot.
#[derive(Default)]
struct OfSlot {
    current: Option<Object>,
    superseded: Vec<Object>,
}

/// What rules of the zone's bucket can delete of the runs that markers name.
pub(super) async fn named(placed: &Placed, zones: &[ZoneDecl], now: Time) -> Vec<LintFinding> {
    let dataset = &placed.dataset;
    let zone = zones.iter().find(|zone| zone.name == dataset.zone);
    let zone = zone.filter(|zone| lint::expires_runs(zone, dataset));
    let Some(zone) = zone.filter(|_| dataset.marker.kind == MarkerKind::Tidemark) else {
        return Vec::new();
    };
    match runs(placed, now).await {
        Ok(runs) => lint::named(zone, dataset, &runs, now),
        Err(error) => vec![of(
            dataset,
            Severity::Warning,
            "not_listed",
            format!("its markers were not looked at: {error}"),
        )],
    }
}

/// Runs that are named, of the oldest hours where there are very many.
async fn runs(placed: &Placed, now: Time) -> Result<Vec<Named>> {
    let dataset = &placed.dataset;
    let template = Template::of(dataset);
    let root = path(&template.root())?;
    let mut slots: BTreeMap<Slot, OfSlot> = BTreeMap::new();
    let mut listed = placed.store.list(Some(&root));
    let mut keys = 0;
    while let Some(meta) = listed.try_next().await? {
        let object = Object::from(meta);
        keys += 1;
        if keys > KEYS {
            break;
        }
        match template.read(&object.key) {
            Some((slot, Tree::Current)) => slots.entry(slot).or_default().current = Some(object),
            Some((slot, Tree::Superseded(_))) => {
                slots.entry(slot).or_default().superseded.push(object);
            }
            _ => {}
        }
    }
    let audit = dataset.retention.audit.as_ref();
    let audit = audit.map_or(0, |audit| audit.millis);
    let mut found = Vec::new();
    let mut looked = 0;
    for (
        slot,
        OfSlot {
            current,
            mut superseded,
        },
    ) in slots
    {
        let Some(current) = current else {
            continue;
        };
        superseded.retain(|object| object.put.0.saturating_add(audit) > now.0);
        let mut run = Named {
            slot,
            superseded: false,
            put: current.put,
        };
        if superseded.is_empty() || looked == LISTED {
            found.push(run);
            continue;
        }
        looked += 1;
        let folder = path(&dataset.prefix_of(slot))?;
        let objects: Vec<Object> = placed
            .store
            .list(Some(&folder))
            .map_ok(Object::from)
            .try_collect()
            .await?;
        let oldest = |scan: &str| {
            let own = objects.iter().filter(|object| object.key.starts_with(scan));
            own.map(|object| object.put).min()
        };
        let scan = scan(placed, slot, &current).await?;
        run.put = scan.as_deref().and_then(oldest).unwrap_or(current.put);
        found.push(run);
        for object in superseded {
            let old = self::scan(placed, slot, &object)
                .await?
                .filter(|old| scan.as_ref() != Some(old));
            if let Some(put) = old.as_deref().and_then(oldest) {
                found.push(Named {
                    slot,
                    superseded: true,
                    put,
                });
            }
        }
    }
    Ok(found)
}

/// The key prefix of the run that a marker names; `None` where it cannot be read.
async fn scan(placed: &Placed, slot: Slot, marker: &Object) -> Result<Option<String>> {
    let key = path(&marker.key)?;
    let bytes = match placed.store.get(&key).await {
        Ok(answer) => answer.bytes().await?,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let marker = Marker::parse(&placed.dataset, slot, &bytes).ok();
    Ok(marker.and_then(|marker| marker.scan(&placed.dataset)))
}

fn path(key: &str) -> Result<Path> {
    Path::parse(key.trim_end_matches('/'))
        .map_err(|e| Error::invalid("this prefix cannot be listed").because(e))
}
