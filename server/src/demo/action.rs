//! The lines of a Delta log as they are written (PROTOCOL, "Actions"). Fields stand in the order
//! in which Spark writes them, and an absent one is left out.

use indexmap::IndexMap;
use lake::delta::vector::Descriptor;
use serde::Serialize;
use serde_json::Value;

/// Partition values by physical column name; `None` for null.
pub type PartitionValues = IndexMap<String, Option<String>>;

/// One line of a commit, or one row of a checkpoint.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub enum Action {
    CommitInfo(IndexMap<String, Value>),
    Txn(Txn),
    Add(Add),
    Remove(Remove),
    Cdc(Cdc),
    MetaData(Metadata),
    Protocol(Protocol),
    DomainMetadata(DomainMetadata),
    CheckpointMetadata(CheckpointMetadata),
    Sidecar(Sidecar),
}

/// A data file comes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Add {
    pub path: String,
    pub partition_values: PartitionValues,
    pub size: i64,
    pub modification_time: i64,
    pub data_change: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<IndexMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<Descriptor>,
}

/// A data file goes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Remove {
    pub path: String,
    pub deletion_timestamp: i64,
    pub data_change: bool,
    pub extended_file_metadata: bool,
    pub partition_values: PartitionValues,
    pub size: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<Descriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
}

/// A file of changed rows.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Cdc {
    pub path: String,
    pub partition_values: PartitionValues,
    pub size: i64,
    pub data_change: bool,
}

/// How far a streaming writer has come.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Txn {
    pub app_id: String,
    pub version: i64,
    pub last_updated: i64,
}

/// Schema and properties.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Metadata {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub format: Format,
    pub schema_string: String,
    pub partition_columns: Vec<String>,
    pub configuration: IndexMap<String, String>,
    pub created_time: i64,
}

pub use lake::delta::action::Format;

/// What a reader and a writer must understand.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Protocol {
    pub min_reader_version: i32,
    pub min_writer_version: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader_features: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer_features: Option<Vec<String>>,
}

impl Protocol {
    /// A protocol of the two numbers alone.
    pub fn legacy(min_reader_version: i32, min_writer_version: i32) -> Self {
        Self {
            min_reader_version,
            min_writer_version,
            reader_features: None,
            writer_features: None,
        }
    }

    /// A protocol of named features, reader version 3 and writer version 7.
    pub fn features(reader: &[&str], writer: &[&str]) -> Self {
        let names = |names: &[&str]| Some(names.iter().map(|n| (*n).to_owned()).collect());
        Self {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: names(reader),
            writer_features: names(writer),
        }
    }
}

/// A named configuration that is neither schema nor property.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct DomainMetadata {
    pub domain: String,
    pub configuration: String,
    pub removed: bool,
}

/// First line of a V2 checkpoint.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct CheckpointMetadata {
    pub version: i64,
}

/// A file that holds a part of a V2 checkpoint's files.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Sidecar {
    pub path: String,
    pub size_in_bytes: i64,
    pub modification_time: i64,
}

impl Add {
    /// The removal of this file at an instant.
    pub fn removed(&self, deletion_timestamp: i64, data_change: bool) -> Remove {
        Remove {
            path: self.path.clone(),
            deletion_timestamp,
            data_change,
            extended_file_metadata: true,
            partition_values: self.partition_values.clone(),
            size: self.size,
            deletion_vector: self.deletion_vector.clone(),
            stats: self.stats.clone(),
        }
    }

    /// Path and id of the deletion vector: what makes a file of a log one file.
    pub fn key(&self) -> FileKey {
        let vector = self.deletion_vector.as_ref();
        (self.path.clone(), vector.map(Descriptor::unique_id))
    }
}

impl Remove {
    /// Path and id of the deletion vector.
    pub fn key(&self) -> FileKey {
        let vector = self.deletion_vector.as_ref();
        (self.path.clone(), vector.map(Descriptor::unique_id))
    }
}

/// Path and id of the deletion vector.
pub type FileKey = (String, Option<String>);
