//! Many reads in one request, answered as one framed stream.
//!
//! Small reads are fetched side by side and held whole; a large one is streamed when its turn
//! comes. So a batch holds at most [`TOGETHER`] × [`SMALL`] bytes, however much it reads.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use lake::table::Time;
use lake::wire::frame::{FrameHeader, encode_header};
use lake::wire::http::{BatchRead, BatchRequest};
use lake::{Error, Result};

use super::fetch::{Fetched, Found, Want, fetch, quoted};
use super::key::object_key;
use super::object::OBJECT_POLICY;
use super::range::ByteRange;
use crate::access::Person;
use crate::app::App;
use crate::failure::{Failure, status_of};
use crate::segment::Segment;
use crate::stores::Bucket;

/// Most reads in one request.
pub const MAX_READS: usize = 1000;

/// Reads that are under way at once.
const TOGETHER: usize = 32;

/// Bytes of a read that is held whole until its turn.
const SMALL: u64 = 1024 * 1024;

/// Most bytes of a request's body: a thousand keys of the longest kind.
pub const MAX_BODY: usize = 4 * 1024 * 1024;

/// `POST /api/zones/{zone}/batch`
pub async fn batch(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(zone): Segment,
    body: Result<Json<BatchRequest>, JsonRejection>,
) -> Result<Response, Failure> {
    let request = Failure::body(body, "the batch")?;
    if request.reads.len() > MAX_READS {
        return Err(Failure::bad_request(format!(
            "a batch is at most {MAX_READS} reads, not {}",
            request.reads.len()
        )));
    }
    let bucket = app.zone(&person, &zone)?.bucket()?.clone();
    let metrics = Arc::clone(&app.metrics);
    let frames = futures::stream::iter(request.reads.into_iter().zip(0u32..))
        .map(move |(read, index)| {
            let bucket = bucket.clone();
            async move { frame(&bucket, read, index).await }
        })
        .buffer_unordered(TOGETHER)
        .flatten()
        .inspect_ok(move |piece| metrics.bytes_sent.add(piece.len() as u64));
    let headers = [
        (CONTENT_TYPE, "application/octet-stream"),
        (CONTENT_SECURITY_POLICY, OBJECT_POLICY),
        (CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Body::from_stream(frames)).into_response())
}

type Pieces = BoxStream<'static, Result<Bytes>>;

/// One read's frame.
async fn frame(bucket: &Bucket, read: BatchRead, index: u32) -> Pieces {
    let header = FrameHeader {
        index,
        status: 0,
        length: 0,
        start: 0,
        size: 0,
        etag: None,
        modified: None,
        error: None,
    };
    match one(bucket, &read).await {
        Ok(Fetched::Found(found)) => whole_frame(header, found).await,
        Ok(Fetched::Unsatisfiable(size)) => only(FrameHeader {
            status: StatusCode::RANGE_NOT_SATISFIABLE.as_u16(),
            size,
            error: Some(format!("the range lies outside the object of {size} bytes")),
            ..header
        }),
        // Without conditions in the question there is no such answer.
        Ok(Fetched::NotModified | Fetched::Changed) => only(FrameHeader {
            status: StatusCode::PRECONDITION_FAILED.as_u16(),
            error: Some("the object changed while it was read".to_owned()),
            ..header
        }),
        Err(error) => only(failed(header, &error)),
    }
}

fn failed(header: FrameHeader, error: &Error) -> FrameHeader {
    FrameHeader {
        status: status_of(error.kind()).as_u16(),
        error: Some(error.to_string()),
        ..header
    }
}

async fn one(bucket: &Bucket, read: &BatchRead) -> Result<Fetched> {
    let key = object_key(&read.key)?;
    let range = match read.range.as_deref() {
        None => None,
        Some(text) => Some(ByteRange::parse(text).ok_or_else(|| {
            Error::invalid("the range is not `bytes=0-99`, `bytes=100-` or `bytes=-8`")
        })?),
    };
    let want = Want {
        range,
        ..Want::default()
    };
    let fetched = fetch(&bucket.store, &key, &want).await;
    fetched.map_err(|e| e.at("key", &key))
}

async fn whole_frame(header: FrameHeader, found: Found) -> Pieces {
    let described = FrameHeader {
        status: match found.partial {
            true => StatusCode::PARTIAL_CONTENT.as_u16(),
            false => StatusCode::OK.as_u16(),
        },
        length: found.length(),
        start: found.range.start,
        size: found.meta.size,
        etag: found.meta.e_tag.as_deref().map(quoted),
        modified: Some(Time(found.meta.last_modified.timestamp_millis())),
        ..header.clone()
    };
    if found.length() > SMALL {
        let promised = described.length;
        let head = futures::stream::once(async move { encode_header(&described) });
        let body = found.stream().map_err(Error::from);
        return head.chain(exactly(body.boxed(), promised)).boxed();
    }
    match found.bytes().await {
        Ok(bytes) if bytes.len() as u64 == described.length => {
            let head = encode_header(&described);
            futures::stream::iter([head, Ok(bytes)]).boxed()
        }
        Ok(_) => only(failed(header, &short())),
        Err(error) => only(failed(header, &error.into())),
    }
}

fn only(header: FrameHeader) -> Pieces {
    futures::stream::iter([encode_header(&header)]).boxed()
}

/// Fails a stream that is not as long as its header said: the frames after it would be noise.
fn exactly(body: Pieces, promised: u64) -> Pieces {
    let state = (body, promised);
    futures::stream::try_unfold(state, |(mut body, left)| async move {
        match body.try_next().await? {
            Some(piece) => match left.checked_sub(piece.len() as u64) {
                Some(left) => Ok(Some((piece, (body, left)))),
                None => Err(short()),
            },
            None if left > 0 => Err(short()),
            None => Ok(None),
        }
    })
    .boxed()
}

fn short() -> Error {
    Error::new(
        lake::Kind::Unreachable,
        "the store gave more or fewer bytes than it said",
    )
}
