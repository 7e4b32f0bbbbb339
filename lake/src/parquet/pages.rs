//! The report about the pages of one column chunk.

use ::parquet::file::metadata::ColumnChunkMetaData;
use std::ops::Range;

use super::heads::{self, Head, PageKind};
use super::index::{self, Location, PageBounds};
use super::reader::ParquetFile;
use super::walk::{self, Pace, Walked};
use super::{guard, statistics};
use crate::wire::file::{PageReport, PagesReport};
use crate::{Error, Kind, Result};

/// Pages listed.
const PAGES: usize = 2000;

/// A page index larger than this is not read to list pages.
const INDEX_LIMIT: u64 = 64 * 1024 * 1024;

pub(crate) async fn report(file: &ParquetFile, group: usize, leaf: usize) -> Result<PagesReport> {
    let range = file.chunk_range(group, leaf)?;
    let metadata = file.metadata();
    let found = metadata.row_groups().get(group);
    let Some((rows, chunk)) = found.and_then(|g| Some((g.num_rows(), g.columns().get(leaf)?)))
    else {
        return Err(Error::not_found("no such column chunk"));
    };
    let rows = u64::try_from(rows).unwrap_or(0);
    let mut warnings = Vec::new();
    match indexed(file, chunk, &range, rows).await {
        Ok(Some(pages)) => {
            let total = pages.len() as u64;
            let listed: Vec<PageReport> = pages.into_iter().take(PAGES).collect();
            if (listed.len() as u64) < total {
                warnings.push(format!(
                    "the first {} of {total} pages are listed",
                    listed.len()
                ));
            }
            return Ok(PagesReport {
                pages: listed,
                total,
                source: "offset index".to_owned(),
                bytes_read: file.bytes_read(),
                warnings,
            });
        }
        Ok(None) => {}
        Err(error) if matches!(error.kind(), Kind::Damaged | Kind::TooLarge) => {
            warnings.push(format!("the page index is not used: {}", error.sentence()));
        }
        Err(error) => return Err(error),
    }
    let walked = walk::walk(file, range, Pace::light(PAGES), |_| false).await?;
    let pages = walked_pages(&walked, chunk);
    if !walked.complete {
        warnings.push(format!(
            "the file has no page index; the headers of the first {} pages were read",
            pages.len()
        ));
    }
    Ok(PagesReport {
        total: pages.len() as u64,
        pages,
        source: "page headers".to_owned(),
        bytes_read: file.bytes_read(),
        warnings,
    })
}

/// Pages by the offset index; `None` where the file has none.
async fn indexed(
    file: &ParquetFile,
    chunk: &ColumnChunkMetaData,
    range: &Range<u64>,
    rows: u64,
) -> Result<Option<Vec<PageReport>>> {
    let size = file.size();
    let (offset, length) = (chunk.offset_index_offset(), chunk.offset_index_length());
    if offset.is_none() {
        return Ok(None);
    }
    let Some(offsets) = guard::range(offset, length, size) else {
        return Err(Error::damaged("it lies outside the file"));
    };
    let bounds = guard::range(
        chunk.column_index_offset(),
        chunk.column_index_length(),
        size,
    );
    let wanted = [Some(offsets.clone()), bounds.clone()];
    let wanted: Vec<Range<u64>> = wanted.into_iter().flatten().collect();
    let bytes: u64 = wanted.iter().map(|range| range.end - range.start).sum();
    if bytes > INDEX_LIMIT {
        return Err(Error::new(Kind::TooLarge, format!("it has {bytes} bytes")));
    }
    let fetched = file.fetch(wanted).await?;
    let offsets = fetched.bytes(&offsets).unwrap_or_default();
    let locations = index::locations(&offsets, range, rows)?;
    let bounds = match bounds.and_then(|bounds| fetched.bytes(&bounds)) {
        // Bounds are an extra: the places stand without them.
        Some(bytes) => index::bounds(&bytes, locations.len()).unwrap_or_default(),
        None => Vec::new(),
    };
    let mut pages = Vec::with_capacity(locations.len() + 1);
    let first = locations.first().map_or(range.end, |page| page.offset);
    if first > range.start {
        pages.push(PageReport {
            kind: "DICTIONARY".to_owned(),
            offset: range.start,
            compressed_bytes: first - range.start,
            ..blank()
        });
    }
    for (position, page) in locations.iter().enumerate() {
        let until = locations
            .get(position + 1)
            .map_or(rows, |next| next.first_row);
        pages.push(located(chunk, page, until, bounds.get(position)));
    }
    Ok(Some(pages))
}

fn located(
    chunk: &ColumnChunkMetaData,
    page: &Location,
    until: u64,
    bounds: Option<&PageBounds>,
) -> PageReport {
    let column = chunk.column_descr();
    let text = |bytes: Option<&Vec<u8>>| statistics::plain(bytes?, column);
    let flat = column.max_rep_level() == 0;
    PageReport {
        kind: "DATA".to_owned(),
        offset: page.offset,
        compressed_bytes: page.size,
        first_row: Some(page.first_row),
        values: flat.then(|| until.saturating_sub(page.first_row)),
        nulls: bounds.and_then(|b| b.nulls),
        min: text(bounds.and_then(|b| b.min.as_ref())),
        max: text(bounds.and_then(|b| b.max.as_ref())),
        ..blank()
    }
}

fn walked_pages(walked: &Walked, chunk: &ColumnChunkMetaData) -> Vec<PageReport> {
    let column = chunk.column_descr();
    let flat = column.max_rep_level() == 0;
    let text = |bytes: Option<&Vec<u8>>| statistics::plain(bytes?, column);
    let mut row = Some(0u64);
    let page = |(offset, head): &(u64, Head)| {
        let is_data = matches!(head.kind, PageKind::Data | PageKind::DataV2);
        let first_row = row.filter(|_| is_data);
        if is_data {
            let rows = head.rows.or(head.values.filter(|_| flat));
            row = row.and_then(|row| row.checked_add(rows?));
        }
        PageReport {
            kind: match head.kind {
                PageKind::Dictionary => "DICTIONARY",
                PageKind::Data => "DATA",
                PageKind::DataV2 => "DATA_V2",
                PageKind::Other => "OTHER",
            }
            .to_owned(),
            offset: *offset,
            compressed_bytes: head.whole(),
            uncompressed_bytes: Some(head.uncompressed),
            first_row,
            values: head.values,
            encoding: head.encoding.map(heads::encoding_name),
            nulls: head.nulls,
            min: text(head.min.as_ref()),
            max: text(head.max.as_ref()),
        }
    };
    walked.heads.iter().map(page).collect()
}

fn blank() -> PageReport {
    PageReport {
        kind: String::new(),
        offset: 0,
        compressed_bytes: 0,
        uncompressed_bytes: None,
        first_row: None,
        values: None,
        encoding: None,
        nulls: None,
        min: None,
        max: None,
    }
}
