//! One batch, from decoding to encoding: what is computed between two pauses.

use super::super::binding::Conversion;
use super::super::output::Encoder;
use crate::Result;
use crate::parquet::slices::Slice;

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
