//! Tables of a great size, without data files, written to a local folder so that other readers
//! open the very same files.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use lake::Result;
use lake::delta::write::{CheckpointWriter, Columns};
use server::demo::action::{Action, Add, Format, Metadata, Protocol};
use server::demo::random::Random;
use server::demo::table::{ENGINE, json_lines};

/// The version of the checkpoint of [`many_files`].
pub const CHECKPOINT: u64 = 1_000;
const START: i64 = 1_772_964_000_000;
const DAYS: u64 = 50;
const REGIONS: [&str; 4] = ["US", "UK", "DE", "IN"];

/// A table of `files` files behind one checkpoint of ten row groups, in 200 partitions of two
/// columns, with five commits after it that add twenty files and remove ten each.
pub fn many_files(dir: &Path, files: u64) -> Result<()> {
    let log = fresh_log(dir);
    let mut random = Random::new(files);
    let key = log.join(format!("{CHECKPOINT:020}.checkpoint.parquet"));
    let out = BufWriter::new(File::create(&key).unwrap());
    let row_group = (files as usize / 10).max(1);
    let mut writer = CheckpointWriter::new(out, Columns::Classic, row_group)?;
    writer.push(&start(metadata(&["event_date", "region"], CHECKPOINT)))?;
    let mut some = Vec::new();
    let mut left = files;
    while left > 0 {
        let chunk = left.min(20_000);
        left -= chunk;
        let adds: Vec<Add> = (0..chunk).map(|_| add(&mut random, 2)).collect();
        if some.len() < 50 {
            some.extend(adds.iter().take(50).cloned());
        }
        let adds: Vec<Action> = adds.into_iter().map(Action::Add).collect();
        writer.push(&adds)?;
    }
    writer.finish()?.flush().unwrap();
    let bytes = fs::metadata(&key).unwrap().len();
    let hint = format!(
        "{{\"version\":{CHECKPOINT},\"size\":{},\"sizeInBytes\":{bytes},\"numOfAddFiles\":{files}}}",
        files + 2
    );
    fs::write(log.join("_last_checkpoint"), hint).unwrap();
    // The checkpoint's own commit is still there, as after a clean-up of the log.
    let last: Vec<Action> = some.iter().take(1).cloned().map(Action::Add).collect();
    commit(&log, CHECKPOINT, &last)?;
    for (version, gone) in (CHECKPOINT + 1..).zip(some.chunks(10)) {
        let at = START + version as i64 * 60_000;
        let mut actions: Vec<Action> = (0..20).map(|_| Action::Add(add(&mut random, 2))).collect();
        actions.extend(gone.iter().map(|f| Action::Remove(f.removed(at, true))));
        commit(&log, version, &actions)?;
    }
    Ok(())
}

/// A table of `commits` commits of one file each, in 50 partitions, without a checkpoint.
pub fn many_commits(dir: &Path, commits: u64) -> Result<()> {
    let log = fresh_log(dir);
    let mut random = Random::new(commits);
    let metadata = metadata(&["event_date"], 0);
    commit(&log, 0, &start(metadata))?;
    for version in 1..commits {
        commit(&log, version, &[Action::Add(add(&mut random, 1))])?;
    }
    Ok(())
}

fn fresh_log(dir: &Path) -> std::path::PathBuf {
    let log = dir.join("_delta_log");
    fs::create_dir_all(&log).unwrap();
    log
}

fn start(metadata: Metadata) -> [Action; 2] {
    [
        Action::Protocol(Protocol::legacy(1, 2)),
        Action::MetaData(metadata),
    ]
}

fn commit(log: &Path, version: u64, actions: &[Action]) -> Result<()> {
    let info = serde_json::json!({
        "timestamp": START + version as i64 * 60_000,
        "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": "[]"},
        "readVersion": version.saturating_sub(1),
        "isolationLevel": "Serializable",
        "isBlindAppend": true,
        "operationMetrics": {"numFiles": "1", "numOutputRows": "1000", "numOutputBytes": "100000"},
        "engineInfo": ENGINE,
        "txnId": Random::new(version).uuid(),
    });
    let info = info.as_object().cloned().unwrap_or_default();
    let mut text = json_lines(&[Action::CommitInfo(info.into_iter().collect())])?;
    text.push_str(&json_lines(actions)?);
    fs::write(log.join(format!("{version:020}.json")), text).unwrap();
    Ok(())
}

fn add(random: &mut Random, partition_columns: usize) -> Add {
    let day = random.below(DAYS);
    let date = format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
    let mut partition_values = indexmap::IndexMap::new();
    partition_values.insert("event_date".to_owned(), Some(date));
    if partition_columns == 2 {
        let region = random.pick(&REGIONS).to_owned();
        partition_values.insert("region".to_owned(), Some(region));
    }
    let folder: String = partition_values
        .iter()
        .map(|(k, v)| format!("{k}={}/", v.as_deref().unwrap_or_default()))
        .collect();
    let part = random.below(200);
    let path = format!(
        "{folder}part-{part:05}-{}.c000.snappy.parquet",
        random.uuid()
    );
    let rows = 500 + random.below(9_500);
    let learner = random.between(10_000, 40_000);
    let second = START + random.between(0, 86_400_000);
    let time = lake::table::Time(second);
    let stats = format!(
        "{{\"numRecords\":{rows},\"minValues\":{{\"learner_id\":{learner},\"event_time\":\"{time}\",\
         \"course_id\":\"alg-050\"}},\"maxValues\":{{\"learner_id\":{},\"event_time\":\"{}\",\
         \"course_id\":\"ux-120\"}},\"nullCount\":{{\"learner_id\":0,\"event_time\":0,\
         \"course_id\":{}}}}}",
        learner + random.between(10_000, 50_000),
        lake::table::Time(second + random.between(1_000, 3_600_000)),
        random.below(20),
    );
    Add {
        path,
        partition_values,
        // Most files are small, some are large: a table that nobody packs.
        size: random.between(20_000, 400_000) * if random.per_mille(40) { 400 } else { 1 },
        modification_time: second,
        data_change: true,
        stats: Some(stats),
        tags: None,
        deletion_vector: None,
    }
}

fn metadata(partition_columns: &[&str], version: u64) -> Metadata {
    let kinds = [
        ("learner_id", "long"),
        ("event_time", "timestamp"),
        ("course_id", "string"),
    ];
    let own = partition_columns.iter().map(|name| {
        let kind = if *name == "event_date" {
            "date"
        } else {
            "string"
        };
        (*name, kind)
    });
    let field = |(name, kind): (&str, &str)| serde_json::json!({"name": name, "type": kind, "nullable": true, "metadata": {}});
    let fields: Vec<_> = kinds.into_iter().chain(own).map(field).collect();
    Metadata {
        id: Random::new(version).uuid(),
        name: None,
        description: None,
        format: Format::default(),
        schema_string: serde_json::json!({"type": "struct", "fields": fields}).to_string(),
        partition_columns: partition_columns.iter().map(|c| (*c).to_owned()).collect(),
        configuration: Default::default(),
        created_time: START,
    }
}
