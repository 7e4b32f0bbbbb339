//! The sample lake of TechLearningPro, an online learning company: three tables with the histories
//! that people and jobs leave in them, and datasets of hours in every state.

use std::fs;
use std::path::{Path, PathBuf};

use lake::table::Time;
use lake::{Error, Kind, Result};

use crate::config::Config;

pub mod action;
pub mod checkpoint;
pub mod commit;
mod completion;
mod config;
mod data;
mod hours;
mod metrics;
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
    /// Folder of the zone with the tables.
    pub zone: PathBuf,
    /// Tables below that zone, in the order in which they were written.
    pub tables: Vec<WrittenTable>,
    /// Text of the lake's `tidemark.toml`, which belongs into the folder that was written into.
    pub configuration: String,
    /// Names of the datasets.
    pub datasets: Vec<String>,
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

/// Writes the sample lake into `dir`, which must be empty or not exist. Everything but times, and
/// the URLs that markers name, is the same in every run; the newest commits lie shortly before
/// `now`.
pub fn write(dir: &Path, now: Time) -> Result<Written> {
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = "the folder for the sample lake is not empty: name another one";
        return Err(Error::invalid(message).at("key", dir.display()));
    }
    let unmade = |e: std::io::Error| {
        Error::new(Kind::Unreachable, "the folder was not made")
            .at("key", dir.display())
            .because(e)
    };
    for folder in ["curated", "tlp-landing", "tlp-raw", "tlp-conformed"] {
        fs::create_dir_all(dir.join(folder)).map_err(unmade)?;
    }
    let zone = dir.join("curated");
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
    let real = dir.canonicalize().map_err(unmade)?;
    let configuration = config::configuration(&real, &tables, now)?;
    let file = real.join("tidemark.toml");
    let config = Config::parse(&file.display().to_string(), &configuration, &|_| None)?;
    hours::write(&real, &config, now)?;
    Ok(Written {
        zone,
        tables,
        configuration,
        datasets: config.datasets.into_iter().map(|d| d.name).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, UNIX_EPOCH};

    use serde_json::Value;

    use super::*;

    /// Sunday, 1 March 2026, 20 minutes past midnight: the hour in which clocks go wrong.
    const NOW: Time = Time(1_772_324_400_000);

    fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![dir.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let key = path.strip_prefix(dir).unwrap().to_owned();
                    found.insert(key, fs::read(path).unwrap());
                }
            }
        }
        found
    }

    fn actions(bytes: &[u8]) -> Vec<Value> {
        let text = std::str::from_utf8(bytes).unwrap();
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    }

    #[test]
    fn is_small_the_same_every_time_and_never_overwritten() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(one.path(), NOW).unwrap();
        write(two.path(), NOW).unwrap();
        let first = files(one.path());
        let bytes: usize = first.values().map(Vec::len).sum();
        assert!(bytes < 50 << 20, "{bytes} bytes");
        // Markers name URLs, and those the folder.
        let placed = |dir: &Path, files: BTreeMap<PathBuf, Vec<u8>>| {
            let real = dir.canonicalize().unwrap().display().to_string();
            let files = files.into_iter().map(|(key, bytes)| {
                let marker = key.iter().any(|part| part == "_markers");
                let text = marker.then(|| String::from_utf8(bytes.clone()).unwrap());
                (key, text.map_or(bytes, |t| t.replace(&real, "").into()))
            });
            files.collect::<BTreeMap<_, _>>()
        };
        assert!(placed(one.path(), first) == placed(two.path(), files(two.path())));

        let error = write(one.path(), NOW).unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid);
    }

    #[test]
    fn commits_have_the_times_that_they_state() {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), NOW).unwrap();
        for table in written.tables {
            let log = written.zone.join(table.name).join("_delta_log");
            let mut before = 0;
            for version in 0..=table.latest {
                let path = log.join(format!("{version:020}.json"));
                let info = actions(&fs::read(&path).unwrap()).swap_remove(0);
                let stated = info["commitInfo"]["timestamp"].as_i64().unwrap();
                let modified = fs::metadata(&path).unwrap().modified().unwrap();
                assert_eq!(modified, UNIX_EPOCH + Duration::from_millis(stated as u64));
                assert!(before < stated && stated < NOW.0, "{path:?}");
                before = stated;
            }
        }
    }

    #[test]
    fn the_last_commit_of_users_deleted_four_rows_of_five() {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), NOW).unwrap();
        let log = written.zone.join("users/_delta_log");
        let rows = |action: &Value| {
            let stats: Value = serde_json::from_str(action["stats"].as_str().unwrap()).unwrap();
            stats["numRecords"].as_u64().unwrap()
        };
        let before = fs::read(log.join("00000000000000000047.crc")).unwrap();
        let before = &actions(&before)[0];
        let before: u64 = before["allFiles"]
            .as_array()
            .unwrap()
            .iter()
            .map(rows)
            .sum();
        let accident = actions(&fs::read(log.join("00000000000000000048.json")).unwrap());
        let info = &accident[0]["commitInfo"];
        assert_eq!(
            info["operationParameters"]["predicate"],
            "[\"(region#1 = US)\"]"
        );
        let removes: Vec<&Value> = accident[1..].iter().map(|a| &a["remove"]).collect();
        assert!(
            removes
                .iter()
                .all(|r| r["partitionValues"]["region"] == "US")
        );
        let removed: u64 = removes.into_iter().map(rows).sum();
        let share = removed as f64 / before as f64;
        assert!((0.78..0.82).contains(&share), "{share}");
        assert_eq!(
            info["operationMetrics"]["numDeletedRows"],
            removed.to_string()
        );
    }
}
