//! `completion`: the curated mart of finished lessons, restated by day when its definition
//! changes, on a table whose features grow over its life.

use std::path::Path;

use indexmap::IndexMap;
use lake::Result;
use lake::table::Time;
use roaring::RoaringTreemap;
use serde_json::{Value, json};

use super::action::{Action, Add, Cdc, DomainMetadata, Format, Metadata, Protocol};
use super::random::Random;
use super::stats::date_text;
use super::table::{Commit, Packing, Table, parquet_bytes};
use super::vector::{inline_vector, vector_file};
use attempts::{Attempt, Shape};

mod attempts;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Days that the mart covers.
const DAYS: i64 = 12;
const LOADER: &str = "job 7731";
/// The lesson whose scores are corrected.
const LESSON: &str = "sql-101/07";
/// The column that was added, as data files name it.
const TIME_SPENT: &str = "col-2f6c1e0a-7b3d-4c55-9a41-d0c9b8e71f26";

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

    fn map_columns(&mut self) -> Result<()> {
        self.shape.mapped = true;
        let protocol = Protocol::legacy(2, 5);
        let columns = self.shape.columns().len() + 1;
        let properties = [
            ("delta.columnMapping.mode", "name"),
            ("delta.columnMapping.maxColumnId", &columns.to_string()),
        ];
        let given = json!({"properties": "{\"delta.columnMapping.mode\":\"name\"}"});
        self.change(
            "SET TBLPROPERTIES",
            given,
            &properties,
            Some(protocol),
            "ana@tlp",
        )
    }

    fn add_time_spent(&mut self) -> Result<()> {
        self.shape.time_spent = Some(TIME_SPENT);
        let columns = (self.shape.columns().len() + 1).to_string();
        let column = json!([{"column": {
            "name": "time_spent_seconds", "type": "integer", "nullable": true, "metadata": {},
        }}]);
        let parameters = json!({ "columns": column.to_string() });
        let properties = [("delta.columnMapping.maxColumnId", columns.as_str())];
        self.change("ADD COLUMNS", parameters, &properties, None, "raj@tlp")
    }

    fn rename_score(&mut self) -> Result<()> {
        self.shape.score_name = "score_percent";
        let parameters = json!({"oldColumnPath": "score", "newColumnPath": "score_percent"});
        self.change("RENAME COLUMN", parameters, &[], None, "raj@tlp")
    }

    fn enable_vectors_and_widening(&mut self) -> Result<()> {
        self.features = vec!["columnMapping", "deletionVectors", "typeWidening"];
        let properties = [
            ("delta.enableDeletionVectors", "true"),
            ("delta.enableTypeWidening", "true"),
        ];
        self.set_properties(&properties, true, "ana@tlp")
    }

    fn widen_attempts(&mut self) -> Result<()> {
        self.shape.attempt_is_long = true;
        let column = json!({
            "name": "attempt_number", "type": "long", "nullable": true, "metadata": {},
        });
        let parameters = json!({ "column": column.to_string() });
        self.change("CHANGE COLUMN", parameters, &[], None, "raj@tlp")
    }

    /// Notes in the table which definition its rows follow.
    fn state_definition(&mut self) -> Result<()> {
        self.features.push("domainMetadata");
        let at = self.later(4);
        let properties = [("tlp.definition_version", self.definition)];
        let metadata = self.table.with_properties(&properties);
        let domain = DomainMetadata {
            domain: "tlp.completion".to_owned(),
            configuration: json!({"definition_version": self.definition, "days": 6}).to_string(),
            removed: false,
        };
        let commit = Commit::new(at, "SET TBLPROPERTIES", given(&properties))
            .by("job 7790")
            .blind()
            .with([
                Action::MetaData(metadata),
                Action::Protocol(self.protocol()),
                Action::DomainMetadata(domain),
            ]);
        self.commit(commit)
    }

    fn enable_in_commit_timestamps(&mut self) -> Result<()> {
        self.features.push("inCommitTimestamp");
        let at = self.later(95);
        let metadata = self.table.with_properties(&[
            ("delta.enableInCommitTimestamps", "true"),
            (
                "delta.inCommitTimestampEnablementVersion",
                &self.table.next.to_string(),
            ),
            (
                "delta.inCommitTimestampEnablementTimestamp",
                &at.0.to_string(),
            ),
        ]);
        let given = given(&[("delta.enableInCommitTimestamps", "true")]);
        let commit = Commit::new(at, "SET TBLPROPERTIES", given)
            .by("ana@tlp")
            .because("times survive a copy of the table")
            .blind()
            .with([
                Action::MetaData(metadata),
                Action::Protocol(self.protocol()),
            ]);
        self.commit(commit)
    }

    fn enable_change_data(&mut self) -> Result<()> {
        self.features.push("changeDataFeed");
        self.set_properties(&[("delta.enableChangeDataFeed", "true")], true, "raj@tlp")
    }

    fn keep_log_longer(&mut self) -> Result<()> {
        let properties = [
            ("delta.logRetentionDuration", "interval 90 days"),
            ("delta.targetFileSize", "65536"),
        ];
        self.set_properties(&properties, false, "ana@tlp")
    }

    /// DELETE of some learners' rows: one deletion vector file for all data files it touches.
    fn forget_learners(&mut self, endings: &[i64]) -> Result<()> {
        let at = self.later(70);
        let mut touched: Vec<(Add, RoaringTreemap, u64)> = Vec::new();
        for file in self.table.live.values() {
            let rows = self
                .rows
                .get(&file.path)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let asked = |a: &Attempt| endings.contains(&(a.learner % 400));
            let masked = rows.iter().zip(0_u64..).filter(|(a, _)| asked(a));
            let masked: RoaringTreemap = masked.map(|(_, row)| row).collect();
            let before = file
                .deletion_vector
                .as_ref()
                .map_or(0, |v| v.cardinality as u64);
            if masked.len() > before {
                let new = masked.len() - before;
                touched.push((file.clone(), masked, new));
            }
        }
        let masks: Vec<RoaringTreemap> = touched.iter().map(|(_, m, _)| m.clone()).collect();
        let vectors = vector_file(&self.random.uuid_bytes(), &masks)?;
        self.table
            .put(&vectors.path, &vectors.bytes, Time(at.0 - 900))?;
        let updated = touched
            .iter()
            .filter(|(f, ..)| f.deletion_vector.is_some())
            .count();
        let deleted: u64 = touched.iter().map(|(.., new)| new).sum();
        let mut actions = Vec::new();
        for ((old, ..), descriptor) in touched.iter().zip(vectors.descriptors) {
            let mut add = loosened(old);
            add.deletion_vector = Some(descriptor);
            actions.push(Action::Add(add));
            actions.push(Action::Remove(old.removed(at.0 - 600, true)));
        }
        let endings: Vec<String> = endings.iter().map(ToString::to_string).collect();
        let predicate = format!("[\"((learner_id#4L % 400) IN ({}))\"]", endings.join(","));
        let metrics = json!({
            "numRemovedFiles": "0", "numRemovedBytes": "0", "numAddedFiles": "0",
            "numAddedBytes": "0", "numCopiedRows": "0", "numAddedChangeFiles": "0",
            "numDeletedRows": deleted.to_string(),
            "numDeletionVectorsAdded": touched.len().to_string(),
            "numDeletionVectorsRemoved": updated.to_string(),
            "numDeletionVectorsUpdated": updated.to_string(),
            "executionTimeMs": "1661", "scanTimeMs": "0", "rewriteTimeMs": "0",
        });
        let commit = Commit::new(at, "DELETE", json!({ "predicate": predicate }))
            .by("raj@tlp")
            .because("test accounts of the load test")
            .counting(metrics)
            .with(actions);
        self.commit(commit)
    }

    /// UPDATE of one lesson's rows of a day: inline deletion vectors, a small file, and the
    /// change itself.
    fn correct_score(&mut self, day: i64) -> Result<()> {
        let at = self.later(80);
        let date = self.date(day);
        let (mut actions, mut before) = (Vec::new(), Vec::new());
        for old in self.files_of(&date) {
            let rows = self
                .rows
                .get(&old.path)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let hit = rows.iter().zip(0_u64..).filter(|(a, _)| a.lesson == LESSON);
            let masked: RoaringTreemap = hit.clone().map(|(_, row)| row).collect();
            before.extend(hit.map(|(attempt, _)| attempt.clone()));
            let mut add = loosened(&old);
            add.deletion_vector = Some(inline_vector(&masked)?);
            actions.push(Action::Add(add));
            actions.push(Action::Remove(old.removed(at.0 - 600, true)));
        }
        let mut after: Vec<Attempt> = before.clone();
        for attempt in &mut after {
            attempt.score = 100.0;
        }
        let vectors = actions.len() / 2;
        let updated = after.len();
        let cdc = self.changes(&date, &before, &after, Time(at.0 - 650))?;
        let add = self.file(&date, after, Time(at.0 - 700))?;
        let metrics = json!({
            "numRemovedFiles": "0", "numRemovedBytes": "0", "numAddedFiles": "1",
            "numAddedBytes": add.size.to_string(), "numCopiedRows": "0",
            "numUpdatedRows": updated.to_string(), "numAddedChangeFiles": "1",
            "numDeletionVectorsAdded": vectors.to_string(),
            "numDeletionVectorsRemoved": "0", "numDeletionVectorsUpdated": "0",
            "executionTimeMs": "1595", "scanTimeMs": "1055", "rewriteTimeMs": "251",
        });
        let predicate =
            format!("[\"((completion_date#9 = {date}) AND (lesson_id#5 = {LESSON}))\"]");
        let commit = Commit::new(at, "UPDATE", json!({ "predicate": predicate }))
            .by("raj@tlp")
            .because("the quiz of lesson 7 counted a right answer as wrong")
            .counting(metrics)
            .with(actions)
            .with([Action::Add(add), Action::Cdc(cdc)]);
        self.commit(commit)
    }

    /// Writes a file of changed rows.
    fn changes(
        &mut self,
        date: &str,
        before: &[Attempt],
        after: &[Attempt],
        at: Time,
    ) -> Result<Cdc> {
        let batch = self.shape.change_batch(before, after)?;
        let bytes = parquet_bytes(&batch, Packing::Written("learner_id"))?;
        let name = self.random.uuid();
        let path =
            format!("_change_data/completion_date={date}/cdc-00000-{name}.c000.snappy.parquet");
        self.table.put(&path, &bytes, at)?;
        Ok(Cdc {
            path,
            partition_values: [("completion_date".to_owned(), Some(date.to_owned()))].into(),
            size: bytes.len() as i64,
            data_change: false,
        })
    }

    fn set_properties(
        &mut self,
        properties: &[(&str, &str)],
        new_features: bool,
        user: &str,
    ) -> Result<()> {
        let protocol = new_features.then(|| self.protocol());
        self.change(
            "SET TBLPROPERTIES",
            given(properties),
            properties,
            protocol,
            user,
        )
    }

    /// A commit that changes the schema, the properties or the protocol.
    fn change(
        &mut self,
        operation: &str,
        parameters: Value,
        properties: &[(&str, &str)],
        protocol: Option<Protocol>,
        user: &str,
    ) -> Result<()> {
        let at = self.later(25);
        let mut metadata = self.table.with_properties(properties);
        metadata.schema_string = self.shape.schema_string();
        let commit = Commit::new(at, operation, parameters)
            .by(user)
            .blind()
            .with([Action::MetaData(metadata)])
            .with(protocol.map(Action::Protocol));
        self.commit(commit)
    }

    fn commit(&mut self, commit: Commit) -> Result<()> {
        let version = self.table.commit(commit)?;
        match version % 10 {
            0 => self.table.checkpoint(self.at),
            _ => Ok(()),
        }
    }

    /// The protocol with the features so far. Only some of them are a reader's business.
    fn protocol(&self) -> Protocol {
        let reads = ["columnMapping", "deletionVectors", "typeWidening"];
        let readers: Vec<&str> = self
            .features
            .iter()
            .copied()
            .filter(|f| reads.contains(f))
            .collect();
        let mut writers = self.features.clone();
        writers.extend(["invariants", "appendOnly"]);
        Protocol::features(&readers, &writers)
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

/// The file once rows of it are masked: its bounds may be wider than its rows.
fn loosened(file: &Add) -> Add {
    let mut add = file.clone();
    let loose = |stats: String| match stats.strip_suffix('}') {
        Some(open) if !stats.contains("tightBounds") => format!("{open},\"tightBounds\":false}}"),
        _ => stats.replace("\"tightBounds\":true", "\"tightBounds\":false"),
    };
    add.stats = add.stats.map(loose);
    add
}

fn given(properties: &[(&str, &str)]) -> Value {
    let given: IndexMap<&str, &str> = properties.iter().copied().collect();
    json!({"properties": serde_json::to_string(&given).unwrap_or_default()})
}

fn written(adds: &[Add], rows: usize) -> Value {
    json!({
        "numFiles": adds.len().to_string(),
        "numOutputRows": rows.to_string(),
        "numOutputBytes": adds.iter().map(|a| a.size).sum::<i64>().to_string(),
    })
}
