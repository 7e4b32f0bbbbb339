//! What was committed, read back and compared with the plan. Only then is an act done.

use hashbrown::HashSet;

use super::TRIES;
use crate::delta::key::Key;
use crate::delta::log::Log;
use crate::delta::snapshot::Snapshot;
use crate::host::SharedHost;
use crate::table::Version;
use crate::{Error, Kind, Result};

/// The version that was made, asked for again while the store does not answer.
pub(crate) async fn read_back(log: &Log, version: Version, host: &SharedHost) -> Result<Snapshot> {
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

/// Whether the active files of a version that was made are those that the plan named.
pub(crate) fn prove_files<'a>(
    snapshot: &Snapshot,
    planned: impl IntoIterator<Item = &'a Key>,
) -> Result<()> {
    let version = snapshot.state.version;
    let mut planned: HashSet<&Key> = planned.into_iter().collect();
    for file in snapshot.files.iter() {
        if !planned.remove(&file.key()) {
            return Err(unproven(
                version,
                &format!("`{}` is active", file.raw_path()),
            ));
        }
    }
    match planned.len() {
        0 => Ok(()),
        n => Err(unproven(version, &format!("{n} files are not active"))),
    }
}

/// What was committed is not what was planned.
pub(crate) fn unproven(version: Version, what: &str) -> Error {
    Error::new(
        Kind::Damaged,
        format!("version {version} was committed, but is not what was planned: {what}"),
    )
}
