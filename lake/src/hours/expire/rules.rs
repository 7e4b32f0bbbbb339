//! What of an hour may go. Whatever is in doubt stays.

use std::collections::HashSet;

use super::forget::forget;
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::judge::{Completeness, Evidence, Markers, judge};
use crate::hours::listing::{Object, SlotObjects};
use crate::hours::marker::{Marker, RunPin};
use crate::hours::publish::run::id;
use crate::hours::taken::loose;
use crate::table::Time;

/// Objects that go together.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The superseded run; `None` for loose keys.
    pub(super) run: Option<String>,
    /// The run that took its place.
    pub(super) by: String,
    /// When the store got the marker that says so.
    pub(super) at: Time,
    pub(super) objects: Vec<Object>,
    /// The markers of the run, which go once it is gone.
    pub(super) markers: Vec<Object>,
}

/// An object that stays, and why.
#[derive(Clone, Debug)]
pub(super) struct Spare {
    pub(super) why: String,
    pub(super) object: Object,
    /// Until when this alone keeps it.
    pub(super) until: Option<Time>,
}

/// What of an hour goes and what stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Decided {
    pub(super) groups: Vec<Found>,
    pub(super) spared: Vec<Spare>,
}

impl Decided {
    fn spare<'a>(&mut self, objects: impl IntoIterator<Item = &'a Object>, why: &str) {
        self.spare_until(objects, why, None);
    }

    /// Spares all that was to go.
    pub(super) fn withhold(mut self, why: &str) -> Self {
        for group in std::mem::take(&mut self.groups) {
            self.spare(&group.objects, why);
        }
        self
    }

    fn spare_until<'a>(
        &mut self,
        objects: impl IntoIterator<Item = &'a Object>,
        why: &str,
        until: Option<Time>,
    ) {
        self.spared.extend(objects.into_iter().map(|object| Spare {
            why: why.to_owned(),
            object: object.clone(),
            until,
        }));
    }
}

/// Decides, at the store's time `now`; `completeness` is what the gate said of the current run, where
/// it was asked.
pub(super) fn decide(
    dataset: &Dataset,
    slot: Slot,
    (markers, objects): (&Markers, &SlotObjects),
    completeness: Option<&Completeness>,
    (now, audit): (Time, i64),
) -> Decided {
    let mut decided = Decided::default();
    let current = markers.current.as_ref();
    let current = current.and_then(|(object, read)| Some((object, read.as_ref().ok()?)));
    let scan = current.and_then(|(_, marker)| marker.scan(dataset));
    let (Some((put, marker)), Some(scan)) = (current, scan) else {
        decided.spare(objects.data(), "the hour has no marker that can be used");
        return decided;
    };
    let others = || {
        objects
            .data()
            .filter(|object| !object.key.starts_with(&scan))
    };
    let verdict = judge(
        dataset,
        Evidence {
            slot,
            markers,
            objects,
            completeness,
            now,
        },
    );
    if !verdict.state.is_closed() {
        // An older run may be what mends it.
        let why = format!("the hour is {}", verdict.state.words());
        decided.spare(others(), &why);
        return decided;
    }
    if markers.pins.iter().any(|(_, read)| read.is_err()) {
        decided.spare(others(), "a pin of the hour cannot be read");
        return decided;
    }
    for (prefix, run) in &objects.runs {
        if scan.starts_with(prefix.as_str()) || prefix.starts_with(&scan) {
            continue;
        }
        superseded(dataset, (markers, prefix, run), now, audit, &mut decided);
    }
    let whose = (dataset, slot);
    consumed(
        whose,
        (put, marker),
        (markers, objects),
        now,
        audit,
        &mut decided,
    );
    linked(dataset, objects, &mut decided);
    forget(dataset, (markers, objects), now, audit, &mut decided.groups);
    decided
}

/// Spares the files of a disk that what stays has under another name: a link to a run reads the
/// run's own files. A tag of a disk tells a file from every other one.
pub(super) fn linked(dataset: &Dataset, objects: &SlotObjects, decided: &mut Decided) {
    if !dataset.url.starts_with("file:") {
        return;
    }
    let going: HashSet<&str> = decided
        .groups
        .iter()
        .flat_map(|group| &group.objects)
        .map(|object| object.key.as_str())
        .collect();
    let stay = objects.data();
    let stay = stay.filter(|object| !going.contains(object.key.as_str()));
    let needed: HashSet<&str> = stay.filter_map(|object| object.etag.as_deref()).collect();
    let linked = |object: &Object| object.etag.as_deref().is_some_and(|t| needed.contains(t));
    for group in &mut decided.groups {
        let (stays, goes) = group.objects.drain(..).partition(linked);
        group.objects = goes;
        let stays: Vec<Object> = stays;
        decided.spared.extend(stays.into_iter().map(|object| Spare {
            why: "a link reads the same file as a part of what stays".to_owned(),
            object,
            until: None,
        }));
    }
    decided.groups.retain(|group| !group.objects.is_empty());
}

/// A run that another one took the place of.
fn superseded(
    dataset: &Dataset,
    (markers, prefix, run): (&Markers, &str, &[Object]),
    now: Time,
    audit: i64,
    decided: &mut Decided,
) {
    let named = markers.history().find(|(_, marker)| {
        let scan = marker.scan(dataset);
        scan.as_deref() == Some(prefix)
    });
    let Some((_, own)) = named else {
        return decided.spare(run, "no marker names the run");
    };
    let Some((object, marker)) = successor(markers, &own.run_id) else {
        return decided.spare(run, "no marker supersedes the run");
    };
    if !over(object.put, audit, now) {
        let why = "the audit window of the superseded run is not over";
        return decided.spare_until(run, why, Some(end(object.put, audit)));
    }
    if let Some(pin) = pinned(markers, own, prefix, now) {
        let why = format!("pinned by {} until {}", pin.reader, pin.until);
        return decided.spare_until(run, &why, Some(pin.until));
    }
    let (old, young): (Vec<&Object>, Vec<&Object>) =
        run.iter().partition(|one| one.put <= object.put);
    decided.spare(young, "put into the run after it was superseded");
    if !old.is_empty() {
        decided.groups.push(Found {
            run: Some(own.run_id.clone()),
            by: marker.run_id.clone(),
            at: object.put,
            objects: old.into_iter().cloned().collect(),
            markers: Vec::new(),
        });
    }
}

/// Loose keys that the run took in, as they are named. Whatever is not named stays.
fn consumed(
    (dataset, slot): (&Dataset, Slot),
    (put, marker): (&Object, &Marker),
    (markers, objects): (&Markers, &SlotObjects),
    now: Time,
    audit: i64,
    decided: &mut Decided,
) {
    let found = loose(dataset, slot, markers, objects).unwrap_or_default();
    decided.spare(found.late, "late data: no run has taken the key in");
    decided.spare(
        found.replaced,
        "late data: the key was replaced after the run took it in",
    );
    let doubt = match found.unreadable {
        Some(why) => why,
        None => "nobody says whether the run has the rows of the loose key".to_owned(),
    };
    decided.spare(found.doubted, &doubt);
    if !over(put.put, audit, now) {
        let why = "the audit window of the consumed keys is not over";
        return decided.spare_until(found.taken, why, Some(end(put.put, audit)));
    }
    if !found.taken.is_empty() {
        decided.groups.push(Found {
            run: None,
            by: marker.run_id.clone(),
            at: put.put,
            objects: found.taken.into_iter().cloned().collect(),
            markers: Vec::new(),
        });
    }
}

/// The newest marker that took the place of a run's.
pub(super) fn successor<'a>(markers: &'a Markers, run: &str) -> Option<(&'a Object, &'a Marker)> {
    let current = markers.current.as_ref();
    let current = current.and_then(|(object, read)| Some((object, read.as_ref().ok()?)));
    markers
        .history()
        .chain(current)
        .filter(|(_, marker)| marker.superseded().any(|superseded| superseded == run))
        .max_by_key(|(object, _)| object.put)
}

/// A pin that keeps a run: it names the run as its marker does, or as its folder does.
pub(super) fn pinned<'a>(
    markers: &'a Markers,
    own: &Marker,
    prefix: &str,
    now: Time,
) -> Option<&'a RunPin> {
    let folder = id(prefix);
    let pins = markers.pins.iter();
    let mut pins = pins.filter_map(|(_, read)| read.as_ref().ok());
    pins.find(|pin| {
        let names = pin.run_id == own.run_id || Some(&pin.run_id) == folder.as_ref();
        names && pin.until > now
    })
}

/// Whether a window that began at `since` is over.
pub(super) fn over(since: Time, audit: i64, now: Time) -> bool {
    end(since, audit) < now
}

fn end(since: Time, audit: i64) -> Time {
    Time(since.0.saturating_add(audit))
}
