//! A vacuum of a table that others commit to all the time, and one that another vacuum was quicker
//! with.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "vacuum/bed.rs"]
mod bed;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use bed::{Bed, metadata, signature};
use futures::stream::BoxStream;
use lake::delta::pins;
use lake::delta::vacuum::{Request, apply, empty_quarantine, list_quarantine, put_back};
use lake::plan::Pin;
use lake::table::{Time, Version};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use serde_json::json;

/// Somebody else commits just before each of the first commits.
#[derive(Debug)]
struct Busy {
    inner: Arc<InMemory>,
    left: AtomicU32,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[async_trait]
impl ObjectStore for Busy {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> Result<PutResult> {
        let commit = location.as_ref().contains("_delta_log/") && opts.mode == PutMode::Create;
        let quicker = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        if commit && quicker.is_ok() {
            let theirs = "{\"commitInfo\":{\"operation\":\"WRITE\"}}\n";
            self.inner.put(location, theirs.into()).await?;
        }
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[tokio::test]
async fn a_busy_table_is_vacuumed_all_the_same() {
    let inner = Arc::new(InMemory::new());
    let bed = Bed::on(Arc::clone(&inner) as _, metadata(&[], &[])).await;
    bed.put("stray").await;
    let left = AtomicU32::new(60);
    let busy = bed.behind(Arc::new(Busy { inner, left }));
    let vacuum = busy.plan(&busy.request()).await;
    let done = apply(&vacuum, &signature(), &busy.host).await.unwrap();
    assert_eq!(done.start, Version(61));
    assert_eq!(done.end, Some(Version(62)));
    assert_eq!((done.deleted, done.failed.len()), (1, 0));
    let start = bed.info(61).await;
    assert_eq!(start["operation"], "VACUUM START");
    assert_eq!(start["readVersion"], json!(60));
}

/// What another vacuum of the same plan deleted was not needed by anybody.
#[tokio::test]
async fn what_is_gone_is_not_called_needed() {
    let bed = Bed::new(metadata(&[], &[])).await;
    for key in ["one", "two", "back"] {
        bed.put(key).await;
    }
    let vacuum = bed.plan(&bed.request()).await;
    bed.delete("one").await;
    bed.commit(&[json!({"add": bed::add(json!({"path": "back"}))})])
        .await;
    let done = apply(&vacuum, &signature(), &bed.host).await.unwrap();
    assert_eq!((done.deleted, done.absent), (1, 1));
    let spared: Vec<&str> = done.spared.iter().map(|s| s.example.as_str()).collect();
    assert_eq!(spared, ["back"]);
    assert_eq!(done.stopped, None);
}

#[tokio::test]
async fn what_was_moved_aside_comes_back() {
    let bed = Bed::new(metadata(&[], &[])).await;
    let add = json!({"add": bed::add(json!({"path": "old"}))});
    bed.commit(&[add]).await;
    bed.commit(&[json!({"remove": {"path": "old", "deletionTimestamp": 5}})])
        .await;
    for key in ["old", "p=1/stray", "taken"] {
        bed.put(key).await;
    }
    let request = Request {
        quarantine: true,
        ..bed.request()
    };
    let vacuum = bed.plan(&request).await;
    let done = apply(&vacuum, &signature(), &bed.host).await.unwrap();
    assert_eq!(done.deleted, 3);
    assert_eq!(
        pins::absent(&bed.root, Version(1), &bed.host)
            .await
            .unwrap(),
        ["old"]
    );

    // A pinned version needs one of them, whoever empties the quarantine.
    let pin = Pin {
        name: "p".to_owned(),
        version: Version(1),
        by: None,
        reason: None,
        at: Time(0),
    };
    pins::pin(&bed.root, &pin, &bed.host).await.unwrap();
    bed.put("taken").await;
    let told = put_back(&bed.root, &bed.host).await.unwrap();
    assert_eq!((told.objects, told.bytes), (2, 8));
    assert_eq!(told.failed.len(), 1);
    assert_eq!(
        (told.failed[0].key.as_str(), told.failed[0].why.as_str()),
        ("taken", "something is there now")
    );
    assert!(bed.has("old").await && bed.has("p=1/stray").await);
    let aside = list_quarantine(&bed.root).await.unwrap();
    assert_eq!((aside.len(), aside[0].objects), (1, 1));
    assert!(
        pins::absent(&bed.root, Version(1), &bed.host)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn emptying_spares_what_a_pin_needs() {
    let bed = Bed::new(metadata(&[], &[])).await;
    bed.commit(&[json!({"add": bed::add(json!({"path": "old"}))})])
        .await;
    bed.commit(&[json!({"remove": {"path": "old", "deletionTimestamp": 5}})])
        .await;
    for key in ["old", "stray"] {
        bed.put(key).await;
    }
    let request = Request {
        quarantine: true,
        ..bed.request()
    };
    let vacuum = bed.plan(&request).await;
    apply(&vacuum, &signature(), &bed.host).await.unwrap();
    let pin = Pin {
        name: "p".to_owned(),
        version: Version(1),
        by: None,
        reason: None,
        at: Time(0),
    };
    pins::pin(&bed.root, &pin, &bed.host).await.unwrap();
    let later = Time(bed.now.0 + 60_000);
    let told = empty_quarantine(&bed.root, 0, later, &bed.host)
        .await
        .unwrap();
    assert_eq!((told.deleted, told.failed.len()), (1, 0));
    assert_eq!(told.spared.len(), 1);
    assert_eq!(told.spared[0].why, "needed by a pinned version");
    // A pin that cannot be read keeps nobody knows what.
    bed.put_bytes("_tidemark/pins/bad.json", "{").await;
    let shown = pins::show(&bed.root).await.unwrap();
    assert_eq!((shown.pins.len(), shown.unreadable.len()), (1, 1));
    assert_eq!(shown.unreadable[0].key, "_tidemark/pins/bad.json");
    assert!(
        empty_quarantine(&bed.root, 0, later, &bed.host)
            .await
            .is_err()
    );
}
