//! Objects created where there is none, and replaced under the tag that they have.

use std::sync::Arc;

use futures::future::join_all;
use object_store::path::Path;
use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutResult, UpdateVersion,
};

use super::{Checked, ok, same};

/// Writers at once.
const WRITERS: usize = 8;

fn key(scratch: &str, name: &str) -> Path {
    Path::from(format!("{scratch}/{name}"))
}

async fn put(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
    body: &str,
    mode: PutMode,
) -> object_store::Result<PutResult> {
    let payload = PutPayload::from(body.to_owned());
    store.put_opts(key, payload, PutOptions::from(mode)).await
}

fn over(e_tag: Option<String>) -> PutMode {
    PutMode::Update(UpdateVersion {
        e_tag,
        version: None,
    })
}

async fn text(
    store: &Arc<dyn ObjectStore>,
    key: &Path,
) -> Result<(String, Option<String>), String> {
    let answer = ok("get", store.get(key).await)?;
    let tag = answer.meta.e_tag.clone();
    let bytes = ok("bytes", answer.bytes().await)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), tag))
}

fn refused(what: &str, result: object_store::Result<PutResult>) -> Checked {
    match result {
        Err(Error::Precondition { .. } | Error::AlreadyExists { .. } | Error::NotFound { .. }) => {
            Ok(())
        }
        Err(other) => Err(format!("{what}: {other}")),
        Ok(_) => Err(format!("{what}: it was put")),
    }
}

pub(super) async fn create(store: &Arc<dyn ObjectStore>, scratch: &str) -> Checked {
    let key = key(scratch, "created");
    ok("first", put(store, &key, "one", PutMode::Create).await)?;
    refused("second", put(store, &key, "two", PutMode::Create).await)?;
    same("what stands", text(store, &key).await?.0.as_str(), "one")
}

pub(super) async fn swap(store: &Arc<dyn ObjectStore>, scratch: &str) -> Checked {
    let key = key(scratch, "swapped");
    ok("create", put(store, &key, "one", PutMode::Create).await)?;
    let (_, first) = text(store, &key).await?;
    let second = ok("swap", put(store, &key, "two", over(first.clone())).await)?;
    let (body, tag) = text(store, &key).await?;
    same("what stands", body.as_str(), "two")?;
    same("the tag it was answered with", second.e_tag, tag.clone())?;
    if tag == first {
        return Err(format!("the tag stayed {tag:?}"));
    }
    refused(
        "under an old tag",
        put(store, &key, "three", over(first)).await,
    )?;
    // The same bytes again are another object.
    ok("once more", put(store, &key, "two!", over(tag)).await)?;
    same("in the end", text(store, &key).await?.0.as_str(), "two!")
}

pub(super) async fn absent(store: &Arc<dyn ObjectStore>, scratch: &str) -> Checked {
    let there = key(scratch, "there");
    ok("create", put(store, &there, "one", PutMode::Create).await)?;
    let (_, tag) = text(store, &there).await?;
    let absent = key(scratch, "absent");
    refused("swap", put(store, &absent, "two", over(tag)).await)?;
    match store.head(&absent).await {
        Err(Error::NotFound { .. }) => Ok(()),
        other => Err(format!("it is there: {other:?}")),
    }
}

pub(super) async fn at_once(store: &Arc<dyn ObjectStore>, scratch: &str) -> Checked {
    let key = key(scratch, "contended");
    ok("create", put(store, &key, "none", PutMode::Create).await)?;
    let (_, tag) = text(store, &key).await?;
    let writers = (0..WRITERS).map(|n| {
        let (key, tag) = (&key, tag.clone());
        async move { (n, put(store, key, &format!("writer {n}"), over(tag)).await) }
    });
    let mut won = Vec::new();
    for (n, result) in join_all(writers).await {
        match result {
            Ok(_) => won.push(n),
            Err(error) => refused("a writer", Err(error))?,
        }
    }
    let [winner] = won.as_slice() else {
        return Err(format!("{} writers won: {won:?}", won.len()));
    };
    same(
        "what stands",
        text(store, &key).await?.0,
        format!("writer {winner}"),
    )
}
