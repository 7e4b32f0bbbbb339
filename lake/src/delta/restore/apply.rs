//! A planned restore put into the log, once, and proven.

use bytes::Bytes;
use hashbrown::HashSet;
use serde::Serialize;
use serde_json::Value;

use super::{Restore, arrived, kept};
use crate::delta::action::{Domain, Metadata, Protocol};
use crate::delta::key::Key;
use crate::delta::log::Log;
use crate::delta::snapshot::Snapshot;
use crate::delta::verbatim::{Fields, raw};
use crate::delta::write::{
    Info, Signature, Stands, TRIES, in_commit_timestamps, put_commit, zoneless,
};
use crate::host::SharedHost;
use crate::table::{Time, Version};
use crate::{Error, Kind, Result};

/// One line of the commit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Line<'a> {
    CommitInfo(&'a Info),
    MetaData(&'a Metadata),
    Add(&'a Fields),
    Remove(&'a Fields),
    DomainMetadata(&'a Domain),
    Protocol(&'a Protocol),
}

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
    let version = restore.plan.base_version.next();
    let (body, metadata) = body(restore, version, signature)?;
    match put_commit(log, version, body, &signature.txn_id, host).await? {
        Stands::Ours => {}
        Stands::Theirs => {
            let head = log.head().await?;
            return Err(arrived(log, &head, restore.plan.base_version, host).await);
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
    let mut info = Info::new("RESTORE", "Serializable", plan.base_version, signature);
    if in_commit_timestamps(after) {
        let before = restore.head_time.map_or(0, |t| t.0);
        let at = signature.now.0.max(before.saturating_add(1));
        info.in_commit_timestamp = Some(at);
    }
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
    let mut text = Vec::new();
    let mut line = |line: Line<'_>| -> Result<()> {
        serde_json::to_writer(&mut text, &line).map_err(|e| {
            Error::new(Kind::Internal, "an action that JSON cannot hold").because(e)
        })?;
        text.push(b'\n');
        Ok(())
    };
    line(Line::CommitInfo(&info))?;
    if let Some(metadata) = &metadata {
        line(Line::MetaData(metadata))?;
    }
    for add in &restore.adds {
        line(Line::Add(add))?;
    }
    let deleted = raw(&signature.now.0)?;
    for remove in &restore.removes {
        let mut remove = remove.clone();
        remove.insert("deletionTimestamp".to_owned(), deleted.clone());
        line(Line::Remove(&remove))?;
    }
    for domain in &restore.domains {
        line(Line::DomainMetadata(domain))?;
    }
    if let Some(protocol) = &restore.protocol {
        line(Line::Protocol(protocol))?;
    }
    Ok((Bytes::from(text), metadata))
}

/// Rebuilds the version that was made and compares it with the plan.
async fn prove(
    restore: &Restore,
    version: Version,
    metadata: Option<&Metadata>,
    host: &SharedHost,
) -> Result<Committed> {
    let unproven = |what: String| {
        Error::new(
            Kind::Damaged,
            format!("version {version} was committed, but is not what was planned: {what}"),
        )
    };
    let snapshot = read_back(&restore.log, version, host).await?;
    let mut planned: HashSet<&Key> = restore.after.iter().collect();
    for file in snapshot.files.iter() {
        if !planned.remove(&file.key()) {
            return Err(unproven(format!("`{}` is active", file.raw_path())));
        }
    }
    if !planned.is_empty() {
        return Err(unproven(format!("{} files are not active", planned.len())));
    }
    let expected = metadata.unwrap_or(&restore.head_metadata);
    if snapshot.state.metadata != *expected {
        return Err(unproven("its metaData differs".to_owned()));
    }
    if let Some(protocol) = &restore.protocol
        && snapshot.state.protocol != *protocol
    {
        return Err(unproven("its protocol differs".to_owned()));
    }
    Ok(Committed {
        version,
        files: snapshot.files.len() as u64,
    })
}

/// The version that was made, asked for again while the store does not answer.
async fn read_back(log: &Log, version: Version, host: &SharedHost) -> Result<Snapshot> {
    let mut attempt = 0;
    loop {
        let read = async {
            let head = log.head().await?;
            log.snapshot(&head, version, host).await
        };
        match read.await {
            Ok(snapshot) => return Ok(snapshot),
            Err(error) if error.kind() == Kind::Unreachable && attempt < TRIES => {
                attempt += 1;
                host.wait(50 << attempt).await;
            }
            Err(error) => {
                let what = format!("version {version} was committed, but cannot be read back");
                return Err(Error::new(error.kind(), what).because(error));
            }
        }
    }
}
