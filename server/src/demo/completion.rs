//! `completion`: the curated mart of finished lessons, restated by day when its definition
//! changes, on a table whose features grow over its life.

use std::path::Path;

use indexmap::IndexMap;
use lake::Result;
use lake::table::Time;
use serde_json::json;

use self::attempts::{Attempt, Shape};
use super::action::{Action, Add, Format, Metadata, Protocol};
use super::commit::Commit;
use super::data::Packing;
use super::metrics::written;
use super::random::Random;
use super::stats::date_text;
use super::table::Table;

mod attempts;
mod evolution;
mod vectors;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Days that the mart covers.
const DAYS: i64 = 12;
const LOADER: &str = "job 7731";

/// Writes the table, one day a night, the last one this morning.
pub(crate) fn write(root: &Path, now: Time) -> Result<Table> {
    let mut mart = Mart::new(root, now)?;
    mart.create()?;
    for day in 0..6 {
        mart.load(day)?;
    }
    mart.map_columns()?;
    mart.add_time_spent()?;
    mart.rename_score()?;
    mart.load(6)?;
    mart.enable_vectors_and_widening()?;
    mart.widen_attempts()?;
    mart.load(7)?;
    mart.definition = "completion-v3";
    for day in 0..6 {
        mart.restate(day)?;
    }
    mart.state_definition()?;
    mart.forget_learners(&[3, 7])?;
    mart.load(8)?;
    mart.forget_learners(&[11])?;
    mart.enable_in_commit_timestamps()?;
    mart.load(9)?;
    mart.enable_change_data()?;
    mart.correct_score(9)?;
    mart.load(10)?;
    mart.restate(6)?;
    mart.keep_log_longer()?;
    mart.load(11)?;
    Ok(mart.table)
}

struct Mart {
    table: Table,
    random: Random,
    now: Time,
    at: Time,
    definition: &'static str,
    shape: Shape,
    features: Vec<&'static str>,
    /// Rows of every file, by path.
    rows: IndexMap<String, Vec<Attempt>>,
}

impl Mart {
    fn new(root: &Path, now: Time) -> Result<Self> {
        let mut random = Random::new(7_731);
        let at = Time(now.0 - DAYS * DAY - 9 * HOUR);
        let shape = Shape::default();
        let metadata = Metadata {
            id: random.uuid(),
            name: Some("completion".to_owned()),
            description: Some("Finished lessons by learner, lesson and attempt".to_owned()),
            format: Format::default(),
            schema_string: shape.schema_string(),
            partition_columns: vec!["completion_date".to_owned()],
            configuration: IndexMap::new(),
            created_time: at.0,
        };
        let seed = Random::new(random.number());
        let root = root.join("completion");
        let table = Table::new(root, seed, metadata, Protocol::legacy(1, 2))?;
        Ok(Self {
            table,
            random,
            now,
            at,
            definition: "completion-v2",
            shape,
            features: Vec::new(),
            rows: IndexMap::new(),
        })
    }

    /// The instant of the next commit, some minutes after the last one.
    fn later(&mut self, minutes: i64) -> Time {
        self.at = Time(self.at.0 + minutes * 60_000 + self.random.between(1_000, 59_000));
        self.at
    }

    fn create(&mut self) -> Result<()> {
        let parameters = json!({
            "partitionBy": "[\"completion_date\"]", "clusterBy": "[]",
            "description": "Finished lessons by learner, lesson and attempt",
            "isManaged": "false", "properties": "{}",
        });
        let commit = Commit::new(self.at, "CREATE TABLE", parameters)
            .by("ana@tlp")
            .blind()
            .with([
                Action::Protocol(self.table.protocol.clone()),
                Action::MetaData(self.table.metadata.clone()),
            ]);
        self.table.commit(commit).map(drop)
    }

    /// The night's load of a day.
    fn load(&mut self, day: i64) -> Result<()> {
        // Loads run half past two at night, or as early as the clock allows this morning.
        let today = self.now.0 / DAY * DAY;
        let night = (150 * 60_000).min((self.now.0 - today) / 2);
        let due = today - (DAYS - 1 - day) * DAY + night;
        self.at = Time(due.max(self.at.0 + 60_000));
        let at = self.later(0);
        let adds = self.day_files(day, at)?;
        let rows = self.count(&adds);
        let commit = Commit::new(at, "WRITE", json!({"mode": "Append", "partitionBy": "[]"}))
            .by(LOADER)
            .blind()
            .counting(written(&adds, rows))
            .with(adds.into_iter().map(Action::Add));
        self.commit(commit)
    }

    /// A day computed again under the newest definition, in one overwrite of its partition.
    fn restate(&mut self, day: i64) -> Result<()> {
        let at = self.later(11);
        let date = self.date(day);
        let old = self.files_of(&date);
        let adds = self.day_files(day, at)?;
        let rows = self.count(&adds);
        let parameters = json!({
            "mode": "Overwrite", "partitionBy": "[]",
            "predicate": format!("completion_date = '{date}'"),
        });
        let reason = format!("restated under {}", self.definition);
        let commit = Commit::new(at, "WRITE", parameters)
            .by("job 7790")
            .because(&reason)
            .counting(written(&adds, rows))
            .with(adds.into_iter().map(Action::Add))
            .with(
                old.iter()
                    .map(|f| Action::Remove(f.removed(at.0 - 500, true))),
            );
        self.commit(commit)
    }

    fn commit(&mut self, commit: Commit) -> Result<()> {
        let version = self.table.commit(commit)?;
        match version % 10 {
            0 => self.table.checkpoint(self.at),
            _ => Ok(()),
        }
    }

    fn day_files(&mut self, day: i64, at: Time) -> Result<Vec<Add>> {
        let date = self.date(day);
        let midnight = (self.now.0 / DAY - DAYS + day) * DAY;
        // The rows of a day are the same whenever they are computed; the definition is not.
        let mut random = Random::new(day as u64 + 1);
        let rows: Vec<Attempt> = (0..2_400 + random.below(1_800))
            .map(|_| Attempt::new(&mut random, midnight, self.definition))
            .collect();
        let half = rows.len() / 2;
        let (first, second) = rows.split_at(half);
        let written = Time(at.0 - 1_100);
        Ok(vec![
            self.file(&date, first.to_vec(), written)?,
            self.file(&date, second.to_vec(), written)?,
        ])
    }

    fn file(&mut self, date: &str, rows: Vec<Attempt>, at: Time) -> Result<Add> {
        let batch = self.shape.batch(&rows)?;
        let partition = [("completion_date".to_owned(), Some(date.to_owned()))].into();
        let add = self
            .table
            .data_file(&batch, partition, Packing::Written("learner_id"), at)?;
        self.rows.insert(add.path.clone(), rows);
        Ok(add)
    }

    fn files_of(&self, date: &str) -> Vec<Add> {
        let of = |f: &&Add| {
            let value = f.partition_values.get("completion_date");
            value.and_then(Option::as_deref) == Some(date)
        };
        self.table.live.values().filter(of).cloned().collect()
    }

    fn count(&self, files: &[Add]) -> usize {
        let rows = files.iter().filter_map(|f| self.rows.get(&f.path));
        rows.map(Vec::len).sum()
    }

    fn date(&self, day: i64) -> String {
        date_text((self.now.0 / DAY - DAYS + day) as i32)
    }
}
