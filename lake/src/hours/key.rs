//! Keys of a dataset: where they belong, and whether they may exist.

use percent_encoding::percent_decode_str;

use super::dataset::Dataset;
use super::day::{Day, Slot};
use crate::wire::{Finding, Severity};

/// Hive's name of null, which is not the empty string.
pub const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The partition name of a run.
pub const RUN: &str = "run_id";

/// Where a key stands in its dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The slot; `None` where the key lies in no slot of the declared partitions.
    pub slot: Option<Slot>,
    /// Bytes of the key, from the dataset's prefix on, up to and with the run's slash; `None` for a
    /// loose key.
    pub run: Option<usize>,
    /// What the object is for.
    pub role: Role,
}

/// What an object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Rows.
    Data,
    /// A name that begins with `_` or `.` somewhere: not data.
    Hidden,
    /// An empty object that stands for a folder.
    Folder,
}

/// Places a key, given below the dataset's prefix.
///
/// A partition that is written another way than the dataset's own keys, `hour=8` or `hour=%308`, is
/// the same partition: what lies in it is its data. No run is found there, for no marker's prefix can
/// be its prefix.
pub fn place(dataset: &Dataset, key: &str, bytes: u64) -> Placed {
    let mut rest = key;
    let mut taken = 0;
    let mut next = |name: &str| -> Option<String> {
        let (segment, after) = rest.split_once('/').unwrap_or((rest, ""));
        let value = partition(segment).filter(|(found, _)| found == name)?.1;
        taken += segment.len() + 1;
        rest = after;
        value
    };
    let slot = next(dataset.date_column()).and_then(|value| {
        let day: Day = value.parse().ok()?;
        match dataset.hour_column() {
            None => Some(Slot::day(day)),
            Some(column) => Some(Slot::hour(day, loose_hour(&next(column)?)?)),
        }
    });
    let own = |slot: &Slot| {
        let rest = key.strip_prefix(dataset.partition_of(*slot).as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let run = slot
        .filter(own)
        .and_then(|_| next(RUN))
        .map(|_| taken.min(key.len()));
    Placed {
        slot,
        run,
        role: match dataset.on_disk() {
            // A disk has folders of its own: an empty file is a file.
            true => role(key, bytes.max(1)),
            false => role(key, bytes),
        },
    }
}

/// The slot that a folder directly below a day's folder, or below the dataset's prefix where there are
/// no hours, stands for by its name, when that is not how the dataset writes it.
pub fn misspelt(dataset: &Dataset, day: Day, folder: &str) -> Option<Slot> {
    let date = dataset.partition_of(Slot::day(day));
    let key = match dataset.hourly() {
        true => format!("{date}/{folder}"),
        false => folder.to_owned(),
    };
    let slot = place(dataset, &key, 1).slot?;
    (dataset.partition_of(slot) != key).then_some(slot)
}

/// Data unless hidden by a name, or an empty object in the place of a folder. A bucket's listing
/// writes such a folder with a slash at its end; parsed keys have lost it, so that it is known by its
/// name: one of a partition, or one without an ending, as `run_id=1/dir` and `hour=08_$folder$`.
pub fn role(key: &str, bytes: u64) -> Role {
    let trimmed = key.trim_end_matches('/');
    let last = trimmed.rsplit('/').next().unwrap_or_default();
    let hidden = |segment: &str| segment.starts_with(['_', '.']) && !segment.contains('=');
    let hidden = trimmed.split('/').any(hidden);
    // No writer of rows leaves a file empty and its name without an ending.
    let named = last.ends_with("_$folder$")
        || last.contains('=')
        || !(hidden || last.is_empty() || last.contains('.'));
    let folder = trimmed.len() < key.len() || named;
    if bytes == 0 && folder {
        return Role::Folder;
    }
    match hidden {
        true => Role::Hidden,
        false => Role::Data,
    }
}

/// `hour=08` as 8: two digits, 00 to 23.
fn hour(value: &str) -> Option<u8> {
    let two = value.len() == 2 && value.bytes().all(|b| b.is_ascii_digit());
    let hour = two.then(|| value.parse::<u8>().ok()).flatten()?;
    (hour < 24).then_some(hour)
}

/// The same where it lost its zero.
fn loose_hour(value: &str) -> Option<u8> {
    let digits = (1..=2).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
    let hour = digits.then(|| value.parse::<u8>().ok()).flatten()?;
    (hour < 24).then_some(hour)
}

/// A segment's name and value, decoded once; the value is `None` for hive's null.
pub fn partition(segment: &str) -> Option<(String, Option<String>)> {
    let (name, value) = segment.split_once('=')?;
    let value = decode(value);
    Some((decode(name), (value != NULL).then_some(value)))
}

/// Text with its percent signs decoded, once. What is not UTF-8 then stays as it was.
fn decode(text: &str) -> String {
    match percent_decode_str(text).decode_utf8() {
        Ok(decoded) => decoded.into_owned(),
        Err(_) => text.to_owned(),
    }
}

/// Whether a key, given from the dataset's prefix on, may exist: the declared partitions in their
/// order, no banned name before any `=`, nothing that looks like an identifier.
pub fn partition_key_allowed(dataset: &Dataset, key: &str) -> bool {
    findings(dataset, key).is_empty()
}

/// Why a key should not exist. Empty for a key that may.
pub fn findings(dataset: &Dataset, key: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |severity, rule: &str, message: String| {
        found.push(Finding {
            severity,
            rule: rule.to_owned(),
            location: Some(key.to_owned()),
            message,
        });
    };
    let (folders, file) = key.rsplit_once('/').unwrap_or(("", key));
    let mut declared = dataset.partition.iter().map(String::as_str).chain([RUN]);
    for segment in folders.split('/').filter(|s| !s.is_empty()).chain([file]) {
        let text = decode(segment);
        if let Some(banned) = banned(dataset, &text) {
            say(
                Severity::Error,
                "banned_key",
                format!(
                    "`{banned}` is an identifier and may not stand in a key: it makes listings as long as the data and puts identifiers into access logs"
                ),
            );
            continue;
        }
        // What a file is called is its writer's, as long as it names no one.
        if segment == file {
            continue;
        }
        match partition(segment) {
            Some((name, value)) if dataset.partition.contains(&name) || name == RUN => {
                let in_order = declared.any(|next| next == name);
                if !in_order {
                    say(
                        Severity::Error,
                        "partition_order",
                        format!(
                            "`{name}` stands where the dataset's partitions ({}) do not have it",
                            dataset.partition.join(", ")
                        ),
                    );
                }
                let value = value.unwrap_or_default();
                let written = segment == format!("{name}={value}");
                if name != RUN && !written {
                    say(
                        Severity::Error,
                        "partition_value",
                        format!(
                            "`{segment}` is another way to write `{name}={value}`: who lists that does not find it"
                        ),
                    );
                }
                if name == dataset.date_column() && value.parse::<Day>().is_err() {
                    say(
                        Severity::Error,
                        "partition_value",
                        format!("`{segment}` is not a UTC date such as {name}=2026-11-10"),
                    );
                }
                if Some(name.as_str()) == dataset.hour_column() && hour(&value).is_none() {
                    say(
                        Severity::Error,
                        "partition_value",
                        format!("`{segment}` is not an hour from {name}=00 to {name}=23"),
                    );
                }
            }
            Some((name, _)) if name.eq_ignore_ascii_case("minute") => say(
                Severity::Warning,
                "over_partitioned",
                format!("`{name}` makes sixty prefixes of an hour, each with files of its own"),
            ),
            Some((name, _)) => say(
                Severity::Error,
                "undeclared_partition",
                format!("the dataset does not declare a partition `{name}`"),
            ),
            None if identifier(&text) => say(
                Severity::Error,
                "identifier",
                "a part of the key looks like an identifier: it does not belong in a key"
                    .to_owned(),
            ),
            None => {}
        }
    }
    if identifier_value(folders) {
        say(
            Severity::Error,
            "identifier",
            "a partition value looks like an identifier: it does not belong in a key".to_owned(),
        );
    }
    found
}

/// The banned name that stands before some `=` of a decoded segment.
fn banned<'a>(dataset: &'a Dataset, text: &str) -> Option<&'a str> {
    let names = text.rsplit_once('=')?.0.to_lowercase();
    let mut all = dataset.banned_keys.iter();
    all.find(|name| !name.is_empty() && names.contains(&name.to_lowercase()))
        .map(String::as_str)
}

/// Whether a value of some partition but the run's looks like an identifier.
fn identifier_value(folders: &str) -> bool {
    let values = folders.split('/').filter_map(partition);
    values
        .filter(|(name, _)| name != RUN)
        .any(|(_, value)| value.is_some_and(|value| identifier(&value)))
}

/// A UUID, an e-mail address or a number of nine digits or more.
fn identifier(text: &str) -> bool {
    let uuid = |text: &str| {
        let hex = text.bytes().filter(u8::is_ascii_hexdigit).count();
        let dashes = text.bytes().filter(|b| *b == b'-').count();
        hex == 32 && text.len() == hex + dashes && (dashes == 4 || dashes == 0)
    };
    let mail = || {
        let (name, host) = text.split_once('@')?;
        (!name.is_empty() && host.contains('.')).then_some(())
    };
    let number = text.len() >= 9 && text.bytes().all(|b| b.is_ascii_digit());
    uuid(text) || mail().is_some() || number
}

#[cfg(test)]
mod tests;
