//! Ranges of a file: joined before they are fetched, and held for the decoder afterwards.

use std::ops::Range;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::{Buf, Bytes};

/// Joins ranges with small gaps between them: one request more costs more than the gap.
pub(crate) fn coalesce(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    const GAP: u64 = 256 * 1024;
    ranges.sort_by_key(|r| r.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(GAP) => {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// Ranges of a file held in memory, as the Parquet decoder wants them.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    size: u64,
    pieces: Vec<(u64, Bytes)>,
}

impl Fetched {
    /// Pieces by their first byte, in order, of a file of `size` bytes.
    pub(crate) fn new(size: u64, pieces: Vec<(u64, Bytes)>) -> Self {
        Self { size, pieces }
    }

    /// The bytes of a range; `None` where not all of it was fetched.
    pub(crate) fn bytes(&self, range: &Range<u64>) -> Option<Bytes> {
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        self.get_bytes(range.start, length).ok()
    }

    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let index = self.pieces.partition_point(|(at, _)| *at <= start);
        let piece = index.checked_sub(1).and_then(|i| self.pieces.get(i));
        match piece {
            Some((at, bytes)) if start - at <= bytes.len() as u64 => {
                Ok(bytes.slice((start - at) as usize..))
            }
            _ => Err(ParquetError::EOF(format!("byte {start} was not fetched"))),
        }
    }
}

impl Length for Fetched {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Fetched {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.from(start)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF(format!(
                "{length} bytes from {start} were not fetched"
            )));
        }
        Ok(bytes.slice(..length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ranges_are_one_request() {
        let one = coalesce(vec![900..1000, 0..100, 50..200]);
        assert_eq!(one, std::slice::from_ref(&(0..1000)));
        assert_eq!(coalesce(vec![0..1, 1_000_000..1_000_001]).len(), 2);
        assert_eq!(coalesce(vec![0..10, u64::MAX - 1..u64::MAX]).len(), 2);
    }

    #[test]
    fn only_what_was_fetched_is_there() {
        let pieces = vec![
            (4, Bytes::from_static(b"abcd")),
            (20, Bytes::from_static(b"xy")),
        ];
        let fetched = Fetched::new(30, pieces);
        assert_eq!(fetched.bytes(&(5..7)).as_deref(), Some(&b"bc"[..]));
        assert_eq!(fetched.bytes(&(20..22)).as_deref(), Some(&b"xy"[..]));
        for range in [0..2, 3..5, 6..9, 8..9, 19..21, 21..23, 25..26] {
            assert_eq!(fetched.bytes(&range), None, "{range:?}");
        }
    }
}
