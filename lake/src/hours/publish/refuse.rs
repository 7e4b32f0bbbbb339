//! Why an hour cannot be closed as somebody asked.

use super::look::Look;
use super::{Decided, Over, Request, What, Write, run};
use crate::hours::Dataset;
use crate::hours::dataset::MarkerKind;
use crate::hours::day::Slot;
use crate::hours::judge::{duration, early_words};
use crate::hours::letters::{Letters, stray};
use crate::hours::listing::Object;
use crate::hours::marker::{Marker, publication_ok};
use crate::table::Time;
use crate::{Error, Kind, Result};

/// Refuses what cannot be meant: an hour of a dataset without hours, a run that is no name.
pub(super) fn misnamed(dataset: &Dataset, request: &Request) -> Result<()> {
    grain(dataset, request.slot)?;
    match &request.what {
        What::Run(claim) => run::check(&claim.run),
        What::Empty => Ok(()),
        What::Repoint { run } if run.is_empty() => Err(Error::invalid("name the run")),
        What::Repoint { .. } => Ok(()),
    }
}

/// Refuses an hour of a dataset without hours, and the other way round.
pub(crate) fn grain(dataset: &Dataset, slot: Slot) -> Result<()> {
    match (dataset.hourly(), slot.hour) {
        (true, None) => Err(Error::invalid(format!(
            "`{}` is closed hour by hour: name the hour",
            dataset.name
        ))),
        (false, Some(_)) => Err(Error::invalid(format!(
            "`{}` is closed day by day and has no hours",
            dataset.name
        ))),
        (true, Some(hour)) if hour > 23 => Err(Error::invalid("an hour is a number from 0 to 23")),
        _ => Ok(()),
    }
}

/// What forbids an act before anything is read: whose the markers are, and the store's clock.
pub(crate) fn before_looking(dataset: &Dataset, slot: Slot, store_time: Time) -> Option<String> {
    let theirs = match dataset.marker.kind {
        MarkerKind::Tidemark => None,
        MarkerKind::Success => Some("_SUCCESS objects"),
        MarkerKind::Committed => Some("_committed_ objects"),
        MarkerKind::Custom => Some("markers of its own"),
    };
    if let Some(theirs) = theirs {
        return Some(format!(
            "another writer closes the hours of `{}`, by {theirs}: those are read here, never written",
            dataset.name
        ));
    }
    let left = slot.end().0.saturating_sub(store_time.0);
    (left > 0).then(|| {
        format!(
            "{slot} is open: it ends at {}, in {} by the store's clock",
            slot.end(),
            duration(left)
        )
    })
}

/// Refuses to plan over another marker than the one that was meant.
pub(crate) fn moved_on(seen: &Look, over: &Over) -> Result<()> {
    let current = seen.markers.current.as_ref();
    let expected = match (over, current) {
        (Over::Any, _) | (Over::Nothing, None) => true,
        (Over::Marker(tag), Some((object, _))) => object.etag.as_ref() == Some(tag),
        (Over::Nothing, Some(_)) | (Over::Marker(_), None) => false,
    };
    match (expected, current) {
        (true, _) => Ok(()),
        (false, Some((object, read))) => Err(Error::new(
            Kind::Conflict,
            format!("somebody else published: {}", winner(read)),
        )
        .at("key", &object.key)),
        (false, None) => Err(Error::new(
            Kind::Conflict,
            "the marker that was to be replaced is gone",
        )),
    }
}

/// The marker that stands, for whoever did not expect it.
pub(super) fn winner(read: &Result<Marker, String>) -> String {
    match read {
        Ok(marker) => {
            let by = marker
                .extra
                .get(super::apply::BY)
                .and_then(|by| by.as_str());
            let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
            format!(
                "the marker names run {}, published at {}{by} under definition_version {}",
                marker.run_id, marker.published_at, marker.definition_version
            )
        }
        Err(why) => format!("a marker is there that cannot be used: {why}"),
    }
}

/// What is said of a run that a marker names already.
pub(super) fn published_already(marker: &Marker) -> String {
    format!(
        "run {} is published already: {}",
        marker.run_id,
        winner(&Ok(marker.clone()))
    )
}

/// Whether nothing may be said to have happened.
pub(super) fn empty(
    dataset: &Dataset,
    slot: Slot,
    seen: &Look,
    letters: &Letters,
    other_day: Option<&str>,
) -> Decided {
    if let Some((_, read)) = &seen.markers.current {
        return Decided::refused(format!("the hour has a marker: {}", winner(read)));
    }
    let data: Vec<&Object> = seen.objects.data().collect();
    if let Some(first) = data.first() {
        return Decided::refused(format!(
            "the hour is not empty: {} are there, {} first; publish them as a run, or compact them into one",
            crate::figures::counted(data.len() as u64, "object"),
            first.key
        ));
    }
    let blocks = dataset.complete.as_ref().is_some_and(|rule| !rule.report);
    let first = letters.objects().and_then(<[Object]>::first);
    if let Some(first) = first.filter(|_| blocks) {
        return Decided::refused(format!(
            "the hour is not empty: its lines became dead letters, {} first",
            first.key
        ));
    }
    if let Letters::Stray(key) = letters {
        return Decided::refused(stray(key));
    }
    if let Some(folder) = other_day {
        return Decided::refused(format!(
            "{folder}/ is another way to write this day: what lies there has to be moved or deleted first"
        ));
    }
    match &seen.markers.declared {
        Some((object, _)) if object.put < slot.end() => Decided::refused(format!(
            "{} is in the way: it was {}, so it does not count; delete it, and declare the hour empty again",
            object.key,
            early_words(slot)
        )),
        Some((_, Ok(declared))) => Decided::unchanged(format!(
            "it was declared empty at {}: {}",
            declared.declared_at, declared.reason
        )),
        Some((object, Err(why))) => {
            Decided::refused(format!("{} is in the way: {why}", object.key))
        }
        None => Decided {
            write: Some(Write::Empty),
            ..Decided::default()
        },
    }
}

/// Whether the run that a marker names is what it says, and nothing in it came after it.
pub(super) fn matches(dataset: &Dataset, seen: &Look, put: Time, marker: &Marker) -> bool {
    let Some(scan) = marker.scan(dataset) else {
        return false;
    };
    let listed: Vec<&Object> = seen.objects.below(&scan).collect();
    let sizes = listed
        .iter()
        .map(|object| (object.key.as_str(), object.bytes));
    publication_ok(marker, &scan, sizes) && listed.iter().all(|object| object.put <= put)
}
