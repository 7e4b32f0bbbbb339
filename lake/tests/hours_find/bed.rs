//! A dataset in memory whose hours are closed, and a finder that counts.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use indexmap::IndexMap;
use lake::host::{Host, Progress};
use lake::hours::dataset::{Budget, MarkerKind, MarkerRule, Retention};
use lake::hours::find::{Finder, Memory};
use lake::hours::{Dataset, Day, Slot};
use lake::store::{CountingStore, Counts};
use lake::table::Time;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use object_store::{ObjectStore, ObjectStoreExt};

use crate::ranged::Ranged;

/// Bytes of each object.
pub(crate) const BYTES: u64 = 10;

pub(crate) fn dataset(first: &str) -> Dataset {
    Dataset {
        name: "learning.progress".into(),
        zone: "raw".into(),
        url: "s3://tlp-raw/".into(),
        prefix: "learning/progress".into(),
        partition: vec!["event_date".into(), "hour".into()],
        marker: MarkerRule {
            kind: MarkerKind::Tidemark,
            template: "_markers/event_date={event_date}/hour={hour}.json".into(),
            whole_day: false,
        },
        grace: 15 * 60_000,
        every_hour: true,
        first: Some(first.parse().unwrap()),
        banned_keys: ["learner_id", "email"].map(String::from).to_vec(),
        event_time: None,
        grain: Vec::new(),
        prohibited_columns: Vec::new(),
        columns: IndexMap::new(),
        owner: None,
        publisher: None,
        compaction_owner: None,
        stream: None,
        definition_version: None,
        budget: Budget::default(),
        retention: Retention::default(),
        complete: None,
        metastore: None,
        reads: Vec::new(),
    }
}

/// A page's surroundings: many small reads at once.
struct Page;

impl Host for Page {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn reads(&self) -> usize {
        4096
    }
}

pub(crate) struct Bed {
    pub(crate) dataset: Arc<Dataset>,
    pub(crate) counting: Arc<CountingStore>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) now: Time,
    inner: Arc<Ranged>,
}

impl Bed {
    pub(crate) fn new(dataset: Dataset, now: &str) -> Self {
        let inner = Arc::new(Ranged::default());
        let store: Arc<dyn ObjectStore> = Arc::clone(&inner) as _;
        Self {
            dataset: Arc::new(dataset),
            counting: Arc::new(CountingStore::new(store)),
            memory: Arc::default(),
            now: time(now),
            inner,
        }
    }

    /// A finder with what is remembered so far.
    pub(crate) fn finder(&self) -> Finder {
        self.finder_over(Arc::clone(&self.counting) as _)
    }

    /// The same over a store that takes so long for each request. From now on the clock of tokio
    /// stands still while anything runs, and nobody waits in truth.
    pub(crate) fn slow_finder(&self, each: Duration) -> Finder {
        tokio::time::pause();
        let config = ThrottleConfig {
            wait_get_per_call: each,
            wait_list_per_call: each,
            wait_list_with_delimiter_per_call: each,
            ..ThrottleConfig::default()
        };
        let store: Arc<dyn ObjectStore> = Arc::clone(&self.counting) as _;
        self.finder_over(Arc::new(ThrottledStore::new(store, config)))
    }

    fn finder_over(&self, store: Arc<dyn ObjectStore>) -> Finder {
        Finder::new(
            Arc::clone(&self.dataset),
            store,
            Arc::clone(&self.memory),
            Arc::new(Page),
            self.now,
        )
    }

    pub(crate) async fn put(&self, key: &str, bytes: impl Into<Vec<u8>>) {
        let path = Path::parse(key).unwrap();
        self.inner.put(&path, bytes.into().into()).await.unwrap();
    }

    pub(crate) async fn delete(&self, key: &str) {
        self.inner.remove(&Path::parse(key).unwrap()).await.unwrap();
    }

    /// A run of so many objects.
    pub(crate) async fn run(&self, slot: Slot, run: &str, objects: u64) {
        for part in 0..objects {
            let key = format!("{}part-{part:05}.parquet", self.run_prefix(slot, run));
            self.put(&key, vec![b'x'; BYTES as usize]).await;
        }
    }

    pub(crate) fn run_prefix(&self, slot: Slot, run: &str) -> String {
        format!("{}run_id={run}/", self.dataset.prefix_of(slot))
    }

    pub(crate) fn marker_key(slot: Slot) -> String {
        let hour = slot.hour.unwrap();
        format!(
            "learning/progress/_markers/event_date={}/hour={hour:02}.json",
            slot.day
        )
    }

    /// The current marker of a slot.
    pub(crate) async fn mark(&self, slot: Slot, run: &str, objects: u64, version: &str) {
        let marker = serde_json::json!({
            "dataset": "learning.progress", "zone": "raw",
            "event_date": slot.day, "hour": slot.hour,
            "prefix": self.dataset.url_of(&self.run_prefix(slot, run)),
            "object_count": objects, "bytes": objects * BYTES,
            "max_event_time": slot.end(), "run_id": run,
            "definition_version": version, "published_at": slot.end(),
        });
        self.put(&Self::marker_key(slot), marker.to_string()).await;
    }

    /// Closes a slot with one run.
    pub(crate) async fn close(&self, slot: Slot, objects: u64) {
        self.run(slot, "r1", objects).await;
        self.mark(slot, "r1", objects, "1").await;
    }

    /// Closes all slots of some days that have ended.
    pub(crate) async fn close_days(&self, from: Day, to: Day, objects: u64) {
        for slot in from.to(to).flat_map(|day| self.dataset.slots(day)) {
            if slot.end() <= self.now {
                self.close(slot, objects).await;
            }
        }
    }

    /// Lets the store's clock go on by what a time is written with.
    pub(crate) async fn tick(&self) {
        tokio::time::sleep(Duration::from_millis(3)).await;
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counting.take()
    }
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap()
}

pub(crate) fn hour(date: &str, hour: u8) -> Slot {
    Slot::hour(day(date), hour)
}

pub(crate) fn time(text: &str) -> Time {
    Time::parse(text).unwrap()
}
