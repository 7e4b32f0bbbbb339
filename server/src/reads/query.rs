//! The parameters of a request, decoded once and strictly.
//!
//! What `axum` offers replaces bytes that are not UTF-8 and keeps the last of two equal names; a
//! key must not be changed on its way.

use std::borrow::Cow;

use lake::{Error, Result};

/// Decoded parameters.
#[derive(Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Reads a query string. Only the names in `known` may occur, each once.
    pub fn parse(query: Option<&str>, known: &[&str]) -> Result<Self> {
        let mut params: Vec<(String, String)> = Vec::new();
        for pair in query.unwrap_or_default().split('&') {
            if pair.is_empty() {
                continue;
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            if !known.contains(&name.as_str()) {
                return Err(Error::invalid(format!(
                    "unknown parameter `{}`: known are {}",
                    name.escape_debug(),
                    known.join(", ")
                )));
            }
            if params.iter().any(|(other, _)| *other == name) {
                return Err(Error::invalid(format!("parameter `{name}` is given twice")));
            }
            params.push((name, value));
        }
        Ok(Self(params))
    }

    /// A parameter's value; `None` where it is absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A parameter that must be there.
    pub fn need(&self, name: &str) -> Result<&str> {
        self.get(name)
            .ok_or_else(|| Error::invalid(format!("parameter `{name}` is missing")))
    }

    /// A number; absent or empty is `None`.
    pub fn number(&self, name: &str) -> Result<Option<u64>> {
        match self.get(name) {
            None | Some("") => Ok(None),
            Some(text) => match text.parse() {
                Ok(number) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(Some(number)),
                _ => Err(Error::invalid(format!(
                    "parameter `{name}` is not a number: `{}`",
                    text.escape_debug()
                ))),
            },
        }
    }

    /// Yes or no; absent is no, and a bare name is yes.
    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.get(name) {
            None | Some("false" | "0") => Ok(false),
            Some("" | "true" | "1") => Ok(true),
            Some(other) => Err(Error::invalid(format!(
                "parameter `{name}` is `true` or `false`, not `{}`",
                other.escape_debug()
            ))),
        }
    }
}

/// Decodes one name or value: `+` is a space, `%XX` a byte, and the bytes are UTF-8.
pub fn decode(text: &str) -> Result<String> {
    let spaced: Cow<'_, str> = match text.contains('+') {
        true => text.replace('+', " ").into(),
        false => text.into(),
    };
    let mut rest = spaced.as_bytes();
    while let Some(at) = rest.iter().position(|b| *b == b'%') {
        let digits = rest.get(at + 1..at + 3);
        if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
            return Err(Error::invalid(
                "a `%` in the query is not followed by two hexadecimal digits",
            ));
        }
        rest = rest.get(at + 3..).unwrap_or_default();
    }
    let decoded = percent_encoding::percent_decode_str(&spaced).decode_utf8();
    let text = decoded.map_err(|e| Error::invalid("the query is not UTF-8").because(e))?;
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_once() {
        for (raw, decoded) in [
            ("a%2Fb", "a/b"),
            ("a%252Fb", "a%2Fb"),
            ("a+b", "a b"),
            ("a%2Bb", "a+b"),
            ("%E6%9D%B1", "東"),
        ] {
            assert_eq!(decode(raw).unwrap(), decoded);
        }
        for raw in ["%C3", "%ff", "%", "%2", "%zz", "a%C3%28"] {
            assert!(decode(raw).is_err(), "{raw}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(Params::parse(Some("key=a&key=b"), &["key"]).is_err());
        assert!(Params::parse(Some("key=a&versionId=b"), &["key"]).is_err());
        let params = Params::parse(Some("key=a=b&&files"), &["key", "files"]).unwrap();
        assert_eq!(params.get("key"), Some("a=b"));
        assert!(params.flag("files").unwrap());
    }
}
