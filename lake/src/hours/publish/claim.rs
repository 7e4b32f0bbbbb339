//! A run that its writer says is whole, and whether a marker may say so.

use std::sync::Arc;

use object_store::ObjectStore;
use serde_json::{Map, Value, json};

use super::asked::{Asked, Standing};
use super::gates::{Gated, gates};
use super::look::Look;
use super::refuse::{matches, published_already, winner};
use super::{Claim, Decided, Request, Write, history, run, taken};
use crate::figures::counted;
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::hours::judge::early_words;
use crate::hours::key::findings;
use crate::hours::listing::Object;
use crate::hours::marker::{Marker, REPEATED_ROWS, publication_ok};
use crate::hours::state::State;
use crate::table::Time;
use crate::wire::Severity;
use crate::{Error, Result};

/// Extra field of a marker: what the gate of completeness found when it was published.
pub(super) const COMPLETENESS: &str = "completeness";

/// Decides what becomes of a claim.
pub(super) async fn decide(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    request: &Request,
    claim: &Claim,
    (seen, stands): (&Look, &Standing),
    host: &SharedHost,
) -> Result<Decided> {
    if let Some(decided) = in_the_way(dataset, request, claim, (seen, stands)) {
        return Ok(decided);
    }
    let Some(definition_version) = claim
        .definition_version
        .clone()
        .or_else(|| dataset.definition_version.clone())
    else {
        return Err(Error::invalid(format!(
            "say what the rows mean: --definition-version, or definition_version of `{}` in the configuration",
            dataset.name
        )));
    };
    let prefix = run::prefix(dataset, request.slot, &seen.objects, &claim.run)?;
    let listed: Vec<Object> = seen.objects.below(&prefix).cloned().collect();
    let mut marker = Marker {
        dataset: dataset.name.clone(),
        zone: dataset.zone.clone(),
        event_date: request.slot.day,
        hour: request.slot.hour,
        prefix: dataset.url_of(&prefix),
        object_count: claim.count,
        bytes: listed
            .iter()
            .fold(0, |sum, object| object.bytes.saturating_add(sum)),
        max_event_time: request.as_of,
        run_id: claim.run.clone(),
        definition_version,
        published_at: request.as_of,
        supersedes: history::head(&seen.markers),
        extra: Map::new(),
    };
    if let Some(why) = miscounted(&marker, &prefix, &listed) {
        return Ok(Decided::refused(why));
    }
    if let Some((key, why)) = banned(dataset, &listed) {
        return Ok(Decided::refused(format!("{key} may not exist: {why}")));
    }
    let known = stands.asked.as_ref();
    let gated = gates(dataset, store, request.slot, &listed, known, host).await?;
    let newest = newest(dataset, request, claim, &gated);
    let refused = gated.refused.clone().or_else(|| newest.clone().err());
    marker.max_event_time = newest.unwrap_or(request.as_of);
    complete(&mut marker, gated.asked.as_ref());
    let record = taken::state(dataset, request.slot, claim, &prefix, seen, &mut marker)?;
    if let Some(repeated) = gated.repeated {
        marker
            .extra
            .insert(REPEATED_ROWS.to_owned(), repeated.into());
    }
    let mut warnings = gated.warnings;
    if seen.markers.declared.is_some() {
        warnings.push("the declaration that the hour is empty counts no longer".to_owned());
    }
    let over = seen
        .markers
        .current
        .as_ref()
        .map(|(object, _)| object.clone());
    Ok(Decided {
        superseded: seen.markers.marker().map(|marker| marker.run_id.clone()),
        write: refused.is_none().then(|| Write::Marker {
            marker: Box::new(marker.clone()),
            over: over.zip(seen.current.clone()),
            record,
        }),
        refused,
        findings: gated.findings,
        asked: gated.asked,
        warnings,
        amount: (marker.object_count, marker.bytes),
        ..Decided::default()
    })
}

/// What a marker that is there already, or was, has to do with the claim.
fn in_the_way(
    dataset: &Dataset,
    request: &Request,
    claim: &Claim,
    (seen, stands): (&Look, &Standing),
) -> Option<Decided> {
    let unchanged = |why: String| Decided {
        asked: stands.asked.clone(),
        ..Decided::unchanged(why)
    };
    let same = |marker: &Marker| marker.run_id == claim.run;
    let slot = request.slot;
    match &seen.markers.current {
        None => {}
        Some((object, _)) if object.put < slot.end() && !claim.replace => {
            return Some(Decided::refused(format!(
                "{} is in the way: it was {}, so it does not count; --replace keeps it aside and replaces it",
                object.key,
                early_words(slot)
            )));
        }
        Some((object, _)) if object.put < slot.end() => {}
        Some((object, Ok(marker))) => {
            let holds = matches(dataset, seen, object.put, marker);
            if holds && same(marker) {
                return Some(unchanged(published_already(marker)));
            }
            if holds && !claim.replace {
                let state = match stands.verdict.state {
                    State::OverBudget => State::Closed,
                    state => state,
                };
                return Some(unchanged(format!(
                    "the hour is {} under run {}; run {} was not published: --replace does that; {}",
                    state.words(),
                    marker.run_id,
                    claim.run,
                    winner(&Ok(marker.clone()))
                )));
            }
            if !holds && same(marker) {
                return Some(Decided::refused(format!(
                    "run {} is published already and is no longer what its marker says: a marker's count is never edited; write a new run, or go back to an older one with `repoint`",
                    marker.run_id
                )));
            }
        }
        Some((object, Err(why))) if !claim.replace => {
            return Some(Decided::refused(format!(
                "{} is in the way: {why}; --replace keeps it aside and replaces it",
                object.key
            )));
        }
        Some((_, Err(_))) => {}
    }
    let before = seen.markers.history().find(|(_, marker)| same(marker));
    before.map(|(object, marker)| {
        let advice = match matches(dataset, seen, object.put, marker) {
            true => "go back to it with `repoint`",
            false => "it is no longer what its marker said, so write a new run",
        };
        Decided::refused(format!(
            "run {} was published at {} and superseded: {advice}",
            marker.run_id, marker.published_at
        ))
    })
}

/// How a listing and its writer's count differ.
fn miscounted(marker: &Marker, prefix: &str, listed: &[Object]) -> Option<String> {
    let sizes = listed
        .iter()
        .map(|object| (object.key.as_str(), object.bytes));
    if publication_ok(marker, prefix, sizes) {
        return None;
    }
    if marker.object_count == 0 {
        return Some(
            "a run of 0 objects is not published: declare the hour empty, with a reason".to_owned(),
        );
    }
    let count = listed.len() as u64;
    let said = format!("its writer says {}", marker.object_count);
    Some(match count.checked_sub(marker.object_count) {
        None if count == 0 => format!("nothing is listed below {prefix}, and {said}"),
        None => format!(
            "{} listed below {prefix}, and {said}: it is not whole yet",
            counted(count, "object")
        ),
        Some(_) => {
            let newest = listed.iter().max_by_key(|object| object.put);
            let newest = newest
                .map(|o| format!("; {} was put last", o.key))
                .unwrap_or_default();
            format!(
                "{} listed below {prefix}, and {said}{newest}",
                counted(count, "object")
            )
        }
    })
}

/// The first key that names somebody.
fn banned(dataset: &Dataset, listed: &[Object]) -> Option<(String, String)> {
    let start = match dataset.prefix.len() {
        0 => 0,
        length => length + 1,
    };
    listed.iter().find_map(|object| {
        let found = findings(dataset, object.key.get(start..)?);
        let mut errors = found.into_iter().filter(|f| f.severity == Severity::Error);
        let banned = errors.find(|finding| finding.rule == "banned_key")?;
        Some((object.key.clone(), banned.message))
    })
}

/// The newest event: by the files' statistics, or as it was said where they have none.
fn newest(
    dataset: &Dataset,
    request: &Request,
    claim: &Claim,
    gated: &Gated,
) -> Result<Time, String> {
    let slot = request.slot;
    match (gated.newest, claim.max_event_time) {
        (Some(found), Some(said)) if found != said => Err(format!(
            "the newest event is {found} by the files' statistics, and {said} was said"
        )),
        (Some(found), _) => Ok(found),
        (None, Some(said)) if said < slot.start() || said >= slot.end() => Err(format!(
            "the newest event was said to be {said}, which is not of {slot}"
        )),
        (None, Some(said)) => Ok(said),
        (None, None) => Err(match &dataset.event_time {
            Some(column) => format!(
                "the newest event is unknown: no file has statistics of `{column}`; say it with --max-event-time"
            ),
            None => "the newest event is unknown: the dataset declares no event_time; say it with --max-event-time".to_owned(),
        }),
    }
}

/// Writes what the gate found into a marker.
pub(super) fn complete(marker: &mut Marker, asked: Option<&Asked>) {
    marker.extra.remove(COMPLETENESS);
    if let Some(Asked { found, .. }) = asked {
        let mut figures: Value = json!({
            "orders": found.orders, "landed": found.landed,
            "dead_lettered": found.dead_lettered, "missing": found.missing,
        });
        if let (Some(letters), Some(figures)) = (&found.letters, figures.as_object_mut()) {
            figures.insert("letters".to_owned(), letters.clone().into());
        }
        marker.extra.insert(COMPLETENESS.to_owned(), figures);
    }
}
