//! One page of a listing for one request to the store, whatever the store.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use futures::TryStreamExt;
use futures::future::BoxFuture;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};

type Result<T, E = object_store::Error> = std::result::Result<T, E>;

/// Which page of a listing is wanted.
#[derive(Clone, Debug)]
pub struct PageQuery {
    /// Only keys below this prefix, by whole segments.
    pub prefix: Path,
    /// Only keys after this one, which need not exist. A slash at its end passes over the common
    /// prefix of that name.
    pub after: Option<String>,
    /// Keys below the next slash are one common prefix.
    pub delimiter: bool,
    /// At most this many keys and prefixes.
    pub limit: usize,
}

/// A page of a listing, sorted by key.
#[derive(Debug, Default)]
pub struct Page {
    /// Objects.
    pub objects: Vec<ObjectMeta>,
    /// Common prefixes, without a slash at their end.
    pub prefixes: Vec<Path>,
    /// Whether there may be more after it.
    pub more: bool,
}

impl Page {
    /// Keys and prefixes in it.
    pub fn len(&self) -> usize {
        self.objects.len() + self.prefixes.len()
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What to pass as `after` for the next page.
    pub fn next(&self) -> Option<String> {
        if !self.more {
            return None;
        }
        let object = self.objects.last().map(|o| o.location.to_string());
        let prefix = self.prefixes.last().map(|p| format!("{p}/"));
        object.max(prefix)
    }

    /// Sorts, and drops what is not after `after` and what comes twice: some stores ignore
    /// `start-after`, and some repeat a prefix on the next page.
    fn settle(&mut self, after: Option<&str>) {
        if let Some(after) = after {
            self.objects.retain(|o| o.location.as_ref() > after);
            self.prefixes.retain(|p| {
                let key = format!("{p}/");
                key.as_str() > after && !after.starts_with(&key)
            });
        }
        self.objects
            .sort_unstable_by(|a, b| a.location.cmp(&b.location));
        self.objects.dedup_by(|a, b| a.location == b.location);
        // By the key with its slash: `a-b/` comes before `a/`.
        self.prefixes.sort_by_cached_key(|p| format!("{p}/"));
        self.prefixes.dedup();
    }

    /// Keeps the first `limit` keys and prefixes.
    fn cut(&mut self, limit: usize) {
        if self.len() <= limit {
            return;
        }
        let mut keys: Vec<String> = self
            .objects
            .iter()
            .map(|o| o.location.to_string())
            .collect();
        keys.extend(self.prefixes.iter().map(|p| format!("{p}/")));
        keys.sort_unstable();
        let Some(last) = limit.checked_sub(1).and_then(|at| keys.get(at)) else {
            return;
        };
        self.objects
            .retain(|o| o.location.as_ref() <= last.as_str());
        self.prefixes.retain(|p| format!("{p}/") <= *last);
        self.more = true;
    }
}

/// A store that gives one page at a time.
pub trait Pages: Send + Sync {
    /// One page.
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<Page>>;
}

/// Pages of a cloud store, each one request.
pub(super) struct CloudPages<S> {
    store: Arc<S>,
    /// Where the zone begins in the bucket.
    root: Path,
    requests: Arc<dyn Fn() + Send + Sync>,
}

impl<S: PaginatedListStore> CloudPages<S> {
    /// Pages of the part of `store` below `root`; `requests` is called for each request.
    pub(super) fn new(store: Arc<S>, root: Path, requests: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self {
            store,
            root,
            requests,
        }
    }

    fn strip(&self, path: &Path) -> Option<Path> {
        Some(path.prefix_match(&self.root)?.collect())
    }
}

impl<S: PaginatedListStore> Pages for CloudPages<S> {
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<Page>> {
        Box::pin(async move {
            let below: Path = self.root.parts().chain(query.prefix.parts()).collect();
            let prefix = (!below.as_ref().is_empty()).then(|| format!("{below}/"));
            let offset = query.after.as_ref().map(|after| match self.root.as_ref() {
                "" => after.clone(),
                root => format!("{root}/{after}"),
            });
            let mut token = None;
            let mut seen = BTreeSet::new();
            loop {
                (self.requests)();
                let options = PaginatedListOptions {
                    offset: offset.clone(),
                    delimiter: query.delimiter.then_some(Cow::Borrowed("/")),
                    max_keys: Some(query.limit),
                    page_token: token,
                    ..Default::default()
                };
                let answer = self
                    .store
                    .list_paginated(prefix.as_deref(), options)
                    .await?;
                let mut page = Page::default();
                for mut object in answer.result.objects {
                    if let Some(location) = self.strip(&object.location)
                        && location != query.prefix
                    {
                        object.location = location;
                        page.objects.push(object);
                    }
                }
                let prefixes = answer.result.common_prefixes.iter();
                page.prefixes = prefixes.filter_map(|p| self.strip(p)).collect();
                page.settle(query.after.as_deref());
                page.more = answer.page_token.is_some();
                let Some(next) = answer.page_token else {
                    return Ok(page);
                };
                if !page.is_empty() {
                    return Ok(page);
                }
                if !seen.insert(next.clone()) {
                    return Err(object_store::Error::Generic {
                        store: "listing",
                        source: "the store repeats a page of the listing".into(),
                    });
                }
                token = Some(next);
            }
        })
    }
}

/// Pages of a store that only streams sorted listings: the one in memory.
pub(super) struct StreamPages(pub(super) Arc<dyn ObjectStore>);

impl Pages for StreamPages {
    fn page(&self, query: PageQuery) -> BoxFuture<'_, Result<Page>> {
        Box::pin(async move {
            let mut page = Page::default();
            if query.delimiter {
                let listing = self.0.list_with_delimiter(Some(&query.prefix)).await?;
                page.objects = listing.objects;
                page.prefixes = listing.common_prefixes;
            } else {
                let listing = self.0.list(Some(&query.prefix));
                page.objects = listing.try_collect().await?;
            }
            page.settle(query.after.as_deref());
            page.cut(query.limit);
            Ok(page)
        })
    }
}

#[cfg(test)]
mod tests;
