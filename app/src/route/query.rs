//! The parameters of an address, in order, each key once.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Left as they are in a value; a space becomes `%20`, never a plus.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b',')
    .remove(b':')
    .remove(b'/');

/// Parameters of an address. The first of two with the same key counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `a=1&b=2`, with or without a question mark in front. What is not UTF-8 is replaced.
    pub fn parse(search: &str) -> Self {
        let mut query = Self::default();
        let text = search.strip_prefix('?').unwrap_or(search);
        for pair in text.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let key = decode(key);
            if query.get(&key).is_none() {
                query.0.push((key, decode(value)));
            }
        }
        query
    }

    /// A parameter's value.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(k, _)| k == key);
        found.map(|(_, value)| value.as_str())
    }

    /// A parameter's value read as `T`; `None` where it is absent or not one.
    pub fn read<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.get(key)?.parse().ok()
    }

    /// The same with one parameter set, or without it. A default is left out by the caller, so
    /// that the plain address is the plain page.
    #[must_use]
    pub fn with(mut self, key: &str, value: Option<impl fmt::Display>) -> Self {
        let value = value.map(|v| v.to_string());
        let place = self.0.iter().position(|(k, _)| k == key);
        match (place, value) {
            (Some(i), Some(value)) => {
                if let Some(slot) = self.0.get_mut(i) {
                    slot.1 = value;
                }
            }
            (Some(i), None) => drop(self.0.remove(i)),
            (None, Some(value)) => self.0.push((key.to_owned(), value)),
            (None, None) => {}
        }
        self
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.0.iter().enumerate() {
            let lead = if i == 0 { '?' } else { '&' };
            write!(f, "{lead}{}", utf8_percent_encode(key, VALUE))?;
            if !value.is_empty() {
                write!(f, "={}", utf8_percent_encode(value, VALUE))?;
            }
        }
        Ok(())
    }
}

fn decode(text: &str) -> String {
    // Forms write a space as a plus; nothing here does, but people type such addresses.
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}
