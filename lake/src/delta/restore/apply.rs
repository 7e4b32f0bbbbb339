//! A planned restore put into the log, once, and proven.

use bytes::Bytes;
use serde_json::Value;

use super::{Restore, kept};
use crate::delta::action::Metadata;
use crate::delta::write::{
    Body, Info, Line, Signature, Stands, arrived, prove_files, put_commit, read_back, unproven,
    zoneless,
};
use crate::host::SharedHost;
use crate::table::{Time, Version};
use crate::{Error, Kind, Result};

/// What stands in the log now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The version that was made.
    pub version: Version,
    /// Its active files, each of which the plan named.
    pub files: u64,
}

/// Commits a plan: one attempt at the version after its base.
///
/// [`Kind::Conflict`] where somebody committed first, even a commit without files; the table is as
/// they left it. After a commit the new version is rebuilt from the log and compared with the plan,
/// and only then is it success.
pub async fn apply(
    restore: &Restore,
    signature: &Signature,
    host: &SharedHost,
) -> Result<Committed> {
    if let Some(why) = &restore.plan.refused {
        return Err(Error::new(Kind::Invalid, why.clone()));
    }
    let log = &restore.log;
    let version = restore.plan.base().next();
    let (body, metadata) = body(restore, version, signature)?;
    match put_commit(log, version, body, &signature.txn_id, host).await? {
        Stands::Ours => {}
        Stands::Theirs => {
            let head = log.head().await?;
            return Err(arrived(log, &head, restore.plan.base(), host).await);
        }
    }
    prove(restore, version, metadata.as_ref(), host).await
}

/// The commit's bytes, and the metaData in it.
fn body(
    restore: &Restore,
    version: Version,
    signature: &Signature,
) -> Result<(Bytes, Option<Metadata>)> {
    let plan = &restore.plan;
    let after = restore.metadata.as_ref().unwrap_or(&restore.head_metadata);
    let mut info = Info::new("RESTORE", "Serializable", plan.base(), signature);
    info.stamp(after, restore.head_time);
    match restore.by_time {
        Some(time) => {
            info.parameter("version", Value::Null);
            info.parameter("timestamp", zoneless(time));
        }
        None => {
            info.parameter("version", plan.target_version.map(|v| v.0));
            info.parameter("timestamp", Value::Null);
        }
    }
    info.metric("numRestoredFiles", restore.adds.len() as u64);
    info.metric("restoredFilesSize", plan.bytes_to_add);
    info.metric("numRemovedFiles", restore.removes.len() as u64);
    info.metric("removedFilesSize", plan.bytes_to_remove);
    info.metric("numOfFilesAfterRestore", restore.after.len() as u64);
    info.metric("tableSizeAfterRestore", restore.bytes_after);

    let mut metadata = restore.metadata.clone();
    if let (Some(metadata), Some(at)) = (&mut metadata, info.in_commit_timestamp) {
        kept::enable(metadata, &restore.head_metadata, version, Time(at));
    }
    let mut body = Body::new(&info)?;
    if let Some(metadata) = &metadata {
        body.push(&Line::MetaData(metadata))?;
    }
    for add in &restore.adds {
        body.push(&Line::Add(add))?;
    }
    body.push_removes(&restore.removes, signature.now)?;
    for domain in &restore.domains {
        body.push(&Line::DomainMetadata(domain))?;
    }
    if let Some(protocol) = &restore.protocol {
        body.push(&Line::Protocol(protocol))?;
    }
    Ok((body.finish(), metadata))
}

/// Rebuilds the version that was made and compares it with the plan.
async fn prove(
    restore: &Restore,
    version: Version,
    metadata: Option<&Metadata>,
    host: &SharedHost,
) -> Result<Committed> {
    let snapshot = read_back(&restore.log, version, host).await?;
    prove_files(&snapshot, &restore.after)?;
    let expected = metadata.unwrap_or(&restore.head_metadata);
    if snapshot.state.metadata != *expected {
        return Err(unproven(version, "its metaData differs"));
    }
    if let Some(protocol) = &restore.protocol
        && snapshot.state.protocol != *protocol
    {
        return Err(unproven(version, "its protocol differs"));
    }
    Ok(Committed {
        version,
        files: snapshot.files.len() as u64,
    })
}
