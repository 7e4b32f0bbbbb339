//! What every table format becomes: versions, times, partitions and files.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Error, Result};

/// A version of a table: a Delta version or an Iceberg snapshot id.
///
/// In JSON it is a decimal string, because ids exceed what a JavaScript number holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl Version {
    /// The version after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The version before this one, if there can be one.
    pub fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // `parse` alone would take a leading plus sign.
        match text.parse::<u64>() {
            Ok(number) if text.bytes().all(|b| b.is_ascii_digit()) && number <= i64::MAX as u64 => {
                Ok(Self(number))
            }
            _ => Err(Error::invalid(format!(
                "`{text}` is not a version: those are numbers from 0 to {}",
                i64::MAX
            ))),
        }
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// An instant in milliseconds since 1970, UTC.
///
/// In JSON it is RFC 3339 with milliseconds; an instant outside the years that RFC 3339 can write
/// is its number of milliseconds as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// Reads RFC 3339 with an offset. A time without one is refused with its two readings.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            return Ok(Self(time.timestamp_millis()));
        }
        // No pattern is parsed: the code that reads patterns is a good part of a page's.
        let whole = [format!("{text}Z"), format!("{text}:00Z")];
        let utc = whole
            .iter()
            .find_map(|whole| DateTime::parse_from_rfc3339(whole).ok());
        Err(match utc {
            Some(utc) => Error::invalid(format!(
                "`{text}` has no offset: write {0}Z for UTC, or {0}+01:00 (your own offset) for local time",
                utc.to_rfc3339_opts(SecondsFormat::Secs, true)
                    .trim_end_matches('Z')
            )),
            None => Error::invalid(format!(
                "`{text}` is not a time: write RFC 3339 with an offset, such as 2026-03-08T10:00:00Z"
            )),
        })
    }
}

impl Time {
    /// `2026-11-10 08:15 UTC` where it is a whole minute, and in full where it is none.
    pub fn minute(self) -> String {
        let whole = self.0.rem_euclid(60_000) == 0;
        let time = DateTime::<Utc>::from_timestamp_millis(self.0).filter(|_| whole);
        match time.map(|time| time.format("%Y-%m-%d %H:%M UTC").to_string()) {
            Some(text) if text.len() == "2026-11-10 08:15 UTC".len() => text,
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DateTime::<Utc>::from_timestamp_millis(self.0) {
            Some(time)
                if (0..=253_402_300_799_999).contains(&self.0)
                    || self.0 >= -62_135_596_800_000 && self.0 < 0 =>
            {
                f.write_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true))
            }
            _ => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse::<i64>() {
            Ok(millis) => Ok(Self(millis)),
            Err(_) => Self::parse(&text).map_err(D::Error::custom),
        }
    }
}

/// The partition of a file: logical column names in the table's order, values as the format
/// writes them, `None` for null. Empty for a table without partitions.
pub type Partition = IndexMap<String, Option<String>>;

/// Writes a partition the way people read it: `region=US, date=null`.
pub fn partition_label(partition: &Partition) -> String {
    if partition.is_empty() {
        return "(no partition)".to_owned();
    }
    let parts = partition.iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => format!("{name}=null"),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Which version is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// The newest version there is.
    #[default]
    Latest,
    /// This version.
    Version(Version),
    /// The newest version committed at or before this instant.
    Time(Time),
}

impl std::str::FromStr for At {
    type Err = Error;

    /// Reads a version's number, or a time with an offset.
    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::invalid(
                "write a time such as 2026-03-08T10:00:00Z, or a version",
            ));
        }
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Self::Version(text.parse()?));
        }
        Ok(Self::Time(Time::parse(text)?))
    }
}

/// One data file of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Decoded key relative to the table's root, or a full URL when the file lies outside it.
    pub path: String,
    /// Size in bytes as the log states it; `None` where it does not.
    pub bytes: Option<u64>,
    /// Rows a reader gets: records less rows masked; `None` where the log does not say.
    pub rows: Option<u64>,
    /// Rows masked by a deletion vector or by delete files.
    pub deleted_rows: u64,
    /// Values as the format writes them, by logical column name.
    pub partition: Partition,
    /// When the file was written, as the log states it.
    pub modified: Option<Time>,
    /// Delete files or deletion vectors that apply, as the format names them.
    pub deletes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_strings_and_exact() {
        let version: Version = serde_json::from_str("\"9223372036854775807\"").unwrap();
        assert_eq!(version, Version(i64::MAX as u64));
        assert_eq!(
            serde_json::to_string(&version).unwrap(),
            "\"9223372036854775807\""
        );
        assert!("+3".parse::<Version>().is_err());
        assert!("9223372036854775808".parse::<Version>().is_err());
    }

    #[test]
    fn a_number_is_a_version_and_a_time_needs_its_offset() {
        let meant = |text: &str| text.parse::<At>();
        assert_eq!(meant(" 47 ").unwrap(), At::Version(Version(47)));
        assert_eq!(
            meant("2026-03-08T12:00:00+02:00").unwrap(),
            At::Time(Time(1_772_964_000_000))
        );
        let error = meant("2026-03-08 10:00").unwrap_err();
        assert!(error.message().contains("offset"), "{error}");
        assert!(meant("").is_err());
        assert!(meant("99999999999999999999").is_err());
    }

    #[test]
    fn times_need_an_offset() {
        assert_eq!(
            Time::parse("2026-03-08T10:00:00Z").unwrap(),
            Time(1_772_964_000_000)
        );
        assert_eq!(
            Time::parse("2026-03-08T12:00:00+02:00").unwrap(),
            Time(1_772_964_000_000)
        );
        let error = Time::parse("2026-03-08 10:00").unwrap_err();
        assert!(error.message().contains("2026-03-08T10:00:00Z"), "{error}");
        assert!(error.message().contains("+01:00"), "{error}");
    }

    #[test]
    fn times_outside_the_calendar_are_numbers() {
        assert_eq!(Time(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Time(i64::MAX).to_string(), i64::MAX.to_string());
        let back: Time =
            serde_json::from_str(&serde_json::to_string(&Time(i64::MAX)).unwrap()).unwrap();
        assert_eq!(back, Time(i64::MAX));
    }
}
