//! `GET` and `HEAD` of one object.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, RawQuery, State};
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED,
    LOCATION, RANGE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use lake::{Error, Kind};

use super::fetch::{Fetched, Found, Want, fetch, quoted};
use super::key::object_key;
use super::query::Params;
use super::range::ByteRange;
use crate::access::Person;
use crate::app::App;
use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::segment::Segment;
use crate::zones::Zone;

/// How long a signed URL holds.
const SIGNED_FOR: Duration = Duration::from_secs(60);

/// What an object's answer lets a browser do with it: nothing but keep it.
pub const OBJECT_POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// `GET|HEAD /api/zones/{zone}/object?key=`
pub async fn object(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(zone): Segment,
    RawQuery(query): RawQuery,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let params = Params::parse(query.as_deref(), &["key"])?;
    let key = object_key(params.need("key")?)?;
    let zone = app.zone(&person, &zone)?;
    if zone.redirects() {
        return redirect(zone, &key, method).await;
    }
    let want = want(&headers, method == Method::HEAD)?;
    let bucket = zone.bucket()?;
    let fetched = fetch(&bucket.store, &key, &want)
        .await
        .map_err(|e| e.at("key", &key))?;
    Ok(match fetched {
        Fetched::Found(found) => answer(found, want.head, &app.metrics),
        Fetched::NotModified => not_modified(&want),
        Fetched::Changed => {
            let error = Error::new(Kind::Conflict, "the object is not the one that is meant");
            Failure::new(StatusCode::PRECONDITION_FAILED, error.at("key", &key)).into_response()
        }
        Fetched::Unsatisfiable(size) => {
            let error =
                Error::invalid(format!("the range lies outside the object of {size} bytes"));
            let failure = Failure::new(StatusCode::RANGE_NOT_SATISFIABLE, error.at("key", &key));
            let mut response = failure.into_response();
            set(&mut response, CONTENT_RANGE, &format!("bytes */{size}"));
            set(&mut response, ACCEPT_RANGES, "bytes");
            response
        }
    })
}

async fn redirect(
    zone: &Zone,
    key: &object_store::path::Path,
    method: Method,
) -> Result<Response, Failure> {
    let signer = zone.bucket()?.signer.as_ref();
    let signer = signer.ok_or_else(|| Error::unsupported("this store cannot sign URLs"))?;
    let url = signer.signed_url(method, key, SIGNED_FOR).await?;
    let mut response = StatusCode::TEMPORARY_REDIRECT.into_response();
    set(&mut response, LOCATION, url.as_str());
    set(&mut response, CACHE_CONTROL, "no-store");
    Ok(response)
}

/// What the headers ask for.
fn want(headers: &HeaderMap, head: bool) -> Result<Want, Failure> {
    let text = |name| -> Result<Option<String>, Failure> {
        let Some(value) = headers.get(&name) else {
            return Ok(None);
        };
        match value.to_str() {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => Err(Failure::bad_request(format!(
                "the header `{name}` is not text"
            ))),
        }
    };
    Ok(Want {
        range: text(RANGE)?.as_deref().and_then(ByteRange::parse),
        if_match: text(IF_MATCH)?,
        // A read compares weakly, a store only knows strong tags.
        if_none_match: text(IF_NONE_MATCH)?.map(|tags| tags.replace("W/\"", "\"")),
        if_range: text(IF_RANGE)?,
        head,
    })
}

fn answer(found: Found, head: bool, metrics: &Arc<Metrics>) -> Response {
    let (meta, range, length) = (found.meta.clone(), found.range.clone(), found.length());
    let partial = found.partial;
    let body = match head {
        true => Body::empty(),
        false => {
            let metrics = Arc::clone(metrics);
            Body::from_stream(found.stream().inspect(move |piece| {
                if let Ok(piece) = piece {
                    metrics.bytes_sent.add(piece.len() as u64);
                }
            }))
        }
    };
    let mut response = Response::new(body);
    if partial {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let last = range.end.saturating_sub(1);
        let value = format!("bytes {}-{last}/{}", range.start, meta.size);
        set(&mut response, CONTENT_RANGE, &value);
    }
    let length = if head { meta.size } else { length };
    set(&mut response, CONTENT_LENGTH, &length.to_string());
    set(&mut response, ACCEPT_RANGES, "bytes");
    if let Some(tag) = &meta.e_tag {
        set(&mut response, ETAG, &quoted(tag));
    }
    let modified = httpdate::fmt_http_date(meta.last_modified.into());
    set(&mut response, LAST_MODIFIED, &modified);
    guard(&mut response);
    response
}

fn not_modified(want: &Want) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    // With one tag in the question, that is the object's.
    if let Some(tag) = &want.if_none_match
        && tag != "*"
        && !tag.contains(',')
    {
        set(&mut response, ETAG, tag.trim());
    }
    guard(&mut response);
    response
}

/// Headers that keep an object from being more than bytes, and from being kept unasked.
fn guard(response: &mut Response) {
    set(response, CONTENT_TYPE, "application/octet-stream");
    set(response, CONTENT_DISPOSITION, "attachment");
    set(response, CONTENT_SECURITY_POLICY, OBJECT_POLICY);
    set(response, CACHE_CONTROL, "private, no-cache");
}

fn set(response: &mut Response, name: axum::http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
