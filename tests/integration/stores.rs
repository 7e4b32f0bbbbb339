//! The stores that Tidemark reads from and writes to.

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload};
use tests::seaweed::SeaweedFs;

#[tokio::test]
async fn seaweedfs_keeps_the_first_of_two_creations() {
    let seaweed = SeaweedFs::shared();
    let store = seaweed.store();
    let key = Path::from("creations/00000000000000000001.json");
    let put = |body: &'static str| {
        let (store, key) = (&store, &key);
        async move {
            let body = PutPayload::from_static(body.as_bytes());
            store.put_opts(key, body, PutMode::Create.into()).await
        }
    };

    put("mine").await.unwrap();
    let lost = put("theirs").await.unwrap_err();

    assert!(matches!(lost, Error::AlreadyExists { .. }), "{lost}");
    assert_eq!(
        store.get(&key).await.unwrap().bytes().await.unwrap(),
        "mine"
    );
    let listed: Vec<_> = store
        .list(Some(&Path::from("creations")))
        .try_collect()
        .await
        .unwrap();
    assert_eq!(listed.len(), 1);
}
