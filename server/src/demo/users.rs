//! `users`: accounts upserted every two hours by a job, until somebody deletes the wrong region.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexMap;
use lake::Result;
use lake::table::Time;
use serde_json::json;

use self::rows::{batch, schema_string};
use super::action::{Action, Add, FileKey, Format, Metadata, Protocol, Remove};
use super::commit::Commit;
use super::data::Packing;
use super::metrics::{bytes, written};
use super::people::User;
use super::random::Random;
use super::table::Table;

mod mistakes;
mod rows;
mod upkeep;

const HOUR: i64 = 3_600_000;
const ROWS_PER_FILE: usize = 2_400;
/// Accounts by region: eight in ten are in the US.
const REGIONS: &[(&str, usize)] = &[
    ("US", 33_600),
    ("UK", 4_100),
    ("DE", 2_300),
    ("IN", 1_200),
    ("FR", 800),
];
/// The nightly upsert.
const UPSERT: &str = "job 8812";

/// Writes the table; its newest version is the accident, three hours before `now`.
pub(crate) fn write(root: &Path, now: Time) -> Result<Table> {
    let mut users = Users::new(root, now)?;
    users.create()?;
    for version in 1..48 {
        let at = users.time(version);
        match version {
            5 => users.backfill(at)?,
            9 => users.shorten_retention(at)?,
            14 => users.wrong_update(at)?,
            15 => users.restore(at)?,
            21 => users.optimize(at)?,
            28 => users.vacuum_start(at)?,
            29 => users.vacuum_end(at)?,
            36 => users.erase(at)?,
            _ => users.upsert(at)?,
        }
        if version % 10 == 0 {
            users.table.checkpoint(at)?;
        }
    }
    users.accident()?;
    Ok(users.table)
}

struct Users {
    table: Table,
    random: Random,
    now: Time,
    /// Rows of every file there ever was, by path.
    rows: HashMap<String, Vec<User>>,
    next_id: i64,
    /// The files before the update that is restored.
    good: Option<(u64, IndexMap<FileKey, Add>)>,
    vacuumed: Vec<Remove>,
}

impl Users {
    fn new(root: &Path, now: Time) -> Result<Self> {
        let mut random = Random::new(48);
        let metadata = Metadata {
            id: random.uuid(),
            name: Some("users".to_owned()),
            description: Some("One row an account, upserted by job 8812".to_owned()),
            format: Format::default(),
            schema_string: schema_string(),
            partition_columns: vec!["region".to_owned()],
            configuration: IndexMap::new(),
            created_time: now.0 - 96 * HOUR,
        };
        let seed = Random::new(random.number());
        let mut table = Table::new(root.join("users"), seed, metadata, Protocol::legacy(1, 2))?;
        table.checksums = true;
        Ok(Self {
            table,
            random,
            now,
            rows: HashMap::new(),
            next_id: 10_000,
            good: None,
            vacuumed: Vec::new(),
        })
    }

    /// When a version was committed: about every two hours, never on the minute.
    fn time(&self, version: i64) -> Time {
        if version == 29 {
            return Time(self.time(28).0 + 94_000);
        }
        let jitter = (version * 7_919) % 1_500_000;
        Time(self.now.0 - 99 * HOUR + version * 2 * HOUR + jitter)
    }

    fn create(&mut self) -> Result<()> {
        let at = self.time(0);
        let mut adds = Vec::new();
        for (region, count) in REGIONS {
            let users: Vec<User> = (0..*count).map(|_| self.account(region, at)).collect();
            for chunk in users.chunks(ROWS_PER_FILE) {
                adds.push(self.file(region, chunk.to_vec(), at)?);
            }
        }
        let files = [
            Action::Protocol(self.table.protocol.clone()),
            Action::MetaData(self.table.metadata.clone()),
        ];
        let parameters = json!({
            "partitionBy": "[\"region\"]", "clusterBy": "[]", "description": null,
            "isManaged": "false", "properties": "{}", "statsOnLoad": false,
        });
        let commit = Commit::new(at, "CREATE TABLE AS SELECT", parameters)
            .by("ana@tlp")
            .blind()
            .counting(written(&adds, self.count(&adds)))
            .with(files)
            .with(adds.into_iter().map(Action::Add));
        self.table.commit(commit).map(drop)
    }

    /// MERGE: a few files rewritten with newer rows, and new accounts in a file of their own.
    fn upsert(&mut self, at: Time) -> Result<()> {
        let touched = self.touched();
        let (mut adds, mut removes) = (Vec::new(), Vec::new());
        let (mut updated, mut copied) = (0, 0);
        for old in &touched {
            let mut rows = self.rows.get(&old.path).cloned().unwrap_or_default();
            for user in &mut rows {
                if self.random.per_mille(70) {
                    user.learn(&mut self.random, at.0);
                    updated += 1;
                } else {
                    copied += 1;
                }
            }
            adds.push(self.file(region_of(old), rows, at)?);
            removes.push(old.removed(at.0 - 900, true));
        }
        let mut inserted = 0;
        for (region, count) in REGIONS {
            let count = self.random.below(*count as u64 / 700 + 1) as usize;
            if count > 0 {
                inserted += count;
                let rows = (0..count).map(|_| self.account(region, at)).collect();
                adds.push(self.file(region, rows, at)?);
            }
        }
        let parameters = json!({
            "predicate": "[\"(user_id#12L = user_id#31L)\"]",
            "matchedPredicates":
                "[{\"predicate\":\"(last_seen#40 > last_seen#22)\",\"actionType\":\"update\"}]",
            "notMatchedPredicates": "[{\"actionType\":\"insert\"}]",
            "notMatchedBySourcePredicates": "[]",
        });
        let counted = |n: usize| n.to_string();
        let metrics = json!({
            "numSourceRows": counted(updated + inserted),
            "numTargetRowsInserted": counted(inserted),
            "numTargetRowsUpdated": counted(updated),
            "numTargetRowsMatchedUpdated": counted(updated),
            "numTargetRowsDeleted": "0",
            "numTargetRowsCopied": counted(copied),
            "numOutputRows": counted(updated + inserted + copied),
            "numTargetFilesAdded": counted(adds.len()),
            "numTargetFilesRemoved": counted(removes.len()),
            "numTargetBytesAdded": bytes(adds.iter().map(|a| a.size)),
            "numTargetBytesRemoved": bytes(removes.iter().map(|r| r.size)),
            "numTargetChangeFilesAdded": "0",
            "executionTimeMs": self.random.between(4_000, 9_000).to_string(),
            "scanTimeMs": self.random.between(1_500, 2_500).to_string(),
            "rewriteTimeMs": self.random.between(1_500, 4_000).to_string(),
        });
        let commit = Commit::new(at, "MERGE", parameters)
            .by(UPSERT)
            .counting(metrics)
            .with(adds.into_iter().map(Action::Add))
            .with(removes.into_iter().map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    fn account(&mut self, region: &str, at: Time) -> User {
        self.next_id += 1 + self.random.below(3) as i64;
        User::new(&mut self.random, self.next_id, region, at.0)
    }

    fn file(&mut self, region: &str, rows: Vec<User>, at: Time) -> Result<Add> {
        self.write_file(region, rows, Packing::Written("user_id"), at)
    }

    fn packed(&mut self, region: &str, rows: Vec<User>, at: Time) -> Result<Add> {
        self.write_file(region, rows, Packing::Packed, at)
    }

    fn write_file(
        &mut self,
        region: &str,
        rows: Vec<User>,
        packing: Packing,
        at: Time,
    ) -> Result<Add> {
        let partition = [("region".to_owned(), Some(region.to_owned()))].into();
        let written = Time(at.0 - 1_200);
        let add = self
            .table
            .data_file(&batch(&rows)?, partition, packing, written)?;
        self.rows.insert(add.path.clone(), rows);
        Ok(add)
    }

    fn files_of(&self, region: &str) -> Vec<Add> {
        let live = self.table.live.values();
        live.filter(|f| region_of(f) == region).cloned().collect()
    }

    /// Two files of the US and one of another region, as an upsert by key touches them.
    fn touched(&mut self) -> Vec<Add> {
        let other = self.random.pick(&["UK", "DE", "IN", "FR"]);
        let mut touched = Vec::new();
        for (region, count) in [("US", 2), (other, 1)] {
            let mut files = self.files_of(region);
            for _ in 0..count {
                if !files.is_empty() {
                    let index = self.random.below(files.len() as u64) as usize;
                    touched.push(files.swap_remove(index));
                }
            }
        }
        touched
    }

    fn count(&self, files: &[Add]) -> usize {
        let rows = files.iter().filter_map(|f| self.rows.get(&f.path));
        rows.map(Vec::len).sum()
    }
}

fn region_of(add: &Add) -> &str {
    let region = add.partition_values.get("region");
    region.and_then(Option::as_deref).unwrap_or_default()
}
