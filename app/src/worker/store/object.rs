//! One object or a part of it, as a request of its own or as a frame of a batch.

use std::ops::Range;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::stream::{self, StreamExt};
use lake::wire::frame::FrameHeader;
use lake::{Error, Kind};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectMeta, Result};
use send_wrapper::SendWrapper;

use super::body::Body;
use super::failure::{error_from_reply, error_from_status, generic, kind_from_status};
use super::fetch::{Question, Reply, fetch};

/// A whole object that came instead of a part is cut here, unless it is larger than this.
const CUT_AT_MOST: u64 = 8 * 1024 * 1024;

/// Reads by a request of its own; the bytes come as a stream.
pub(super) async fn get(url: &str, path: &Path, options: &GetOptions) -> Result<GetResult> {
    let mut headers = Vec::new();
    let range = options.range.as_ref().filter(|_| !options.head);
    let conditions = [
        ("range", range.map(GetRange::to_string)),
        ("if-match", options.if_match.clone()),
        ("if-none-match", options.if_none_match.clone()),
    ];
    for (name, value) in conditions {
        headers.extend(value.map(|value| (name, value)));
    }
    let question = Question {
        method: if options.head { "HEAD" } else { "GET" },
        // The browser's cache is for whole objects; parts are many, and tagged by us.
        cached: headers.is_empty(),
        headers,
        ..Question::get(url)
    };
    let reply = fetch(&question)
        .await
        .map_err(|e| generic(e.at("key", path)))?;
    let status = reply.status();
    let meta = match status {
        200 | 206 => meta_from_reply(&reply, path),
        _ => return Err(error_from_reply(reply, path).await),
    };
    match (status, range, meta) {
        (200, None, Some(meta)) => {
            options.check_preconditions(&meta)?;
            let range = 0..if options.head { 0 } else { meta.size };
            Ok(result(url, meta, range, reply))
        }
        (200, _, None) if options.head => Err(unreadable("no length", path)),
        // Without a length nobody knows what the whole is until it has come.
        (200, range, meta) => {
            let limit = match range {
                Some(_) => CUT_AT_MOST,
                None => u64::from(u32::MAX),
            };
            let known = meta.clone().unwrap_or_else(|| meta_of(&reply, path, 0));
            let bytes = reply.bytes(limit as usize).await;
            let bytes = bytes.map_err(|e| whole_instead(e, path))?;
            let meta = ObjectMeta {
                size: bytes.len() as u64,
                ..known
            };
            options.check_preconditions(&meta)?;
            cut(meta, range, bytes)
        }
        (_, Some(wanted), Some(meta)) => {
            let got = reply
                .header("content-range")
                .as_deref()
                .and_then(parse_content_range);
            let Some((got, size)) = got else {
                return Err(unreadable("a part without its place", path));
            };
            let meta = ObjectMeta { size, ..meta };
            options.check_preconditions(&meta)?;
            same_range(wanted, &got, size, path)?;
            Ok(result(url, meta, got, reply))
        }
        _ => Err(unreadable("a part that was not asked for", path)),
    }
}

/// Takes the answer of a batch.
pub(super) fn result_from_frame(
    path: &Path,
    options: &GetOptions,
    header: FrameHeader,
    bytes: Bytes,
) -> Result<GetResult> {
    if !matches!(header.status, 200 | 206) {
        let message = header
            .error
            .unwrap_or_else(|| format!("the answer was {}", header.status));
        let error = Error::new(kind_from_status(header.status), message);
        return Err(error_from_status(header.status, error, path));
    }
    let modified = header
        .modified
        .and_then(|t| DateTime::from_timestamp_millis(t.0));
    let meta = ObjectMeta {
        location: path.clone(),
        last_modified: modified.unwrap_or(DateTime::UNIX_EPOCH),
        size: header.size,
        e_tag: header.etag,
        version: None,
    };
    options.check_preconditions(&meta)?;
    let got = header.start..header.start + bytes.len() as u64;
    match &options.range {
        Some(wanted) if header.status == 206 => {
            same_range(wanted, &got, header.size, path)?;
            Ok(whole_result(meta, got, bytes))
        }
        _ if got != (0..header.size) => Err(unreadable("a part that was not asked for", path)),
        wanted => cut(meta, wanted.as_ref(), bytes),
    }
}

/// The asked part of a whole object.
fn cut(meta: ObjectMeta, wanted: Option<&GetRange>, bytes: Bytes) -> Result<GetResult> {
    let Some(wanted) = wanted else {
        let range = 0..meta.size;
        return Ok(whole_result(meta, range, bytes));
    };
    let range = wanted.as_range(meta.size).map_err(|e| {
        let error = Error::invalid(e.to_string());
        error_from_status(416, error, &meta.location)
    })?;
    let part = bytes.slice(range.start as usize..range.end as usize);
    Ok(whole_result(meta, range, part))
}

fn whole_result(meta: ObjectMeta, range: Range<u64>, bytes: Bytes) -> GetResult {
    let pieces = stream::once(std::future::ready(Ok(bytes)));
    GetResult {
        payload: GetResultPayload::Stream(pieces.boxed()),
        meta,
        range,
        attributes: Default::default(),
        extensions: Default::default(),
    }
}

/// A result whose bytes come as they come.
fn result(url: &str, meta: ObjectMeta, range: Range<u64>, reply: Reply) -> GetResult {
    let body = Body {
        url: url.to_owned(),
        etag: meta.e_tag.clone(),
        left: range.clone(),
    };
    let path = meta.location.clone();
    let pieces = body.stream(reply);
    let pieces = pieces.map(move |piece| piece.map_err(|e| generic(e.at("key", &path))));
    GetResult {
        payload: GetResultPayload::Stream(SendWrapper::new(pieces).boxed()),
        meta,
        range,
        attributes: Default::default(),
        extensions: Default::default(),
    }
}

/// Checks that the part that came is the part that was asked for, as far as the object has it.
fn same_range(wanted: &GetRange, got: &Range<u64>, size: u64, path: &Path) -> Result<()> {
    match wanted.as_range(size) {
        Ok(wanted) if wanted == *got => Ok(()),
        _ => Err(unreadable("another part than the one asked for", path)),
    }
}

/// `None` where the answer's length is not the object's or is not said.
fn meta_from_reply(reply: &Reply, path: &Path) -> Option<ObjectMeta> {
    if reply.header("content-encoding").is_some() {
        return None;
    }
    let size = reply.header("content-length")?.parse().ok()?;
    Some(meta_of(reply, path, size))
}

fn meta_of(reply: &Reply, path: &Path, size: u64) -> ObjectMeta {
    let modified = reply.header("last-modified");
    let modified = modified.and_then(|text| DateTime::parse_from_rfc2822(&text).ok());
    ObjectMeta {
        location: path.clone(),
        last_modified: modified.map_or(DateTime::UNIX_EPOCH, |t| t.with_timezone(&Utc)),
        size,
        e_tag: reply.header("etag"),
        version: None,
    }
}

/// `bytes 7-10/11` as the bytes and the object's size.
fn parse_content_range(text: &str) -> Option<(Range<u64>, u64)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first..last.checked_add(1)?, size.parse().ok()?))
}

fn whole_instead(error: Error, path: &Path) -> object_store::Error {
    match error.kind() {
        Kind::TooLarge => unreadable("the whole object instead of a part", path),
        _ => generic(error.at("key", path)),
    }
}

fn unreadable(what: &str, path: &Path) -> object_store::Error {
    let message = format!("the server answered with {what}");
    generic(Error::new(Kind::Unreachable, message).at("key", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        assert_eq!(parse_content_range("bytes 7-10/11"), Some((7..11, 11)));
        for text in ["bytes */11", "bytes 7-10/*", "bytes 9-7/11", "7-10/11", ""] {
            assert_eq!(parse_content_range(text), None, "{text}");
        }
    }

    fn frame(status: u16, start: u64, bytes: &'static [u8], size: u64) -> (FrameHeader, Bytes) {
        let header = FrameHeader {
            index: 0,
            status,
            length: bytes.len() as u64,
            start,
            size,
            etag: Some("\"1\"".to_owned()),
            modified: None,
            error: None,
        };
        (header, Bytes::from_static(bytes))
    }

    fn range(range: impl Into<GetRange>) -> GetOptions {
        GetOptions {
            range: Some(range.into()),
            ..GetOptions::default()
        }
    }

    #[test]
    fn frames_are_what_was_asked_for_or_refused() {
        let path = Path::from("a");
        let take = |options: &GetOptions, (header, bytes)| {
            result_from_frame(&path, options, header, bytes).map(|r| r.range)
        };
        let part = || frame(206, 7, b"tide", 11);
        let whole = || frame(200, 0, b"hello, tide", 11);
        assert_eq!(take(&range(7..999), part()).unwrap(), 7..11);
        assert_eq!(take(&range(GetRange::Suffix(4)), part()).unwrap(), 7..11);
        assert_eq!(take(&range(7..9), whole()).unwrap(), 7..9);
        assert_eq!(take(&GetOptions::default(), whole()).unwrap(), 0..11);
        assert!(take(&range(0..4), part()).is_err());
        assert!(take(&GetOptions::default(), part()).is_err());
        assert!(take(&range(50..60), whole()).is_err());
        let changed = GetOptions {
            if_match: Some("\"2\"".to_owned()),
            ..range(7..11)
        };
        let error = take(&changed, part()).unwrap_err();
        assert!(matches!(error, object_store::Error::Precondition { .. }));
    }
}
