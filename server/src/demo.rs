//! The sample lake: three tables of TechLearningPro, an online learning company, with the
//! histories that people and jobs leave in them.

use std::fs;
use std::path::{Path, PathBuf};

use lake::table::Time;
use lake::{Error, Kind, Result};

pub mod action;
pub mod checkpoint;
mod completion;
mod people;
mod progress;
pub mod random;
mod stats;
pub mod table;
mod users;
pub mod vector;

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Folder of the one zone.
    pub zone: PathBuf,
    /// Tables below the zone, in the order in which they were written.
    pub tables: Vec<WrittenTable>,
}

/// One table of the sample lake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTable {
    /// Folder below the zone.
    pub name: &'static str,
    /// The newest version.
    pub latest: u64,
    /// Active files of the newest version.
    pub files: usize,
}

/// Writes the sample lake into `dir`, which must be empty or not exist. Everything but times is
/// the same in every run; the newest commits lie shortly before `now`.
pub fn write(dir: &Path, now: Time) -> Result<Written> {
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = "the folder for the sample lake is not empty: name another one";
        return Err(Error::invalid(message).at("key", dir.display()));
    }
    let zone = dir.join("curated");
    fs::create_dir_all(&zone).map_err(|e| {
        Error::new(Kind::Unreachable, "the folder was not made")
            .at("key", zone.display())
            .because(e)
    })?;
    let mut tables = Vec::new();
    let mut note = |name, table: table::Table| {
        tables.push(WrittenTable {
            name,
            latest: table.next.saturating_sub(1),
            files: table.live.len(),
        });
    };
    note("users", users::write(&zone, now)?);
    note("completion", completion::write(&zone, now)?);
    note("progress_stream", progress::write(&zone, now)?);
    Ok(Written { zone, tables })
}
