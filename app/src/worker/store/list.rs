//! Listings, a page at a time and no sooner than it is wanted.

use std::collections::VecDeque;

use chrono::DateTime;
use futures::stream::{self, Stream};
use lake::wire::http::{ListPage, ObjectEntry};
use lake::{Error, Kind};
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta, Result};

use super::encode;
use super::failure::{error_from_reply, generic};
use super::fetch::{Question, fetch};

/// A thousand of the longest keys are two megabytes, and escapes may make six of one byte.
const LONGEST_PAGE: usize = 16 * 1024 * 1024;

/// Objects below a prefix, those after `offset` where there is one.
pub(super) fn objects(
    url: &str,
    prefix: Option<&Path>,
    offset: Option<&Path>,
) -> impl Stream<Item = Result<ObjectMeta>> + use<> {
    let listing = Listing::new(url, prefix, offset, false);
    let state = (listing, VecDeque::new());
    stream::try_unfold(state, |(mut listing, mut ready)| async move {
        loop {
            if let Some(entry) = ready.pop_front() {
                return Ok(Some((meta(entry)?, (listing, ready))));
            }
            match listing.next_page().await? {
                Some(page) => ready.extend(page.objects),
                None => return Ok(None),
            }
        }
    })
}

/// Objects and prefixes directly below a prefix.
pub(super) async fn level(url: &str, prefix: Option<&Path>) -> Result<ListResult> {
    let mut listing = Listing::new(url, prefix, None, true);
    let mut result = ListResult {
        common_prefixes: Vec::new(),
        objects: Vec::new(),
        extensions: Default::default(),
    };
    while let Some(page) = listing.next_page().await? {
        for entry in page.objects {
            result.objects.push(meta(entry)?);
        }
        for prefix in page.prefixes {
            result.common_prefixes.push(Path::parse(prefix)?);
        }
    }
    Ok(result)
}

struct Listing {
    /// The question without its place.
    url: String,
    prefix: Path,
    after: Option<String>,
    ended: bool,
}

impl Listing {
    fn new(url: &str, prefix: Option<&Path>, offset: Option<&Path>, delimited: bool) -> Self {
        let prefix = prefix.cloned().unwrap_or_default();
        let mut url = format!("{url}/list?prefix={}", encode(prefix.as_ref()));
        if delimited {
            url.push_str("&delimiter=%2F");
        }
        Self {
            url,
            prefix,
            after: offset.map(|o| o.to_string()),
            ended: false,
        }
    }

    async fn next_page(&mut self) -> Result<Option<ListPage>> {
        if self.ended {
            return Ok(None);
        }
        let url = match &self.after {
            Some(after) => format!("{}&after={}", self.url, encode(after)),
            None => self.url.clone(),
        };
        let failed = |e: Error| generic(e.at("prefix", &self.prefix));
        let reply = fetch(&Question::get(&url)).await.map_err(failed)?;
        if reply.status() != 200 {
            return Err(error_from_reply(reply, &self.prefix).await);
        }
        let bytes = reply.bytes(LONGEST_PAGE).await.map_err(failed)?;
        let page: ListPage = serde_json::from_slice(&bytes).map_err(|e| {
            let message = "the server's listing cannot be read";
            failed(Error::new(Kind::Unreachable, message).because(e))
        })?;
        // A server that gives the same place again would be asked for ever.
        self.ended = page.next.is_none() || page.next == self.after;
        self.after.clone_from(&page.next);
        Ok(Some(page))
    }
}

fn meta(entry: ObjectEntry) -> Result<ObjectMeta> {
    let modified = DateTime::from_timestamp_millis(entry.modified.0);
    Ok(ObjectMeta {
        location: Path::parse(entry.key)?,
        last_modified: modified.unwrap_or(DateTime::UNIX_EPOCH),
        size: entry.size,
        e_tag: entry.etag,
        version: None,
    })
}
