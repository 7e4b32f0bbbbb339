//! New files put into the log, once, and proven.

use hashbrown::HashSet;

use super::Optimize;
use super::body::body;
use super::conflict::rebase;
use super::rewrite::{Rewritten, rewrite};
use crate::delta::key::{Key, key};
use crate::delta::presence::gone;
use crate::delta::snapshot::Snapshot;
use crate::delta::write::{Signature, Stands, prove_files, put_commit, read_back, unproven};
use crate::host::SharedHost;
use crate::table::Version;
use crate::{Error, Kind, Result};

/// Heads that a commit is tried after.
const ROUNDS: u32 = 20;

/// What stands in the log now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The version that was made.
    pub version: Version,
    /// Its active files, each of which was to be expected.
    pub files: u64,
    /// Times that the commit was tried.
    pub attempts: u32,
}

/// Carries a plan out: [`rewrite`], then [`commit`].
pub async fn apply(
    optimize: &Optimize,
    signature: &Signature,
    names: &mut (dyn FnMut() -> String + Send),
    host: &SharedHost,
) -> Result<Committed> {
    let rewritten = rewrite(optimize, &signature.engine, names, host).await?;
    commit(optimize, rewritten, signature, host).await
}

/// Commits new files in the place of those that they were made of.
///
/// Where others committed meanwhile it is done after them, as long as every file that was packed is
/// still there as it was and the table is the same; else it is [`Kind::Conflict`], and the new files
/// are deleted. They are kept only where nobody knows whether the commit was made. After it the new
/// version is rebuilt from the log and compared with what should be, and only then is it success.
pub async fn commit(
    optimize: &Optimize,
    rewritten: Rewritten,
    signature: &Signature,
    host: &SharedHost,
) -> Result<Committed> {
    let log = &optimize.log;
    if host.cancelled() {
        let stopped = "stopped before anything was committed: the table is as it was";
        let why = Error::new(Kind::Cancelled, stopped);
        return Err(rewritten.discard(&log.store, why).await);
    }
    let mut moved: Option<Snapshot> = None;
    for attempts in 1..=ROUNDS {
        let base = moved.as_ref().unwrap_or(&optimize.base);
        let version = base.state.version.next();
        if let Err(error) = still_there(optimize, &rewritten, host).await {
            return Err(rewritten.discard(&log.store, error).await);
        }
        let put = match body(optimize, &rewritten, &base.state, version, signature) {
            Ok(body) => put_commit(log, version, body, &signature.txn_id, host).await,
            Err(error) => return Err(rewritten.discard(&log.store, error).await),
        };
        match put {
            Ok(Stands::Ours) => {
                let files = prove(optimize, &rewritten, base, version, host).await?;
                return Ok(Committed {
                    version,
                    files,
                    attempts,
                });
            }
            Ok(Stands::Theirs) => match rebase(optimize, host).await {
                Ok(snapshot) => moved = Some(snapshot),
                Err(error) => return Err(rewritten.discard(&log.store, error).await),
            },
            // The commit may have been made, or may yet arrive: the files stay.
            Err(error) if matches!(error.kind(), Kind::Unreachable | Kind::Damaged) => {
                return Err(error);
            }
            Err(error) => return Err(rewritten.discard(&log.store, error).await),
        }
    }
    let error = Error::new(
        Kind::Conflict,
        format!("somebody else committed first {ROUNDS} times; nothing was committed"),
    );
    Err(rewritten.discard(&log.store, error).await)
}

/// The new files, which no version names yet: a vacuum takes them for leftovers, and one that keeps
/// nothing may have deleted them.
async fn still_there(optimize: &Optimize, rewritten: &Rewritten, host: &SharedHost) -> Result<()> {
    let gone = gone(&optimize.log.store, rewritten.keys(), host).await?;
    match gone.first() {
        None => Ok(()),
        Some(key) => Err(Error::new(
            Kind::Conflict,
            "a new file was deleted by somebody else before its commit; nothing was committed",
        )
        .at("key", key)),
    }
}

/// Rebuilds the version that was made and compares it with what should be; how many files it has.
async fn prove(
    optimize: &Optimize,
    rewritten: &Rewritten,
    base: &Snapshot,
    version: Version,
    host: &SharedHost,
) -> Result<u64> {
    let snapshot = read_back(&optimize.log, version, host).await?;
    let inputs = optimize.bins.iter().flat_map(|bin| &bin.inputs);
    let packed: HashSet<&Key> = inputs.map(|input| &input.key).collect();
    let kept = base
        .files
        .iter()
        .map(|f| f.key())
        .filter(|k| !packed.contains(k));
    let new = rewritten
        .files
        .iter()
        .flatten()
        .map(|file| key(&file.raw_path, None));
    let expected: Vec<Key> = kept.chain(new).collect();
    prove_files(&snapshot, &expected)?;
    if snapshot.state.metadata != base.state.metadata
        || snapshot.state.protocol != base.state.protocol
    {
        return Err(unproven(version, "its metaData or protocol differs"));
    }
    match gone(&optimize.log.store, rewritten.keys(), host).await {
        Ok(gone) => {
            if let Some(key) = gone.first() {
                let what = "a new file is gone: restore the version before it";
                return Err(unproven(version, what).at("key", key));
            }
        }
        Err(error) => {
            let what =
                format!("version {version} was committed, and nobody could look for its new files");
            return Err(error.within(what));
        }
    }
    // A file that was packed may not have said how many rows it had; the new one does.
    if let (Some(before), Some(after)) = (rows(base), rows(&snapshot))
        && before != after
    {
        return Err(unproven(
            version,
            &format!("it has {after} rows, and the one before it {before}"),
        ));
    }
    Ok(snapshot.files.len() as u64)
}

fn rows(snapshot: &Snapshot) -> Option<u64> {
    let mut files = snapshot.files.iter();
    files.try_fold(0u64, |sum, file| sum.checked_add(file.rows()?))
}
