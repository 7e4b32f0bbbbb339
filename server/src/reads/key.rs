//! From a request's text to a key inside a zone, or a refusal.
//!
//! A key is opaque: it reaches exactly the object of that name or is refused, and is never put
//! right. The store below is rooted at the zone, so that a key cannot name anything else.

use lake::{Error, Result};
use object_store::path::Path;

/// The longest key S3 has.
const MAX_KEY: usize = 1024;

/// The key of an object.
pub fn object_key(text: &str) -> Result<Path> {
    if text.is_empty() {
        return Err(Error::invalid("the key is empty"));
    }
    if text.starts_with('/') || text.ends_with('/') {
        return Err(refused(
            "a key has no slash at its ends: it is relative to the zone",
            text,
        ));
    }
    parse(text)
}

/// A prefix of whole segments; a slash at its end may be left out.
pub fn prefix_key(text: &str) -> Result<Path> {
    if text.starts_with('/') {
        return Err(refused(
            "a prefix does not begin with a slash: it is relative to the zone",
            text,
        ));
    }
    match text.strip_suffix('/').unwrap_or(text) {
        "" => Ok(Path::default()),
        trimmed => parse(trimmed),
    }
}

/// The key a listing goes on after. It need not exist; a slash at its end is kept.
pub fn after_key(text: &str) -> Result<String> {
    prefix_key(text)?;
    Ok(text.to_owned())
}

fn parse(text: &str) -> Result<Path> {
    if text.len() > MAX_KEY {
        return Err(Error::invalid(format!(
            "the key is longer than {MAX_KEY} bytes, which no store has"
        )));
    }
    let path = Path::parse(text).map_err(|e| refused("this is not a key", text).because(e))?;
    if path.as_ref() != text {
        return Err(refused("this is not a key", text));
    }
    Ok(path)
}

fn refused(why: &str, key: &str) -> Error {
    let shown: String = key.chars().take(120).collect();
    Error::invalid(why).at("key", shown.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_as_they_are_or_not_at_all() {
        for key in [
            "a",
            "a/b",
            "x=A%2FA/f.parquet",
            "a b",
            "a+b",
            "100%",
            "é/東京",
            "a?b#c",
            "..a",
            "a..",
            "...",
            "%2e%2e/x",
            "c:\\windows",
            "~",
            "_delta_log/00000000000000000000.json",
        ] {
            assert_eq!(object_key(key).unwrap().as_ref(), key);
        }
        for key in [
            "",
            "/",
            "/etc/passwd",
            "a/",
            "..",
            "../x",
            "a/../b",
            "a/..",
            "./a",
            "a/./b",
            "a//b",
            "//a",
            "a\0b",
            "a\nb",
            "\u{7f}",
            &"k".repeat(1025),
        ] {
            assert!(object_key(key).is_err(), "{key:?}");
        }
    }

    #[test]
    fn prefixes_may_end_in_a_slash() {
        assert_eq!(prefix_key("").unwrap().as_ref(), "");
        assert_eq!(prefix_key("a/").unwrap().as_ref(), "a");
        for prefix in ["/", "/a", "a//", "..", "../", "a/../b/", "a//b"] {
            assert!(prefix_key(prefix).is_err(), "{prefix:?}");
        }
    }
}
