//! Values that the configuration writes as text: durations, sizes and URLs.

use std::fmt;
use std::time::Duration;

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer};
use url::Url;

/// Nobody promises more.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 86_400);

/// A duration: `7d`, `168h`, `30m`, `90s`, or the table property's `interval 1 week`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// As it was written.
    pub text: String,
    /// How long it is.
    pub duration: Duration,
}

impl Span {
    /// Reads a duration.
    pub fn parse(text: &str) -> Option<Self> {
        let short = text.trim().to_ascii_lowercase();
        let words = short.strip_prefix("interval ").unwrap_or(&short).trim();
        let split = words.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = words.split_at_checked(split)?;
        let seconds = match unit.trim().trim_end_matches('s') {
            // `s` alone is trimmed away.
            "" | "sec" | "second" if !unit.is_empty() => 1,
            "m" | "min" | "minute" => 60,
            "h" | "hour" => 3600,
            "d" | "day" => 86_400,
            "w" | "week" => 604_800,
            _ => return None,
        };
        let seconds = number.parse::<u64>().ok()?.checked_mul(seconds)?;
        Some(Self {
            text: text.trim().to_owned(),
            duration: Duration::from_secs(seconds),
        })
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(span) = Self::parse(&text) else {
            return Err(D::Error::custom(format!(
                "`{text}` is not a duration: write `7d`, `168h`, `30m` or `90s`"
            )));
        };
        match span.duration > LONGEST {
            true => Err(D::Error::custom(format!(
                "`{text}` is longer than 100 years"
            ))),
            false => Ok(span),
        }
    }
}

/// A size in bytes: `64MiB`, `1GiB`, `500KB`, or a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Size {
    /// Reads a size.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let split = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(split)?;
        let bytes: u64 = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "kib" => 1 << 10,
            "mib" => 1 << 20,
            "gib" => 1 << 30,
            "tib" => 1 << 40,
            "kb" => 1000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(bytes).map(Self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl Visitor<'_> for SizeVisitor {
            type Value = Size;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as `64MiB`, or a number of bytes")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Size, E> {
                Size::parse(text).ok_or_else(|| {
                    E::custom(format!(
                        "`{text}` is not a size: write `64MiB`, `1GiB` or a number of bytes"
                    ))
                })
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Size, E> {
                let bytes = u64::try_from(number);
                bytes
                    .map(Size)
                    .map_err(|_| E::custom(format!("`{number}` is not a size: it is below zero")))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Size, E> {
                Ok(Size(number))
            }
        }
        deserializer.deserialize_any(SizeVisitor)
    }
}

/// A URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link(pub(super) Url);

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let url = Url::parse(&text);
        url.map(Self)
            .map_err(|e| D::Error::custom(format!("`{text}` is not a URL: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let seconds = |text| Span::parse(text).map(|span| span.duration.as_secs());
        assert_eq!(seconds("7d"), Some(604_800));
        assert_eq!(seconds("168h"), Some(604_800));
        assert_eq!(seconds("30m"), Some(1800));
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("interval 1 week"), Some(604_800));
        assert_eq!(seconds("interval 2 days"), Some(172_800));
        for text in [
            "",
            "7",
            "d",
            "-1d",
            "1.5h",
            "7 parsecs",
            "99999999999999999999d",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(Size::parse("64MiB"), Some(Size(64 << 20)));
        assert_eq!(Size::parse("1 GiB"), Some(Size(1 << 30)));
        assert_eq!(Size::parse("500KB"), Some(Size(500_000)));
        assert_eq!(Size::parse("12"), Some(Size(12)));
        for text in ["", "MiB", "-1", "1.5GiB", "99999999999TiB", "1 XB"] {
            assert_eq!(Size::parse(text), None, "{text}");
        }
    }
}
