//! Rows of the mart that go without a rewrite: deletion vectors on disk and in the log.

use lake::Result;
use lake::table::Time;
use roaring::RoaringTreemap;
use serde_json::json;

use super::Mart;
use super::attempts::Attempt;
use crate::demo::action::{Action, Add, Cdc};
use crate::demo::commit::Commit;
use crate::demo::data::{Packing, parquet_bytes};
use crate::demo::vector::{inline_vector, vector_file};

/// The lesson whose scores are corrected.
const LESSON: &str = "sql-101/07";

impl Mart {
    /// DELETE of some learners' rows: one deletion vector file for all data files it touches.
    pub(super) fn forget_learners(&mut self, endings: &[i64]) -> Result<()> {
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
    pub(super) fn correct_score(&mut self, day: i64) -> Result<()> {
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
    pub(super) fn changes(
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
