//! The removes of a checkpoint: which files, and since when. No other column is read.

use ::parquet::arrow::ProjectionMask;
use arrow_array::{Array, Int64Array, RecordBatch};
use object_store::path::Path;

use super::columns::{long, present, structure, text};
use super::{BATCH, vectors};
use crate::delta::log::{Log, read_optional};
use crate::delta::segment::Checkpoint;
use crate::delta::tombstone::{Tombstone, take_removes};
use crate::host::SharedHost;
use crate::parquet::reader::ParquetFile;
use crate::table::Time;
use crate::{Error, Result};

impl Log {
    /// Every remove that a checkpoint holds.
    pub(crate) async fn checkpoint_removes(
        &self,
        checkpoint: &Checkpoint,
        host: &SharedHost,
    ) -> Result<Vec<Tombstone>> {
        let mut found = Vec::new();
        let mut sidecars = Vec::new();
        for file in &checkpoint.files {
            let path = &file.location;
            if checkpoint.json {
                let (_, bytes) = read_optional(&self.store, path)
                    .await?
                    .ok_or_else(|| Error::not_found("the checkpoint is gone").at("key", path))?;
                take_removes(&bytes, &mut found, &mut sidecars).map_err(|e| e.at("key", path))?;
            } else {
                self.take_parquet(path, &mut found, &mut sidecars, host)
                    .await?;
            }
        }
        for sidecar in sidecars {
            let path = self.sidecar_path(&sidecar)?;
            self.take_parquet(&path, &mut found, &mut Vec::new(), host)
                .await?;
        }
        Ok(found)
    }

    async fn take_parquet(
        &self,
        path: &Path,
        found: &mut Vec<Tombstone>,
        sidecars: &mut Vec<String>,
        host: &SharedHost,
    ) -> Result<()> {
        let file = ParquetFile::open(&self.store, path).await?;
        let schema = file.metadata().file_metadata().schema_descr();
        let wanted = schema.columns().iter().enumerate().filter(|(_, column)| {
            let path = column.path().string();
            matches!(
                path.as_str(),
                "remove.path" | "remove.deletionTimestamp" | "sidecar.path"
            ) || path.starts_with("remove.deletionVector.")
        });
        let leaves: Vec<usize> = wanted.map(|(leaf, _)| leaf).collect();
        if leaves.is_empty() {
            return Ok(());
        }
        let mask = ProjectionMask::leaves(schema, leaves);
        for group in 0..file.metadata().num_row_groups() {
            for batch in file.row_group(group, &mask, BATCH).await? {
                let taken = batch.and_then(|batch| take_batch(&batch, found, sidecars));
                taken.map_err(|e| e.at("key", path))?;
                host.pause().await;
            }
        }
        Ok(())
    }
}

fn take_batch(
    batch: &RecordBatch,
    found: &mut Vec<Tombstone>,
    sidecars: &mut Vec<String>,
) -> Result<()> {
    if let Some(sidecar) = structure(batch, "sidecar")
        && let Some(paths) = text(sidecar, "path")?
    {
        sidecars.extend(present(&paths).map(|row| paths.value(row).to_owned()));
    }
    let Some(remove) = structure(batch, "remove") else {
        return Ok(());
    };
    let Some(paths) = text(remove, "path")? else {
        return Ok(());
    };
    let deleted = long(remove, "deletionTimestamp")?;
    let deleted = deleted.unwrap_or_else(|| Int64Array::new_null(paths.len()));
    let vectors = vectors(remove)?;
    for row in present(&paths) {
        found.push(Tombstone {
            path: paths.value(row).to_owned(),
            deleted: Time(match deleted.is_valid(row) {
                true => deleted.value(row),
                false => 0,
            }),
            vector: vectors.as_ref().and_then(|v| v.descriptor(row)),
        });
    }
    Ok(())
}
