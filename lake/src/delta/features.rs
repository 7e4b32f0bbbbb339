//! Table features: what this build reads, and what it could write (PROTOCOL, "Table Features").

use super::action::Protocol;
use crate::{Error, Result};

/// Reader features whose rules this crate follows; each of them is a writer feature too.
pub(crate) const READ: &[&str] = &[
    "catalogManaged",
    "catalogOwned",
    "catalogOwned-preview",
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantShredding",
    "variantShredding-preview",
    "variantType",
    "variantType-preview",
];

/// Writer features whose rules acts follow or may ignore.
const WRITE: &[&str] = &[
    "allowColumnDefaults",
    "appendOnly",
    "changeDataFeed",
    "checkConstraints",
    "clustering",
    "columnMapping",
    "deletionVectors",
    "domainMetadata",
    "generatedColumns",
    "icebergCompatV1",
    "icebergCompatV2",
    "identityColumns",
    "inCommitTimestamp",
    "invariants",
    "rowTracking",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantType",
    "variantType-preview",
];

/// Refuses, by name, a table whose reader features this build does not know.
pub fn check_reader(protocol: &Protocol) -> Result<()> {
    let version = protocol.min_reader_version;
    if version > 3 {
        return Err(Error::unsupported(format!(
            "the table needs a reader of version {version}; this build is one of version 3"
        )));
    }
    if version < 3 {
        return Ok(());
    }
    let unknown: Vec<&str> = unknown(&protocol.reader_features, READ).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the table needs reader features that this build does not have: {}",
        unknown.join(", ")
    )))
}

/// Writer features that acts would break, by name.
pub fn unsupported_for_writing(protocol: &Protocol) -> Vec<String> {
    if protocol.min_writer_version > 7 {
        return vec![format!("writer version {}", protocol.min_writer_version)];
    }
    unknown(&protocol.writer_features, WRITE)
        .map(str::to_owned)
        .collect()
}

/// Whether a catalog, and not the file system, decides what is committed.
pub fn catalog_managed(protocol: &Protocol) -> Option<&str> {
    let names = ["catalogManaged", "catalogOwned", "catalogOwned-preview"];
    let all = protocol
        .writer_features
        .iter()
        .chain(&protocol.reader_features);
    all.map(String::as_str).find(|f| names.contains(f))
}

fn unknown<'a>(features: &'a [String], known: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    features
        .iter()
        .map(String::as_str)
        .filter(|f| !known.contains(f))
}
