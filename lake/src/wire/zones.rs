//! What is said of the zones: roles, retention, lint, and the review of each dataset.

use serde::{Deserialize, Serialize};

use super::hours::LintFinding;
use crate::hours::{Day, State};

/// `GET /api/zones`: the Zones page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZonesReport {
    /// Zones in the configuration's order.
    pub zones: Vec<ZoneRow>,
    /// Findings, errors first. Those of a zone or dataset name it.
    pub findings: Vec<LintFinding>,
}

/// One zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneRow {
    /// Its name.
    pub name: String,
    /// Its URL, without credentials.
    pub url: String,
    /// Who owns it.
    pub owner: Option<String>,
    /// What it holds.
    pub format: Option<String>,
    /// Roles that may write it.
    pub writers: Vec<String>,
    /// Roles that may read it.
    pub readers: Vec<String>,
    /// How long its data is kept.
    pub retention: RetentionRow,
    /// What its bucket's settings were checked for.
    pub checks: Vec<Check>,
    /// Its datasets, each with the answers of a design review.
    pub datasets: Vec<ReviewRow>,
}

/// How long things are kept, and who says so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionRow {
    /// How long the topic can be replayed.
    pub topic: Option<PromiseRow>,
    /// What a replay needs on top.
    pub replay_margin: Option<PromiseRow>,
    /// How long a superseded run stays readable.
    pub audit: Option<PromiseRow>,
    /// How long the objects are kept.
    pub keep: Option<PromiseRow>,
    /// The first three together, in milliseconds; `None` where one is missing.
    pub needed: Option<i64>,
}

/// A duration, and who promised it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromiseRow {
    /// As it was written: `7d`.
    pub text: String,
    /// Milliseconds.
    pub millis: i64,
    /// Where the promise comes from.
    pub source: Option<String>,
}

/// One thing that a zone's settings were checked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Which: `encryption`, `public_access`, `delete`, `lifecycle`.
    pub rule: String,
    /// What came of it.
    pub outcome: Outcome,
    /// The fact; for what was not checked, what the configuration would have to name.
    pub message: String,
}

/// What came of a [`Check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is as it should be.
    Holds,
    /// It is not; there is a finding.
    Broken,
    /// The configuration names no file that would tell.
    NotChecked,
}

/// A dataset's answers to a design review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRow {
    /// The dataset.
    pub dataset: String,
    /// URL of its prefix.
    pub location: String,
    /// Its partition columns.
    pub partition: Vec<String>,
    /// Roles that write.
    pub writers: Vec<String>,
    /// Roles that read.
    pub readers: Vec<String>,
    /// Its retention: the zone's, with what the dataset overrides.
    pub retention: RetentionRow,
    /// Key of the marker in the zone, with the partition columns in braces.
    pub marker: String,
    /// Which hours may lack a marker.
    pub unmarked: String,
    /// Where dead letters enter.
    pub dead_letters: String,
    /// What may delete a published object, and which roles are denied.
    pub deletes: String,
    /// What a retry of a publish does.
    pub retry: String,
    /// Whose the data is.
    pub owner: Option<String>,
    /// Who owns publishing.
    pub publisher: Option<String>,
    /// Who owns compaction: object counts are theirs.
    pub compaction_owner: Option<String>,
    /// Which figures on screen are listings.
    pub listings: String,
    /// Which figures on screen are publications.
    pub publications: String,
    /// Prefix, schema, dead-letter rule and the two clocks, for whoever takes the dataset over.
    pub handover: String,
}

/// `tidemark partitions`: what the catalog should be told of a window's hours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionsReport {
    /// The dataset.
    pub dataset: String,
    /// The statement that makes the table, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create_table: Option<String>,
    /// The slots, oldest first.
    pub statements: Vec<PartitionStatement>,
    /// Registered partitions that are wrong; `None` where no metastore was asked.
    pub wrong: Option<Vec<WrongPartition>>,
    /// Registered partitions of hours outside the window, which were not judged; `None` where no
    /// metastore was asked.
    #[serde(default)]
    pub outside: Option<u64>,
    /// Why the metastore that is configured could not be asked.
    pub metastore_error: Option<String>,
}

/// What the catalog should be told of one slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionStatement {
    /// The date.
    pub date: Day,
    /// The hour; `None` for a whole day.
    pub hour: Option<u8>,
    /// How it stands.
    pub state: State,
    /// The statement that registers it.
    pub statement: Option<String>,
    /// The statement that counts it, once it is registered.
    pub analyze: Option<String>,
    /// Why there is no statement.
    pub refused: Option<String>,
}

/// A registered partition that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongPartition {
    /// The partition as names and values: `event_date=2026-11-10/hour=13`.
    pub partition: String,
    /// What is wrong with it.
    pub why: String,
    /// The statement that mends it.
    pub mend: String,
}
