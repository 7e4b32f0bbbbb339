//! Going from page header to page header by ranged reads, without the pages between them.

use std::ops::Range;

use bytes::Bytes;

use super::heads::{self, Head};
use super::reader::ParquetFile;
use super::thrift::Fault;
use crate::{Error, Result};

/// How far a walk goes, and by what steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Pages at most.
    pub(crate) pages: usize,
    /// Reads at most. A chunk that needs more is known in part.
    pub(crate) reads: usize,
    /// First guess at the bytes that a header needs.
    pub(crate) window: u64,
    /// Chunks that are not larger are read whole.
    pub(crate) whole: u64,
}

impl Pace {
    /// From header to header, for at most `pages` pages.
    pub(crate) fn light(pages: usize) -> Self {
        Self {
            pages,
            reads: 200,
            window: WINDOW,
            whole: WALKED,
        }
    }

    /// Through the whole chunk, by reads as long as many pages.
    #[cfg(feature = "write")]
    pub(crate) fn thorough() -> Self {
        Self {
            pages: usize::MAX,
            reads: usize::MAX,
            window: WINDOW_LIMIT,
            whole: WINDOW,
        }
    }
}

/// A chunk as small as this is read whole.
const WHOLE: u64 = 1024 * 1024;

/// A chunk without an index must be larger than this before its headers are walked for a few rows.
const WALKED: u64 = 4 * 1024 * 1024;

/// First guess at what a header needs, and the most that one is given.
const WINDOW: u64 = 16 * 1024;
const WINDOW_LIMIT: u64 = 8 * 1024 * 1024;

/// Headers of a chunk's pages, each with its first byte in the file.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) heads: Vec<(u64, Head)>,
    /// Whether these are all.
    pub(crate) complete: bool,
}

/// Walks the chunk in `range` until `enough` says so, or as far as `pace` goes.
pub(crate) async fn walk(
    file: &ParquetFile,
    range: Range<u64>,
    pace: Pace,
    mut enough: impl FnMut(&Head) -> bool,
) -> Result<Walked> {
    let mut heads = Vec::new();
    let mut window = Window::default();
    let mut at = range.start;
    let mut complete = true;
    while at < range.end {
        if heads.len() >= pace.pages || window.reads >= pace.reads {
            complete = false;
            break;
        }
        let head = window.head(file, at, &range, pace.window).await?;
        let next = at.saturating_add(head.whole());
        if next > range.end {
            return Err(Error::damaged("a page reaches beyond its column chunk"));
        }
        let stop = enough(&head);
        heads.push((at, head));
        at = next;
        if stop {
            complete = at >= range.end;
            break;
        }
    }
    Ok(Walked { heads, complete })
}

/// Bytes read ahead.
#[derive(Default)]
struct Window {
    start: u64,
    bytes: Bytes,
    reads: usize,
}

impl Window {
    async fn head(
        &mut self,
        file: &ParquetFile,
        at: u64,
        range: &Range<u64>,
        window: u64,
    ) -> Result<Head> {
        let mut size = match range.end - range.start {
            whole @ ..=WHOLE => whole,
            _ => window,
        };
        loop {
            match self.parse(at) {
                Some(Ok(head)) => return Ok(head),
                Some(Err(Fault::Bad)) => return Err(Fault::Bad.into()),
                Some(Err(Fault::Short)) | None => {}
            }
            let reaches_end = self.start + self.bytes.len() as u64 >= range.end;
            if self.start == at && (reaches_end || size > WINDOW_LIMIT) {
                return Err(Fault::Short.into());
            }
            let end = at.saturating_add(size).min(range.end);
            self.bytes = file.range(at..end).await?;
            self.start = at;
            self.reads += 1;
            size *= 8;
        }
    }

    fn parse(&self, at: u64) -> Option<Result<Head, Fault>> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        let rest = self.bytes.get(from..).filter(|rest| !rest.is_empty())?;
        Some(heads::head(rest))
    }
}
