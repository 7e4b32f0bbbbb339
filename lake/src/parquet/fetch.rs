//! Which bytes of a row group chosen rows need: whole chunks where these are small, else the
//! dictionary and the pages that hold the rows.

use std::ops::Range;

use ::parquet::file::metadata::ColumnChunkMetaData;

use super::group::Part;
use super::ranges::Fetched;
use super::reader::ParquetFile;
use super::walk::{self, Pace};
use super::{codec, guard, heads, index};
use crate::{Error, Kind, Result};

/// Where all chunks together are as small as this, finding the pages costs more than the rest.
const SMALL: u64 = 1024 * 1024;

/// Page headers walked in one chunk.
const PAGES: usize = 64;

/// Bytes of one row group held at once.
const LIMIT: u64 = 256 * 1024 * 1024;

/// A leaf column of a fetched root.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) leaf: usize,
    chunk: Range<u64>,
    /// Each data page's place and its rows; `None` where the chunk is read whole.
    pub(crate) pages: Option<Vec<(Range<u64>, Range<u64>)>>,
}

impl Leaf {
    /// The ranges that the rows of `part` need.
    fn needs(&self, part: &Part) -> Vec<Range<u64>> {
        let Some(pages) = &self.pages else {
            return vec![self.chunk.clone()];
        };
        let first = pages.first().map_or(self.chunk.end, |(page, _)| page.start);
        let dictionary = Some(self.chunk.start..first).filter(|range| !range.is_empty());
        let needed = pages.iter().filter(|(_, rows)| part.touches(rows));
        dictionary
            .into_iter()
            .chain(needed.map(|(page, _)| page.clone()))
            .collect()
    }
}

/// How a root column is read.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) leaves: Vec<Leaf>,
    /// Whether a row can hold several values.
    repeated: bool,
    /// The rows that are decoded: all that are wanted, and maybe more.
    pub(crate) rows: Part,
}

impl Plan {
    /// The same column for these rows alone.
    #[cfg(feature = "write")]
    pub(crate) fn of(&self, part: &Part) -> Self {
        let mut own = Self {
            rows: part.clone(),
            ..self.clone()
        };
        own.settle(part);
        own
    }

    /// Bytes that its rows need.
    #[cfg(feature = "write")]
    pub(crate) fn bytes(&self) -> u64 {
        self.needs().map(|range| range.end - range.start).sum()
    }

    /// The ranges that its rows need.
    fn needs(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.leaves.iter().flat_map(|leaf| leaf.needs(&self.rows))
    }

    /// Decides which rows are decoded, once the pages are known.
    ///
    /// Among repeated values the decoder passes over rows by their repetition levels, and does so
    /// for ever where a page holds fewer than it claims. So there rows are read and dropped, from
    /// the last row before them that starts a page in every leaf.
    fn settle(&mut self, part: &Part) {
        let (Some(first), Some(last)) = (part.runs.first(), part.runs.last()) else {
            return;
        };
        if !self.repeated {
            return;
        }
        let starts = |leaf: &Leaf, row: u64| {
            let pages = leaf.pages.iter().flatten();
            row == 0 || pages.into_iter().any(|(_, rows)| rows.start == row)
        };
        let pages = self.leaves.first().and_then(|leaf| leaf.pages.as_ref());
        let before = pages.into_iter().flatten().map(|(_, rows)| rows.start);
        let start = before
            .filter(|row| *row <= first.start)
            .filter(|row| self.leaves.iter().all(|leaf| starts(leaf, *row)))
            .max()
            .unwrap_or(0);
        self.rows = Part::run(part.group, start..last.end);
    }
}

/// Fetches what the rows of `part` need of the root columns `roots`, and says of each root how its
/// leaves were fetched, or why it was not.
pub(crate) async fn fetch(
    file: &ParquetFile,
    part: &Part,
    roots: &[usize],
) -> Result<(Fetched, Vec<Result<Plan>>)> {
    let mut plans: Vec<Result<Plan>> = roots.iter().map(|root| plan(file, part, *root)).collect();
    let whole = plans.iter().flatten().flat_map(|plan| &plan.leaves);
    let whole: u64 = whole.map(|leaf| leaf.chunk.end - leaf.chunk.start).sum();
    if whole > SMALL {
        locate(file, part, &mut plans, Pace::light(PAGES)).await?;
    }
    let mut wanted = Vec::new();
    let mut bytes = 0u64;
    for plan in &mut plans {
        let Ok(reading) = plan else {
            continue;
        };
        reading.settle(part);
        let needs: Vec<_> = reading.needs().collect();
        let own: u64 = needs.iter().map(|range| range.end - range.start).sum();
        if bytes + own > LIMIT {
            *plan = Err(Error::new(
                Kind::TooLarge,
                format!("its {own} bytes are too many to hold; the file has no index of its pages"),
            ));
            continue;
        }
        bytes += own;
        wanted.extend(needs);
    }
    let fetched = file.fetch(wanted).await?;
    for plan in &mut plans {
        if let Ok(reading) = plan
            && let Err(error) = check(&fetched, reading)
        {
            *plan = Err(error);
        }
    }
    Ok((fetched, plans))
}

/// Where the pages of a row group's root columns are, as far as that can be found out.
#[cfg(feature = "write")]
pub(crate) async fn layout(file: &ParquetFile, group: usize, roots: &[usize]) -> Result<Vec<Plan>> {
    let rows = file.metadata().row_groups().get(group);
    let rows = rows.map_or(0, |group| u64::try_from(group.num_rows()).unwrap_or(0));
    let all = Part::run(group, 0..rows);
    let mut plans: Vec<Result<Plan>> = roots.iter().map(|root| plan(file, &all, *root)).collect();
    locate(file, &all, &mut plans, Pace::thorough()).await?;
    plans.into_iter().collect()
}

/// Fetches what plans of [`layout`] need of their rows.
#[cfg(feature = "write")]
pub(crate) async fn gather(file: &ParquetFile, plans: &[Plan]) -> Result<Fetched> {
    let fetched = file
        .fetch(plans.iter().flat_map(Plan::needs).collect())
        .await?;
    for plan in plans {
        check(&fetched, plan)?;
    }
    Ok(fetched)
}

/// A root column with each of its leaves to be read whole.
fn plan(file: &ParquetFile, part: &Part, root: usize) -> Result<Plan> {
    let metadata = file.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let group = metadata.row_groups().get(part.group);
    let chunks = group.map(|group| group.columns()).unwrap_or_default();
    let mut leaves = Vec::new();
    let mut repeated = false;
    for (leaf, chunk) in chunks.iter().enumerate() {
        if schema.get_column_root_idx(leaf) != root {
            continue;
        }
        let range = file.chunk_range(part.group, leaf)?;
        codec::check(chunk)?;
        repeated |= chunk.column_descr().max_rep_level() > 0;
        leaves.push(Leaf {
            leaf,
            chunk: range,
            pages: None,
        });
    }
    Ok(Plan {
        leaves,
        repeated,
        rows: part.clone(),
    })
}

/// Finds the pages of the chunks, by offset index or by walking headers, where that can be done.
async fn locate(
    file: &ParquetFile,
    part: &Part,
    plans: &mut [Result<Plan>],
    pace: Pace,
) -> Result<()> {
    let metadata = file.metadata();
    let Some(group) = metadata.row_groups().get(part.group) else {
        return Ok(());
    };
    let rows = u64::try_from(group.num_rows()).unwrap_or(0);
    let chunk = |leaf: usize| group.columns().get(leaf);
    let range = |chunk: &ColumnChunkMetaData| {
        let (offset, length) = (chunk.offset_index_offset(), chunk.offset_index_length());
        guard::range(offset, length, file.size())
    };
    let all = plans.iter().flatten().flat_map(|plan| &plan.leaves);
    let ranges: Vec<_> = all.filter_map(|leaf| range(chunk(leaf.leaf)?)).collect();
    let fetched = file.fetch(ranges).await?;
    let leaves = plans.iter_mut().flatten();
    for leaf in leaves.flat_map(|plan| &mut plan.leaves) {
        let Some(chunk) = chunk(leaf.leaf) else {
            continue;
        };
        let bytes = range(chunk).and_then(|range| fetched.bytes(&range));
        let pages = match bytes {
            // An index that does not fit is as good as none.
            Some(bytes) => index::locations(&bytes, &leaf.chunk, rows).ok(),
            None if leaf.chunk.end - leaf.chunk.start > pace.whole => {
                walked(file, part, leaf, chunk, rows, pace).await?
            }
            None => None,
        };
        leaf.pages = pages.filter(|pages| !pages.is_empty()).map(|pages| {
            let until = pages.iter().skip(1).map(|next| next.first_row);
            let until = until.chain(std::iter::once(rows));
            let rows = pages.iter().zip(until);
            rows.map(|(page, end)| (page.range(), page.first_row..end))
                .collect()
        });
    }
    Ok(())
}

/// Pages by their headers, as far as the rows of `part` reach; `None` where headers do not say
/// which rows a page holds, or say it too late.
async fn walked(
    file: &ParquetFile,
    part: &Part,
    leaf: &Leaf,
    chunk: &ColumnChunkMetaData,
    rows: u64,
    pace: Pace,
) -> Result<Option<Vec<index::Location>>> {
    let flat = chunk.column_descr().max_rep_level() == 0;
    let last = part.runs.last().map_or(0, |run| run.end);
    let rows_of = |head: &heads::Head| match head.kind {
        heads::PageKind::Data => head.values.filter(|_| flat),
        heads::PageKind::DataV2 => head.rows,
        _ => Some(0),
    };
    let mut seen = Some(0u64);
    let walked = walk::walk(file, leaf.chunk.clone(), pace, |head| {
        seen = seen.and_then(|seen| seen.checked_add(rows_of(head)?));
        seen.is_none_or(|seen| seen >= last)
    });
    let walked = match walked.await {
        Ok(walked) => walked,
        Err(error) if error.kind() == Kind::Damaged => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut pages: Vec<index::Location> = Vec::new();
    let mut row = 0u64;
    for (offset, head) in &walked.heads {
        let Some(own) = rows_of(head) else {
            return Ok(None);
        };
        if matches!(head.kind, heads::PageKind::Data | heads::PageKind::DataV2) {
            pages.push(index::Location {
                offset: *offset,
                size: head.whole(),
                first_row: row,
            });
        } else if !pages.is_empty() {
            // The decoder expects nothing but data once data began.
            return Ok(None);
        }
        row = row.saturating_add(own);
    }
    if row < last || row > rows {
        return Ok(None);
    }
    // What was not walked stands as one page more, so that the last one walked ends where it does.
    if let Some(end) = pages.last().map(|page| page.range().end)
        && end < leaf.chunk.end
    {
        pages.push(index::Location {
            offset: end,
            size: (leaf.chunk.end - end).min(i32::MAX as u64),
            first_row: row,
        });
    }
    Ok(Some(pages))
}

/// Looks at the headers of what was fetched before a decoder allocates by them.
fn check(fetched: &Fetched, plan: &Plan) -> Result<()> {
    for range in plan.needs() {
        heads::check(&fetched.bytes(&range).unwrap_or_default())?;
    }
    Ok(())
}
