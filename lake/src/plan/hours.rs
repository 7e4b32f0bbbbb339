//! What becomes of a dataset's hour, and of its old runs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Plan, Spared};
use crate::hours::{Day, Reason, Slot, State};
use crate::table::Time;
use crate::wire::Finding;

/// What an act on hours will do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HoursDetail {
    /// The date; `None` where the act is about the whole dataset.
    pub date: Option<Day>,
    /// The hour; `None` for a whole day.
    pub hour: Option<u8>,
    /// How the hour stands now.
    pub state: Option<State>,
    /// Why, worst first.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// Why nothing has to be done: the hour is already as it was asked for.
    pub unchanged: Option<String>,
    /// The marker that is put, but for what its publisher adds when it is put.
    pub marker: Option<Map<String, Value>>,
    /// The run whose marker it replaces.
    pub superseded_run: Option<String>,
    /// What the contract and the keys have against the run.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire: Option<ExpireDetail>,
}

/// What came of an act on an hour: `publish`, `repoint`, `compact --apply`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The dataset's name.
    pub dataset: String,
    /// The date.
    pub date: Day,
    /// The hour; `None` for a whole day.
    pub hour: Option<u8>,
    /// What came of it.
    pub outcome: PublishedOutcome,
    /// Why not.
    pub refused: Option<String>,
    /// The current marker.
    pub marker: Option<Map<String, Value>>,
    /// The run whose marker it replaced.
    pub superseded_run: Option<String>,
    /// The command that goes back to that run, where it still is what its marker says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way_back: Option<String>,
    /// Whether the catalog knows the partition; `None` where no catalog is configured.
    pub registered: Option<bool>,
    /// Why the catalog does not know it.
    pub registration_error: Option<String>,
    /// How the hour stands now; `None` where it was not looked at again.
    pub state: Option<State>,
    /// Why, worst first.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// What was found, in a sentence: why nothing had to be done.
    pub message: Option<String>,
    /// Data objects of the run.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the median one.
    pub median_bytes: Option<u64>,
    /// What a person should know.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Published {
    /// What is to be told of a plan that writes nothing: it is refused, or the hour is as it was
    /// asked for.
    pub fn of(plan: &Plan, slot: Slot) -> Self {
        let detail = plan.hours.clone().unwrap_or_default();
        Self {
            dataset: plan.location.clone(),
            date: slot.day,
            hour: slot.hour,
            outcome: match plan.refused {
                Some(_) => PublishedOutcome::Refused,
                None => PublishedOutcome::Unchanged,
            },
            refused: plan.refused.clone(),
            marker: None,
            superseded_run: None,
            way_back: None,
            registered: None,
            registration_error: None,
            state: detail.state,
            reasons: detail.reasons,
            message: detail.unchanged,
            objects: 0,
            bytes: 0,
            median_bytes: None,
            warnings: plan.warnings.clone(),
        }
    }

    /// The hour that it is about.
    pub fn slot(&self) -> Slot {
        Slot {
            day: self.date,
            hour: self.hour,
        }
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PublishedOutcome {
    /// The marker was put.
    Published,
    /// The hour was as it was asked for.
    Unchanged,
    /// Nothing was put.
    Refused,
}

/// What an expiry of old runs deletes and leaves alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpireDetail {
    /// Milliseconds that a superseded run stays readable.
    pub audit_ms: i64,
    /// What is deleted: superseded runs and consumed loose keys, oldest hour first.
    pub expired: Vec<Expired>,
    /// What is left alone, by reason.
    pub spared: Vec<Spared>,
}

/// Objects of one hour that are deleted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expired {
    /// The date.
    pub date: Day,
    /// The hour; `None` for a whole day.
    pub hour: Option<u8>,
    /// The superseded run; `None` for loose keys that a run took in.
    pub run_id: Option<String>,
    /// The run that took its place.
    pub superseded_by: String,
    /// When the store got the marker that says so.
    pub superseded_at: Time,
    /// Keys in the zone.
    pub keys: Vec<String>,
    /// The run's markers, which are deleted once nothing is left of it.
    #[serde(default)]
    pub markers: Vec<String>,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// `tidemark pins DATASET`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPins {
    /// The pins, by hour and name.
    pub pins: Vec<RunPinEntry>,
}

/// A reader's pin on a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPinEntry {
    /// The pin's name.
    pub name: String,
    /// The date.
    pub date: Day,
    /// The hour; `None` for a whole day.
    pub hour: Option<u8>,
    /// Who reads.
    pub reader: Option<String>,
    /// The run.
    pub run_id: Option<String>,
    /// Until when.
    pub until: Option<Time>,
    /// Why, in the reader's words.
    #[serde(default)]
    pub reason: Option<String>,
    /// Why the pin cannot be read. It keeps every run of its hour.
    pub damaged: Option<String>,
}

/// A pin to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPinRequest {
    /// The date.
    pub date: Day,
    /// The hour; none for a dataset without hours.
    #[serde(default)]
    pub hour: Option<u8>,
    /// The run.
    pub run: String,
    /// Until when it is needed.
    pub until: Time,
}
