//! The page index of a column chunk: where its pages are, and what bounds they have.

use std::ops::Range;

use super::thrift::{Cursor, wire};
use crate::{Error, Result};

/// Where a data page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) offset: u64,
    /// Bytes in the file, header included.
    pub(crate) size: u64,
    /// First row of the row group in it.
    pub(crate) first_row: u64,
}

impl Location {
    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.size)
    }
}

/// Decodes an offset index. An error where a page lies outside the chunk or before the one before
/// it, or starts at a row that the row group does not have.
pub(crate) fn locations(bytes: &[u8], chunk: &Range<u64>, rows: u64) -> Result<Vec<Location>> {
    let mut cursor = Cursor::new(bytes);
    let (mut last, mut pages) = (0, Vec::new());
    while let Some((id, kind)) = cursor.field(&mut last)? {
        match (id, kind) {
            (1, wire::LIST) => {
                let (_, count) = cursor.list()?;
                for _ in 0..count {
                    pages.push(location(&mut cursor)?);
                }
            }
            _ => cursor.skip(kind)?,
        }
    }
    let (mut end, mut row) = (chunk.start, 0);
    for page in &pages {
        let range = page.range();
        if range.start < end || range.end > chunk.end || page.first_row < row {
            return Err(Error::damaged("an offset index whose pages do not fit"));
        }
        (end, row) = (range.end, page.first_row);
    }
    if pages.first().is_some_and(|page| page.first_row != 0) || row > rows {
        return Err(Error::damaged("an offset index whose rows do not fit"));
    }
    Ok(pages)
}

fn location(cursor: &mut Cursor<'_>) -> Result<Location> {
    let (mut last, mut figures) = (0, [None; 3]);
    while let Some((id, kind)) = cursor.field(&mut last)? {
        let figure = match kind {
            wire::I32 | wire::I64 => figures.get_mut(usize::try_from(id - 1).unwrap_or(9)),
            _ => None,
        };
        match figure {
            Some(figure) => *figure = u64::try_from(cursor.int()?).ok(),
            None => cursor.skip(kind)?,
        }
    }
    match figures {
        [Some(offset), Some(size), Some(first_row)] => Ok(Location {
            offset,
            size,
            first_row,
        }),
        _ => Err(Error::damaged("an offset index with a page nowhere")),
    }
}

/// What the column index says of a page, as the file encodes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageBounds {
    pub(crate) min: Option<Vec<u8>>,
    pub(crate) max: Option<Vec<u8>>,
    pub(crate) nulls: Option<u64>,
}

/// Decodes a column index of `pages` pages.
pub(crate) fn bounds(bytes: &[u8], pages: usize) -> Result<Vec<PageBounds>> {
    let mut cursor = Cursor::new(bytes);
    let mut bounds = vec![PageBounds::default(); pages];
    let mut empty = vec![false; pages];
    let mut last = 0;
    while let Some((id, kind)) = cursor.field(&mut last)? {
        if kind != wire::LIST || !matches!(id, 1 | 2 | 3 | 5) {
            cursor.skip(kind)?;
            continue;
        }
        let (_, count) = cursor.list()?;
        for page in 0..count {
            let slot = bounds.get_mut(page);
            match id {
                1 => {
                    let only_nulls = cursor.flag()?;
                    if let Some(empty) = empty.get_mut(page) {
                        *empty = only_nulls;
                    }
                }
                5 => {
                    let nulls = u64::try_from(cursor.int()?).ok();
                    if let Some(slot) = slot {
                        slot.nulls = nulls;
                    }
                }
                _ => {
                    let value = cursor.binary()?.to_vec();
                    match slot {
                        Some(slot) if id == 2 => slot.min = Some(value),
                        Some(slot) => slot.max = Some(value),
                        None => {}
                    }
                }
            }
        }
    }
    // The bounds of a page of nulls are there only to keep the lists even.
    for (bounds, empty) in bounds.iter_mut().zip(empty) {
        if empty {
            (bounds.min, bounds.max) = (None, None);
        }
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pages: 10 bytes from 4 on, and 20 from 14 on with rows from 5 on.
    const PAGES: &[u8] = &[
        0x19, 0x2c, 0x16, 8, 0x15, 20, 0x16, 0, 0, 0x16, 28, 0x15, 40, 0x16, 10, 0, 0,
    ];

    #[test]
    fn pages_inside_their_chunk() {
        let pages = locations(PAGES, &(4..34), 9).unwrap();
        let figures: Vec<_> = pages
            .iter()
            .map(|p| (p.offset, p.size, p.first_row))
            .collect();
        assert_eq!(figures, [(4, 10, 0), (14, 20, 5)]);
    }

    #[test]
    fn pages_that_do_not_fit_are_damaged() {
        assert!(locations(PAGES, &(4..33), 9).is_err());
        assert!(locations(PAGES, &(5..34), 9).is_err());
        assert!(locations(PAGES, &(4..34), 4).is_err());
        for length in 0..PAGES.len() {
            assert!(locations(&PAGES[..length], &(4..34), 9).is_err());
        }
        // A negative offset.
        let mut negative = PAGES.to_vec();
        negative[3] = 7;
        assert!(locations(&negative, &(4..34), 9).is_err());
    }

    #[test]
    fn a_page_of_nulls_has_no_bounds() {
        // null_pages [false, true], min ["a", ""], max ["b", ""], order 0, null counts [1, 5]
        let bytes = [
            0x19, 0x21, 2, 1, 0x19, 0x28, 1, b'a', 0, 0x19, 0x28, 1, b'b', 0, 0x15, 0, 0x19, 0x26,
            2, 10, 0,
        ];
        let bounds = bounds(&bytes, 2).unwrap();
        assert_eq!(bounds[0].min.as_deref(), Some(&b"a"[..]));
        assert_eq!(bounds[0].max.as_deref(), Some(&b"b"[..]));
        assert_eq!(bounds[0].nulls, Some(1));
        let nulls = Some(5);
        assert_eq!(
            bounds[1],
            PageBounds {
                nulls,
                ..Default::default()
            }
        );
    }
}
