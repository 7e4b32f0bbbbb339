//! Finds tables below a zone by looking at prefixes, never at all its keys.

use std::time::Duration;

use futures::StreamExt;
use lake::wire::Format;
use lake::wire::http::TableEntry;
use lake::{Error, Kind, Result};
use object_store::path::Path;

use crate::stores::{PageQuery, Pages};
use crate::zones::Zone;

/// Prefixes of one zone that are looked into.
const MAX_PREFIXES: usize = 2000;

/// Tables of one zone that are found.
const MAX_TABLES: usize = 2000;

/// Listings under way at once.
const TOGETHER: usize = 8;

/// How long a zone may take; what was found until then counts.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a search of one zone found.
pub(super) struct Search {
    pub(super) tables: Vec<TableEntry>,
    /// Whether every prefix down to the depth was looked into.
    pub(super) complete: bool,
    /// Why the search ended early.
    pub(super) error: Option<Error>,
}

/// Looks into the zone's prefixes, level by level. What is a table is not looked into.
pub(super) async fn search(zone: &Zone, depth: usize) -> Search {
    let mut search = Search {
        tables: Vec::new(),
        complete: true,
        error: None,
    };
    let searched = tokio::time::timeout(PATIENCE, levels(zone, depth, &mut search)).await;
    search.error = match searched {
        Ok(result) => result.err(),
        Err(_) => Some(Error::new(
            Kind::Unreachable,
            format!(
                "the store did not list its tables within {} s",
                PATIENCE.as_secs()
            ),
        )),
    };
    search.tables.sort_by(|a, b| a.name.cmp(&b.name));
    search
}

async fn levels(zone: &Zone, depth: usize, search: &mut Search) -> Result<()> {
    let pages = &*zone.bucket()?.pages;
    let mut level = vec![Path::default()];
    let mut looked = 0;
    for below in 0..=depth {
        let room = MAX_PREFIXES.saturating_sub(looked);
        if level.len() > room {
            level.truncate(room);
            search.complete = false;
        }
        looked += level.len();
        let mut looks = futures::stream::iter(level)
            .map(|prefix| look(pages, prefix))
            .buffer_unordered(TOGETHER);
        let mut next = Vec::new();
        while let Some(seen) = looks.next().await {
            let seen = seen?;
            if seen.is_delta {
                if search.tables.len() == MAX_TABLES {
                    search.complete = false;
                    return Ok(());
                }
                search.tables.push(entry(zone, &seen.prefix));
                continue;
            }
            search.complete &= seen.whole;
            next.extend(seen.children);
        }
        if below == depth || next.is_empty() {
            return Ok(());
        }
        next.sort();
        level = next;
    }
    Ok(())
}

/// What one prefix holds.
struct Seen {
    prefix: Path,
    is_delta: bool,
    children: Vec<Path>,
    /// Whether all children are named.
    whole: bool,
}

async fn look(pages: &dyn Pages, prefix: Path) -> Result<Seen> {
    let log = prefix.clone().join("_delta_log");
    let query = PageQuery {
        prefix: prefix.clone(),
        after: None,
        delimiter: true,
        limit: 1000,
    };
    let at = |e: object_store::Error| Error::from(e).at("prefix", &prefix);
    let page = pages.page(query.clone()).await.map_err(at)?;
    let mut is_delta = page.prefixes.contains(&log);
    if !is_delta && page.more {
        // A table with a thousand children that sort before its log.
        let probe = PageQuery {
            after: Some(log.to_string()),
            limit: 1,
            ..query
        };
        is_delta = pages.page(probe).await.map_err(at)?.prefixes.contains(&log);
    }
    Ok(Seen {
        is_delta,
        whole: !page.more,
        children: page.prefixes.into_iter().filter(is_worth_a_look).collect(),
        prefix,
    })
}

/// Hidden prefixes and the partitions of some table hold no table of their own.
fn is_worth_a_look(prefix: &Path) -> bool {
    let name = prefix.filename().unwrap_or_default();
    !name.starts_with(['_', '.']) && !name.contains('=')
}

fn entry(zone: &Zone, prefix: &Path) -> TableEntry {
    let name = match prefix.as_ref() {
        "" => zone.name.clone(),
        prefix => format!("{}/{prefix}", zone.name),
    };
    TableEntry {
        name,
        zone: zone.name.clone(),
        prefix: prefix.to_string(),
        format: Format::Delta,
        configured: false,
        reads: Vec::new(),
    }
}
