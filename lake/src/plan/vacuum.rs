//! What a vacuum finds, deletes and leaves alone.

use serde::{Deserialize, Serialize};

use super::Failed;
use crate::table::{Time, Version};

/// What a vacuum does, object by object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VacuumDetail {
    /// Milliseconds that unreferenced objects are kept for.
    pub retention_ms: i64,
    /// Milliseconds that the table itself asks for.
    pub table_retention_ms: i64,
    /// Whether objects are moved aside and not deleted.
    pub quarantine: bool,
    /// All objects to delete, by key.
    pub objects: Vec<Leftover>,
    /// Objects that no version needs and that are too young to delete, by key.
    pub waiting: Vec<Leftover>,
    /// Versions that can be restored now and cannot afterwards, oldest first.
    pub unrestorable: Vec<Version>,
    /// Versions that are kept by name.
    pub pins: Vec<Pin>,
    /// Objects that look unreferenced and are not this vacuum's business, by reason.
    pub spared: Vec<Spared>,
}

/// An object below a table's root that no version needs any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// Key relative to the table's root.
    pub key: String,
    /// Bytes.
    pub bytes: u64,
    /// When the store got it.
    pub modified: Time,
    /// Where it comes from.
    pub origin: Origin,
    /// The job or query that wrote it, where its name tells.
    pub writer: Option<String>,
}

/// Where an unreferenced object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It was committed, then removed.
    Removed,
    /// No commit that there is names it: what a writer that failed left behind.
    Uncommitted,
}

/// Objects that are left alone, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spared {
    /// Why.
    pub why: String,
    /// How many.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Key of the first, relative to the table's root.
    pub example: String,
    /// Until when the first of them stay, where that is known, and until when the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<(Time, Time)>,
}

/// A version that vacuum keeps, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The name.
    pub name: String,
    /// The version.
    pub version: Version,
    /// Who pinned it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: Time,
}

/// All pins of a table, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// The pins.
    pub pins: Vec<Pin>,
    /// Pins that cannot be read, by key relative to the table's root. No vacuum goes on beside one:
    /// nobody knows what it keeps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<Failed>,
}

/// `PUT /api/tables/{table}/pins/{name}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinRequest {
    /// The version to keep.
    pub version: Version,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Pin it although files of it are not in the store any more.
    #[serde(default)]
    pub allow_missing: bool,
}

/// One vacuum's objects that were moved aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// Its folder.
    pub name: String,
    /// Objects in it.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the last of them was moved.
    pub moved: Time,
}

/// What an emptying of the quarantine did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emptied {
    /// Objects that were deleted, as the store confirmed.
    pub deleted: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Keys relative to the table's root that may still be there, each with the reason.
    pub failed: Vec<Failed>,
    /// Objects that are left where they are, by reason: a pinned version needs them.
    #[serde(default)]
    pub spared: Vec<Spared>,
}

/// What was moved back to where it was before a vacuum moved it aside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutBack {
    /// Objects that are where they were.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Keys relative to the table's root that stay aside, each with the reason.
    pub failed: Vec<Failed>,
}

/// What was moved aside and not deleted yet, by vacuum; and what was deleted of it just now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantine {
    /// The vacuums' folders.
    pub quarantine: Vec<Quarantined>,
    /// `None` where nothing was to be deleted.
    pub emptied: Option<Emptied>,
    /// `None` where nothing was to be moved back.
    #[serde(default)]
    pub put_back: Option<PutBack>,
}
