//! The version checksum, in Spark's names and order (PROTOCOL, "Version Checksum File").

use object_store::{ObjectStore, PutMode, PutOptions, PutPayload};
use serde::Serialize;
use serde_json::{Value, json};

use super::other;
use crate::delta::action::Metadata;
use crate::delta::commit::Summary;
use crate::delta::log::{Log, read_optional};
use crate::delta::path::{checksum_key, commit_key};
use crate::delta::snapshot::Snapshot;
use crate::delta::write::in_commit_timestamps;
use crate::table::Version;
use crate::{Error, Kind, Result};

/// Transactions and domains that Spark puts into a checksum at most: with more, it names none.
const TRANSACTIONS: usize = 100;
const DOMAINS: usize = 10;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Checksum<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    txn_id: Option<String>,
    table_size_bytes: u64,
    num_files: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_deleted_records_opt: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_deletion_vectors_opt: Option<u64>,
    num_metadata: u64,
    num_protocol: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_commit_timestamp_opt: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_transactions: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain_metadata: Option<Vec<Value>>,
    metadata: &'a Metadata,
    protocol: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size_histogram: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histogram_opt: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_record_counts_histogram_opt: Option<Value>,
}

/// Writes the checksum of a version, unless there is one.
pub(super) async fn write(log: &Log, snapshot: &Snapshot) -> Result<()> {
    let version = snapshot.state.version;
    let body = body(log, snapshot).await?;
    let key = checksum_key(&log.root, version);
    let options = PutOptions::from(PutMode::Create);
    match log
        .store
        .put_opts(&key, PutPayload::from(body), options)
        .await
    {
        Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(Error::from(error).at("key", &key)),
    }
}

async fn body(log: &Log, snapshot: &Snapshot) -> Result<Vec<u8>> {
    let state = &snapshot.state;
    let key = commit_key(&log.root, state.version);
    let Some((_, commit)) = read_optional(&log.store, &key).await? else {
        return Err(Error::not_found("the commit is gone").at("key", &key));
    };
    let said = Summary::read(&commit);
    let timestamp = match in_commit_timestamps(&state.metadata) {
        false => None,
        true => match said.info_value("inCommitTimestamp").as_i64() {
            Some(timestamp) => Some(timestamp),
            None => return Err(Error::damaged("the commit has no time of its own").at("key", &key)),
        },
    };
    let vectors = &state.protocol.reader_features;
    let vectors = vectors.iter().any(|f| f == "deletionVectors");
    let figures = Figures::of(snapshot)?;
    let forgets = "delta.setTransactionRetentionDuration";
    let forgets = state.metadata.configuration.contains_key(forgets);
    let transactions: Vec<_> = other::transactions(state, None).collect();
    let domains: Vec<Value> = other::domains(state).collect();
    let before = before(log, state.version).await;
    let histogram = |name: &str| {
        let bounds = before.get(name)?.get("sortedBinBoundaries")?;
        sizes(snapshot, bounds)
    };
    let checksum = Checksum {
        txn_id: said.info_text("txnId"),
        table_size_bytes: figures.bytes,
        num_files: snapshot.files.len() as u64,
        num_deleted_records_opt: vectors.then_some(figures.masked),
        num_deletion_vectors_opt: vectors.then_some(figures.vectors),
        num_metadata: 1,
        num_protocol: 1,
        in_commit_timestamp_opt: timestamp,
        set_transactions: (!forgets && transactions.len() <= TRANSACTIONS)
            .then(|| json!(transactions)),
        domain_metadata: (domains.len() <= DOMAINS).then_some(domains),
        metadata: &state.metadata,
        protocol: other::protocol(&state.protocol),
        file_size_histogram: histogram("fileSizeHistogram"),
        histogram_opt: histogram("histogramOpt"),
        deleted_record_counts_histogram_opt: vectors
            .then(|| json!({ "deletedRecordCounts": figures.by_masked })),
    };
    let mut body = serde_json::to_vec(&checksum)
        .map_err(|e| Error::new(Kind::Internal, "a checksum that JSON cannot hold").because(e))?;
    body.push(b'\n');
    Ok(body)
}

/// Sums over a version's files.
#[derive(Default)]
struct Figures {
    bytes: u64,
    masked: u64,
    vectors: u64,
    /// Files by rows masked: none, below 10, below 100, …
    by_masked: [u64; 10],
}

impl Figures {
    fn of(snapshot: &Snapshot) -> Result<Self> {
        let mut figures = Self::default();
        let large = || Error::new(Kind::TooLarge, "the sums of the table's files");
        for file in snapshot.files.iter() {
            let masked = file.deleted_rows();
            figures.bytes = figures.bytes.checked_add(file.bytes()).ok_or_else(large)?;
            figures.masked = figures.masked.checked_add(masked).ok_or_else(large)?;
            figures.vectors += u64::from(file.vector().is_some());
            figures.by_masked[bin(masked)] += 1;
        }
        Ok(figures)
    }
}

fn bin(masked: u64) -> usize {
    const BINS: [u64; 9] = [
        1,
        10,
        100,
        1_000,
        10_000,
        100_000,
        1_000_000,
        10_000_000,
        2_147_483_647,
    ];
    BINS.partition_point(|least| *least <= masked)
}

/// The checksum before; null where it cannot be read, for it only says which bins there are.
async fn before(log: &Log, version: Version) -> Value {
    let Some(before) = version.0.checked_sub(1) else {
        return Value::Null;
    };
    let key = checksum_key(&log.root, Version(before));
    let read = read_optional(&log.store, &key).await.ok().flatten();
    let bytes = read.map(|(_, bytes)| bytes).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Files and bytes by size, in these bins.
fn sizes(snapshot: &Snapshot, bounds: &Value) -> Option<Value> {
    let bins: Option<Vec<u64>> = bounds.as_array()?.iter().map(Value::as_u64).collect();
    let bins = bins?;
    if bins.first() != Some(&0) || !bins.is_sorted() {
        return None;
    }
    let mut counts = vec![0u64; bins.len()];
    let mut totals = vec![0u64; bins.len()];
    for file in snapshot.files.iter() {
        let at = bins.partition_point(|least| *least <= file.bytes()) - 1;
        counts[at] += 1;
        totals[at] = totals[at].checked_add(file.bytes())?;
    }
    Some(json!({
        "sortedBinBoundaries": bins,
        "fileCounts": counts,
        "totalBytes": totals,
    }))
}

#[cfg(test)]
mod tests {
    use super::bin;

    #[test]
    fn rows_masked_fall_into_the_protocols_bins() {
        let cases = [
            (0, 0),
            (1, 1),
            (9, 1),
            (10, 2),
            (999, 3),
            (9_999_999, 7),
            (10_000_000, 8),
            (2_147_483_646, 8),
            (2_147_483_647, 9),
            (u64::MAX, 9),
        ];
        for (masked, right) in cases {
            assert_eq!(bin(masked), right, "{masked}");
        }
    }
}
