//! `progress_stream`: a streaming writer that commits a small file every quarter of an hour.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat_batches;
use indexmap::IndexMap;
use lake::Result;
use lake::table::Time;
use serde_json::json;

use super::action::{Action, Add, FileKey, Format, Metadata, Protocol, Txn};
use super::checkpoint::Form;
use super::commit::Commit;
use super::data::Packing;
use super::metrics::bytes;
use super::people::COURSES;
use super::random::Random;
use super::stats::date_text;
use super::table::{Table, json_lines};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// Micro-batches in all.
const EPOCHS: i64 = 438;
const EVENTS: &[&str] = &[
    "lesson_started",
    "lesson_paused",
    "lesson_resumed",
    "lesson_finished",
];

/// Writes the table; its newest commit is a few minutes older than `now`.
pub(crate) fn write(root: &Path, now: Time) -> Result<Table> {
    let mut stream = Stream::new(root, now)?;
    stream.create()?;
    let packed_at = stream.start + 2 * DAY + (DAY - stream.start % DAY) % DAY + 160 * MINUTE;
    let mut packed = false;
    for epoch in 0..EPOCHS {
        let at = stream.time(epoch);
        if !packed && at.0 > packed_at {
            packed = true;
            stream.pack(Time(at.0 - 6 * MINUTE))?;
            stream.after_commit(Time(at.0 - 6 * MINUTE))?;
        }
        if epoch == 149 {
            stream.use_v2_checkpoints(Time(at.0 - 5 * MINUTE))?;
        }
        stream.append(epoch, at)?;
        stream.after_commit(at)?;
    }
    stream.compact_log(410, 430)?;
    Ok(stream.table)
}

struct Stream {
    table: Table,
    random: Random,
    query: String,
    /// When the first micro-batch was committed.
    start: i64,
    /// Rows of the files of each date that is still to be packed.
    batches: IndexMap<FileKey, (String, RecordBatch)>,
}

impl Stream {
    fn new(root: &Path, now: Time) -> Result<Self> {
        let mut random = Random::new(401);
        let start = now.0 - EPOCHS * 15 * MINUTE;
        let properties = [
            ("delta.checkpointInterval", "100"),
            ("delta.targetFileSize", "2097152"),
        ];
        let own = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let metadata = Metadata {
            id: random.uuid(),
            name: Some("progress_stream".to_owned()),
            description: None,
            format: Format::default(),
            schema_string: schema_string(),
            partition_columns: vec!["event_date".to_owned()],
            configuration: properties.into_iter().map(own).collect(),
            created_time: start - 40 * MINUTE,
        };
        let seed = Random::new(random.number());
        let root = root.join("progress_stream");
        let table = Table::new(root, seed, metadata, Protocol::legacy(1, 2))?;
        let query = random.uuid();
        Ok(Self {
            table,
            random,
            query,
            start,
            batches: IndexMap::new(),
        })
    }

    fn time(&self, epoch: i64) -> Time {
        Time(self.start + epoch * 15 * MINUTE + (epoch * 7_919) % 41_000)
    }

    fn create(&mut self) -> Result<()> {
        let at = Time(self.start - 40 * MINUTE);
        let properties = serde_json::to_string(&self.table.metadata.configuration);
        let parameters = json!({
            "partitionBy": "[\"event_date\"]", "clusterBy": "[]", "description": null,
            "isManaged": "false", "properties": properties.unwrap_or_default(),
        });
        let commit = Commit::new(at, "CREATE TABLE", parameters)
            .by("raj@tlp")
            .blind()
            .with([
                Action::Protocol(self.table.protocol.clone()),
                Action::MetaData(self.table.metadata.clone()),
            ]);
        self.table.commit(commit).map(drop)
    }

    /// One micro-batch: the events of the quarter of an hour before it.
    fn append(&mut self, epoch: i64, at: Time) -> Result<()> {
        let hour = at.0 / 3_600_000 % 24;
        // Few learn at night; now and then the stream catches up after a stop.
        let busy = (hour - 3).clamp(1, 12) * 22;
        let rows = match epoch % 61 {
            17 => self.random.between(7_000, 15_000),
            _ => self.random.between(busy, busy * 2 + 20),
        };
        let from = at.0 - 15 * MINUTE;
        let mut times: Vec<i64> = (0..rows).map(|_| self.random.between(from, at.0)).collect();
        times.sort_unstable();
        let midnight = at.0 / DAY * DAY;
        let split = times.partition_point(|time| *time < midnight);
        let (before, after) = times.split_at(split);
        let mut adds = Vec::new();
        for times in [before, after] {
            if let Some(first) = times.first() {
                let date = date_text((first / DAY) as i32);
                let batch = self.events(times)?;
                adds.push(self.file(&date, batch, Packing::Written("learner_id"), at)?);
            }
        }
        let parameters = json!({
            "outputMode": "Append", "queryId": self.query, "epochId": epoch.to_string(),
            "statsOnLoad": false,
        });
        let metrics = json!({
            "numAddedFiles": adds.len().to_string(),
            "numRemovedFiles": "0",
            "numOutputRows": rows.to_string(),
            "numOutputBytes": bytes(adds.iter().map(|a| a.size)),
        });
        let txn = Txn {
            app_id: self.query.clone(),
            version: epoch,
            last_updated: at.0 - 900,
        };
        let commit = Commit::new(at, "STREAMING UPDATE", parameters)
            .by("job 9107")
            .blind()
            .counting(metrics)
            .with([Action::Txn(txn)])
            .with(adds.into_iter().map(Action::Add));
        self.table.commit(commit).map(drop)
    }

    /// OPTIMIZE of the day before yesterday, whose files are all small.
    fn pack(&mut self, at: Time) -> Result<()> {
        let date = date_text((at.0 / DAY - 1) as i32);
        let live = self.table.live.values();
        let old: Vec<Add> = live
            .filter(|f| f.partition_values.get("event_date") == Some(&Some(date.clone())))
            .cloned()
            .collect();
        let batches = self.batches.values().filter(|(d, _)| *d == date);
        let batches: Vec<&RecordBatch> = batches.map(|(_, batch)| batch).collect();
        let Some(first) = batches.first() else {
            return Ok(());
        };
        let all = concat_batches(&first.schema(), batches.iter().copied())?;
        let mut add = self.file(&date, all, Packing::Packed, at)?;
        add.data_change = false;
        let size = add.size.to_string();
        let metrics = json!({
            "numAddedFiles": "1", "numRemovedFiles": old.len().to_string(),
            "numAddedBytes": size, "numRemovedBytes": bytes(old.iter().map(|a| a.size)),
            "minFileSize": size, "p25FileSize": size, "p50FileSize": size,
            "p75FileSize": size, "maxFileSize": size, "numDeletionVectorsRemoved": "0",
        });
        let parameters = json!({
            "predicate": format!("[\"('event_date = {date})\"]"),
            "zOrderBy": "[]", "clusterBy": "[]", "auto": false,
        });
        let removes = old.iter().map(|f| f.removed(at.0 - 2_000, false));
        let commit = Commit::new(at, "OPTIMIZE", parameters)
            .by("job 9150")
            .snapshot_isolation()
            .counting(metrics)
            .with([Action::Add(add)])
            .with(removes.map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    fn use_v2_checkpoints(&mut self, at: Time) -> Result<()> {
        let metadata = self
            .table
            .with_properties(&[("delta.checkpointPolicy", "v2")]);
        let protocol = Protocol::features(
            &["v2Checkpoint"],
            &["v2Checkpoint", "invariants", "appendOnly"],
        );
        let parameters = json!({"properties": "{\"delta.checkpointPolicy\":\"v2\"}"});
        let commit = Commit::new(at, "SET TBLPROPERTIES", parameters)
            .by("raj@tlp")
            .because("checkpoints of this table take too long in one file")
            .blind()
            .with([Action::MetaData(metadata), Action::Protocol(protocol)]);
        self.table.commit(commit).map(drop)
    }

    /// A checkpoint every hundred commits, each of another kind.
    fn after_commit(&mut self, at: Time) -> Result<()> {
        match self.table.next - 1 {
            100 => self.table.multi_part_checkpoint(2, at),
            200 | 400 => self.table.v2_checkpoint(Form::Json, 2, at),
            300 => self.table.v2_checkpoint(Form::Parquet, 2, at),
            _ => Ok(()),
        }
    }

    /// A log compaction file: what the commits from one version to another left.
    fn compact_log(&mut self, from: u64, to: u64) -> Result<()> {
        let mut files: IndexMap<FileKey, Action> = IndexMap::new();
        let mut rest: IndexMap<String, Action> = IndexMap::new();
        for action in self.table.lines(from, to).iter().flatten() {
            match action {
                Action::Add(add) => drop(files.insert(add.key(), action.clone())),
                Action::Remove(remove) => drop(files.insert(remove.key(), action.clone())),
                Action::Txn(txn) => drop(rest.insert(txn.app_id.clone(), action.clone())),
                _ => {}
            }
        }
        let actions: Vec<Action> = rest.into_values().chain(files.into_values()).collect();
        let key = format!("_delta_log/{from:020}.{to:020}.compacted.json");
        let at = Time(self.time(to as i64).0 + 9_000);
        self.table.put(&key, json_lines(&actions)?.as_bytes(), at)
    }

    fn file(&mut self, date: &str, batch: RecordBatch, packing: Packing, at: Time) -> Result<Add> {
        let partition = [("event_date".to_owned(), Some(date.to_owned()))].into();
        let written = Time(at.0 - 1_500);
        let add = self.table.data_file(&batch, partition, packing, written)?;
        self.batches.insert(add.key(), (date.to_owned(), batch));
        Ok(add)
    }

    fn events(&mut self, times: &[i64]) -> Result<RecordBatch> {
        let random = &mut self.random;
        let ids: Vec<String> = times.iter().map(|_| random.uuid()).collect();
        let learners: Vec<i64> = times
            .iter()
            .map(|_| random.between(10_000, 94_000))
            .collect();
        let courses: Vec<&str> = times.iter().map(|_| random.pick(COURSES)).collect();
        let lessons = courses
            .iter()
            .map(|course| format!("{course}/{:02}", random.below(24)));
        let lessons: Vec<String> = lessons.collect();
        let types: Vec<&str> = times.iter().map(|_| random.pick(EVENTS)).collect();
        let positions: Vec<Option<i32>> = times
            .iter()
            .map(|_| (!random.per_mille(30)).then(|| random.below(1_800) as i32))
            .collect();
        let times = times.iter().map(|time| time * 1_000);
        let times = TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC");
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("event_id", Arc::new(StringArray::from(ids))),
            ("learner_id", Arc::new(Int64Array::from(learners))),
            ("course_id", Arc::new(StringArray::from(courses))),
            ("lesson_id", Arc::new(StringArray::from(lessons))),
            ("event_time", Arc::new(times)),
            ("event_type", Arc::new(StringArray::from(types))),
            ("position_seconds", Arc::new(Int32Array::from(positions))),
        ];
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
            .collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
    }
}

fn schema_string() -> String {
    let columns = [
        ("event_id", "string"),
        ("learner_id", "long"),
        ("course_id", "string"),
        ("lesson_id", "string"),
        ("event_time", "timestamp"),
        ("event_type", "string"),
        ("position_seconds", "integer"),
        ("event_date", "date"),
    ];
    let field = |(name, kind): (&str, &str)| json!({"name": name, "type": kind, "nullable": true, "metadata": {}});
    let fields: Vec<_> = columns.into_iter().map(field).collect();
    json!({"type": "struct", "fields": fields}).to_string()
}
