//! What is checked before the parquet crate decodes a footer, because it allocates by what the
//! bytes claim, recurses as deep as they nest, and panics on some of what they say.

use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use std::ops::Range;

use super::thrift::{Cursor, Fault, wire};
use crate::{Error, Kind, Result};

/// A schema nested deeper is refused: decoders recurse along it.
const DEPTH: usize = 100;

/// More structures than this in one footer would not fit beside what they describe.
const STRUCTS: u64 = 8_000_000;

/// More column chunks than this would not fit either: each takes most of a kilobyte decoded.
const CHUNKS: u64 = 1_000_000;

/// Walks the undecoded footer. An error where it is no Thrift, or larger than it may be.
pub(crate) fn footer(bytes: &[u8]) -> Result<()> {
    let mut cursor = Cursor::new(bytes);
    let (mut last, mut structs, mut leaves, mut groups) = (0, 0, 0u64, 0u64);
    while let Some((id, kind)) = cursor.field(&mut last)? {
        match (id, kind) {
            (2, wire::LIST) => leaves = schema(&mut cursor)?,
            (4, wire::LIST) => {
                let (element, count) = cursor.list()?;
                groups += count as u64;
                if groups.saturating_mul(leaves.max(1)) > CHUNKS {
                    return Err(Error::new(
                        Kind::TooLarge,
                        format!("{groups} row groups of {leaves} columns in one footer"),
                    ));
                }
                for _ in 0..count {
                    cursor.skip_counting(element, &mut structs)?;
                    bounded(structs)?;
                }
            }
            _ => {
                cursor.skip_counting(kind, &mut structs)?;
                bounded(structs)?;
            }
        }
    }
    Ok(())
}

fn bounded(structs: u64) -> Result<()> {
    if structs > STRUCTS {
        return Err(Error::new(
            Kind::TooLarge,
            "more in one footer than this build reads",
        ));
    }
    Ok(())
}

/// Walks the schema, which is a tree in depth-first order, and counts its leaves.
fn schema(cursor: &mut Cursor<'_>) -> Result<u64> {
    let (element, count) = cursor.list()?;
    if element != wire::STRUCT && count > 0 {
        return Err(Fault::Bad.into());
    }
    // Children still to come at each level above the next element.
    let mut open: Vec<u64> = Vec::new();
    let mut leaves = 0;
    for _ in 0..count {
        let children = children(cursor)?;
        if let Some(siblings) = open.last_mut() {
            *siblings -= 1;
        }
        if children == 0 {
            leaves += 1;
        } else if children > count as u64 {
            return Err(Error::damaged("a schema with more children than elements"));
        } else {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > DEPTH {
            return Err(Error::new(
                Kind::TooLarge,
                format!("a schema nested deeper than {DEPTH} levels"),
            ));
        }
    }
    Ok(leaves)
}

fn children(cursor: &mut Cursor<'_>) -> Result<u64> {
    let (mut last, mut children) = (0, 0);
    while let Some((id, kind)) = cursor.field(&mut last)? {
        match (id, kind) {
            (5, wire::I32) => {
                children = u64::try_from(cursor.int32()?)
                    .map_err(|_| Error::damaged("a schema with a negative number of children"))?;
            }
            _ => cursor.skip(kind)?,
        }
    }
    Ok(children)
}

/// Checks the decoded footer for what no reader can make sense of. Chunks are checked when they
/// are asked for, so that one bad column leaves the others.
pub(crate) fn metadata(metadata: &ParquetMetaData) -> Result<()> {
    let leaves = metadata.file_metadata().schema_descr().num_columns();
    let mut rows = 0i64;
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let own = group.num_rows();
        let sum = rows.checked_add(own).filter(|_| own >= 0);
        let Some(sum) = sum else {
            return Err(Error::damaged(format!("row group {index} has {own} rows")));
        };
        rows = sum;
        if group.num_columns() != leaves {
            return Err(Error::damaged(format!(
                "row group {index} has {} columns, the schema {leaves}",
                group.num_columns()
            )));
        }
    }
    Ok(())
}

/// Where a chunk lies in a file of `size` bytes.
pub(crate) fn chunk(chunk: &ColumnChunkMetaData, size: u64) -> Result<Range<u64>> {
    if chunk.file_path().is_some() {
        return Err(Error::unsupported("a column chunk in another file"));
    }
    let data = chunk.data_page_offset();
    // As the decoder has it: a dictionary is where it says, even where it says nonsense.
    let start = chunk.dictionary_page_offset().unwrap_or(data);
    let (start, length, values) = (
        u64::try_from(start),
        u64::try_from(chunk.compressed_size()),
        u64::try_from(chunk.num_values()),
    );
    let (Ok(start), Ok(length), Ok(_)) = (start, length, values) else {
        return Err(Error::damaged("a column chunk with negative figures"));
    };
    match start.checked_add(length) {
        Some(end) if end <= size => Ok(start..end),
        _ => Err(Error::damaged("a column chunk lies outside the file")),
    }
}

/// A range of the file that a footer names, where it lies inside the file.
pub(crate) fn range(offset: Option<i64>, length: Option<i32>, size: u64) -> Option<Range<u64>> {
    let start = u64::try_from(offset?).ok()?;
    let end = start.checked_add(u64::try_from(length?).ok()?)?;
    (start < end && end <= size).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with these numbers of children in its schema and `groups` empty row groups.
    fn bytes(children: &[u8], groups: u32) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xfc];
        let varint = |bytes: &mut Vec<u8>, mut value: u32| {
            while value > 0x7f {
                bytes.push(value as u8 | 0x80);
                value >>= 7;
            }
            bytes.push(value as u8);
        };
        varint(&mut bytes, children.len() as u32);
        for count in children {
            bytes.extend_from_slice(&[0x55, count * 2, 0]);
        }
        bytes.extend_from_slice(&[0x29, 0xfc]);
        varint(&mut bytes, groups);
        bytes.resize(bytes.len() + groups as usize + 1, 0);
        bytes
    }

    #[test]
    fn a_plain_footer_passes() {
        footer(&bytes(&[2, 0, 1, 0], 3)).unwrap();
    }

    #[test]
    fn booleans_without_bytes_are_damaged() {
        // To the parquet crate, half a thousand million booleans that take no bytes.
        let claimed = [0x29, 0xf2, 0xf6, 0xf7, 0xf8, 0xff, 0x01, 0];
        let hidden = [&[0x12, 0x12, 0x09, 0x09, 0x32][..], &claimed].concat();
        let set = [&[0x1a, 0x31][..], &claimed].concat();
        let map = [0x1b, 0x02, 0x21, 0, 0, 0, 0, 0];
        for bytes in [&claimed[..], &hidden, &set, &map] {
            let error = footer(bytes).unwrap_err();
            assert_eq!(error.kind(), Kind::Damaged, "{bytes:x?}: {error}");
        }
    }

    #[test]
    fn millions_of_row_groups_are_too_large() {
        let error = footer(&bytes(&[1, 0], 3_000_000)).unwrap_err();
        assert_eq!(error.kind(), Kind::TooLarge);
        assert!(error.message().contains("3000000 row groups"), "{error}");
    }

    #[test]
    fn deep_schemas_are_too_large() {
        footer(&bytes(&[1; 90], 0)).unwrap();
        let error = footer(&bytes(&[1; 200], 0)).unwrap_err();
        assert_eq!(error.kind(), Kind::TooLarge);
    }

    #[test]
    fn cut_footers_are_damaged() {
        let whole = bytes(&[2, 0, 1, 0], 3);
        for length in 0..whole.len() {
            assert!(footer(&whole[..length]).is_err(), "{length}");
        }
        assert!(footer(&[0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07]).is_err());
    }

    #[test]
    fn ranges_outside_the_file_are_none() {
        assert_eq!(range(Some(4), Some(6), 10), Some(4..10));
        for (offset, length) in [(4, 7), (-1, 3), (4, -1), (4, 0), (i64::MAX, i32::MAX)] {
            assert_eq!(range(Some(offset), Some(length), 10), None);
        }
    }
}
