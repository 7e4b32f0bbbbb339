//! `VACUUM START` and `VACUUM END`: commits that change nothing and tell others what goes on.

use bytes::Bytes;
use serde_json::Value;

use super::{Vacuum, plan};
use crate::delta::action::Metadata;
use crate::delta::log::Log;
use crate::delta::write::{Body, Digest, Info, Signature, Stands, TRIES, put_commit, refusal};
use crate::host::SharedHost;
use crate::table::{Time, Version};
use crate::{Error, Kind, Result};

/// Heads that a commit is tried on at most, while others keep committing.
const ROUNDS: u32 = 2_000;

/// Heads at which all is looked at anew before the start is tried on them. A table that is committed
/// to faster than it can be looked through is looked at once, after the start.
const LOOKED: u32 = 3;

const ISOLATION: &str = "SnapshotIsolation";

/// What came of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct End {
    pub(super) deleted: u64,
    pub(super) folders: u64,
    pub(super) completed: bool,
}

/// Commits the start: its version, and the plan made again where somebody else was first, so that
/// only what that version leaves unreferenced goes. The start reads nothing that others change, so it
/// comes after whatever they commit.
pub(super) async fn start(
    vacuum: &Vacuum,
    signature: &Signature,
    host: &SharedHost,
) -> Result<(Version, Result<Option<Vacuum>>)> {
    let mut again: Option<Vacuum> = None;
    for _ in 0..LOOKED {
        let at = again.as_ref().unwrap_or(vacuum);
        let version = at.plan.base().next();
        let body = start_body(at, &Head::of(at), signature)?;
        match put_commit(&at.log(), version, body, &signature.txn_id, host).await? {
            Stands::Ours => return Ok((version, Ok(again))),
            Stands::Theirs => {}
        }
        let mut next = plan(&vacuum.root, &vacuum.request, vacuum.store_time, host).await?;
        next.restrict(vacuum.objects());
        if let Some(why) = next.plan.refused {
            let what = format!("somebody committed first, and now it is refused: {why}");
            return Err(Error::new(Kind::Conflict, what));
        }
        again = Some(next);
    }
    let at = again.as_ref().unwrap_or(vacuum);
    let log = vacuum.log();
    for round in 0..ROUNDS {
        let state = {
            let head = log.head().await?;
            log.state(&head, head.latest, host).await?
        };
        if let Some(why) = refusal(&state.protocol, &state.metadata, false) {
            return Err(Error::unsupported(why));
        }
        let version = state.version.next();
        let head = Head {
            version: state.version,
            metadata: state.metadata,
            time: state.timestamp,
        };
        let body = start_body(at, &head, signature)?;
        match put_commit(&log, version, body, &signature.txn_id, host).await? {
            Stands::Ours => {
                let next = plan(&vacuum.root, &vacuum.request, vacuum.store_time, host).await;
                let next = next.map(|mut next| {
                    next.restrict(vacuum.objects());
                    Some(next)
                });
                return Ok((version, next));
            }
            Stands::Theirs => host.wait(u64::from(round.min(50))).await,
        }
    }
    Err(busy())
}

/// The version that a commit follows.
struct Head {
    version: Version,
    metadata: Metadata,
    time: Option<Time>,
}

impl Head {
    /// The version that was planned at.
    fn of(vacuum: &Vacuum) -> Self {
        Self {
            version: vacuum.plan.base(),
            metadata: vacuum.metadata.clone(),
            time: vacuum.head_time,
        }
    }
}

fn busy() -> Error {
    Error::new(
        Kind::Conflict,
        format!("others committed first, {ROUNDS} times"),
    )
}

fn start_body(vacuum: &Vacuum, head: &Head, signature: &Signature) -> Result<Bytes> {
    let plan = &vacuum.plan;
    let mut info = info("VACUUM START", head.version, signature);
    info.stamp(&head.metadata, head.time);
    let table = plan.vacuum.as_ref().map(|detail| detail.table_retention_ms);
    info.parameter("retentionCheckEnabled", !vacuum.request.allow_short);
    info.parameter("defaultRetentionMillis", table);
    if let Some(retain) = vacuum.request.retain {
        info.parameter("specifiedRetentionMillis", retain);
    }
    info.metric("numFilesToDelete", plan.files_to_delete);
    info.metric("sizeOfDataToDelete", plan.bytes_to_delete);
    Ok(Body::new(&info)?.finish())
}

/// Commits the end after whatever others committed meanwhile.
pub(super) async fn end(
    log: &Log,
    signature: &Signature,
    end: End,
    host: &SharedHost,
) -> Result<Version> {
    let signature = Signature {
        txn_id: end_id(&signature.txn_id)?,
        ..signature.clone()
    };
    let mut failed = 0;
    for round in 0..ROUNDS {
        let read = async {
            let head = log.head().await?;
            log.state(&head, head.latest, host).await
        };
        let state = match read.await {
            Ok(state) => state,
            Err(error) if error.kind() == Kind::Unreachable && failed < TRIES => {
                failed += 1;
                host.wait(50 << failed).await;
                continue;
            }
            Err(error) => return Err(error),
        };
        if let Some(why) = refusal(&state.protocol, &state.metadata, false) {
            return Err(Error::unsupported(why));
        }
        let mut info = info("VACUUM END", state.version, &signature);
        info.stamp(&state.metadata, state.timestamp);
        info.parameter(
            "status",
            match end.completed {
                true => "COMPLETED",
                false => "FAILED",
            },
        );
        info.metric("numDeletedFiles", end.deleted);
        info.metric("numVacuumedDirectories", end.folders);
        let (version, body) = (state.version.next(), Body::new(&info)?.finish());
        match put_commit(log, version, body, &signature.txn_id, host).await? {
            Stands::Ours => return Ok(version),
            Stands::Theirs => host.wait(u64::from(round.min(50))).await,
        }
    }
    Err(busy())
}

fn info(operation: &'static str, read: Version, signature: &Signature) -> Info {
    let mut info = Info::new(operation, ISOLATION, read, signature);
    info.is_blind_append = true;
    info
}

/// The id of the end's commit: another one than the start's, and the same whenever it is tried.
fn end_id(start: &str) -> Result<String> {
    let mut digest = Digest::default();
    digest.take(&Value::from(format!("VACUUM END {start}")))?;
    let hex = digest.finish();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    // A uuid of version 8: made by a rule of one's own.
    Ok(format!(
        "{}-{}-8{}-8{}-{}",
        part(0, 8),
        part(8, 12),
        part(13, 16),
        part(17, 20),
        part(20, 32)
    ))
}
