//! The actions of a Delta log, as a line of JSON spells them (PROTOCOL, "Actions").

use std::borrow::Cow;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::vector::Descriptor;

/// One line of a commit, of a compaction file or of a JSON checkpoint. Exactly one field is set
/// in a healthy line that this build knows; none in one that it does not.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Line<'a> {
    #[serde(borrow)]
    pub(crate) add: Option<Add<'a>>,
    #[serde(borrow)]
    pub(crate) remove: Option<Remove<'a>>,
    pub(crate) meta_data: Option<Metadata>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) txn: Option<Transaction>,
    pub(crate) domain_metadata: Option<Domain>,
    #[serde(borrow)]
    pub(crate) commit_info: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) cdc: Option<&'a RawValue>,
    pub(crate) sidecar: Option<Sidecar>,
    #[serde(borrow)]
    pub(crate) checkpoint_metadata: Option<&'a RawValue>,
}

/// Partition values by physical name.
pub(crate) type Values<'a> = BTreeMap<Cow<'a, str>, Option<Cow<'a, str>>>;

/// A file that is now part of the table (PROTOCOL, "Add File and Remove File").
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Add<'a> {
    #[serde(borrow)]
    pub(crate) path: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "or_empty")]
    pub(crate) partition_values: Values<'a>,
    pub(crate) size: i64,
    #[serde(default)]
    pub(crate) modification_time: Option<i64>,
    #[serde(default = "yes")]
    pub(crate) data_change: bool,
    #[serde(borrow, default)]
    pub(crate) stats: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) deletion_vector: Option<Descriptor>,
}

/// A file that is no longer part of the table.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remove<'a> {
    #[serde(borrow)]
    pub(crate) path: Cow<'a, str>,
    /// When, in milliseconds since 1970; a tombstone is kept from then on.
    #[cfg(feature = "write")]
    #[serde(default, deserialize_with = "whole_number")]
    pub(crate) deletion_timestamp: Option<i64>,
    #[serde(default = "yes")]
    pub(crate) data_change: bool,
    #[serde(borrow, default)]
    pub(crate) partition_values: Option<Values<'a>>,
    #[serde(default)]
    pub(crate) size: Option<i64>,
    #[serde(borrow, default)]
    pub(crate) stats: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) deletion_vector: Option<Descriptor>,
}

/// What the table is (PROTOCOL, "Change Metadata").
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The table's own id.
    pub id: String,
    /// The table's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The table's own description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The data files' format, which is Parquet.
    #[serde(default)]
    pub format: Format,
    /// The columns, as JSON in a string; empty where a log leaves it out.
    #[serde(default)]
    pub schema_string: String,
    /// Logical names, in the table's order.
    #[serde(default, deserialize_with = "or_empty")]
    pub partition_columns: Vec<String>,
    /// Table properties.
    #[serde(default, deserialize_with = "properties")]
    pub configuration: IndexMap<String, String>,
    /// Milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_time: Option<i64>,
}

/// The format of a table's data files (PROTOCOL, "Format Specification").
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Format {
    /// Its name.
    pub provider: String,
    /// Its options.
    #[serde(default)]
    pub options: IndexMap<String, String>,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            provider: "parquet".to_owned(),
            options: IndexMap::new(),
        }
    }
}

/// What a client must understand (PROTOCOL, "Protocol Evolution").
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Protocol {
    /// Version a reader must implement.
    pub min_reader_version: i64,
    /// Version a writer must implement.
    pub min_writer_version: i64,
    /// Features a reader must implement, with reader version 3.
    #[serde(
        default,
        deserialize_with = "or_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub reader_features: Vec<String>,
    /// Features a writer must implement, with writer version 7.
    #[serde(
        default,
        deserialize_with = "or_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub writer_features: Vec<String>,
}

/// How far a streaming writer has come (PROTOCOL, "Transaction Identifiers").
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Transaction {
    /// The writer.
    pub app_id: String,
    /// The last batch that it committed.
    pub version: i64,
    /// When it did, in milliseconds since 1970.
    #[serde(
        default,
        deserialize_with = "whole_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub last_updated: Option<i64>,
}

/// Configuration of a named domain (PROTOCOL, "Domain Metadata").
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Domain {
    pub(crate) domain: String,
    #[serde(default)]
    pub(crate) configuration: Option<String>,
    #[serde(default)]
    pub(crate) removed: bool,
}

/// A part of a V2 checkpoint (PROTOCOL, "Sidecar File Information").
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sidecar {
    pub(crate) path: String,
}

fn yes() -> bool {
    true
}

fn or_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A whole number; anything else is as good as nothing.
fn whole_number<'de, D>(deserializer: D) -> Result<Option<i64>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Ok(Value::deserialize(deserializer)?.as_i64())
}

/// Properties are strings; a writer that put another scalar there meant its text.
fn properties<'de, D>(deserializer: D) -> Result<IndexMap<String, String>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let map = Option::<IndexMap<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(map.into_iter().map(|(k, v)| (k, text(v))).collect())
}
