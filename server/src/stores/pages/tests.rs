use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::DateTime;
use object_store::ListResult;
use object_store::list::PaginatedListResult;

use super::*;

/// A bucket that lists as S3 does, and in the ways that some stores get wrong.
#[derive(Default)]
struct Bucket {
    keys: Vec<String>,
    /// Ignores `start-after`.
    deaf: bool,
    /// Gives the same token again and again.
    stuck: bool,
    /// Gives at most so many keys, whatever is asked.
    cap: Option<usize>,
    /// Gives keys in no order.
    shuffled: bool,
    asked: Mutex<Vec<(Option<String>, Option<String>)>>,
}

#[async_trait::async_trait]
impl PaginatedListStore for Bucket {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        opts: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        let prefix_text = prefix.unwrap_or_default().to_owned();
        let mut asked = self.asked.lock().unwrap();
        asked.push((prefix.map(str::to_owned), opts.offset.clone()));
        let offset = opts.offset.filter(|_| !self.deaf).unwrap_or_default();
        let after = opts.page_token.clone().unwrap_or(offset);
        let mut entries: BTreeMap<String, bool> = BTreeMap::new();
        for key in &self.keys {
            let Some(rest) = key.strip_prefix(&prefix_text) else {
                continue;
            };
            if *key <= after {
                continue;
            }
            match rest.split_once('/').filter(|_| opts.delimiter.is_some()) {
                Some((first, _)) => entries.insert(format!("{prefix_text}{first}/"), true),
                None => entries.insert(key.clone(), false),
            };
        }
        let limit = opts.max_keys.unwrap_or(1000).min(self.cap.unwrap_or(1000));
        let more = entries.len() > limit;
        let mut taken: Vec<(String, bool)> = entries.into_iter().take(limit).collect();
        let last = taken.last().map(|(key, _)| match key.strip_suffix('/') {
            Some(prefix) => format!("{prefix}/\u{10ffff}"),
            None => key.clone(),
        });
        if self.shuffled {
            taken.reverse();
        }
        let mut result = ListResult {
            common_prefixes: Vec::new(),
            objects: Vec::new(),
            extensions: Default::default(),
        };
        for (key, is_prefix) in taken {
            let path = Path::parse(&key).unwrap();
            match is_prefix {
                true => result.common_prefixes.push(path),
                false => result.objects.push(ObjectMeta {
                    location: path,
                    last_modified: DateTime::UNIX_EPOCH,
                    size: 1,
                    e_tag: None,
                    version: None,
                }),
            }
        }
        let token = match self.stuck {
            true => {
                result.objects.clear();
                Some("again".to_owned())
            }
            false => last.filter(|_| more),
        };
        Ok(PaginatedListResult {
            result,
            page_token: token,
        })
    }
}

fn log(commits: usize) -> Vec<String> {
    let mut keys: Vec<String> = (0..commits)
        .map(|n| format!("zone/t/_delta_log/{n:020}.json"))
        .collect();
    keys.extend(
        [
            "other/x",
            "zone-2/x",
            "zone/t/a-b/1",
            "zone/t/a/1",
            "zone/t/a/2",
            "zone/t/a0",
        ]
        .map(str::to_owned),
    );
    keys.sort();
    keys
}

struct Listed {
    pages: CloudPages<Bucket>,
    requests: Arc<AtomicUsize>,
}

fn over(bucket: Bucket) -> Listed {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let count = Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    Listed {
        pages: CloudPages::new(Arc::new(bucket), Path::from("zone"), count),
        requests,
    }
}

fn query(prefix: &str, after: Option<&str>, delimiter: bool, limit: usize) -> PageQuery {
    PageQuery {
        prefix: Path::parse(prefix).unwrap(),
        after: after.map(str::to_owned),
        delimiter,
        limit,
    }
}

/// Everything below a prefix, page by page.
async fn all(listed: &Listed, prefix: &str, delimiter: bool, limit: usize) -> Vec<String> {
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = listed
            .pages
            .page(query(prefix, after.as_deref(), delimiter, limit));
        let page = page.await.unwrap();
        let mut names: Vec<String> = page
            .objects
            .iter()
            .map(|o| o.location.to_string())
            .collect();
        names.extend(page.prefixes.iter().map(|p| format!("{p}/")));
        names.sort();
        seen.extend(names);
        match page.next() {
            Some(next) => after = Some(next),
            None => return seen,
        }
    }
}

#[tokio::test]
async fn a_page_costs_one_request_and_stays_in_its_zone() {
    let listed = over(Bucket {
        keys: log(2500),
        ..Bucket::default()
    });
    let after = "t/_delta_log/00000000000000001500.x";
    let page = listed
        .pages
        .page(query("t/_delta_log", Some(after), false, 1000));
    let page = page.await.unwrap();
    assert_eq!(page.objects.len(), 999);
    let first = page.objects.first().unwrap().location.to_string();
    assert_eq!(first, "t/_delta_log/00000000000000001501.json");
    assert_eq!(page.next(), None);
    assert_eq!(listed.requests.load(Ordering::Relaxed), 1);
    let everything = all(&listed, "", false, 1000).await;
    assert_eq!(everything.len(), 2504);
    let asked = listed.pages.store.asked.lock().unwrap().clone();
    assert!(
        asked
            .iter()
            .all(|(prefix, _)| prefix.as_deref().unwrap().starts_with("zone/"))
    );
}

#[tokio::test]
async fn nothing_is_lost_at_a_page_of_any_size() {
    let expected = ["t/_delta_log/", "t/a-b/", "t/a/", "t/a0"];
    for limit in 1..6 {
        let listed = over(Bucket {
            keys: log(3),
            ..Bucket::default()
        });
        assert_eq!(all(&listed, "t", true, limit).await, expected, "{limit}");
    }
}

#[tokio::test]
async fn what_stores_get_wrong_is_put_right_or_said() {
    let sound = over(Bucket {
        keys: log(250),
        ..Bucket::default()
    });
    let expected = all(&sound, "t", false, 1000).await;
    assert_eq!(expected.len(), 254);
    let deaf = over(Bucket {
        keys: log(250),
        deaf: true,
        ..Bucket::default()
    });
    assert_eq!(
        all(&deaf, "t", false, 100).await,
        expected,
        "start-after ignored"
    );
    let capped = over(Bucket {
        keys: log(250),
        cap: Some(100),
        ..Bucket::default()
    });
    assert_eq!(
        all(&capped, "t", false, 1000).await,
        expected,
        "max-keys capped"
    );
    let shuffled = over(Bucket {
        keys: log(250),
        shuffled: true,
        ..Bucket::default()
    });
    assert_eq!(all(&shuffled, "t", false, 1000).await, expected, "no order");
    let stuck = over(Bucket {
        keys: log(3),
        stuck: true,
        ..Bucket::default()
    });
    let error = stuck
        .pages
        .page(query("t/_delta_log", None, false, 10))
        .await;
    assert!(error.unwrap_err().to_string().contains("repeats"));
}
