//! Superseded runs and consumed loose keys, deleted once nobody can want them back.
//!
//! What is deleted is decided hour by hour by [`rules`], and once more, on markers, pins and keys read
//! again, before each batch; the gate of completeness, where there is one, is asked both times. The
//! marker of a run goes after the run: within the audit window, markers are the history of the hour.

mod apply;
mod forget;
mod rules;
#[cfg(test)]
mod tests;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use object_store::ObjectStore;

pub use self::apply::{Erased, apply};
use self::rules::{Found, Spare};
use self::whole::{Known, decided};
use super::Dataset;
use super::dataset::MarkerKind;
use super::day::Slot;
use super::listing::{Listing, Object, prefix_path};
use super::publish::look::{read_all, sorted};
use super::template::{Template, Tree};
use crate::delta::write::Digest;
use crate::host::{Progress, SharedHost};
use crate::plan::{Act, ExpireDetail, Expired, HoursDetail, Plan, Spared};
use crate::table::Time;
use crate::{Error, Result};

/// An expiry, decided and not yet done.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What it does, for people.
    pub plan: Plan,
    store_time: Time,
    audit: i64,
    known: Known,
}

/// Plans an expiry; `store_time` is the store's clock. A plan that is refused says why.
pub async fn plan(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    as_of: Time,
    store_time: Time,
    host: &SharedHost,
) -> Result<Planned> {
    let mut plan = Plan::new(Act::ExpireRuns, dataset.name.clone(), as_of, None);
    let mut digest = Digest::default();
    digest.take(&(Act::ExpireRuns, &dataset.name, &dataset.url, as_of))?;
    let mut detail = ExpireDetail::default();
    let audit = match forbidden(dataset) {
        Ok(audit) => audit,
        Err(why) => {
            plan.refused = Some(why);
            0
        }
    };
    detail.audit_ms = audit;
    let mut known = Known::new();
    if plan.refused.is_none() {
        let (mut trees, listing) = listed(dataset, store, host).await?;
        let mut spared = Vec::new();
        let of = listing.slots.len() as u64;
        for (done, (slot, objects)) in (0..).zip(listing.slots) {
            host.progress(Progress {
                step: "reading markers".to_owned(),
                done,
                of: Some(of),
            });
            let tree = trees.remove(&slot).unwrap_or_default();
            let old = |(tree, _): &(Tree, Object)| matches!(tree, Tree::Superseded(_));
            if objects.loose.is_empty() && objects.runs.len() < 2 && !tree.iter().any(old) {
                continue;
            }
            let (markers, _) = sorted(dataset, slot, read_all(store, tree).await?);
            let (hour, at) = ((dataset, store, slot), (store_time, audit));
            let found = decided(hour, (&markers, &objects), at, &mut known, host).await?;
            spared.extend(found.spared);
            for group in &found.groups {
                let expired = expired(slot, group);
                digest.take(&(&expired.keys, &expired.markers))?;
                plan.files_to_delete += (expired.keys.len() + expired.markers.len()) as u64;
                plan.bytes_to_delete += expired.bytes;
                detail.expired.push(expired);
            }
        }
        detail.spared = summed(spared);
    }
    digest.take(&plan.refused)?;
    plan.id = digest.finish();
    plan.hours = Some(HoursDetail {
        expire: Some(detail),
        ..HoursDetail::default()
    });
    Ok(Planned {
        plan,
        store_time,
        audit,
        known,
    })
}

/// Milliseconds of the audit window, or why nothing of this dataset expires here.
fn forbidden(dataset: &Dataset) -> Result<i64, String> {
    if dataset.marker.kind != MarkerKind::Tidemark {
        return Err(format!(
            "another writer closes the hours of `{}`: its runs are not ours to delete",
            dataset.name
        ));
    }
    match &dataset.retention.audit {
        Some(audit) => Ok(audit.millis),
        None => Err(format!(
            "no audit window is declared for `{}` or its zone: nobody said how long a superseded run stays readable",
            dataset.name
        )),
    }
}

type Trees = BTreeMap<Slot, Vec<(Tree, Object)>>;

/// The dataset as one listing gives it.
async fn listed(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    host: &SharedHost,
) -> Result<(Trees, Listing)> {
    let template = Template::of(dataset);
    let prefix = prefix_path(&dataset.prefix)?;
    let mut trees = Trees::new();
    let mut listing = Listing::default();
    let mut keys = store.list(prefix.as_ref());
    let mut done = 0;
    while let Some(meta) = keys.next().await {
        let object = Object::from(meta.map_err(Error::from)?);
        done += 1;
        if done % 1000 == 0 {
            host.progress(Progress {
                step: "listing".to_owned(),
                done,
                of: None,
            });
            host.pause().await;
        }
        match template.read(&object.key) {
            Some((slot, tree)) => trees.entry(slot).or_default().push((tree, object)),
            None => listing.add(dataset, object),
        }
    }
    Ok((trees, listing))
}

fn expired(slot: Slot, group: &Found) -> Expired {
    let keys = |objects: &[Object]| objects.iter().map(|object| object.key.clone()).collect();
    let all = group.objects.iter().chain(&group.markers);
    Expired {
        date: slot.day,
        hour: slot.hour,
        run_id: group.run.clone(),
        superseded_by: group.by.clone(),
        superseded_at: group.at,
        keys: keys(&group.objects),
        markers: keys(&group.markers),
        bytes: all.map(|object| object.bytes).sum(),
    }
}

/// Spared objects by reason, the most first.
fn summed(all: Vec<Spare>) -> Vec<Spared> {
    let mut by_reason: BTreeMap<String, Spared> = BTreeMap::new();
    for spare in all {
        let sum = by_reason
            .entry(spare.why.clone())
            .or_insert_with(|| Spared {
                why: spare.why,
                objects: 0,
                bytes: 0,
                example: spare.object.key.clone(),
                until: None,
            });
        if let Some(until) = spare.until {
            let (first, last) = sum.until.unwrap_or((until, until));
            sum.until = Some((first.min(until), last.max(until)));
        }
        sum.objects += 1;
        sum.bytes += spare.object.bytes;
    }
    let mut all: Vec<Spared> = by_reason.into_values().collect();
    all.sort_by_key(|spared| std::cmp::Reverse(spared.objects));
    all
}
