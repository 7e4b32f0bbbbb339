//! A checkpoint of a version: everything the log holds of it, in one file or in sidecars (PROTOCOL,
//! "Checkpoints").

use hashbrown::DefaultHashBuilder;
use object_store::PutPayload;
use serde_json::{Value, json};

use super::files::{Files, Sidecar, Unfit, create, modified};
use super::tally::Tally;
use super::{base, commits, forgotten_before, hint, other, typed};
use crate::delta::action::Metadata;
use crate::delta::log::{Head, Log};
use crate::delta::path::log_key;
use crate::delta::snapshot::Snapshot;
use crate::delta::write::columns::{Columns, Stated};
use crate::host::SharedHost;
use crate::table::Time;
use crate::{Error, Kind, Result};

/// How long removed files are remembered where a table does not say: a week.
const REMEMBERED: i64 = 7 * 24 * 3_600_000;

/// Actions and sidecars that the hint repeats at most, as Spark has it.
const REPEATED: usize = 30;

/// A checkpoint's figures, which the hint repeats.
struct Written {
    /// Actions in all.
    actions: u64,
    /// Bytes in all.
    bytes: u64,
    /// Active files.
    files: u64,
    /// What the hint says of a V2 checkpoint.
    v2: Option<Value>,
}

/// Writes a checkpoint and names it. Where there is one of this version, nothing is to be done.
pub(super) async fn write(
    log: &Log,
    head: &Head,
    snapshot: &Snapshot,
    now: Time,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let state = &snapshot.state;
    let version = state.version;
    if state.checkpoint == Some(version) {
        return Ok(());
    }
    let metadata = &state.metadata;
    let mut forgotten = |name, default| forgotten_before(metadata, name, default, now, warnings);
    let removed = forgotten("delta.deletedFileRetentionDuration", Some(REMEMBERED));
    let transactions = forgotten("delta.setTransactionRetentionDuration", None);
    let other = other::other_actions(state, transactions);
    let columns = match is_v2(snapshot) {
        true => Columns::Sidecar,
        false => Columns::Classic,
    };
    let hasher = DefaultHashBuilder::default();
    let mut stated = stated(snapshot);
    let files = loop {
        let removed = removed.unwrap_or(i64::MIN);
        let mut files = Files::new(log, &hasher, columns, stated.clone(), removed, now);
        match gather(log, head, snapshot, &mut files, ids, host).await {
            Ok(()) => break files,
            Err(error) => {
                let unfit = files.unfit;
                files.abandon().await;
                match unfit {
                    // The table asked for columns alone, but nothing is lost for that.
                    Some(Unfit::Stats) if !stated.text => stated.text = true,
                    Some(Unfit::Partition) if stated.partition.is_some() => stated.partition = None,
                    _ => return Err(error),
                }
            }
        }
    };
    let written = match columns {
        Columns::Sidecar => put_v2(log, snapshot, files, &other, ids, now).await?,
        _ => match put_classic(log, snapshot, files, &other).await? {
            Some(written) => written,
            None => return Ok(()),
        },
    };
    let mut named = json!({
        "version": version.0,
        "size": written.actions,
        "sizeInBytes": written.bytes,
        "numOfAddFiles": written.files,
    });
    if let Some(v2) = written.v2 {
        named["v2Checkpoint"] = v2;
    }
    if let Err(error) = hint::point(log, version, &named).await {
        warnings.push(format!(
            "the checkpoint of version {version} was written, but _last_checkpoint does not name it: {error}"
        ));
    }
    Ok(())
}

/// Whether the table asks for V2 checkpoints and may have them.
fn is_v2(snapshot: &Snapshot) -> bool {
    let state = &snapshot.state;
    let policy = state.metadata.configuration.get("delta.checkpointPolicy");
    let features = &state.protocol.writer_features;
    policy.is_some_and(|policy| policy == "v2") && features.iter().any(|f| f == "v2Checkpoint")
}

/// How adds state their statistics. A table that wants them neither way gets them as text, for
/// rows are counted by them.
fn stated(snapshot: &Snapshot) -> Stated {
    let state = &snapshot.state;
    let is = |metadata: &Metadata, name: &str, value: &str| {
        let set = metadata.configuration.get(name);
        set.is_some_and(|set| set.eq_ignore_ascii_case(value))
    };
    let metadata = &state.metadata;
    if !is(metadata, "delta.checkpoint.writeStatsAsStruct", "true") {
        return Stated::TEXT;
    }
    Stated {
        text: !is(metadata, "delta.checkpoint.writeStatsAsJson", "false"),
        stats: Some(typed::stats_fields(metadata, &state.schema)),
        partition: typed::partition_fields(metadata, &state.schema),
    }
}

/// Takes every file action of the version, and makes sure that they were all and no others.
async fn gather(
    log: &Log,
    head: &Head,
    snapshot: &Snapshot,
    files: &mut Files<'_>,
    ids: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Result<()> {
    commits::take_commits(log, head, &snapshot.state, files, ids, host).await?;
    base::take_base(log, head, snapshot, files, ids, host).await?;
    let right = Tally::of(snapshot, files.hasher);
    if files.tally != right {
        let what = format!(
            "its files are not those of the version: {} and {}",
            files.tally.files, right.files
        );
        return Err(Error::new(Kind::Internal, what));
    }
    Ok(())
}

/// Puts a checkpoint in one file; `None` where another writer's stands there.
async fn put_classic(
    log: &Log,
    snapshot: &Snapshot,
    files: Files<'_>,
    other: &[Value],
) -> Result<Option<Written>> {
    let name = format!("{:020}.checkpoint.parquet", snapshot.state.version.0);
    let key = log_key(&log.root, &name);
    let actions = files.actions + other.len() as u64;
    let active = files.tally.files;
    let payload = files.finish(other)?.payload();
    let bytes = payload.content_length() as u64;
    let ours = create(log, &key, payload).await?;
    Ok(ours.then_some(Written {
        actions,
        bytes,
        files: active,
        v2: None,
    }))
}

/// Puts what is left of the sidecars, and the file that names them all.
async fn put_v2(
    log: &Log,
    snapshot: &Snapshot,
    mut files: Files<'_>,
    other: &[Value],
    ids: &mut (dyn FnMut() -> String + Send),
    now: Time,
) -> Result<Written> {
    let version = snapshot.state.version;
    if let Err(error) = files.put_sidecar(ids).await {
        files.abandon().await;
        return Err(error);
    }
    let sidecars = &files.sidecars;
    let metadata = json!({ "checkpointMetadata": { "version": version.0 } });
    let mut lines = vec![metadata.to_string()];
    lines.extend(sidecars.iter().map(|s| json!({ "sidecar": s }).to_string()));
    lines.extend(other.iter().map(Value::to_string));
    let upper = lines.join("\n") + "\n";
    let name = format!("{:020}.checkpoint.{}.json", version.0, ids());
    let key = log_key(&log.root, &name);
    let size = upper.len() as u64;
    if !create(log, &key, PutPayload::from(upper)).await? {
        let taken = "a name that nobody else can have is taken";
        return Err(Error::new(Kind::Internal, taken).at("key", &key));
    }
    let mut v2 = json!({
        "path": name,
        "sizeInBytes": size,
        "modificationTime": modified(log, &key).await.unwrap_or(now).0,
    });
    if other.len() < REPEATED {
        let repeated: Vec<&Value> = other.iter().chain([&metadata]).collect();
        v2["nonFileActions"] = json!(repeated);
    }
    if sidecars.len() <= REPEATED {
        v2["sidecarFiles"] = json!(sidecars);
    }
    let of_sidecars = |sum: u64, s: &Sidecar| sum.saturating_add(s.size_in_bytes);
    Ok(Written {
        actions: files.actions + lines.len() as u64,
        bytes: sidecars.iter().fold(size, of_sidecars),
        files: files.tally.files,
        v2: Some(v2),
    })
}
