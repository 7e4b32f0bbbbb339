//! Names of runs, and the runs that a slot has.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::key::{RUN, partition};
use crate::hours::listing::SlotObjects;
use crate::{Error, Result};

/// Characters of a run's name at most.
const LONGEST: usize = 200;

/// What is kept as it is in the name of a marker's copy.
const SAFE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'+')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// Refuses what cannot be one segment of a key, as it is and decoded.
pub(crate) fn check(run: &str) -> Result<()> {
    // A folder may be named with percent signs: such a run is published under that name if it is
    // listed.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~+=:@%".contains(c);
    let dots = run.chars().all(|c| c == '.');
    if run.is_empty() || dots || run.chars().count() > LONGEST || !run.chars().all(plain) {
        return Err(misnamed(run));
    }
    Ok(())
}

fn misnamed(run: &str) -> Error {
    Error::invalid(format!(
        "`{}` is not the name of a run: letters, digits and -_.~+=:@, at most {LONGEST}; for \
         run_id=20261110T140500Z/ it is 20261110T140500Z",
        run.escape_debug()
    ))
}

/// The key prefix of a run: the one that is listed under just this name, else the only one whose name
/// decodes to it, else the one that it would have. Two that decode to it are an error.
pub(crate) fn prefix(
    dataset: &Dataset,
    slot: Slot,
    objects: &SlotObjects,
    run: &str,
) -> Result<String> {
    let own = format!("{}{RUN}={run}/", dataset.prefix_of(slot));
    if objects.runs.contains_key(&own) {
        return Ok(own);
    }
    let decoded = |prefix: &&String| id(prefix).as_deref() == Some(run);
    let listed: Vec<&String> = objects.runs.keys().filter(decoded).collect();
    match listed.as_slice() {
        [] if run.contains('%') => Err(misnamed(run)),
        [] => Ok(own),
        [prefix] => Ok((*prefix).clone()),
        [one, other, ..] => Err(Error::invalid(format!(
            "two folders are run {run}, {one} and {other}: name one as it is written"
        ))),
    }
}

/// The run of a run's key prefix.
pub(crate) fn id(prefix: &str) -> Option<String> {
    let segment = prefix.trim_end_matches('/').rsplit('/').next()?;
    let (name, value) = partition(segment)?;
    value.filter(|_| name == RUN)
}

/// A run's name as one segment of a key, whatever somebody called it.
pub(crate) fn segment(run: &str) -> String {
    match run.chars().all(|c| c == '.') {
        true => format!("run-{}", run.len()),
        false => utf8_percent_encode(run, SAFE).to_string(),
    }
}
