//! Names in a Delta log and paths in its actions.

use std::borrow::Cow;

use object_store::path::Path;
use percent_encoding::percent_decode_str;

use crate::table::Version;
use crate::{Error, Result};

/// The log's folder below a table's root.
pub const LOG: &str = "_delta_log";

/// The product's own folder below a table's root, which every engine takes for hidden.
pub(crate) const OWN: &str = "_tidemark";

/// What a file of the log is, by its name (PROTOCOL, "Delta Table File Types"). An unknown name is
/// a value, because later writers may put anything there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFile {
    /// `<version>.json`
    Commit(Version),
    /// `<version>.checkpoint.parquet`
    Checkpoint(Version),
    /// `<version>.checkpoint.<part>.<of>.parquet`
    Part {
        /// The checkpoint's version.
        version: Version,
        /// From 1.
        part: u32,
        /// Parts in all.
        of: u32,
    },
    /// `<version>.checkpoint.<uuid>.json` or `.parquet`
    Uuid {
        /// The checkpoint's version.
        version: Version,
        /// Whether it is JSON and not Parquet.
        json: bool,
    },
    /// `<low>.<high>.compacted.json`
    Compacted {
        /// First version inside.
        low: Version,
        /// Last version inside.
        high: Version,
    },
    /// `<version>.crc`
    Checksum(Version),
    /// Anything else.
    Other,
}

impl LogFile {
    /// Reads a name without its folder.
    pub fn parse(name: &str) -> Self {
        Self::known(name).unwrap_or(Self::Other)
    }

    fn known(name: &str) -> Option<Self> {
        let version = digits(name.get(..20)?, 20)?;
        let rest = name.get(20..)?.strip_prefix('.')?;
        let mut parts = rest.split('.');
        let parts = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        );
        Some(match parts {
            (Some("json"), None, ..) => Self::Commit(version),
            (Some("crc"), None, ..) => Self::Checksum(version),
            (Some("checkpoint"), Some("parquet"), None, ..) => Self::Checkpoint(version),
            (Some("checkpoint"), Some(part), Some(of), Some("parquet"), None) => {
                let part = u32::try_from(digits(part, 10)?.0).ok()?;
                let of = u32::try_from(digits(of, 10)?.0).ok()?;
                if part == 0 || part > of {
                    return None;
                }
                Self::Part { version, part, of }
            }
            (Some("checkpoint"), Some(uuid), Some(kind @ ("json" | "parquet")), None, _)
                if uuid.len() == 36 =>
            {
                Self::Uuid {
                    version,
                    json: kind == "json",
                }
            }
            (Some(high), Some("compacted"), Some("json"), None, _) => {
                let high = digits(high, 20)?;
                if high < version {
                    return None;
                }
                Self::Compacted { low: version, high }
            }
            _ => return None,
        })
    }
}

fn digits(text: &str, length: usize) -> Option<Version> {
    if text.len() != length || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse::<u64>()
        .ok()
        .filter(|n| *n <= i64::MAX as u64)
        .map(Version)
}

/// Key of a commit file.
pub fn commit_key(root: &Path, version: Version) -> Path {
    log_key(root, &format!("{:020}.json", version.0))
}

/// Key of a version's checksum file.
pub fn checksum_key(root: &Path, version: Version) -> Path {
    log_key(root, &format!("{:020}.crc", version.0))
}

/// Key of any file of the log.
pub fn log_key(root: &Path, name: &str) -> Path {
    root.clone().join(LOG).join(name)
}

/// Where an action's path points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// An object below the table's root.
    Inside(Path),
    /// Somewhere else; never followed unless a configured store says so.
    Outside(String),
}

/// Decodes a path of the log exactly once (PROTOCOL, "Add File and Remove File": a URI).
pub fn decode(raw: &str) -> Result<Cow<'_, str>> {
    if memchr::memchr(b'%', raw.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(raw));
    }
    percent_decode_str(raw).decode_utf8().map_err(|e| {
        Error::damaged(format!("the path `{raw}` is not UTF-8 once decoded")).because(e)
    })
}

/// What a path is compared by: two spellings of one file are equal.
pub fn canonical(raw: &str) -> Cow<'_, str> {
    let decoded = decode(raw).unwrap_or(Cow::Borrowed(raw));
    // Hadoop writes one local file as `/a`, `file:/a` and `file:///a`.
    match decoded.strip_prefix("file:") {
        Some(rest) => Cow::Owned(format!("/{}", rest.trim_start_matches('/'))),
        None => decoded,
    }
}

/// Finds the object of a path, given the table's root in its store.
pub fn locate(root: &Path, raw: &str) -> Result<Location> {
    let decoded = decode(raw)?;
    if is_absolute(&decoded) {
        return Ok(Location::Outside(decoded.into_owned()));
    }
    // `Path::parse` refuses `..`, `.` and empty segments, so nothing leaves the root.
    let relative = Path::parse(decoded.as_ref()).map_err(|e| {
        Error::damaged(format!("the path `{raw}` is not a key below the table")).because(e)
    })?;
    let mut path = root.clone();
    for part in relative.parts() {
        path = path.join(part);
    }
    Ok(Location::Inside(path))
}

/// What people see: the decoded key relative to the root, or the full URL.
pub fn shown(raw: &str) -> String {
    decode(raw).unwrap_or(Cow::Borrowed(raw)).into_owned()
}

fn is_absolute(path: &str) -> bool {
    if path.starts_with('/') {
        return true;
    }
    // `scheme:` before any slash, as in RFC 2396; a colon later is part of a key.
    let head = path.split('/').next().unwrap_or(path);
    match head.split_once(':') {
        Some((scheme, rest)) => {
            rest.is_empty()
                && path.len() > head.len()
                && scheme.len() > 1
                && scheme
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
                && scheme.as_bytes()[0].is_ascii_alphabetic()
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_once() {
        let v = Version;
        let name = |rest: &str| LogFile::parse(&format!("{:020}.{rest}", 7));
        assert_eq!(name("json"), LogFile::Commit(v(7)));
        assert_eq!(name("crc"), LogFile::Checksum(v(7)));
        assert_eq!(name("checkpoint.parquet"), LogFile::Checkpoint(v(7)));
        let part = LogFile::Part {
            version: v(7),
            part: 2,
            of: 3,
        };
        assert_eq!(name("checkpoint.0000000002.0000000003.parquet"), part);
        assert_eq!(
            name("checkpoint.0000000004.0000000003.parquet"),
            LogFile::Other
        );
        let uuid = "80a083e8-7026-4e79-81be-64bd76c43a11";
        assert_eq!(
            name(&format!("checkpoint.{uuid}.json")),
            LogFile::Uuid {
                version: v(7),
                json: true
            }
        );
        let compacted = LogFile::Compacted {
            low: v(7),
            high: v(9),
        };
        assert_eq!(name("00000000000000000009.compacted.json"), compacted);
        assert_eq!(name("00000000000000000006.compacted.json"), LogFile::Other);
        assert_eq!(name("json.tmp"), LogFile::Other);
        assert_eq!(LogFile::parse("_last_checkpoint"), LogFile::Other);
        assert_eq!(LogFile::parse("99999999999999999999.json"), LogFile::Other);
        assert_eq!(LogFile::parse("äöü"), LogFile::Other);
    }

    #[test]
    fn paths_are_decoded_once_and_used_verbatim() {
        let root = Path::from("lake/t");
        let key = |raw: &str| match locate(&root, raw).unwrap() {
            Location::Inside(path) => path.to_string(),
            Location::Outside(url) => format!("outside {url}"),
        };
        assert_eq!(key("x=A%252FA/f.parquet"), "lake/t/x=A%2FA/f.parquet");
        assert_eq!(key("x=a+b/f.parquet"), "lake/t/x=a+b/f.parquet");
        assert_eq!(
            key("ts=2024-01-01%2010%253A00%253A00/f"),
            "lake/t/ts=2024-01-01 10%3A00%3A00/f"
        );
        assert_eq!(key("x=a:b/f.parquet"), "lake/t/x=a:b/f.parquet");
        assert_eq!(
            key("s3://other/t/f.parquet"),
            "outside s3://other/t/f.parquet"
        );
        assert_eq!(key("/etc/passwd"), "outside /etc/passwd");
        assert_eq!(key("file:/etc/passwd"), "outside file:/etc/passwd");
    }

    #[test]
    fn nothing_leaves_the_root() {
        let root = Path::from("lake/t");
        for raw in [
            "../x",
            "a/../../x",
            "%2e%2e/x",
            "..%2fx",
            "a//b",
            "./x",
            "%2e%2e%2fx",
        ] {
            assert!(locate(&root, raw).is_err(), "{raw}");
        }
        // A second decoding would leave the root; there is none.
        assert_eq!(
            locate(&root, "%252e%252e/x").unwrap(),
            Location::Inside(Path::parse("lake/t/%2e%2e/x").unwrap())
        );
    }

    #[test]
    fn spellings_of_one_file_are_equal() {
        assert_eq!(canonical("file:/a/b%20c"), canonical("/a/b c"));
        assert_eq!(canonical("file:///a/b"), canonical("file:/a/b"));
        assert_ne!(canonical("x=A%252FA"), canonical("x=A%2FA"));
    }
}
