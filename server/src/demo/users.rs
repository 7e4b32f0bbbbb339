//! `users`: accounts upserted every two hours by a job, until somebody deletes the wrong region.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int32Array, Int64Array, ListBuilder,
    RecordBatch, StringArray, StringBuilder, StructArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use indexmap::IndexMap;
use lake::Result;
use lake::table::Time;
use serde_json::json;

use super::action::{Action, Add, Format, Metadata, Protocol};
use super::people::User;
use super::random::Random;
use super::table::{Commit, Packing, Table};

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
    good: Option<(u64, IndexMap<super::action::FileKey, Add>)>,
    vacuumed: Vec<super::action::Remove>,
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

    fn backfill(&mut self, at: Time) -> Result<()> {
        let rows: Vec<User> = (0..300).map(|_| self.account("IN", at)).collect();
        let add = self.file("IN", rows, at)?;
        let adds = vec![add];
        let commit = Commit::new(at, "WRITE", json!({"mode": "Append", "partitionBy": "[]"}))
            .by("raj@tlp")
            .because("accounts of the Pune pilot, exported from the old site")
            .blind()
            .counting(written(&adds, 300))
            .with(adds.into_iter().map(Action::Add));
        self.table.commit(commit).map(drop)
    }

    fn shorten_retention(&mut self, at: Time) -> Result<()> {
        let properties = [
            ("delta.deletedFileRetentionDuration", "interval 1 days"),
            ("delta.logRetentionDuration", "interval 30 days"),
            ("delta.targetFileSize", "131072"),
        ];
        let metadata = self.table.with_properties(&properties);
        let given: IndexMap<&str, &str> = properties.into_iter().collect();
        let text = serde_json::to_string(&given).unwrap_or_default();
        let commit = Commit::new(at, "SET TBLPROPERTIES", json!({ "properties": text }))
            .by("ana@tlp")
            .blind()
            .with([Action::MetaData(metadata)]);
        self.table.commit(commit).map(drop)
    }

    fn wrong_update(&mut self, at: Time) -> Result<()> {
        self.good = Some((self.table.next - 1, self.table.live.clone()));
        let old: Vec<Add> = self.files_of("DE");
        let (mut adds, mut removes, mut updated) = (Vec::new(), Vec::new(), 0);
        for file in &old {
            let mut rows = self.rows.get(&file.path).cloned().unwrap_or_default();
            updated += rows.len();
            for user in &mut rows {
                user.plan = "free";
            }
            adds.push(self.file("DE", rows, at)?);
            removes.push(file.removed(at.0 - 700, true));
        }
        let metrics = json!({
            "numUpdatedRows": updated.to_string(), "numCopiedRows": "0",
            "numAddedFiles": adds.len().to_string(), "numRemovedFiles": removes.len().to_string(),
            "numAddedBytes": bytes(adds.iter().map(|a| a.size)),
            "numRemovedBytes": bytes(removes.iter().map(|r| r.size)),
            "numAddedChangeFiles": "0", "executionTimeMs": "3127", "scanTimeMs": "1210",
            "rewriteTimeMs": "1893",
        });
        let parameters = json!({"predicate": "[\"(region#8 = DE)\"]"});
        let commit = Commit::new(at, "UPDATE", parameters)
            .by("raj@tlp")
            .counting(metrics)
            .with(adds.into_iter().map(Action::Add))
            .with(removes.into_iter().map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    fn restore(&mut self, at: Time) -> Result<()> {
        let Some((version, good)) = self.good.take() else {
            return Ok(());
        };
        let live = self.table.live.clone();
        let back = good.iter().filter(|(key, _)| !live.contains_key(*key));
        let adds: Vec<Add> = back.map(|(_, add)| add.clone()).collect();
        let gone = live.iter().filter(|(key, _)| !good.contains_key(*key));
        let removes: Vec<_> = gone.map(|(_, add)| add.removed(at.0 + 40, true)).collect();
        let metrics = json!({
            "numRestoredFiles": adds.len().to_string(),
            "restoredFilesSize": bytes(adds.iter().map(|a| a.size)),
            "numRemovedFiles": removes.len().to_string(),
            "removedFilesSize": bytes(removes.iter().map(|r| r.size)),
            "numOfFilesAfterRestore": good.len().to_string(),
            "tableSizeAfterRestore": bytes(good.values().map(|a| a.size)),
        });
        let parameters = json!({"version": version, "timestamp": null});
        let commit = Commit::new(at, "RESTORE", parameters)
            .by("ana@tlp")
            .because("the update set every plan in DE to free")
            .counting(metrics)
            .with([Action::MetaData(self.table.metadata.clone())])
            .with(adds.into_iter().map(Action::Add))
            .with(removes.into_iter().map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    /// Packs the small files that upserts left.
    fn optimize(&mut self, at: Time) -> Result<()> {
        let (mut adds, mut removes) = (Vec::new(), Vec::new());
        for (region, _) in REGIONS {
            let small: Vec<Add> = self.files_of(region);
            let small: Vec<Add> = small.into_iter().filter(|f| f.size < 40_000).collect();
            if small.len() < 2 {
                continue;
            }
            let rows = small
                .iter()
                .filter_map(|f| self.rows.get(&f.path))
                .flatten();
            let rows: Vec<User> = rows.cloned().collect();
            let mut add = self.packed(region, rows, at)?;
            add.data_change = false;
            adds.push(add);
            removes.extend(small.iter().map(|f| f.removed(at.0 - 500, false)));
        }
        let mut sizes: Vec<i64> = adds.iter().map(|a| a.size).collect();
        sizes.sort_unstable();
        let size = |share: usize| sizes.get((sizes.len().max(1) - 1) * share / 100);
        let size = |share| size(share).copied().unwrap_or_default().to_string();
        let metrics = json!({
            "numAddedFiles": adds.len().to_string(),
            "numRemovedFiles": removes.len().to_string(),
            "numAddedBytes": bytes(adds.iter().map(|a| a.size)),
            "numRemovedBytes": bytes(removes.iter().map(|r| r.size)),
            "minFileSize": size(0), "p25FileSize": size(25), "p50FileSize": size(50),
            "p75FileSize": size(75), "maxFileSize": size(100), "numDeletionVectorsRemoved": "0",
        });
        let parameters =
            json!({"predicate": "[]", "zOrderBy": "[]", "clusterBy": "[]", "auto": false});
        let commit = Commit::new(at, "OPTIMIZE", parameters)
            .by("job 8830")
            .snapshot_isolation()
            .counting(metrics)
            .with(adds.into_iter().map(Action::Add))
            .with(removes.into_iter().map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    fn vacuum_start(&mut self, at: Time) -> Result<()> {
        self.vacuumed = self.table.removed_before(Time(at.0 - 24 * HOUR));
        let metrics = json!({
            "numFilesToDelete": self.vacuumed.len().to_string(),
            "sizeOfDataToDelete": bytes(self.vacuumed.iter().map(|r| r.size)),
        });
        let parameters =
            json!({"retentionCheckEnabled": true, "defaultRetentionMillis": 24 * HOUR});
        let commit = Commit::new(at, "VACUUM START", parameters)
            .by("job 8830")
            .snapshot_isolation()
            .blind()
            .counting(metrics);
        self.table.commit(commit).map(drop)
    }

    /// Deletes the files for good: versions that had them cannot come back.
    fn vacuum_end(&mut self, at: Time) -> Result<()> {
        let vacuumed = std::mem::take(&mut self.vacuumed);
        for remove in &vacuumed {
            self.table.delete(&remove.path)?;
        }
        self.table.forget(&vacuumed);
        let metrics = json!({
            "numDeletedFiles": vacuumed.len().to_string(),
            "numVacuumedDirectories": (REGIONS.len() + 1).to_string(),
        });
        let commit = Commit::new(at, "VACUUM END", json!({"status": "COMPLETED"}))
            .by("job 8830")
            .snapshot_isolation()
            .blind()
            .counting(metrics);
        self.table.commit(commit).map(drop)
    }

    /// Three people asked to be forgotten.
    fn erase(&mut self, at: Time) -> Result<()> {
        let Some(old) = self.files_of("UK").into_iter().next() else {
            return Ok(());
        };
        let mut rows = self.rows.get(&old.path).cloned().unwrap_or_default();
        let ids: Vec<i64> = rows.iter().step_by(97).take(3).map(|u| u.id).collect();
        rows.retain(|user| !ids.contains(&user.id));
        let copied = rows.len();
        let add = self.file("UK", rows, at)?;
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let predicate = format!("[\"user_id#12L IN ({})\"]", ids.join(","));
        let (gone, came) = (std::slice::from_ref(&old), std::slice::from_ref(&add));
        let metrics = deleted(gone, came, 3, copied);
        let commit = Commit::new(at, "DELETE", json!({ "predicate": predicate }))
            .by("raj@tlp")
            .because("erasure requests of this week")
            .counting(metrics)
            .with([
                Action::Remove(old.removed(at.0 - 600, true)),
                Action::Add(add),
            ]);
        self.table.commit(commit).map(drop)
    }

    /// The DELETE that was meant for the UK.
    fn accident(&mut self) -> Result<()> {
        let at = Time(self.now.0 - 3 * HOUR - 7 * 60_000);
        let gone = self.files_of("US");
        let rows = self.count(&gone);
        let commit = Commit::new(at, "DELETE", json!({"predicate": "[\"(region#1 = US)\"]"}))
            .by("ana@tlp")
            .because("closing the UK site: its accounts moved to the partner")
            .counting(deleted(&gone, &[], rows, 0))
            .with(
                gone.iter()
                    .map(|f| Action::Remove(f.removed(at.0 - 800, true))),
            );
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

fn bytes(sizes: impl Iterator<Item = i64>) -> String {
    sizes.sum::<i64>().to_string()
}

fn written(adds: &[Add], rows: usize) -> serde_json::Value {
    json!({
        "numFiles": adds.len().to_string(),
        "numOutputRows": rows.to_string(),
        "numOutputBytes": bytes(adds.iter().map(|a| a.size)),
    })
}

fn deleted(gone: &[Add], came: &[Add], rows: usize, copied: usize) -> serde_json::Value {
    json!({
        "numRemovedFiles": gone.len().to_string(),
        "numRemovedBytes": bytes(gone.iter().map(|a| a.size)),
        "numAddedFiles": came.len().to_string(),
        "numAddedBytes": bytes(came.iter().map(|a| a.size)),
        "numDeletedRows": rows.to_string(),
        "numCopiedRows": copied.to_string(),
        "numAddedChangeFiles": "0",
        "numDeletionVectorsAdded": "0",
        "numDeletionVectorsRemoved": "0",
        "numDeletionVectorsUpdated": "0",
        "executionTimeMs": "2214",
        "scanTimeMs": "1420",
        "rewriteTimeMs": "790",
    })
}

fn schema_string() -> String {
    let field = |name: &str, kind: serde_json::Value, nullable: bool| json!({"name": name, "type": kind, "nullable": nullable, "metadata": {}});
    let address = json!({"type": "struct", "fields": [
        field("city", "string".into(), true), field("postcode", "string".into(), true),
    ]});
    let topics = json!({"type": "array", "elementType": "string", "containsNull": false});
    let fields = json!([
        field("user_id", "long".into(), false),
        field("name", "string".into(), true),
        field("email", "string".into(), true),
        field("address", address, true),
        field("plan", "string".into(), true),
        field("topics", topics, true),
        field("signup_date", "date".into(), true),
        field("last_seen", "timestamp".into(), true),
        field("courses_started", "integer".into(), true),
        field("credit", "decimal(10,2)".into(), true),
        field("letters", "boolean".into(), true),
        field("region", "string".into(), true),
    ]);
    json!({"type": "struct", "fields": fields}).to_string()
}

fn batch(users: &[User]) -> Result<RecordBatch> {
    let text = |of: fn(&User) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(users.iter().map(of)))
    };
    let place = Fields::from(vec![
        Field::new("city", DataType::Utf8, true),
        Field::new("postcode", DataType::Utf8, true),
    ]);
    let address = vec![text(|u| u.city.to_owned()), text(|u| u.postcode.clone())];
    let address = StructArray::try_new(place, address, None)?;
    let element = Arc::new(Field::new("element", DataType::Utf8, false));
    let mut topics = ListBuilder::new(StringBuilder::new()).with_field(element);
    for user in users {
        for topic in &user.topics {
            topics.values().append_value(topic);
        }
        topics.append(true);
    }
    let seen = users.iter().map(|u| u.last_seen);
    let seen = TimestampMicrosecondArray::from_iter_values(seen).with_timezone("UTC");
    let credit = Decimal128Array::from_iter_values(users.iter().map(|u| u.credit));
    let letters: BooleanArray = users.iter().map(|u| u.letters).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "user_id",
            Arc::new(Int64Array::from_iter_values(users.iter().map(|u| u.id))),
        ),
        ("name", text(|u| u.name.clone())),
        ("email", text(User::email)),
        ("address", Arc::new(address)),
        ("plan", text(|u| u.plan.to_owned())),
        ("topics", Arc::new(topics.finish())),
        (
            "signup_date",
            Arc::new(Date32Array::from_iter_values(
                users.iter().map(|u| u.signup),
            )),
        ),
        ("last_seen", Arc::new(seen)),
        (
            "courses_started",
            Arc::new(Int32Array::from_iter_values(
                users.iter().map(|u| u.courses),
            )),
        ),
        ("credit", Arc::new(credit.with_precision_and_scale(10, 2)?)),
        ("letters", Arc::new(letters)),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), *name != "user_id"))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(RecordBatch::try_new(schema, arrays)?)
}
