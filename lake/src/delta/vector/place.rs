//! Which object holds a deletion vector.

use object_store::path::Path;
use percent_encoding::percent_decode_str;

use super::z85;
use crate::{Error, Result};

/// Characters of a base85 uuid.
const UUID_TEXT: usize = 20;

/// The key of a relative vector: an optional random prefix, then a uuid.
pub fn relative(root: &Path, text: &str) -> Result<Path> {
    let cut = text.len().checked_sub(UUID_TEXT);
    let Some((prefix, uuid)) = cut.and_then(|cut| text.split_at_checked(cut)) else {
        return Err(Error::damaged("a deletion vector without a uuid"));
    };
    let uuid = uuid_text(&z85::decode(uuid)?);
    let mut key = String::new();
    for part in [root.as_ref(), prefix] {
        if !part.is_empty() {
            key.push_str(part);
            key.push('/');
        }
    }
    key.push_str("deletion_vector_");
    key.push_str(&uuid);
    key.push_str(".bin");
    Path::parse(&key)
        .map_err(|e| Error::damaged("a deletion vector whose prefix is no key").because(e))
}

/// The key of an absolute vector in the store of the table at `url`. External where it lies
/// elsewhere, or where nobody knows the table's URL.
pub fn absolute(root: &Path, url: Option<&str>, text: &str) -> Result<Path> {
    let external = || {
        Error::unsupported("the deletion vector is external, not followed")
            .at("url", text.escape_default())
    };
    let vector = Address::parse(text).ok_or_else(external)?;
    let table = url.and_then(Address::parse).ok_or_else(external)?;
    if vector.place != table.place {
        return Err(external());
    }
    // What remains of the table's URL without the table's key is where the store starts.
    let own: Vec<&str> = root.as_ref().split('/').filter(|s| !s.is_empty()).collect();
    let base = table.parts.len().checked_sub(own.len());
    let Some((base, tail)) = base.and_then(|at| table.parts.split_at_checked(at)) else {
        return Err(external());
    };
    if tail != own || !vector.parts.starts_with(base) {
        return Err(external());
    }
    let key = vector.parts.get(base.len()..).unwrap_or_default();
    // `..` and empty parts are no key, so nothing climbs out of the store.
    match Path::parse(key.join("/")) {
        Ok(path) if !key.is_empty() => Ok(path),
        _ => Err(external()),
    }
}

/// A URL taken apart: the store it names, and the decoded parts of its path.
struct Address {
    place: (String, String),
    parts: Vec<String>,
}

impl Address {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        let letters = scheme.bytes().all(|b| b.is_ascii_alphanumeric());
        if scheme.is_empty() || !letters || rest.contains(['?', '#']) {
            return None;
        }
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "s3a" | "s3n" => "s3".to_owned(),
            "gcs" => "gs".to_owned(),
            "abfss" => "abfs".to_owned(),
            "wasbs" => "wasb".to_owned(),
            other => other.to_owned(),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_once('/').unwrap_or((rest, "")),
            None => ("", rest.strip_prefix('/')?),
        };
        let path = percent_decode_str(path).decode_utf8().ok()?;
        let parts = path.trim_end_matches('/').split('/').map(str::to_owned);
        Some(Self {
            place: (scheme, authority.to_owned()),
            parts: parts.filter(|p| !p.is_empty()).collect(),
        })
    }
}

fn uuid_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (position, byte) in bytes.iter().enumerate() {
        if matches!(position, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
