//! The sample lake's table put back on a store that demands signatures and keeps conditional puts.

use std::fs;
use std::path::Path as DiskPath;
use std::sync::Arc;

use lake::answer::Root;
use lake::host::{Quiet, SharedHost};
use lake::plan::{Act, PlanRequest};
use lake::table::Version;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use server::acts::{self, Asked, Consent, Limits, Sizes};
use tests::seaweed::SeaweedFs;
use tests::served::Served;

const TABLE: &str = "restored/users";

/// Puts a folder under a prefix.
async fn put(store: &dyn ObjectStore, folder: &DiskPath, prefix: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let key = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => Box::pin(put(store, &entry.path(), &key)).await,
            false => {
                let bytes = fs::read(entry.path()).unwrap();
                let key = Path::parse(&key).unwrap();
                store.put(&key, bytes.into()).await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn the_wrong_delete_is_undone_on_s3() {
    let seaweed = SeaweedFs::shared();
    let store: Arc<dyn ObjectStore> = Arc::new(seaweed.store());
    let demo = Served::demo();
    let users = demo.demo_folder().unwrap().join("curated/users");
    put(store.as_ref(), &users, TABLE).await;
    let root = Root {
        store,
        path: Path::from(TABLE),
        location: TABLE.to_owned(),
    };
    let host: SharedHost = Arc::new(Quiet);
    let asked = Asked {
        request: PlanRequest {
            kind: Act::Restore,
            version: Some(Version(47)),
            ..Default::default()
        },
        as_of: acts::now(),
        expect: Some(Version(48)),
        limits: Limits::default(),
        sizes: Sizes::default(),
    };
    let consent = Consent {
        user: None,
        reason: Some("the wrong region".to_owned()),
        plan: None,
        over_appends: false,
    };
    let outcome = acts::act(&root, &asked, Some(&consent), &host)
        .await
        .unwrap();
    let applied = outcome.applied.unwrap();
    assert_eq!(applied.committed(), Version(49));
    assert_eq!(outcome.plan.files_to_add, 38);
    assert_eq!(applied.proven_files, 108);
    assert!(applied.warnings.is_empty(), "{:?}", applied.warnings);
    println!(
        "restore: the sample lake's table on S3: {} ms from the put to the proof",
        applied.took_ms
    );
}
