//! Asks the gate of completeness about two local folders, and prints what it found as JSON:
//! `bench-gate RUN DEAD_LETTERS`.

use std::path::PathBuf;
use std::sync::Arc;

use futures::TryStreamExt;
use lake::host::SharedHost;
use lake::hours::Dataset;
use lake::hours::complete::gate;
use lake::hours::dataset::{Budget, Complete, MarkerKind, MarkerRule, Retention};
use lake::hours::listing::Object;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use tests::threads::Threads;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut folders = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(run), Some(letters)) = (folders.next(), folders.next()) else {
        eprintln!("bench-gate: say which run and which dead letters");
        std::process::exit(2);
    };
    let store: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new());
    let (run, letters) = (listed(&store, run).await, listed(&store, letters).await);
    let host: SharedHost = Arc::new(Threads::all());
    let found = gate(&dataset(), &store, &run, Some(&letters), &host).await;
    let found = serde_json::to_string(&found.expect("the gate to answer"));
    println!("{}", found.expect("figures to be JSON"));
}

async fn listed(store: &Arc<dyn ObjectStore>, folder: PathBuf) -> Vec<Object> {
    let folder = Path::from_absolute_path(folder).expect("a folder");
    let listed = store.list(Some(&folder)).map_ok(Object::from);
    let mut objects: Vec<Object> = listed.try_collect().await.expect("a listing");
    objects.sort_by(|a, b| a.key.cmp(&b.key));
    objects
}

fn dataset() -> Dataset {
    Dataset {
        name: "commerce.purchase_line".into(),
        zone: "raw".into(),
        url: "file:///".into(),
        prefix: String::new(),
        partition: vec!["event_date".into(), "hour".into()],
        marker: MarkerRule {
            kind: MarkerKind::Tidemark,
            template: "_markers/event_date={event_date}/hour={hour}.json".into(),
            whole_day: false,
        },
        grace: 0,
        every_hour: true,
        first: None,
        banned_keys: Vec::new(),
        event_time: None,
        grain: Vec::new(),
        prohibited_columns: Vec::new(),
        columns: Default::default(),
        owner: None,
        publisher: None,
        compaction_owner: None,
        stream: None,
        definition_version: None,
        budget: Budget::default(),
        retention: Retention::default(),
        complete: Some(Complete {
            key: "order_id".into(),
            sequence: "line_seq".into(),
            report: false,
            dead_letters: Some("dlq".into()),
        }),
        metastore: None,
        reads: Vec::new(),
    }
}
