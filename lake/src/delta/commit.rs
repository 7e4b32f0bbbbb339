//! One commit file: its lines, strictly for a snapshot, tolerantly for a history.

use object_store::ObjectMeta;
use serde_json::Value;

use super::action::{Line, Values};
use super::stats::num_records;
use super::vector::{Descriptor, is_known};
use crate::table::Time;
use crate::{Error, Result};

/// The actions of a file of JSON with their line numbers from 1: one a line, as the protocol has
/// it. A byte-order mark, CRLF, blank lines, a missing last newline and actions printed over
/// several lines are all met in the wild.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut rest = Some(bytes);
    let mut number = 0;
    std::iter::from_fn(move || {
        let text = rest?;
        number += 1;
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        let first = text[..end].trim_ascii();
        let (line, after) = match first {
            b"{" => text.split_at(printed_object(text).unwrap_or(end)),
            _ => text.split_at(end),
        };
        let at = number;
        number += memchr::memchr_iter(b'\n', line).count() as u64;
        rest = (!after.is_empty()).then(|| after.strip_prefix(b"\n").unwrap_or(after));
        Some((at, line.trim_ascii()))
    })
    .filter(|(_, line)| !line.is_empty())
}

/// Length of an object that is printed over several lines; `None` where it does not end.
fn printed_object(text: &[u8]) -> Option<usize> {
    let mut values =
        serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// Reads one line.
pub(crate) fn parse_line(line: &[u8]) -> Result<Line<'_>> {
    // A list would be taken for the fields in their order.
    if line.first() == Some(&b'[') {
        return Err(Error::damaged("not an action: a list").at("column", 1));
    }
    serde_json::from_slice(line).map_err(|e| {
        let message = match std::str::from_utf8(line) {
            Ok(_) => format!("not an action: {e}"),
            Err(_) => "not text".to_owned(),
        };
        Error::damaged(message).at("column", e.column())
    })
}

/// Reads every line; the first damaged one is the error, with its number.
pub(crate) fn parse_all(bytes: &[u8]) -> Result<Vec<Line<'_>>> {
    lines(bytes)
        .map(|(number, line)| parse_line(line).map_err(|e| e.at("line", number)))
        .collect()
}

/// Checks a commit file as the fuzzer does: every line is an action or an error, and the figures
/// of what can be read add up without overflow.
pub fn check(bytes: &[u8]) -> Result<u64> {
    let summary = Summary::read(bytes);
    parse_all(bytes)?;
    Ok(summary.lines)
}

/// The name of a line's action, as far as the line can be read.
pub(crate) fn action_name(line: &[u8]) -> Option<String> {
    let start = memchr::memchr(b'"', line)? + 1;
    let length = memchr::memchr(b'"', line.get(start..)?)?;
    let name = std::str::from_utf8(line.get(start..start + length)?).ok()?;
    (length <= 64).then(|| name.to_owned())
}

/// A sum that becomes unknown once one of its parts is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum(pub(crate) Option<u64>);

impl Default for Sum {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl Sum {
    pub(crate) fn add(&mut self, part: Option<u64>) {
        self.0 = match (self.0, part) {
            (Some(sum), Some(part)) => sum.checked_add(part),
            _ => None,
        };
    }
}

/// Rows a reader gets of a file: records less rows masked (contracts, "diff").
pub(crate) fn rows(records: Option<i64>, vector: Option<&Descriptor>) -> Option<u64> {
    let records = u64::try_from(records?).ok()?;
    if !vector.is_none_or(|v| is_known(&v.storage_type)) {
        return None;
    }
    let masked = vector.map_or(0, |v| v.cardinality);
    records.checked_sub(u64::try_from(masked).ok()?)
}

/// What a commit did, from its own actions.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) lines: u64,
    pub(crate) actions: indexmap::IndexMap<String, u64>,
    pub(crate) commit_info: Option<Value>,
    pub(crate) files_added: u64,
    pub(crate) files_removed: u64,
    pub(crate) bytes_added: Sum,
    pub(crate) bytes_removed: Sum,
    pub(crate) rows_added: Sum,
    pub(crate) rows_removed: Sum,
    pub(crate) data_change: bool,
    pub(crate) metadata_change: bool,
    /// The first damaged line's error.
    pub(crate) damaged: Option<Error>,
}

impl Summary {
    /// Reads what can be read.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut summary = Self::default();
        for (number, text) in lines(bytes) {
            summary.lines += 1;
            match parse_line(text) {
                Ok(line) => summary.take(&line, text),
                Err(error) => {
                    summary.damaged.get_or_insert(error.at("line", number));
                }
            }
        }
        if summary.lines == 0 {
            summary.damaged = Some(Error::damaged("the commit is empty"));
        }
        summary
    }

    fn take(&mut self, line: &Line<'_>, text: &[u8]) {
        let name = action_name(text).unwrap_or_default();
        *self.actions.entry(name).or_default() += 1;
        if let Some(add) = &line.add {
            self.files_added += 1;
            self.bytes_added.add(u64::try_from(add.size).ok());
            let records = add.stats.as_deref().and_then(num_records);
            self.rows_added
                .add(rows(records, add.deletion_vector.as_ref()));
            self.data_change |= add.data_change;
        }
        if let Some(remove) = &line.remove {
            self.files_removed += 1;
            self.bytes_removed
                .add(remove.size.and_then(|s| u64::try_from(s).ok()));
            let records = remove.stats.as_deref().and_then(num_records);
            self.rows_removed
                .add(rows(records, remove.deletion_vector.as_ref()));
            self.data_change |= remove.data_change;
        }
        self.metadata_change |= line.meta_data.is_some() || line.protocol.is_some();
        if let Some(info) = line.commit_info
            && self.commit_info.is_none()
        {
            self.commit_info = serde_json::from_str(info.get()).ok();
        }
    }

    /// A text of `commitInfo`, whatever scalar it is.
    pub(crate) fn info_text(&self, key: &str) -> Option<String> {
        match self.commit_info.as_ref()?.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// A member of `commitInfo` as it stands; null where there is none.
    pub(crate) fn info_value(&self, key: &str) -> Value {
        self.commit_info
            .as_ref()
            .and_then(|info| info.get(key))
            .cloned()
            .unwrap_or_default()
    }

    /// A time of `commitInfo`, in milliseconds.
    pub(crate) fn info_time(&self, key: &str) -> Option<Time> {
        let value = self.commit_info.as_ref()?.get(key)?;
        value
            .as_i64()
            .or_else(|| value.as_str()?.parse().ok())
            .map(Time)
    }
}

/// When a commit was put, and the in-commit timestamp it carries.
pub(crate) fn commit_times(meta: &ObjectMeta, bytes: &[u8]) -> (Time, Option<Time>) {
    let put = Time(meta.last_modified.timestamp_millis());
    (put, in_commit_timestamp(bytes))
}

/// The in-commit timestamp, which stands in the first action (PROTOCOL, "In-Commit Timestamps").
fn in_commit_timestamp(bytes: &[u8]) -> Option<Time> {
    let (_, first) = lines(bytes).next()?;
    let info = parse_line(first).ok()?.commit_info?;
    let info: serde_json::Value = serde_json::from_str(info.get()).ok()?;
    info.get("inCommitTimestamp")?.as_i64().map(Time)
}

/// Partition values by physical name as pairs, `None` for null. The empty string is null
/// (PROTOCOL, "Partition Value Serialization").
pub(crate) fn value_pairs<'a>(
    values: &'a Values<'_>,
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    values
        .iter()
        .map(|(k, v)| (k.as_ref(), v.as_deref().filter(|text| !text.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_met() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\r\n{\"b\":\"x\\ny\"}";
        let seen: Vec<_> = lines(text)
            .map(|(n, l)| (n, String::from_utf8_lossy(l).into_owned()))
            .collect();
        assert_eq!(
            seen,
            [
                (1, "{\"a\":1}".to_owned()),
                (3, "{\"b\":\"x\\ny\"}".to_owned())
            ]
        );
        assert_eq!(lines(b"").count(), 0);
        let printed = b"{\n \"a\": 1\n}\n{\"b\":2}\n{\n\"c\":";
        let seen: Vec<_> = lines(printed).map(|(n, l)| (n, l.len())).collect();
        assert_eq!(seen, [(1, 11), (4, 7), (5, 1), (6, 4)]);
    }

    #[test]
    fn a_commit_is_summed_from_its_actions() {
        let text = br#"{"commitInfo":{"timestamp":"17","operation":"DELETE","operationParameters":{"auto":false,"version":10,"timestamp":null},"operationMetrics":{"filesAdded":{"avg":1.5}},"userMetadata":{"a":1}}}
{"remove":{"path":"f","dataChange":true,"size":10,"stats":"{\"numRecords\":10}"}}
{"add":{"path":"f","partitionValues":{},"size":9007199254740993,"modificationTime":1,"dataChange":false,"stats":"{\"numRecords\":10}","deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":1,"sizeInBytes":36,"cardinality":2}}}
{"unknownAction":{"x":1}}"#;
        let summary = Summary::read(text);
        assert_eq!(summary.rows_added, Sum(Some(8)));
        assert_eq!(summary.rows_removed, Sum(Some(10)));
        assert_eq!(summary.bytes_added, Sum(Some(9_007_199_254_740_993)));
        assert!(summary.data_change && !summary.metadata_change);
        assert_eq!(
            summary.info_text("userMetadata").as_deref(),
            Some("{\"a\":1}")
        );
        assert_eq!(summary.info_time("timestamp"), Some(Time(17)));
        assert_eq!(summary.actions.get("unknownAction"), Some(&1));
        assert!(summary.damaged.is_none());
    }

    #[test]
    fn a_damaged_line_leaves_the_others() {
        let text =
            b"{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1}}\n{\"add\":{\"path\":";
        let summary = Summary::read(text);
        assert_eq!(summary.files_added, 1);
        assert_eq!(summary.rows_added, Sum(None));
        let damaged = summary.damaged.unwrap();
        assert_eq!(damaged.location().as_deref(), Some("column 15, line 2"));
        assert!(parse_all(text).is_err());
        assert!(
            Summary::read(b"\xff\xfe\x00")
                .damaged
                .unwrap()
                .message()
                .contains("not text")
        );
        assert!(
            Summary::read(b"  \n")
                .damaged
                .unwrap()
                .message()
                .contains("empty")
        );
    }
}
