//! What every store is put to: the conformance suite, a table read through the server's own way of
//! opening stores, and the same by the command line, which finds the store by its environment.

use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;

use futures::future::join_all;
use lake::answer::{self, Root};
use lake::host::{Quiet, SharedHost};
use lake::store::{CountingStore, conformance};
use lake::table::{At, Version};
use lake::wire::{HistoryQuery, HistoryReport, SnapshotReport};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutMode, UpdateVersion};
use server::metrics::Metrics;
use server::stores::{Address, Cache, Opener, Overrides};
use tests::table::Layout;
use tests::{TableBuilder, place};

/// A store that runs.
pub(super) struct Running<'a> {
    pub(super) name: &'a str,
    /// Its bucket or container, without a slash at the end.
    pub(super) url: &'a str,
    /// What names it to a program; in lower case, object_store's own keys.
    pub(super) environment: &'a HashMap<&'static str, String>,
}

impl Running<'_> {
    /// Opens a prefix as the server opens a zone.
    fn open(&self, prefix: &str) -> Arc<dyn ObjectStore> {
        let variables = self.environment.iter();
        let overrides: Overrides = variables
            .map(|(name, value)| (name.to_lowercase(), value.clone()))
            .collect();
        let metrics = Arc::new(Metrics::default());
        let cache = Arc::new(Cache::new(1 << 20, Arc::clone(&metrics)));
        let address = Address::parse(&format!("{}/{prefix}/", self.url)).unwrap();
        let bucket = Opener { metrics, cache }
            .open(&address, &overrides)
            .unwrap();
        bucket.store
    }

    /// Reads in every way that `lake` does.
    pub(super) async fn conforms(&self) {
        let store = self.open("conforms");
        conformance::seed(&store).await.unwrap();
        assert_eq!(conformance::reads(&store).await, Vec::<String>::new());
        println!("engines: {}: reads conform", self.name);
    }

    /// One of eight creations wins, and an update of what has changed is refused.
    pub(super) async fn keeps_conditions(&self) {
        let store = self.open("conditions");
        let key = Path::from("00000000000000000001.json");
        let puts = (0..8).map(|racer| {
            let (store, key) = (&store, &key);
            let body = format!("racer {racer}");
            async move {
                store
                    .put_opts(key, body.into(), PutMode::Create.into())
                    .await
            }
        });
        let outcomes = join_all(puts).await;
        let winners: Vec<usize> = (0..8).filter(|n| outcomes[*n].is_ok()).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        for lost in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
            assert!(matches!(lost, Error::AlreadyExists { .. }), "{lost}");
        }
        let kept = store.get(&key).await.unwrap();
        assert_eq!(kept.bytes().await.unwrap(), format!("racer {}", winners[0]));

        let key = Path::from("marker.json");
        let first: UpdateVersion = store.put(&key, "first".into()).await.unwrap().into();
        let update = |body: &'static str| {
            let (store, key, version) = (&store, &key, first.clone());
            async move {
                let mode = PutMode::Update(version);
                store.put_opts(key, body.into(), mode.into()).await
            }
        };
        update("second").await.unwrap();
        let stale = update("third").await.unwrap_err();
        assert!(matches!(stale, Error::Precondition { .. }), "{stale}");
        println!("engines: {}: conditional puts hold", self.name);
    }

    /// A table of several checkpoints, by the functions and by the command line.
    pub(super) async fn reads_a_table(&self) {
        let table = TableBuilder::new(1_200)
            .removing_every(5)
            .checkpoint(400, Layout::Classic)
            .checkpoint(800, Layout::V2Parquet(3))
            .compacted(801, 900);
        let built = table.build(self.open("tables"), "a table/of ours").await;
        let counting = Arc::new(CountingStore::new(self.open("tables")));
        let root = Root {
            store: Arc::clone(&counting) as _,
            ..built.root
        };
        let host: SharedHost = Arc::new(Quiet);

        let query = HistoryQuery {
            limit: 50,
            before: None,
        };
        let history = answer::history(&root, &query, &host).await.unwrap();
        let newest: Vec<u64> = history.commits.iter().map(|c| c.version.0).collect();
        assert!(
            newest.iter().copied().eq((1_150..1_200).rev()),
            "{newest:?}"
        );
        println!(
            "engines: {}: newest 50 of 1,200: {}",
            self.name,
            counting.take()
        );

        let latest = answer::snapshot(&root, At::Latest, true, &host)
            .await
            .unwrap();
        let paths: Vec<&str> = latest
            .paths
            .iter()
            .flatten()
            .map(|f| f.path.as_str())
            .collect();
        let mut wanted: Vec<&str> = built.paths.iter().map(String::as_str).collect();
        wanted.sort_unstable();
        assert_eq!(paths, wanted);
        assert_eq!(latest.rows, Some(10 * wanted.len() as u64));
        println!("engines: {}: version 1,199: {}", self.name, counting.take());

        let at = At::Version(Version(500));
        let early = answer::snapshot(&root, at, false, &host).await.unwrap();
        // 500 files came and every fifth commit took one.
        assert_eq!((early.files, early.checkpoint), (400, Some(Version(400))));
        println!("engines: {}: version 500: {}", self.name, counting.take());

        let url = format!("{}/tables/a%20table/of%20ours", self.url);
        let told: HistoryReport = self.tidemark(&["history", &url]);
        assert_eq!(told.commits, history.commits);
        let told: SnapshotReport = self.tidemark(&["snapshot", &url, "--files"]);
        assert_eq!((told.paths, told.rows), (latest.paths, latest.rows));
        println!("engines: {}: the command line reads it the same", self.name);
    }

    /// What the binary answers, to which nothing but the environment names the store.
    fn tidemark<T: serde::de::DeserializeOwned>(&self, words: &[&str]) -> T {
        let output = Command::new(place::tidemark())
            .args(words)
            .arg("--json")
            .envs(self.environment)
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {complaint}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}
