//! What is said of a dataset's hours.

mod layout;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::layout::{DatasetLayout, HourLayout};
use super::{Finding, Severity};
use crate::hours::{Day, Reason, Remark, Slot, State};
use crate::table::Time;

/// How old an answer about hours may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fresh {
    /// What is remembered, and the rest read.
    #[default]
    Known,
    /// The marker tree, the open hours, and one closed day, the one whose turn it is, again.
    Refresh,
    /// Everything of the window again.
    Again,
}

/// Every hour of a window: `tidemark hours` and `GET /api/datasets/{dataset}/hours`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoursReport {
    /// The dataset's name.
    pub dataset: String,
    /// Its zone.
    pub zone: String,
    /// First day.
    pub from: Day,
    /// Last day, included.
    pub to: Day,
    /// Exclusive end of the last hour such that it and all before it, counted from the dataset's
    /// first day, are closed or empty.
    pub closed_up_to: Option<Time>,
    /// Hours of the window by state, those without any left out; keys as in [`State`]'s JSON.
    pub counts: IndexMap<State, u64>,
    /// The hours, oldest first.
    pub hours: Vec<HourRow>,
    /// What holds `closed_up_to` back.
    pub blocked_by: Option<Blocked>,
    /// Sizes and listing cost over the window.
    pub sizes: HourSizes,
    /// Keys that should not be, and what else the listing shows.
    pub findings: Vec<Finding>,
    /// The instant taken as now.
    pub now: Time,
}

/// One hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HourRow {
    /// The date, UTC.
    pub date: Day,
    /// 0 to 23; `None` for a whole day.
    pub hour: Option<u8>,
    /// How it stands.
    pub state: State,
    /// Why, worst first.
    pub reasons: Vec<Reason>,
    /// The current marker as it is written, where it can be read.
    pub marker: Option<Map<String, Value>>,
    /// Data objects of the published run; of the whole hour where there is none.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the median one.
    pub median_bytes: Option<u64>,
    /// When the store says that the newest data object of the hour was put.
    pub newest_object: Option<Time>,
    /// What the gate found.
    pub completeness: Option<CompletenessReport>,
    /// When its keys were last listed.
    pub listed_at: Option<Time>,
    /// Until when it should have been closed: the hour's end and the grace after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Whose it is to mend, where there is something to mend and the declaration says whose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

impl HourRow {
    /// Whether a run is published that lacks keys which came later.
    pub fn late_data(&self) -> bool {
        self.reasons.iter().any(Reason::is_late_data)
    }
}

/// What the gate of completeness found in an hour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletenessReport {
    /// Whether the gate was asked. The figures are 0 where it was not, and mean nothing.
    pub checked: bool,
    /// Orders checked.
    pub orders: u64,
    /// Lines landed.
    pub landed: u64,
    /// Lines among the dead letters alone.
    pub dead_lettered: u64,
    /// Lines in neither.
    pub missing: u64,
    /// Orders that lack lines, at most 100.
    #[serde(default)]
    pub examples: Vec<String>,
}

/// What holds "closed up to" back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// The first hour that is neither closed nor empty.
    pub date: Day,
    /// Its hour.
    pub hour: Option<u8>,
    /// How it stands.
    pub state: State,
    /// Why, in a sentence.
    pub message: String,
}

/// Objects per hour and what a reader pays to list them, over a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HourSizes {
    /// Data objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the median object.
    pub median_bytes: Option<u64>,
    /// A tenth of the objects are smaller.
    pub p10_bytes: Option<u64>,
    /// A tenth of the objects are larger.
    pub p90_bytes: Option<u64>,
    /// LIST requests of a reader that lists the hours' parent prefixes.
    pub lists_of_parents: u64,
    /// LIST requests of a reader that lists the published runs alone.
    pub lists_of_runs: u64,
}

/// A window of a dataset as a grid shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridReport {
    /// The dataset, as declared.
    pub dataset: DatasetReport,
    /// First day.
    pub from: Day,
    /// Last day, included.
    pub to: Day,
    /// The instant taken as now.
    pub now: Time,
    /// A letter of [`State::letter`] each hour, oldest day first.
    pub days: Vec<GridDay>,
    /// Hours of the window by state, worst first, those without any left out.
    pub counts: Vec<(State, u64)>,
    /// How many of the empty ones somebody declared empty; of the others nothing was expected.
    #[serde(default)]
    pub declared_empty: u64,
    /// Up to when the dataset is closed.
    pub closed: ClosedReport,
    /// Hours that need a person, those that are closed and have late data among them: the one that
    /// holds the others back, then worst and then newest first. The first 200.
    pub attention: Vec<HourRow>,
    /// How many there are.
    pub attention_total: u64,
    /// Sizes and listing cost.
    pub sizes: HourSizes,
    /// Keys that should not be, and what else the listing shows.
    pub findings: Vec<Finding>,
}

/// One day of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridDay {
    /// The day.
    pub date: Day,
    /// A letter for each hour; one for a dataset without hours.
    pub states: String,
    /// A letter of [`Remark::letter`] for each hour, `.` for one of which nothing is to be remarked;
    /// nothing where that is all of them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remarks: String,
    /// Data objects of each hour, as in [`HourRow::objects`].
    pub objects: Vec<u64>,
    /// Their bytes.
    pub bytes: Vec<u64>,
    /// When its keys were last listed.
    pub listed_at: Option<Time>,
}

impl GridDay {
    /// What must be known of one of its hours.
    pub fn remark(&self, hour: usize) -> Option<Remark> {
        Remark::of_letter(self.remarks.chars().nth(hour)?)
    }
}

/// Up to when a dataset is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedReport {
    /// Exclusive end of the last hour such that it and all before it are closed or empty; `None`
    /// where there is no such hour, or where it is not known.
    pub up_to: Option<Time>,
    /// The hour that holds it back.
    pub blocked_by: Option<Blocked>,
    /// Days from the dataset's first on that are not read yet, or whose hours' completeness is not
    /// checked yet: `up_to` is unknown until they are.
    pub unread: Option<(Day, Day)>,
    /// Why there can be no answer: the configuration names no `first`.
    pub unknown: Option<String>,
}

/// A dataset's declaration, as far as pages show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetReport {
    /// Its name.
    pub name: String,
    /// Its zone.
    pub zone: String,
    /// URL of its prefix.
    pub location: String,
    /// Partition columns.
    pub partition: Vec<String>,
    /// Whether markers are ours, and so can be published.
    pub ours: bool,
    /// Milliseconds after an hour's end until it should be closed.
    pub grace: i64,
    /// Whether each hour must come.
    pub every_hour: bool,
    /// Before it nothing is expected.
    pub first: Option<Day>,
    /// Data objects of an hour, at most.
    pub budget_objects: Option<u64>,
    /// Bytes of an hour's median object, at least.
    pub budget_median_bytes: Option<u64>,
    /// Whether lines are numbered, so that completeness can be checked.
    pub gated: bool,
    /// Whose the data is.
    pub owner: Option<String>,
    /// Whose a failed publish is.
    pub publisher: Option<String>,
    /// Whose an hour over budget is.
    pub compaction_owner: Option<String>,
    /// Name and address of the live product.
    pub stream: Option<(String, String)>,
    /// What a publish writes into its marker.
    pub definition_version: Option<String>,
    /// Contracted columns, with their types.
    pub columns: Vec<(String, String)>,
    /// Datasets that it is built from: it waits while their hours are not closed.
    #[serde(default)]
    pub reads: Vec<String>,
}

/// One hour with all its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HourReport {
    /// The dataset, as declared.
    pub dataset: DatasetReport,
    /// The hour.
    pub row: HourRow,
    /// Key prefix of the hour in the zone.
    pub prefix: String,
    /// URL of the prefix that a reader may scan, where the hour is closed.
    pub scan: Option<String>,
    /// Key of the current marker, where one is.
    pub marker_key: Option<String>,
    /// When the store says that it was put.
    pub marker_put: Option<Time>,
    /// Another publisher's object that closes the hour, and when it was put.
    #[serde(default)]
    pub closed_by: Option<(String, Time)>,
    /// The runs, newest marker first, then those without a marker.
    pub runs: Vec<RunRow>,
    /// Loose keys: the first 1,000.
    pub loose: Vec<ObjectRow>,
    /// How many loose keys there are.
    pub loose_total: u64,
    /// Objects of the current run: the first 1,000.
    pub objects: Vec<ObjectRow>,
    /// Until when the topic can be replayed for this hour.
    pub replay_until: Option<Time>,
    /// What the footers say against the contract; `None` where they were not read.
    pub contract: Option<Vec<Finding>>,
    /// The catalog's statement, where the hour is closed.
    pub statement: Option<String>,
    /// The last closed hour before this one, for readers that cannot wait.
    pub last_closed: Option<Slot>,
    /// The instant taken as now.
    pub now: Time,
}

/// One run of an hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    /// The run.
    pub run_id: String,
    /// Data objects listed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the store says that the newest of them was put.
    pub newest: Option<Time>,
    /// Whether the current marker names it.
    pub current: bool,
    /// Objects that its marker names, where there is one.
    pub marked_objects: Option<u64>,
    /// Whether its marker still matches its listing; `None` without a marker.
    pub matches: Option<bool>,
    /// When its marker was published, by the publisher's clock.
    pub published_at: Option<Time>,
    /// Readers that need it still, and until when.
    pub pins: Vec<(String, Time)>,
}

/// One object as evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectRow {
    /// Key relative to the hour's prefix.
    pub key: String,
    /// Its bytes.
    pub bytes: u64,
    /// When the store says it was put.
    pub put: Time,
    /// Whether it was put after the current marker.
    pub after_marker: bool,
}

/// `tidemark check` of one hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The dataset's name.
    pub dataset: String,
    /// The date.
    pub date: Day,
    /// The hour.
    pub hour: Option<u8>,
    /// Whether a reader may scan it.
    pub closed: bool,
    /// Whether a reader may go on: it is closed, or nothing happened in it.
    #[serde(default)]
    pub passes: bool,
    /// How it stands.
    pub state: State,
    /// Why.
    pub reasons: Vec<Reason>,
    /// URL of the prefix that a reader may scan.
    pub prefix: Option<String>,
    /// Data objects in it.
    pub object_count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The run.
    pub run_id: Option<String>,
    /// What the rows mean.
    pub definition_version: Option<String>,
    /// When it was published, by the publisher's clock.
    pub published_at: Option<Time>,
    /// Loose keys of the hour, those of its runs left out.
    #[serde(default)]
    pub loose_count: u64,
    /// Rows that repeat the grain of a row before them, where its publisher counted them.
    #[serde(default)]
    pub repeated_rows: Option<u64>,
}

/// `tidemark check` of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckWindowReport {
    /// The dataset's name.
    pub dataset: String,
    /// First instant.
    pub from: Time,
    /// The first instant after it.
    pub to: Time,
    /// Whether a reader may scan all prefixes together: each hour is closed or empty, and all have
    /// one `definition_version`.
    pub closed: bool,
    /// Why not, where that is so.
    pub refused: Option<String>,
    /// URLs of the prefixes that a reader may scan, oldest hour first.
    pub prefixes: Vec<String>,
    /// Data objects in all of them.
    pub object_count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What the rows mean, where all hours agree.
    pub definition_version: Option<String>,
    /// Each hour, oldest first.
    pub hours: Vec<CheckReport>,
}

/// Findings of a lint, worst first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LintReport {
    /// The findings.
    pub findings: Vec<LintFinding>,
}

/// One finding of a lint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LintFinding {
    /// `error` or `warning`.
    pub severity: Severity,
    /// Which rule.
    pub rule: String,
    /// The dataset, where it is about one.
    pub dataset: Option<String>,
    /// The zone, where it is about one.
    pub zone: Option<String>,
    /// Key, file and line, or configuration key.
    pub location: Option<String>,
    /// The fact, with its figures.
    pub message: String,
    /// Whose it is to mend.
    pub owner: Option<String>,
}
