//! The inputs looked at before anything is written: whether their rows can be those of one run.

use std::sync::Arc;

use ::parquet::basic::Compression;
use futures::StreamExt;
use object_store::ObjectStore;

use super::columns::Columns;
use super::instants::whole_microseconds;
use super::source::Source;
use super::{Input, Not};
use crate::host::{Progress, SharedHost};
use crate::hours::Dataset;
use crate::hours::columns::{of_file, opened};
use crate::hours::contract::Checker;
use crate::hours::day::Slot;
use crate::parquet::output::Memory;
use crate::parquet::reader::ParquetFile;
use crate::parquet::slices::{bytes, divisible, rows};
use crate::wire::Finding;
use crate::{Error, Kind, Result};

/// What was seen.
pub(super) struct Looked {
    pub(super) findings: Vec<Finding>,
    /// The inputs, the columns of their run, and whether they are compressed densely.
    pub(super) work: Result<(Vec<Input>, Columns, bool), Not>,
}

/// Reads the footer of every input.
pub(super) async fn inspect(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
    source: &Source,
    host: &SharedHost,
) -> Result<Looked> {
    let mut checker = Checker::new(dataset, slot);
    let mut inputs = Vec::with_capacity(source.inputs.len());
    let mut columns = Columns::default();
    let mut dense = false;
    let mut opened = std::pin::pin!(opened(store, &source.inputs));
    while let Some((object, file)) = opened.next().await {
        let looked = async {
            let file = file?;
            let own = look(object.bytes, object.etag.as_deref(), &file)?;
            columns.take(&object.key, &file)?;
            checker.take(object, &file)?;
            whole_microseconds(&file).await?;
            Ok(own)
        };
        let looked = looked.await;
        match looked {
            Ok((rows, packed)) => {
                dense |= packed;
                inputs.push(Input {
                    object: object.clone(),
                    rows,
                });
            }
            Err(error) if of_file(&error) => {
                let why = format!("{} cannot be packed: {}", object.key, error.sentence());
                return Ok(Looked {
                    findings: Vec::new(),
                    work: Err(Not::Refused(why)),
                });
            }
            Err(error) => return Err(error.at("key", &object.key)),
        }
        host.progress(Progress {
            step: "looking at objects".to_owned(),
            done: inputs.len() as u64,
            of: Some(source.inputs.len() as u64),
        });
        if host.cancelled() {
            return Err(Error::new(Kind::Cancelled, "nothing was written"));
        }
        host.pause().await;
    }
    let contract = checker.finish();
    let blocks = contract.blocks;
    let blocks = blocks.map(|why| format!("it could not be published: {why}"));
    let work = match columns.unfit().or(blocks) {
        Some(why) => Err(Not::Refused(why)),
        None => Ok((inputs, columns, dense)),
    };
    Ok(Looked {
        findings: contract.findings,
        work,
    })
}

/// Looks at one file: its rows, and whether it is compressed densely.
fn look(size: u64, etag: Option<&str>, file: &ParquetFile) -> Result<(u64, bool)> {
    if file.size() != size || (etag.is_some() && file.etag() != etag) {
        return Err(Error::damaged("it was replaced after it was listed"));
    }
    let metadata = file.metadata();
    let roots: Vec<usize> = (0..file.arrow().schema().fields().len()).collect();
    if roots.is_empty() {
        return Err(Error::unsupported("it has no columns"));
    }
    let (mut sum, mut dense) = (0u64, false);
    for (group, own) in metadata.row_groups().iter().enumerate() {
        sum = sum.saturating_add(rows(file, group)?);
        dense |= own.columns().iter().any(|chunk| {
            matches!(
                chunk.compression(),
                Compression::ZSTD(_) | Compression::GZIP(_) | Compression::BROTLI(_)
            )
        });
        file.check_codecs(group, &roots)?;
        if bytes(file, group, &roots)? > Memory::default().slice && !divisible(file, group, &roots)
        {
            return Err(Error::new(
                Kind::TooLarge,
                "it has a row group that is too large to be read at once and cannot be divided",
            ));
        }
    }
    Ok((sum, dense))
}
