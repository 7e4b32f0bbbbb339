//! Page headers: what stands before each page of a column chunk.

use super::thrift::{Cursor, Fault, wire};
use crate::{Error, Kind, Result};

/// A page larger than this after decompression is refused: decoders hold pages whole.
const PAGE_LIMIT: u64 = 256 * 1024 * 1024;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    Dictionary,
    Data,
    DataV2,
    /// An index page, or one that this build does not know. Readers pass over it.
    Other,
}

/// A decoded page header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: PageKind,
    /// Bytes of the header itself.
    pub(crate) length: u64,
    /// Bytes of the page behind the header.
    pub(crate) compressed: u64,
    pub(crate) uncompressed: u64,
    pub(crate) values: Option<u64>,
    /// Rows that start in the page, where the header says (the second page format only).
    pub(crate) rows: Option<u64>,
    pub(crate) nulls: Option<u64>,
    /// The encoding's number.
    pub(crate) encoding: Option<i32>,
    /// Bounds as the file encodes them.
    pub(crate) min: Option<Vec<u8>>,
    pub(crate) max: Option<Vec<u8>>,
}

impl Head {
    /// Bytes of header and page.
    pub(crate) fn whole(&self) -> u64 {
        self.length.saturating_add(self.compressed)
    }
}

/// Reads the header that `bytes` begin with.
pub(crate) fn head(bytes: &[u8]) -> Result<Head, Fault> {
    let mut cursor = Cursor::new(bytes);
    let mut head = Head {
        kind: PageKind::Other,
        length: 0,
        compressed: 0,
        uncompressed: 0,
        values: None,
        rows: None,
        nulls: None,
        encoding: None,
        min: None,
        max: None,
    };
    let (mut last, mut kind, mut sizes) = (0, None, (None, None));
    while let Some((id, wire)) = cursor.field(&mut last)? {
        match (id, wire) {
            (1, wire::I32) => kind = Some(cursor.int32()?),
            (2, wire::I32) => sizes.0 = Some(count(&mut cursor)?),
            (3, wire::I32) => sizes.1 = Some(count(&mut cursor)?),
            (5, wire::STRUCT) => page(&mut cursor, &mut head, &DATA)?,
            (7, wire::STRUCT) => page(&mut cursor, &mut head, &DICTIONARY)?,
            (8, wire::STRUCT) => page(&mut cursor, &mut head, &DATA_V2)?,
            _ => cursor.skip(wire)?,
        }
    }
    let (Some(kind), (Some(uncompressed), Some(compressed))) = (kind, sizes) else {
        return Err(Fault::Bad);
    };
    head.kind = match kind {
        0 => PageKind::Data,
        2 => PageKind::Dictionary,
        3 => PageKind::DataV2,
        _ => PageKind::Other,
    };
    head.uncompressed = uncompressed;
    head.compressed = compressed;
    head.length = cursor.position() as u64;
    Ok(head)
}

/// Ids of the fields of one kind of page header; 0 for none.
struct Ids {
    nulls: i16,
    rows: i16,
    encoding: i16,
    statistics: i16,
}

const DATA: Ids = Ids {
    nulls: 0,
    rows: 0,
    encoding: 2,
    statistics: 5,
};
const DICTIONARY: Ids = Ids {
    nulls: 0,
    rows: 0,
    encoding: 2,
    statistics: 0,
};
const DATA_V2: Ids = Ids {
    nulls: 2,
    rows: 3,
    encoding: 4,
    statistics: 8,
};

fn page(cursor: &mut Cursor<'_>, head: &mut Head, ids: &Ids) -> Result<(), Fault> {
    let mut last = 0;
    while let Some((id, wire)) = cursor.field(&mut last)? {
        match wire {
            wire::I32 if id == 1 => head.values = Some(count(cursor)?),
            wire::I32 if id == ids.nulls => head.nulls = Some(count(cursor)?),
            wire::I32 if id == ids.rows => head.rows = Some(count(cursor)?),
            wire::I32 if id == ids.encoding => head.encoding = Some(cursor.int32()?),
            wire::STRUCT if id == ids.statistics => statistics(cursor, head)?,
            _ => cursor.skip(wire)?,
        }
    }
    Ok(())
}

fn statistics(cursor: &mut Cursor<'_>, head: &mut Head) -> Result<(), Fault> {
    let mut last = 0;
    while let Some((id, wire)) = cursor.field(&mut last)? {
        match (id, wire) {
            (3, wire::I64) => head.nulls = u64::try_from(cursor.int()?).ok(),
            (5, wire::BINARY) => head.max = Some(cursor.binary()?.to_vec()),
            (6, wire::BINARY) => head.min = Some(cursor.binary()?.to_vec()),
            _ => cursor.skip(wire)?,
        }
    }
    Ok(())
}

fn count(cursor: &mut Cursor<'_>) -> Result<u64, Fault> {
    u64::try_from(cursor.int32()?).map_err(|_| Fault::Bad)
}

/// Checks the pages in `bytes`, which begin with a page, for sizes that a decoder would allocate
/// by. What is no header is an error here, because the decoder passes over lists of numbers beyond
/// the end of the bytes without a word, as many as the header claims.
pub(crate) fn check(bytes: &[u8]) -> Result<()> {
    let mut at = 0usize;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let head = head(rest).map_err(|_| {
            Error::damaged(format!("no page header {at} bytes into a column chunk"))
        })?;
        if head.uncompressed > PAGE_LIMIT {
            return Err(Error::new(
                Kind::TooLarge,
                format!("a page of {} bytes after decompression", head.uncompressed),
            ));
        }
        let values = head.values.unwrap_or(0);
        // Every value of a dictionary takes a byte or more, so a count beyond that is made up.
        if head.kind == PageKind::Dictionary && values > head.uncompressed {
            return Err(Error::damaged(format!(
                "a dictionary of {values} values in {} bytes",
                head.uncompressed
            )));
        }
        let Ok(whole) = usize::try_from(head.whole()) else {
            return Ok(());
        };
        at = at.saturating_add(whole);
    }
    Ok(())
}

/// The encoding's name.
pub(crate) fn encoding_name(number: i32) -> String {
    let name = match number {
        0 => "PLAIN",
        2 => "PLAIN_DICTIONARY",
        3 => "RLE",
        4 => "BIT_PACKED",
        5 => "DELTA_BINARY_PACKED",
        6 => "DELTA_LENGTH_BYTE_ARRAY",
        7 => "DELTA_BYTE_ARRAY",
        8 => "RLE_DICTIONARY",
        9 => "BYTE_STREAM_SPLIT",
        other => return format!("ENCODING {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page of 10 values, 2 of them null, whose smallest is `a`.
    const DATA_PAGE: &[u8] = &[
        0x15, 0, 0x15, 80, 0x15, 60, 0x2c, 0x15, 20, 0x15, 16, 0x15, 6, 0x15, 6, 0x1c, 0x36, 4,
        0x38, 1, b'a', 0, 0, 0,
    ];

    #[test]
    fn a_data_page_with_statistics() {
        let head = head(DATA_PAGE).unwrap();
        assert_eq!(head.kind, PageKind::Data);
        assert_eq!((head.uncompressed, head.compressed), (40, 30));
        assert_eq!(
            (head.values, head.nulls, head.rows),
            (Some(10), Some(2), None)
        );
        assert_eq!(head.encoding.map(encoding_name).unwrap(), "RLE_DICTIONARY");
        assert_eq!(head.min.as_deref(), Some(&b"a"[..]));
        assert_eq!(head.whole(), DATA_PAGE.len() as u64 + 30);
    }

    #[test]
    fn cut_headers_are_short_and_negative_sizes_bad() {
        for length in 0..DATA_PAGE.len() {
            assert_eq!(head(&DATA_PAGE[..length]), Err(Fault::Short), "{length}");
        }
        assert_eq!(head(&[0x15, 0, 0x15, 79, 0x15, 60, 0]), Err(Fault::Bad));
        assert_eq!(head(&[0x15, 0, 0]), Err(Fault::Bad));
    }

    #[test]
    fn pages_that_claim_too_much_are_refused() {
        // 2^31 - 1 bytes after decompression.
        let huge = [0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0, 0];
        assert_eq!(check(&huge).unwrap_err().kind(), Kind::TooLarge);
        // A dictionary of 2^31 - 1 values in 4 bytes.
        let dictionary = [
            0x15, 4, 0x15, 8, 0x15, 8, 0x4c, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0,
        ];
        assert_eq!(check(&dictionary).unwrap_err().kind(), Kind::Damaged);
    }

    #[test]
    fn lists_beyond_the_end_are_no_header() {
        check(DATA_PAGE).unwrap();
        // A field that nobody knows: 2^31 - 1 doubles, none of which is there.
        let list = [0x39, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
        for bytes in [&b"no header"[..], &list] {
            let error = check(bytes).unwrap_err();
            assert_eq!(error.kind(), Kind::Damaged, "{error}");
        }
    }
}
