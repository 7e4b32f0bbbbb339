//! Files that are not Parquet, in landing: their columns by header or first record.

use std::sync::Arc;

use object_store::{GetOptions, GetRange, ObjectStore};
use serde_json::Value;

use super::footer::{banned, prohibition};
use super::{Fault, Look, times};
use crate::hours::dataset::Dataset;
use crate::hours::listing::{Object, path};
use crate::{Error, Kind, Result};

/// Bytes that are read of a file, and then, where its first record is longer.
const READS: [u64; 2] = [64 << 10, 8 << 20];

/// What a file is, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Parquet,
    Csv(u8),
    Json,
    Compressed,
}

/// The form of a file. What has no name of its own is Parquet: that is what a contract is about.
pub(super) fn form(object: &Object) -> Form {
    let name = object.key.to_lowercase();
    match name.rsplit('.').next().unwrap_or_default() {
        "csv" | "txt" => Form::Csv(b','),
        "tsv" | "tab" => Form::Csv(b'\t'),
        "json" | "jsonl" | "ndjson" => Form::Json,
        "gz" | "gzip" | "zst" | "bz2" | "zip" | "xz" | "lz4" if !name.contains(".parquet") => {
            Form::Compressed
        }
        _ => Form::Parquet,
    }
}

/// Looks at a file that is not Parquet.
pub(super) async fn look(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    object: &Object,
    form: Form,
) -> Result<Look> {
    let mut look = Look {
        times: times::Times::Unproven("it is not Parquet".to_owned()),
        ..Look::default()
    };
    if dataset.prohibited_columns.is_empty() || object.bytes == 0 {
        return Ok(look);
    }
    if form == Form::Compressed {
        return Err(Error::unsupported(
            "it is compressed as a whole, so prohibited columns cannot be looked for",
        ));
    }
    for most in READS {
        let most = most.min(object.bytes);
        let options = GetOptions {
            range: Some(GetRange::Bounded(0..most)),
            ..GetOptions::default()
        };
        let answer = store.get_opts(&path(&object.key)?, options).await?;
        let bytes = answer.bytes().await?;
        let whole = most == object.bytes;
        let found = match form {
            Form::Csv(comma) => header(&bytes, comma, whole),
            _ => record(&bytes),
        };
        if let Some(paths) = found {
            look.faults = paths
                .iter()
                .filter_map(|path| {
                    let path: Vec<&str> = path.iter().map(String::as_str).collect();
                    banned(dataset, &path).map(|_| prohibition(&path))
                })
                .collect::<Vec<Fault>>();
            return Ok(look);
        }
        if whole {
            return Err(Error::damaged("its first record cannot be read"));
        }
    }
    Err(Error::new(
        Kind::TooLarge,
        "its first record is longer than is read",
    ))
}

/// The columns of a CSV header; `None` where it does not end.
fn header(bytes: &[u8], comma: u8, whole: bool) -> Option<Vec<Vec<String>>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    // What a writer separates by is its own affair: a semicolon is one too.
    let first = text.lines().next().unwrap_or_default();
    let comma = match comma {
        b',' if !first.contains(',') && first.contains(';') => ';',
        b',' if !first.contains(',') && first.contains('\t') => '\t',
        comma => char::from(comma),
    };
    let (mut names, mut name, mut quoted, mut ended) = (Vec::new(), String::new(), false, whole);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '\n' if !quoted => {
                ended = true;
                break;
            }
            c if c == comma && !quoted => names.push(std::mem::take(&mut name)),
            c => name.push(c),
        }
    }
    names.push(name);
    ended.then(|| {
        names
            .into_iter()
            .map(|name| vec![name.trim().to_owned()])
            .collect()
    })
}

/// The paths of the first record of JSON; `None` where it does not end.
fn record(bytes: &[u8]) -> Option<Vec<Vec<String>>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let mut rest = bytes.get(start..)?;
    if let Some(inner) = rest.strip_prefix(b"[") {
        // The first record of an array.
        rest = inner;
    }
    let first = rest.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if *first == b']' {
        return Some(Vec::new());
    }
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
    let value = values.next()?.ok()?;
    value.is_object().then(|| {
        let mut paths = Vec::new();
        names(&value, &mut Vec::new(), &mut paths);
        paths
    })
}

fn names(value: &Value, above: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                above.push(name.clone());
                paths.push(above.clone());
                names(value, above, paths);
                above.pop();
            }
        }
        Value::Array(items) => {
            for item in items {
                names(item, above, paths);
            }
        }
        _ => {}
    }
}
