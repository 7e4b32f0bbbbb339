//! What is said of one slot.

use serde_json::{Map, Value};

use super::Finder;
use super::memory::{Known, Standing};
use crate::hours::dataset::{Dataset, MarkerKind};
use crate::hours::foreign;
use crate::hours::state::{Reason, State};
use crate::wire::hours::{CheckReport, CompletenessReport, DatasetReport, HourRow};

/// A slot as reports have it.
pub(super) fn row(dataset: &Dataset, standing: &Standing) -> HourRow {
    let Standing {
        slot,
        verdict,
        completeness,
        markers,
        at,
        ..
    } = standing;
    HourRow {
        date: slot.day,
        hour: slot.hour,
        state: verdict.state,
        reasons: verdict.reasons.clone(),
        marker: markers.marker().and_then(object),
        objects: verdict.objects,
        bytes: verdict.bytes,
        median_bytes: verdict.median_bytes,
        newest_object: verdict.newest,
        completeness: completeness.as_ref().map(|found| CompletenessReport {
            checked: found.unreadable.is_none(),
            orders: found.orders,
            landed: found.landed,
            dead_lettered: found.dead_lettered,
            missing: found.missing,
            examples: found.examples.clone(),
        }),
        listed_at: *at,
        deadline: Some(dataset.deadline(*slot)),
        owner: dataset
            .owner_of(
                verdict.state,
                verdict.reasons.iter().any(Reason::is_late_data),
            )
            .map(str::to_owned),
    }
}

fn object(marker: &crate::hours::Marker) -> Option<Map<String, Value>> {
    match serde_json::to_value(marker) {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    }
}

impl Finder {
    /// URL of the prefix that a reader of a closed slot scans; `None` for any other slot.
    pub(super) fn scan(&self, known: &Known, standing: &Standing) -> Option<String> {
        if !standing.verdict.state.is_closed() {
            return None;
        }
        let dataset = &self.dataset;
        match dataset.marker.kind {
            MarkerKind::Tidemark => standing.markers.marker()?.location(dataset),
            _ => {
                let evidence = known.foreign(dataset, standing.slot, &standing.objects, self.now);
                Some(dataset.url_of(&foreign::scan(dataset, evidence)))
            }
        }
    }

    /// Whether a reader may scan a slot.
    pub(super) fn checked(&self, known: &Known, standing: &Standing) -> CheckReport {
        let verdict = &standing.verdict;
        let closed = verdict.state.is_closed();
        let marker = standing.markers.marker();
        let mut reasons = verdict.reasons.clone();
        let before = self
            .dataset
            .first
            .filter(|_| verdict.state == State::Empty && self.dataset.before_first(standing.slot));
        if let Some(first) = before {
            let message = format!("before the dataset's first day {first}: nothing is said of it");
            reasons.insert(0, Reason::new(State::Empty, message));
        }
        CheckReport {
            dataset: self.dataset.name.clone(),
            date: standing.slot.day,
            hour: standing.slot.hour,
            closed,
            passes: closed || (verdict.state == State::Empty && before.is_none()),
            state: verdict.state,
            reasons,
            prefix: self.scan(known, standing),
            object_count: verdict.objects,
            bytes: verdict.bytes,
            run_id: marker.map(|m| m.run_id.clone()),
            definition_version: marker.map(|m| m.definition_version.clone()),
            published_at: marker.map(|m| m.published_at),
            loose_count: standing.objects.loose.len() as u64,
            repeated_rows: marker.and_then(|m| m.repeated_rows()),
        }
    }

    /// Why a slot stands as it does, in a sentence.
    pub(super) fn why(standing: &Standing) -> (State, String) {
        let verdict = &standing.verdict;
        let reason = verdict.reasons.first();
        let message = reason.map_or_else(
            || verdict.state.words().to_owned(),
            |reason| reason.message.clone(),
        );
        (verdict.state, message)
    }
}

/// A declaration, as far as pages show it.
pub(super) fn declared(dataset: &Dataset) -> DatasetReport {
    let prefix = match dataset.prefix.as_str() {
        "" => String::new(),
        prefix => format!("{prefix}/"),
    };
    DatasetReport {
        name: dataset.name.clone(),
        zone: dataset.zone.clone(),
        location: dataset.url_of(&prefix),
        partition: dataset.partition.clone(),
        ours: dataset.marker.kind == MarkerKind::Tidemark,
        grace: dataset.grace,
        every_hour: dataset.every_hour,
        first: dataset.first,
        budget_objects: dataset.budget.objects,
        budget_median_bytes: dataset.budget.median_bytes,
        gated: dataset.complete.is_some(),
        owner: dataset.owner.clone(),
        publisher: dataset.publisher.clone(),
        compaction_owner: dataset.compaction_owner.clone(),
        stream: dataset
            .stream
            .as_ref()
            .map(|stream| (stream.name.clone(), stream.url.clone())),
        definition_version: dataset.definition_version.clone(),
        columns: dataset
            .columns
            .iter()
            .map(|(name, kind)| (name.clone(), kind.clone()))
            .collect(),
        reads: dataset.reads.clone(),
    }
}
