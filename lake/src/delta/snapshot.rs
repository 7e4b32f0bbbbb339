//! One version of a table, which never changes.

use arrow_array::UInt32Array;
use indexmap::IndexMap;

use super::action::{Metadata, Protocol, Transaction};
use super::checkpoint::Want;
use super::features::{catalog_managed, check_reader};
use super::files::Files;
use super::log::{Head, Log};
use super::replay::Replayed;
use super::schema::{Mapping, logical_partition, mapping, parse, partition_names};
use crate::host::SharedHost;
use crate::schema::Schema;
use crate::table::{Partition, Time, Version};
use crate::{Error, Result};

/// What a version is, without its files.
#[derive(Clone, Debug)]
pub struct State {
    /// The version.
    pub version: Version,
    /// When it was committed: in-commit where the commit says so, else when its file was put.
    pub timestamp: Option<Time>,
    /// What a client must understand.
    pub protocol: Protocol,
    /// What the table is.
    pub metadata: Metadata,
    /// The columns.
    pub schema: Schema,
    /// How columns are found in data files.
    pub mapping: Mapping,
    /// Streaming writers and how far each has come.
    pub transactions: IndexMap<String, Transaction>,
    /// Domains that are set.
    pub domains: IndexMap<String, String>,
    /// Version of the checkpoint that was used.
    pub checkpoint: Option<Version>,
    /// Commits read after it.
    pub commits_read: u64,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// A version with its active files.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What the version is.
    pub state: State,
    /// Its active files.
    pub files: Files,
}

impl Log {
    /// Rebuilds a version. It is exact, or an error.
    pub(crate) async fn snapshot(
        &self,
        head: &Head,
        version: Version,
        host: &SharedHost,
    ) -> Result<Snapshot> {
        let replayed = self.replay(head, version, Want::Files, host).await?;
        let put = head.times().put(version);
        Snapshot::build(replayed, version, put).map_err(|e| e.at("version", version))
    }

    /// What a version is, without its files.
    pub(crate) async fn state(
        &self,
        head: &Head,
        version: Version,
        host: &SharedHost,
    ) -> Result<State> {
        let replayed = self.replay(head, version, Want::Small, host).await?;
        let put = head.times().put(version);
        Ok(Snapshot::build(replayed, version, put)
            .map_err(|e| e.at("version", version))?
            .state)
    }
}

impl Snapshot {
    fn build(replayed: Replayed, version: Version, listed: Option<Time>) -> Result<Self> {
        let Some(protocol) = replayed.protocol else {
            return Err(Error::damaged("the log has no protocol action"));
        };
        let Some(metadata) = replayed.metadata else {
            return Err(Error::damaged("the log has no metaData action"));
        };
        check_reader(&protocol)?;
        let schema = parse(&metadata)?;
        let mut warnings = replayed.warnings;
        if metadata.schema_string.is_empty() {
            warnings.push("metaData has no schemaString: the columns are unknown".to_owned());
        }
        if let Some(feature) = catalog_managed(&protocol) {
            warnings.push(format!(
                "the table is managed by a catalog ({feature}): commits that the catalog has not published are not seen here, and nothing can be written"
            ));
        }
        let names = partition_names(&metadata, &schema);
        let mut partitions: Vec<Partition> = Vec::with_capacity(replayed.interner.values.len());
        let mut missing = false;
        for raw in &replayed.interner.values {
            let (partition, lacks) = logical_partition(&names, raw);
            missing |= lacks;
            partitions.push(partition);
        }
        if missing && !partitions.is_empty() {
            warnings.push(
                "some files have no value for a partition column; it is shown as null".to_owned(),
            );
        }
        let mut chunks = replayed.chunks;
        if let Some(numbers) = merged(&partitions) {
            for chunk in &mut chunks {
                let number = |n: Option<u32>| n.and_then(|n| numbers.get(n as usize).copied());
                chunk.partition = UInt32Array::from_iter(chunk.partition.iter().map(number));
            }
        }
        let files = Files::new(chunks, partitions);
        if let Some(file) = files.iter().find(|f| !f.vector_is_sound()) {
            warnings.push(format!(
                "the deletion vector of `{}` cannot be what it says (its kind is unknown, or it masks more rows than there are): rows are unknown",
                super::path::shown(file.raw_path())
            ));
        }
        let (put, in_commit) = match replayed.committed {
            Some((put, in_commit)) => (Some(put), in_commit),
            None => (None, None),
        };
        let state = State {
            version,
            timestamp: in_commit.or(listed).or(put),
            mapping: mapping(&metadata),
            protocol,
            metadata,
            schema,
            transactions: replayed.transactions,
            domains: replayed
                .domains
                .into_iter()
                .filter_map(|(k, v)| Some((k, v?)))
                .collect(),
            checkpoint: replayed.checkpoint,
            commits_read: replayed.commits_read,
            warnings,
        };
        Ok(Self { state, files })
    }
}

/// Numbers under which equal partitions are one; `None` where all are distinct. The same values
/// can be spelled in another order, with keys that are no partition columns, or empty for null.
fn merged(partitions: &[Partition]) -> Option<Vec<u32>> {
    let mut first: hashbrown::HashMap<Vec<(&str, Option<&str>)>, u32> = hashbrown::HashMap::new();
    let mut numbers = Vec::with_capacity(partitions.len());
    let mut any = false;
    for (at, partition) in partitions.iter().enumerate() {
        let key: Vec<_> = partition
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_deref()))
            .collect();
        let number = *first.entry(key).or_insert(at as u32);
        any |= number != at as u32;
        numbers.push(number);
    }
    any.then_some(numbers)
}
