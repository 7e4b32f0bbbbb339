//! One object or one range of it from a store, with the answer HTTP wants to give.

mod body;

use std::ops::Range;
use std::time::SystemTime;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use lake::{Error, Kind, Result};
use object_store::path::Path;
use object_store::{GetOptions, GetResult, GetResultPayload, ObjectMeta, ObjectStore};

use self::body::Pieces;
use super::range::ByteRange;

/// What is wanted of an object.
#[derive(Clone, Debug, Default)]
pub struct Want {
    /// Part of it.
    pub range: Option<ByteRange>,
    /// Only if its tag is one of these.
    pub if_match: Option<String>,
    /// Only if its tag is none of these.
    pub if_none_match: Option<String>,
    /// The whole of it, unless its tag or time is this.
    pub if_range: Option<String>,
    /// Nothing but what the store says of it.
    pub head: bool,
}

/// What came of it.
pub enum Fetched {
    /// Bytes: all of them, or those of the range that was asked for.
    Found(Found),
    /// The client has it already.
    NotModified,
    /// The object is not the one the client means.
    Changed,
    /// No byte of the object is in the range; its size.
    Unsatisfiable(u64),
}

/// An object on its way.
pub struct Found {
    /// What the store says of it.
    pub meta: ObjectMeta,
    /// The bytes that follow.
    pub range: Range<u64>,
    /// Whether a range was asked for and is given.
    pub partial: bool,
    payload: Option<GetResultPayload>,
}

impl Found {
    /// Bytes that follow.
    pub fn length(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }

    /// The bytes, piece by piece.
    pub(super) fn stream(self) -> Pieces {
        match self.payload {
            None => futures::stream::empty().boxed(),
            Some(GetResultPayload::Stream(stream)) => stream,
            Some(GetResultPayload::File(file, _)) => body::of_file(file, self.range),
        }
    }

    /// The bytes in one piece.
    pub async fn bytes(self) -> object_store::Result<Bytes> {
        let capacity = usize::try_from(self.length()).unwrap_or_default();
        let mut pieces: Vec<Bytes> = self.stream().try_collect().await?;
        if pieces.len() == 1
            && let Some(only) = pieces.pop()
        {
            return Ok(only);
        }
        let mut all = Vec::with_capacity(capacity);
        for piece in pieces {
            all.extend_from_slice(&piece);
        }
        Ok(all.into())
    }
}

/// Reads an object. One request to the store unless a range turns out not to apply.
pub async fn fetch(store: &dyn ObjectStore, key: &Path, want: &Want) -> Result<Fetched> {
    let range = want.range.filter(|_| !want.head);
    let Some(range) = range else {
        return whole(store, key, want).await;
    };
    // No store has a last byte of nothing, and some read `-0` as everything.
    let asked = match range {
        ByteRange::Suffix(0) => Err(unsatisfiable()),
        range => get(store, key, want, Some(range.to_store())).await,
    };
    match asked {
        Ok(result) => {
            if !same(want.if_range.as_deref(), &result.meta) {
                return whole(store, key, want).await;
            }
            match range.resolve(result.meta.size) {
                Some(meant) if meant == result.range => Ok(found(result, true)),
                Some(meant) => cut(result, meant),
                None => Ok(Fetched::Unsatisfiable(result.meta.size)),
            }
        }
        Err(object_store::Error::NotModified { .. }) => Ok(Fetched::NotModified),
        Err(object_store::Error::Precondition { .. }) => Ok(Fetched::Changed),
        Err(error @ object_store::Error::NotFound { .. }) => Err(plain(error, key)),
        Err(error) => retry(store, key, want, range, error).await,
    }
}

/// A range that the store did not take: because it lies outside the object, because the store does
/// not know suffixes, or because the store is ill.
async fn retry(
    store: &dyn ObjectStore,
    key: &Path,
    want: &Want,
    range: ByteRange,
    error: object_store::Error,
) -> Result<Fetched> {
    let head = GetOptions {
        head: true,
        ..conditions(want)
    };
    let meta = match store.get_opts(key, head).await {
        Ok(result) => result.meta,
        Err(object_store::Error::NotModified { .. }) => return Ok(Fetched::NotModified),
        Err(object_store::Error::Precondition { .. }) => return Ok(Fetched::Changed),
        Err(later) => return Err(plain(later, key)),
    };
    if !same(want.if_range.as_deref(), &meta) {
        return whole(store, key, want).await;
    }
    let Some(meant) = range.resolve(meta.size) else {
        return Ok(Fetched::Unsatisfiable(meta.size));
    };
    if !matches!(
        error,
        object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. }
    ) {
        return Err(plain(error, key));
    }
    let options = GetOptions {
        range: Some(meant.into()),
        if_match: meta.e_tag,
        ..GetOptions::default()
    };
    match store.get_opts(key, options).await {
        Ok(result) => Ok(found(result, true)),
        Err(object_store::Error::Precondition { .. }) => Ok(Fetched::Changed),
        Err(error) => Err(plain(error, key)),
    }
}

async fn whole(store: &dyn ObjectStore, key: &Path, want: &Want) -> Result<Fetched> {
    match get(store, key, want, None).await {
        Ok(result) => Ok(found(result, false)),
        Err(object_store::Error::NotModified { .. }) => Ok(Fetched::NotModified),
        Err(object_store::Error::Precondition { .. }) => Ok(Fetched::Changed),
        Err(error) => Err(plain(error, key)),
    }
}

async fn get(
    store: &dyn ObjectStore,
    key: &Path,
    want: &Want,
    range: Option<object_store::GetRange>,
) -> object_store::Result<GetResult> {
    let options = GetOptions {
        range,
        head: want.head,
        ..conditions(want)
    };
    store.get_opts(key, options).await
}

fn conditions(want: &Want) -> GetOptions {
    GetOptions {
        if_match: want.if_match.clone(),
        if_none_match: want.if_none_match.clone(),
        ..GetOptions::default()
    }
}

fn found(result: GetResult, partial: bool) -> Fetched {
    Fetched::Found(Found {
        meta: result.meta,
        range: result.range,
        partial,
        payload: Some(result.payload),
    })
}

/// A store that ignored the range gave the whole object; only the part that was meant goes on.
fn cut(result: GetResult, meant: Range<u64>) -> Result<Fetched> {
    if result.range.start > meant.start || result.range.end < meant.end {
        return Err(Error::new(
            Kind::Unreachable,
            "the store answered with another range than the one asked for",
        ));
    }
    let skip = meant.start - result.range.start;
    let meta = result.meta.clone();
    let pieces = body::cut(result.into_stream(), skip, meant.end - meant.start);
    Ok(Fetched::Found(Found {
        meta,
        range: meant,
        partial: true,
        payload: Some(GetResultPayload::Stream(pieces)),
    }))
}

fn unsatisfiable() -> object_store::Error {
    object_store::Error::NotSupported {
        source: "a range of no bytes".into(),
    }
}

/// A store's error with the key that was asked for. That an object is absent needs no story.
fn plain(error: object_store::Error, key: &Path) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::not_found("no such object").at("key", key),
        other => Error::from(other),
    }
}

/// Whether `If-Range` names this object. A weak tag never does, and a time only to the second.
fn same(if_range: Option<&str>, meta: &ObjectMeta) -> bool {
    let Some(validator) = if_range.map(str::trim) else {
        return true;
    };
    if validator.starts_with("W/") {
        return false;
    }
    if let Ok(time) = httpdate::parse_http_date(validator) {
        let modified: SystemTime = meta.last_modified.into();
        return httpdate::fmt_http_date(modified) == httpdate::fmt_http_date(time);
    }
    meta.e_tag
        .as_deref()
        .is_some_and(|tag| quoted(tag) == validator)
}

/// An entity tag as HTTP writes it; some stores leave out the quotes.
pub fn quoted(tag: &str) -> String {
    match tag.starts_with('"') || tag.starts_with("W/") {
        true => tag.to_owned(),
        false => format!("\"{tag}\""),
    }
}
