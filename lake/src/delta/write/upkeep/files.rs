//! The file actions of a checkpoint on their way into its Parquet files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, MapArray, StructArray};
use arrow_schema::Fields;
use hashbrown::DefaultHashBuilder;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use serde::Serialize;

use super::chunks::Chunks;
use super::tally::Tally;
use super::typed;
use crate::delta::log::Log;
use crate::delta::path::log_key;
use crate::delta::replay::Seen;
use crate::delta::write::columns::{self, CheckpointWriter, Columns, Stated};
use crate::table::Time;
use crate::{Error, Kind, Result};

/// Actions of a row group.
const GROUP: usize = 100_000;

/// Actions of a sidecar at least, but of the last: as many as Spark puts into one.
const SIDECAR: u64 = 50_000;

/// A sidecar that was put.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sidecar {
    pub(super) path: String,
    pub(super) size_in_bytes: u64,
    pub(super) modification_time: i64,
}

/// What cannot be stated as was asked, so that the checkpoint is written anew in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// Statistics that typed columns alone would lose.
    Stats,
    /// A partition value that is none of its type.
    Partition,
}

/// Takes file actions, newest first.
pub(super) struct Files<'a> {
    pub(super) log: &'a Log,
    /// Files of which a newer action was seen.
    pub(super) seen: Seen,
    /// The instant up to which removed files are forgotten.
    pub(super) forgotten: i64,
    pub(super) hasher: &'a DefaultHashBuilder,
    /// Active files so far.
    pub(super) tally: Tally,
    /// Actions so far.
    pub(super) actions: u64,
    pub(super) sidecars: Vec<Sidecar>,
    pub(super) unfit: Option<Unfit>,
    pub(super) add_fields: Fields,
    pub(super) remove_fields: Fields,
    now: Time,
    stated: Stated,
    columns: Columns,
    writer: Option<CheckpointWriter<Chunks>>,
    open: u64,
}

impl<'a> Files<'a> {
    pub(super) fn new(
        log: &'a Log,
        hasher: &'a DefaultHashBuilder,
        columns: Columns,
        stated: Stated,
        forgotten: i64,
        now: Time,
    ) -> Self {
        Self {
            log,
            seen: Seen::default(),
            forgotten,
            hasher,
            tally: Tally::default(),
            actions: 0,
            sidecars: Vec::new(),
            unfit: None,
            add_fields: Fields::from(columns::add(&Stated::TEXT)),
            remove_fields: Fields::from(columns::remove()),
            now,
            stated,
            columns,
            writer: None,
            open: 0,
        }
    }

    /// Takes adds with their statistics as text.
    pub(super) async fn adds(
        &mut self,
        adds: StructArray,
        ids: &mut (dyn FnMut() -> String + Send),
    ) -> Result<()> {
        let adds = self.restated(&adds)?;
        self.push("add", &adds, ids).await
    }

    /// Takes removes.
    pub(super) async fn removes(
        &mut self,
        removes: StructArray,
        ids: &mut (dyn FnMut() -> String + Send),
    ) -> Result<()> {
        let removes = unchanged(&removes, false)?;
        self.push("remove", &removes, ids).await
    }

    async fn push(
        &mut self,
        kind: &str,
        actions: &StructArray,
        ids: &mut (dyn FnMut() -> String + Send),
    ) -> Result<()> {
        self.writer()?.push_column(kind, actions)?;
        self.actions += actions.len() as u64;
        self.open += actions.len() as u64;
        match self.columns == Columns::Sidecar && self.open >= SIDECAR {
            true => self.put_sidecar(ids).await,
            false => Ok(()),
        }
    }

    fn writer(&mut self) -> Result<&mut CheckpointWriter<Chunks>> {
        if self.writer.is_none() {
            let made =
                CheckpointWriter::stating(Chunks::default(), self.columns, &self.stated, GROUP)?;
            self.writer = Some(made);
        }
        let none = || Error::new(Kind::Internal, "no writer");
        self.writer.as_mut().ok_or_else(none)
    }

    /// Ends a checkpoint in one file with what is not a file.
    pub(super) fn finish(mut self, other: &[impl Serialize]) -> Result<Chunks> {
        self.writer()?.push(other)?;
        match self.writer.take() {
            Some(writer) => writer.finish(),
            None => Ok(Chunks::default()),
        }
    }

    /// Puts what was taken since the last sidecar as another one.
    pub(super) async fn put_sidecar(
        &mut self,
        ids: &mut (dyn FnMut() -> String + Send),
    ) -> Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        self.open = 0;
        let payload = writer.finish()?.payload();
        let size = payload.content_length() as u64;
        let name = format!("{}.parquet", ids());
        let key = sidecar_key(self.log, &name);
        if !create(self.log, &key, payload).await? {
            let taken = "a name that nobody else can have is taken";
            return Err(Error::new(Kind::Internal, taken).at("key", &key));
        }
        self.sidecars.push(Sidecar {
            path: name,
            size_in_bytes: size,
            modification_time: modified(self.log, &key).await.unwrap_or(self.now).0,
        });
        Ok(())
    }

    /// Deletes the sidecars that no checkpoint will name.
    pub(super) async fn abandon(self) {
        for sidecar in &self.sidecars {
            // Left behind, they would only be litter that log cleanup knows how to find.
            let key = sidecar_key(self.log, &sidecar.path);
            let _ = self.log.store.delete(&key).await;
        }
    }

    /// Adds as this checkpoint states them.
    fn restated(&mut self, adds: &StructArray) -> Result<StructArray> {
        let adds = unchanged(adds, true)?;
        if self.stated == Stated::TEXT {
            return Ok(adds);
        }
        let fields = Fields::from(columns::add(&self.stated));
        let lacks = || Error::new(Kind::Internal, "an add lacks a column");
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(fields.len());
        for field in &fields {
            let column: ArrayRef = match (field.name().as_str(), &self.stated) {
                (
                    "stats_parsed",
                    Stated {
                        stats: Some(to),
                        text,
                        ..
                    },
                ) => {
                    let texts = adds.column_by_name("stats").ok_or_else(lacks)?;
                    let typed = typed::stats(texts.as_string::<i32>(), to, !text);
                    Arc::new(typed.inspect_err(|_| self.unfit = Some(Unfit::Stats))?)
                }
                (
                    "partitionValues_parsed",
                    Stated {
                        partition: Some(to),
                        ..
                    },
                ) => {
                    let values = adds.column_by_name("partitionValues").ok_or_else(lacks)?;
                    let typed = typed::partition(values.as_map(), to);
                    Arc::new(typed.inspect_err(|_| self.unfit = Some(Unfit::Partition))?)
                }
                (name, _) => Arc::clone(adds.column_by_name(name).ok_or_else(lacks)?),
            };
            columns.push(column);
        }
        Ok(StructArray::try_new(fields, columns, None)?)
    }
}

/// The same actions as a checkpoint has them: they change no data, and an add has partition values
/// even where it has none.
fn unchanged(actions: &StructArray, add: bool) -> Result<StructArray> {
    let rows = actions.len();
    let named = actions.fields().iter().zip(actions.columns());
    let column = |(field, column): (&arrow_schema::FieldRef, &ArrayRef)| -> Result<ArrayRef> {
        Ok(match (field.name().as_str(), column.as_map_opt()) {
            ("dataChange", _) => Arc::new(BooleanArray::from(vec![false; rows])),
            ("partitionValues", Some(values)) if add && values.null_count() > 0 => {
                let (field, offsets, entries, _, sorted) = values.clone().into_parts();
                Arc::new(MapArray::try_new(field, offsets, entries, None, sorted)?)
            }
            _ => Arc::clone(column),
        })
    };
    let columns = named.map(column).collect::<Result<Vec<_>>>()?;
    let nulls = actions.nulls().cloned();
    Ok(StructArray::try_new(
        actions.fields().clone(),
        columns,
        nulls,
    )?)
}

fn sidecar_key(log: &Log, name: &str) -> Path {
    log_key(&log.root, "_sidecars").join(name)
}

/// Puts a file that was not there; false where another writer's is.
pub(super) async fn create(log: &Log, key: &Path, payload: PutPayload) -> Result<bool> {
    let bytes = payload.content_length() as u64;
    let at = |error: object_store::Error| Error::from(error).at("key", key);
    let options = PutOptions::from(PutMode::Create);
    match log.store.put_opts(key, payload, options).await {
        Ok(_) => Ok(true),
        // It may be ours, and the answer was lost on its way; or nothing is there after all.
        Err(object_store::Error::AlreadyExists { .. }) => {
            Ok(log.store.head(key).await.map_err(at)?.size == bytes)
        }
        Err(error) => Err(at(error)),
    }
}

/// When an object was put, as the store has it.
pub(super) async fn modified(log: &Log, key: &Path) -> Option<Time> {
    let meta = log.store.head(key).await.ok()?;
    Some(Time(meta.last_modified.timestamp_millis()))
}
