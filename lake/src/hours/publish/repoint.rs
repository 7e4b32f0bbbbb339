//! Back to a run that was published before, by its own marker.

use std::sync::Arc;

use object_store::ObjectStore;
use serde_json::Value;

use super::asked::Standing;
use super::claim::complete;
use super::gates::gates;
use super::look::Look;
use super::refuse::matches;
use super::{Decided, Request, Write, history};
use crate::Result;
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::hours::listing::Object;
use crate::hours::marker::{ALSO_SUPERSEDES, Marker};

/// Decides whether the hour goes back to `run`.
pub(super) async fn decide(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    request: &Request,
    run: &str,
    (seen, stands): (&Look, &Standing),
    host: &SharedHost,
) -> Result<Decided> {
    let current = seen.markers.current.as_ref();
    let current = current.and_then(|(object, read)| Some((object, read.as_ref().ok()?)));
    let mut own: Vec<(&Object, &Marker)> = seen.markers.history().chain(current).collect();
    own.retain(|(_, marker)| marker.run_id == run);
    own.sort_by_key(|(object, _)| object.put);
    let Some((object, before)) = own.last() else {
        return Ok(Decided::refused(format!(
            "run {run} was never published here: publish it, with its writer's count"
        )));
    };
    let Some(scan) = before.scan(dataset) else {
        return Ok(Decided::refused(format!(
            "the marker of run {run} points elsewhere"
        )));
    };
    let listed: Vec<Object> = seen.objects.below(&scan).cloned().collect();
    if !matches(dataset, seen, object.put, before) {
        let why = match listed.len() {
            0 => format!("nothing is left below {scan}"),
            n => format!(
                "{} listed below {scan}, its marker says {} of {} bytes, the last put at {} at most",
                crate::figures::counted(n as u64, "object"),
                before.object_count,
                before.bytes,
                object.put
            ),
        };
        let advice = "go back to another run, or publish a new one";
        return Ok(Decided::refused(format!(
            "run {run} is no longer what its marker says: {why}; {advice}"
        )));
    }
    let known = stands.asked.as_ref();
    let gated = gates(dataset, store, request.slot, &listed, known, host).await?;
    if let Some(why) = gated.refused {
        return Ok(Decided {
            findings: gated.findings,
            asked: gated.asked,
            ..Decided::refused(why)
        });
    }
    // One that was put before the hour ended closes nothing.
    let is_current = current.is_some_and(|(o, m)| m.run_id == run && o.put >= request.slot.end());
    let racing = racing(seen, run);
    if is_current && racing.is_empty() {
        return Ok(Decided {
            asked: gated.asked,
            ..Decided::unchanged(format!(
                "run {run} is the current one, and its marker matches"
            ))
        });
    }
    let mut marker = (*before).clone();
    marker.published_at = request.as_of;
    // Its new marker is newer than what came late to it.
    marker.set_loose_until(before.doubted_until(object.put))?;
    complete(&mut marker, gated.asked.as_ref());
    supersede(
        &mut marker,
        (!is_current)
            .then(|| history::head(&seen.markers))
            .flatten(),
        racing,
    );
    let over = seen
        .markers
        .current
        .as_ref()
        .map(|(object, _)| object.clone());
    Ok(Decided {
        superseded: seen
            .markers
            .marker()
            .map(|marker| marker.run_id.clone())
            .filter(|current| current != run),
        amount: (marker.object_count, marker.bytes),
        write: Some(Write::Marker {
            marker: Box::new(marker),
            over: over.zip(seen.current.clone()),
            // What it names stands since it was published first.
            record: None,
        }),
        findings: gated.findings,
        warnings: gated.warnings,
        asked: gated.asked,
        ..Decided::default()
    })
}

/// Runs whose markers hang on no chain, but for the one that is chosen.
fn racing(seen: &Look, run: &str) -> Vec<String> {
    let chain = seen.markers.chain();
    let mut racing: Vec<String> = Vec::new();
    for (_, marker) in seen.markers.history() {
        let id = &marker.run_id;
        if !chain.contains(id.as_str()) && id != run && !racing.contains(id) {
            racing.push(id.clone());
        }
    }
    racing
}

/// Makes `marker` the one after all of these. What it superseded before stays: its own copy in the
/// history says it too.
fn supersede(marker: &mut Marker, head: Option<String>, racing: Vec<String>) {
    let before = marker.supersedes.take();
    let mut all: Vec<String> = Vec::new();
    let also = marker.extra.remove(ALSO_SUPERSEDES);
    let also = also
        .as_ref()
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let also = also.filter_map(Value::as_str).map(String::from);
    for run in head.into_iter().chain(before).chain(also).chain(racing) {
        if run != marker.run_id && !all.contains(&run) {
            all.push(run);
        }
    }
    let mut all = all.into_iter();
    marker.supersedes = all.next();
    let rest: Vec<Value> = all.map(Value::from).collect();
    if !rest.is_empty() {
        marker
            .extra
            .insert(ALSO_SUPERSEDES.to_owned(), Value::from(rest));
    }
}
