//! One batch, from decoding to encoding: what is computed between two pauses.

use super::super::binding::Conversion;
use super::super::output::Encoder;
use crate::Result;
use crate::parquet::reader::ParquetFile;
use crate::parquet::slices::{Slice, rows};

/// Most rows of a batch, and the bytes that one should not have more of.
const BATCH_ROWS: u64 = 8192;
const BATCH_BYTES: u64 = 4 << 20;

/// Decodes, converts and encodes one batch; the rows that were read, `None` where there was none left.
pub(super) fn step(
    slice: &mut Slice,
    encoder: &mut Encoder,
    conversion: &Conversion,
    first: u64,
) -> Result<Option<u64>> {
    let Some(arrays) = slice.next()? else {
        return Ok(None);
    };
    encoder.write(&conversion.convert(&arrays, first)?)?;
    Ok(Some(arrays.first().map_or(0, |array| array.len() as u64)))
}

/// Rows of a batch that are not too many bytes, as far as the footer tells.
pub(super) fn batch_rows(file: &ParquetFile, group: usize) -> Result<usize> {
    let own = file.metadata().row_groups().get(group);
    let chunks = own.map(|group| group.columns()).unwrap_or_default();
    let sizes = chunks
        .iter()
        .map(|chunk| u64::try_from(chunk.uncompressed_size()).unwrap_or(0));
    let bytes = sizes.fold(0u64, u64::saturating_add);
    let rows = rows(file, group)?;
    let fit = u128::from(rows) * u128::from(BATCH_BYTES) / u128::from(bytes.max(1));
    let fit = u64::try_from(fit)
        .unwrap_or(BATCH_ROWS)
        .clamp(1, BATCH_ROWS);
    Ok(usize::try_from(fit).unwrap_or(1))
}
