//! Checkpoints of every kind, as the objects they consist of (PROTOCOL, "Checkpoints").

use lake::delta::write::{CheckpointWriter, Columns};
use lake::{Error, Kind, Result};
use serde_json::{Value, json};

use super::action::{Action, CheckpointMetadata, Sidecar};
use super::random::Random;
use super::table::json_lines;

/// An object to be put below a table's root.
#[derive(Clone, Debug)]
pub struct Object {
    /// Key relative to the table's root.
    pub key: String,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// What the upper file of a V2 checkpoint is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines of JSON, as a commit.
    Json,
    /// Parquet.
    Parquet,
}

/// The state of a table: what a checkpoint says.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The version.
    pub version: u64,
    /// Protocol, metadata, transactions, domains.
    pub other: Vec<Action>,
    /// Removed and active files.
    pub files: Vec<Action>,
}

impl State {
    fn all(&self) -> Vec<Action> {
        self.other.iter().chain(&self.files).cloned().collect()
    }

    fn adds(&self) -> usize {
        let adds = self.files.iter().filter(|a| matches!(a, Action::Add(_)));
        adds.count()
    }
}

/// The actions as one Parquet file.
fn parquet_from_actions(columns: Columns, actions: &[Action]) -> Result<Vec<u8>> {
    let mut writer = CheckpointWriter::new(Vec::new(), columns, actions.len().max(1))?;
    writer.push(actions)?;
    writer.finish()
}

/// A checkpoint in one file.
pub fn classic(state: &State) -> Result<Vec<Object>> {
    let actions = state.all();
    let bytes = parquet_from_actions(Columns::Classic, &actions)?;
    let key = format!("_delta_log/{:020}.checkpoint.parquet", state.version);
    Ok(vec![Object { key, bytes }])
}

/// A checkpoint in `parts` files.
pub fn multi_part(state: &State, parts: usize) -> Result<Vec<Object>> {
    let actions = state.all();
    let size = actions.len().div_ceil(parts.max(1)).max(1);
    let chunks: Vec<&[Action]> = (0..parts)
        .map(|part| actions.chunks(size).nth(part).unwrap_or_default())
        .collect();
    let version = state.version;
    let parts = chunks.iter().zip(1..).map(|(chunk, part)| {
        let key = format!("_delta_log/{version:020}.checkpoint.{part:010}.{parts:010}.parquet");
        let bytes = parquet_from_actions(Columns::Classic, chunk)?;
        Ok(Object { key, bytes })
    });
    parts.collect()
}

/// A V2 checkpoint whose files lie in `sidecars` sidecars; the upper file is the last object.
/// Without sidecars the upper file holds the files too.
pub fn v2(
    state: &State,
    form: Form,
    sidecars: usize,
    random: &mut Random,
    modification_time: i64,
) -> Result<Vec<Object>> {
    let version = state.version;
    let mut objects = Vec::new();
    let mut upper = vec![Action::CheckpointMetadata(CheckpointMetadata {
        version: version as i64,
    })];
    let size = state.files.len().div_ceil(sidecars.max(1)).max(1);
    for (part, chunk) in state.files.chunks(size).enumerate() {
        if sidecars == 0 {
            break;
        }
        let path = format!(
            "{version:020}.checkpoint.{:010}.{sidecars:010}.{}.parquet",
            part + 1,
            random.uuid()
        );
        let bytes = parquet_from_actions(Columns::Sidecar, chunk)?;
        upper.push(Action::Sidecar(Sidecar {
            path: path.clone(),
            size_in_bytes: bytes.len() as i64,
            modification_time,
        }));
        let key = format!("_delta_log/_sidecars/{path}");
        objects.push(Object { key, bytes });
    }
    upper.extend(state.other.iter().cloned());
    if sidecars == 0 {
        upper.extend(state.files.iter().cloned());
    }
    let (bytes, ending) = match form {
        Form::Json => (json_lines(&upper)?.into_bytes(), "json"),
        Form::Parquet => (parquet_from_actions(Columns::V2, &upper)?, "parquet"),
    };
    let uuid = random.uuid();
    let key = format!("_delta_log/{version:020}.checkpoint.{uuid}.{ending}");
    objects.push(Object { key, bytes });
    Ok(objects)
}

/// `_last_checkpoint` for a checkpoint that consists of these objects.
pub fn hint(state: &State, objects: &[Object], modification_time: i64) -> Result<Object> {
    let bytes: usize = objects.iter().map(|o| o.bytes.len()).sum();
    let mut hint = json!({
        "version": state.version,
        "size": state.other.len() + state.files.len(),
        "sizeInBytes": bytes,
        "numOfAddFiles": state.adds(),
    });
    let Some(last) = objects.last() else {
        return Err(Error::new(
            Kind::Internal,
            "a checkpoint has at least one file",
        ));
    };
    let name = last.key.rsplit('/').next().unwrap_or_default();
    let is_v2 = name.split('.').nth(2).is_some_and(|part| part.len() == 36);
    if is_v2 {
        hint["v2Checkpoint"] = json!({
            "path": name,
            "sizeInBytes": last.bytes.len(),
            "modificationTime": modification_time,
        });
    } else if objects.len() > 1 {
        hint["parts"] = Value::from(objects.len());
    }
    Ok(Object {
        key: "_delta_log/_last_checkpoint".to_owned(),
        bytes: hint.to_string().into_bytes(),
    })
}
