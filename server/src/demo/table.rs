//! A Delta table on disk that grows commit by commit, with the files' times set to the commits'.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use arrow_array::RecordBatch;
use indexmap::IndexMap;
use lake::table::Time;
use lake::{Error, Kind, Result};
use serde_json::{Value, json};

use super::action::{
    Action, Add, DomainMetadata, FileKey, Metadata, PartitionValues, Protocol, Remove, Txn,
};
use super::checkpoint::{self, Form, Object, State};
use super::commit::Commit;
use super::data::{Packing, parquet_bytes};
use super::random::Random;
use super::stats::stats_json;

/// What Spark calls itself in the log.
pub const ENGINE: &str = "Apache-Spark/4.0.1 Delta-Lake/4.0.0";

/// A table and what its newest version holds.
pub struct Table {
    root: PathBuf,
    /// Names of files and ids of transactions come from here.
    pub random: Random,
    /// The version that the next commit makes.
    pub next: u64,
    /// Active files.
    pub live: IndexMap<FileKey, Add>,
    tombstones: IndexMap<FileKey, Remove>,
    /// The newest `metaData`.
    pub metadata: Metadata,
    /// The newest `protocol`.
    pub protocol: Protocol,
    transactions: BTreeMap<String, Txn>,
    domains: BTreeMap<String, DomainMetadata>,
    lines: Vec<Vec<Action>>,
    /// Data files written for the next commit so far.
    parts: u32,
    /// Whether a `.crc` is written beside each commit.
    pub checksums: bool,
}

impl Table {
    /// An empty table below `root`, whose log does not exist yet.
    pub fn new(
        root: PathBuf,
        random: Random,
        metadata: Metadata,
        protocol: Protocol,
    ) -> Result<Self> {
        create_dir(&root.join("_delta_log"))?;
        Ok(Self {
            root,
            random,
            next: 0,
            live: IndexMap::new(),
            tombstones: IndexMap::new(),
            metadata,
            protocol,
            transactions: BTreeMap::new(),
            domains: BTreeMap::new(),
            lines: Vec::new(),
            parts: 0,
            checksums: false,
        })
    }

    /// Writes a data file and gives its `add`. `batch` has the physical names of the columns and
    /// not the partition columns.
    pub(super) fn data_file(
        &mut self,
        batch: &RecordBatch,
        partition: PartitionValues,
        packing: Packing,
        at: Time,
    ) -> Result<Add> {
        let folder: String = partition
            .iter()
            .map(|(k, v)| {
                format!(
                    "{k}={}/",
                    v.as_deref().unwrap_or("__HIVE_DEFAULT_PARTITION__")
                )
            })
            .collect();
        let codec = match packing {
            Packing::Written(_) => "snappy",
            Packing::Packed => "zstd",
        };
        let (part, id) = (self.parts, self.random.uuid());
        let path = format!("{folder}part-{part:05}-{id}.c000.{codec}.parquet");
        self.parts += 1;
        let bytes = parquet_bytes(batch, packing)?;
        self.put(&path, &bytes, at)?;
        let vectors = self
            .metadata
            .configuration
            .get("delta.enableDeletionVectors");
        let tight = vectors.is_some_and(|v| v == "true").then_some(true);
        Ok(Add {
            path,
            partition_values: partition,
            size: bytes.len() as i64,
            modification_time: at.0,
            data_change: true,
            stats: Some(stats_json(batch, tight)),
            tags: None,
            deletion_vector: None,
        })
    }

    /// Writes an object below the table's root, as if at an instant.
    pub fn put(&self, key: &str, bytes: &[u8], at: Time) -> Result<()> {
        put(&self.root, key, bytes, at)
    }

    /// Deletes an object below the table's root.
    pub fn delete(&self, key: &str) -> Result<()> {
        let path = self.root.join(key);
        fs::remove_file(&path).map_err(|e| disk("not deleted", &path, e))
    }

    /// Files removed before an instant that are not active: what VACUUM would delete.
    pub fn removed_before(&self, instant: Time) -> Vec<Remove> {
        let old = self.tombstones.values();
        old.filter(|r| r.deletion_timestamp < instant.0)
            .cloned()
            .collect()
    }

    /// Forgets what was vacuumed, so that checkpoints no longer name it.
    pub fn forget(&mut self, removed: &[Remove]) {
        for remove in removed {
            self.tombstones.shift_remove(&remove.key());
        }
    }

    /// Writes a commit and gives its version.
    pub fn commit(&mut self, commit: Commit) -> Result<u64> {
        let version = self.next;
        let Commit { at, info, actions } = commit;
        for action in &actions {
            self.apply(action);
        }
        let txn_id = self.random.uuid();
        let info = self.commit_info(at, info, &txn_id);
        let mut lines = vec![Action::CommitInfo(info)];
        lines.extend(actions);
        self.put(
            &format!("_delta_log/{version:020}.json"),
            json_lines(&lines)?.as_bytes(),
            at,
        )?;
        if self.checksums {
            self.checksum(version, &txn_id, at)?;
        }
        self.lines.push(lines);
        self.parts = 0;
        self.next += 1;
        Ok(version)
    }

    /// The properties changed to these, as `metaData`.
    pub fn with_properties(&self, properties: &[(&str, &str)]) -> Metadata {
        let mut metadata = self.metadata.clone();
        for (key, value) in properties {
            let (key, value) = ((*key).to_owned(), (*value).to_owned());
            metadata.configuration.insert(key, value);
        }
        metadata
    }

    /// Everything a checkpoint of the newest version says.
    pub fn state(&self) -> State {
        State {
            version: self.next.saturating_sub(1),
            other: self.state_without_files(),
            files: self.files(),
        }
    }

    fn state_without_files(&self) -> Vec<Action> {
        let mut actions = vec![
            Action::Protocol(self.protocol.clone()),
            Action::MetaData(self.metadata.clone()),
        ];
        actions.extend(self.transactions.values().cloned().map(Action::Txn));
        actions.extend(self.domains.values().cloned().map(Action::DomainMetadata));
        actions
    }

    /// Active and removed files, as a checkpoint has them.
    fn files(&self) -> Vec<Action> {
        let removes = self.tombstones.values().cloned().map(|mut remove| {
            remove.data_change = false;
            remove.stats = None;
            Action::Remove(remove)
        });
        let adds = self.live.values().cloned().map(|mut add| {
            add.data_change = false;
            Action::Add(add)
        });
        removes.chain(adds).collect()
    }

    /// The actions of the commits from one version to another, one list a commit.
    pub fn lines(&self, from: u64, to: u64) -> &[Vec<Action>] {
        let range = from as usize..=to as usize;
        self.lines.get(range).unwrap_or_default()
    }

    /// Writes a classic checkpoint of the newest version, and the hint to it.
    pub fn checkpoint(&self, at: Time) -> Result<()> {
        let state = self.state();
        let objects = checkpoint::classic(&state)?;
        self.put_checkpoint(&state, objects, at)
    }

    /// Writes a checkpoint in several files, and the hint to it.
    pub fn multi_part_checkpoint(&self, parts: usize, at: Time) -> Result<()> {
        let state = self.state();
        let objects = checkpoint::multi_part(&state, parts)?;
        self.put_checkpoint(&state, objects, at)
    }

    /// Writes a V2 checkpoint with sidecars, and the hint to it.
    pub fn v2_checkpoint(&mut self, form: Form, sidecars: usize, at: Time) -> Result<()> {
        let state = self.state();
        let objects = checkpoint::v2(&state, form, sidecars, &mut self.random, at.0)?;
        self.put_checkpoint(&state, objects, at)
    }

    fn put_checkpoint(&self, state: &State, mut objects: Vec<Object>, at: Time) -> Result<()> {
        // Spark takes a moment to write it, and the hint comes last.
        let at = Time(at.0 + 1_700);
        objects.push(checkpoint::hint(state, &objects, at.0)?);
        let put = |object: &Object| self.put(&object.key, &object.bytes, at);
        objects.iter().try_for_each(put)
    }

    fn apply(&mut self, action: &Action) {
        match action {
            Action::Add(add) => {
                self.tombstones.shift_remove(&add.key());
                self.live.insert(add.key(), add.clone());
            }
            Action::Remove(remove) => {
                self.live.shift_remove(&remove.key());
                self.tombstones.insert(remove.key(), remove.clone());
            }
            Action::MetaData(metadata) => self.metadata = metadata.clone(),
            Action::Protocol(protocol) => self.protocol = protocol.clone(),
            Action::Txn(txn) => {
                self.transactions.insert(txn.app_id.clone(), txn.clone());
            }
            Action::DomainMetadata(domain) => {
                self.domains.insert(domain.domain.clone(), domain.clone());
            }
            _ => {}
        }
    }

    /// `commitInfo` in Spark's order of fields.
    fn commit_info(
        &self,
        at: Time,
        mut given: IndexMap<String, Value>,
        txn_id: &str,
    ) -> IndexMap<String, Value> {
        let mut info = IndexMap::new();
        if self.in_commit_timestamps() {
            info.insert("inCommitTimestamp".to_owned(), at.0.into());
        }
        let mut given = |info: &mut IndexMap<String, Value>, key: &str, or: Option<Value>| {
            if let Some(value) = given.swap_remove(key).or(or) {
                info.insert(key.to_owned(), value);
            }
        };
        for key in [
            "timestamp",
            "userName",
            "operation",
            "operationParameters",
            "job",
        ] {
            given(&mut info, key, None);
        }
        if self.next > 0 {
            info.insert("readVersion".to_owned(), (self.next - 1).into());
        }
        given(&mut info, "isolationLevel", Some("Serializable".into()));
        given(&mut info, "isBlindAppend", Some(false.into()));
        given(&mut info, "operationMetrics", Some(json!({})));
        given(&mut info, "userMetadata", None);
        info.insert("engineInfo".to_owned(), ENGINE.into());
        info.insert("txnId".to_owned(), txn_id.into());
        info
    }

    fn in_commit_timestamps(&self) -> bool {
        let key = "delta.enableInCommitTimestamps";
        self.metadata
            .configuration
            .get(key)
            .is_some_and(|v| v == "true")
    }

    /// The `.crc` of the version just made (PROTOCOL, "Version Checksum File").
    fn checksum(&self, version: u64, txn_id: &str, at: Time) -> Result<()> {
        let files: Vec<Add> = self
            .live
            .values()
            .cloned()
            .map(|mut add| {
                add.data_change = false;
                add
            })
            .collect();
        let transactions: Vec<&Txn> = self.transactions.values().collect();
        let domains: Vec<&DomainMetadata> = self.domains.values().collect();
        let checksum = json!({
            "txnId": txn_id,
            "tableSizeBytes": files.iter().map(|f| f.size).sum::<i64>(),
            "numFiles": files.len(),
            "numMetadata": 1,
            "numProtocol": 1,
            "setTransactions": transactions,
            "domainMetadata": domains,
            "metadata": self.metadata,
            "protocol": self.protocol,
            "allFiles": files,
        });
        self.put(
            &format!("_delta_log/{version:020}.crc"),
            checksum.to_string().as_bytes(),
            at,
        )
    }
}

/// Actions as the lines of a commit or of a JSON checkpoint.
pub fn json_lines(actions: &[Action]) -> Result<String> {
    let mut text = String::new();
    for action in actions {
        let line = serde_json::to_string(action)
            .map_err(|e| Error::new(Kind::Internal, "an action was not written").because(e))?;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

/// Writes an object below a folder, as if at an instant.
pub(super) fn put(root: &Path, key: &str, bytes: &[u8], at: Time) -> Result<()> {
    let path = root.join(key);
    if let Some(folder) = path.parent() {
        create_dir(folder)?;
    }
    fs::write(&path, bytes).map_err(|e| disk("not written", &path, e))?;
    let time = UNIX_EPOCH + Duration::from_millis(at.0.max(0) as u64);
    let file = File::options().write(true).open(&path);
    file.and_then(|f| f.set_times(FileTimes::new().set_modified(time).set_accessed(time)))
        .map_err(|e| disk("its time was not set", &path, e))
}

pub(super) fn create_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| disk("the folder was not made", path, e))
}

fn disk(what: &str, path: &Path, error: std::io::Error) -> Error {
    Error::invalid(what)
        .at("key", path.display())
        .because(error)
}
