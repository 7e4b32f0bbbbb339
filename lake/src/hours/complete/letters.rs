//! Dead letters as a sink lands them: Parquet, or JSON, an object a line or in an array.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::lines::{digits, sane};
use super::orders::{Key, Orders, Side};
use crate::hours::dataset::Complete;
use crate::hours::listing::{Object, path};
use crate::{Error, Kind, Result};

/// Bytes of one object of JSON that are read.
const LIMIT: u64 = 256 << 20;

/// Bytes that are read first: the whole of a small file.
const HEAD: u64 = 64 << 10;

/// What a file of dead letters is.
pub(super) enum Form {
    Parquet,
    /// Its bytes.
    Json(Bytes),
    /// JSON of which only the head was read.
    LongJson,
}

/// Looks at a file; by its first bytes, since names of files are their writers' own.
pub(super) async fn form(store: &Arc<dyn ObjectStore>, object: &Object) -> Result<Form> {
    if object.bytes == 0 {
        return Ok(Form::Json(Bytes::new()));
    }
    let path = path(&object.key)?;
    let options = GetOptions {
        range: Some(GetRange::Bounded(0..HEAD.min(object.bytes))),
        ..GetOptions::default()
    };
    let head = store.get_opts(&path, options).await?;
    let (size, head) = (head.meta.size, head.bytes().await?);
    match head.as_ref() {
        [b'P', b'A', b'R', b'1', ..] => return Ok(Form::Parquet),
        [0x1f, 0x8b, ..] => {
            return Err(Error::unsupported(
                "it is compressed JSON, which is not read",
            ));
        }
        _ => {}
    }
    if size > LIMIT {
        let message = format!("{size} bytes of JSON in one object");
        return Err(Error::new(Kind::TooLarge, message));
    }
    match head.len() as u64 == size {
        true => Ok(Form::Json(head)),
        false => Ok(Form::LongJson),
    }
}

/// The bytes of a file of JSON.
pub(super) async fn whole(store: &Arc<dyn ObjectStore>, object: &Object) -> Result<Bytes> {
    let answer = store.get(&path(&object.key)?).await?;
    Ok(answer.bytes().await?)
}

/// Where a dead letter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Line(u64),
    Record(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record(record) => write!(f, "record {record}"),
        }
    }
}

/// Takes the dead letters of a file of JSON in; `bad` is told where each stands that has no key or
/// no sequence.
pub(super) fn read(
    bytes: &[u8],
    rule: &Complete,
    orders: &mut Orders,
    mut bad: impl FnMut(Place),
) -> Result<()> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut take = |letter: Option<&Value>, place: Place| -> Result<()> {
        match letter.and_then(|letter| identity(letter, rule)) {
            Some((Id::Number(key), sequence)) => {
                orders.take(Key::Number(key), sequence, Side::Dead)
            }
            Some((Id::Text(key), sequence)) => {
                orders.take(Key::of(key.as_bytes()), sequence, Side::Dead)
            }
            None => {
                bad(place);
                Ok(())
            }
        }
    };
    if first(bytes) == Some(b'[') {
        let mut at = 0;
        let mut each = Each(|letter: Value| {
            at += 1;
            take(Some(&letter), Place::Record(at))
        });
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let read = json.deserialize_seq(&mut each).and_then(|told| {
            json.end()?;
            Ok(told)
        });
        return read.unwrap_or_else(|e| {
            let message = format!("its JSON breaks off at line {}", e.line());
            Err(Error::damaged(message))
        });
    }
    for (at, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if first(line).is_some() {
            let letter = serde_json::from_slice::<Value>(line).ok();
            take(letter.as_ref(), Place::Line(at))?;
        }
    }
    Ok(())
}

/// Hands over the values of an array one by one: as a whole they are many times its bytes.
struct Each<F>(F);

impl<'de, F: FnMut(Value) -> Result<()>> Visitor<'de> for &mut Each<F> {
    type Value = Result<()>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Result<()>, A::Error> {
        while let Some(value) = all.next_element()? {
            if let Err(error) = (self.0)(value) {
                // The rest is read, and only read: the array must end as one.
                while all.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}

/// The first byte that is no space.
fn first(bytes: &[u8]) -> Option<u8> {
    bytes
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace())
}

enum Id<'a> {
    Number(i64),
    Text(Cow<'a, str>),
}

/// Key and sequence of a dead letter.
fn identity<'a>(letter: &'a Value, rule: &Complete) -> Option<(Id<'a>, u64)> {
    let letter = letter.as_object()?;
    // A converter with schemas puts the record beside its schema.
    let inner = || letter.get("payload")?.as_object();
    let of = |record: &'a Map<String, Value>| {
        Some((record.get(&rule.key)?, record.get(&rule.sequence)?))
    };
    let (key, sequence) = of(letter).or_else(|| of(inner()?))?;
    let key = match key {
        Value::String(text) => Id::Text(Cow::Borrowed(text)),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Id::Number(number),
            None => Id::Text(Cow::Owned(number.as_u64()?.to_string())),
        },
        _ => return None,
    };
    let sequence = match sequence {
        Value::Number(number) => number.as_u64().and_then(sane)?,
        Value::String(text) => digits(text)?,
        _ => return None,
    };
    Some((key, sequence))
}
