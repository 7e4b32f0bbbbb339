//! Markers of runs that are gone: the history of an hour, as far back as its audit window.
//!
//! A marker stays readable for as long as its run could be gone back to, and as long as an older
//! one that stays is reached by it alone: without it, that one would claim the hour.

use std::collections::BTreeSet;

use super::rules::{Found, over, pinned, successor};
use crate::hours::Dataset;
use crate::hours::judge::Markers;
use crate::hours::listing::{Object, SlotObjects};
use crate::hours::marker::Marker;
use crate::table::Time;

/// Adds the markers that go to the groups of their runs; one whose run went before has a group of
/// its own.
pub(super) fn forget(
    dataset: &Dataset,
    (markers, objects): (&Markers, &SlotObjects),
    now: Time,
    audit: i64,
    groups: &mut Vec<Found>,
) {
    let going: BTreeSet<&str> = groups
        .iter()
        .flat_map(|group| &group.objects)
        .map(|object| object.key.as_str())
        .collect();
    let current = markers.marker().and_then(|marker| marker.scan(dataset));
    let may = |marker: &Marker| {
        let Some(scan) = marker.scan(dataset) else {
            return false;
        };
        // A run that is current again has an older marker too.
        let stays = current
            .as_deref()
            .is_none_or(|current| current.starts_with(scan.as_str()) || scan.starts_with(current));
        let gone = || {
            let mut left = objects.below(&scan);
            left.all(|object| going.contains(object.key.as_str()))
        };
        let old = || {
            let by = successor(markers, &marker.run_id);
            by.is_some_and(|(object, _)| over(object.put, audit, now))
        };
        !stays && gone() && old() && pinned(markers, marker, &scan, now).is_none()
    };
    let may: BTreeSet<&str> = markers
        .history()
        .filter(|(_, marker)| may(marker))
        .map(|(object, _)| object.key.as_str())
        .collect();
    let go = unneeded(markers, may);
    lists(markers, &go, now, audit, groups);
    let going: Vec<(Object, String)> = markers
        .history()
        .filter(|(object, _)| go.contains(object.key.as_str()))
        .map(|(object, marker)| (object.clone(), marker.run_id.clone()))
        .collect();
    for (object, run) in going {
        let Some((put, by)) = successor(markers, &run) else {
            continue;
        };
        let known = groups
            .iter_mut()
            .find(|group| group.run.as_ref() == Some(&run));
        match known {
            Some(group) => group.markers.push(object),
            None => groups.push(Found {
                run: Some(run),
                by: by.run_id.clone(),
                at: put.put,
                objects: Vec::new(),
                markers: vec![object],
            }),
        }
    }
}

/// Adds the lists of loose keys that no marker names which stays. One that is young may be named in
/// a moment.
fn lists(markers: &Markers, go: &BTreeSet<&str>, now: Time, audit: i64, groups: &mut Vec<Found>) {
    let Some((put, Ok(current))) = &markers.current else {
        return;
    };
    let readable = markers.superseded.iter().all(|(_, read)| read.is_ok());
    let stay = markers
        .history()
        .filter(|(object, _)| !go.contains(object.key.as_str()));
    let named: BTreeSet<&str> = stay
        .map(|(_, marker)| marker)
        .chain([current])
        .filter_map(Marker::record)
        .collect();
    for (object, read) in &markers.taken {
        let needed = !readable || named.contains(object.key.as_str());
        let Some(run) = read.as_ref().ok().map(|took| &took.run_id) else {
            continue;
        };
        if needed || !over(object.put.max(put.put), audit, now) {
            continue;
        }
        let known = groups
            .iter_mut()
            .find(|group| group.run.as_ref() == Some(run));
        match known {
            Some(group) => group.markers.push(object.clone()),
            None => groups.push(Found {
                run: Some(run.clone()),
                by: current.run_id.clone(),
                at: put.put,
                objects: Vec::new(),
                markers: vec![object.clone()],
            }),
        }
    }
}

/// Those without which every other marker is still on the chain from the current one.
fn unneeded<'a>(markers: &'a Markers, mut go: BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    loop {
        let mut left = markers.clone();
        let stays = |object: &Object| !go.contains(object.key.as_str());
        left.superseded.retain(|(object, _)| stays(object));
        let chain = left.chain();
        let lost: Vec<&str> = left
            .history()
            .map(|(_, marker)| marker.run_id.as_str())
            .filter(|run| !chain.contains(run))
            .collect();
        let needed: Vec<&str> = markers
            .history()
            .filter(|(object, marker)| {
                let mut superseded = marker.superseded();
                go.contains(object.key.as_str()) && superseded.any(|run| lost.contains(&run))
            })
            .map(|(object, _)| object.key.as_str())
            .collect();
        if needed.is_empty() {
            return go;
        }
        go.retain(|key| !needed.contains(key));
    }
}
