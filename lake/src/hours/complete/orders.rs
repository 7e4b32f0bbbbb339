//! Orders and which of their lines were seen, in a few bytes an order.

use std::collections::BinaryHeap;
use std::hash::BuildHasher;
use std::num::NonZeroU32;

use hashbrown::{DefaultHashBuilder, HashTable};
use roaring::RoaringTreemap;
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use crate::hours::judge::Completeness;
use crate::{Error, Kind, Result};

/// Orders named as examples.
const EXAMPLES: usize = 100;

/// Lines that a word of bits holds; from 1 on.
const WORD: u64 = u64::BITS as u64;

/// Where a line was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Landed,
    Dead,
}

/// An order's key. A number and the text that writes it are one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    Number(i64),
    /// A UUID, by its bytes or as it is written in lower case with hyphens: its two halves.
    Uuid(u64, u64),
    Bytes(&'a [u8]),
}

impl<'a> Key<'a> {
    /// The key that these bytes are.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let as_number = || number(bytes).map(Self::Number);
        uuid(bytes).or_else(as_number).unwrap_or(Self::Bytes(bytes))
    }

    /// The key that these 16 bytes are.
    pub(super) fn of_uuid(bytes: &[u8]) -> Option<Self> {
        let (high, low) = Uuid::from_slice(bytes).ok()?.as_u64_pair();
        Some(Self::Uuid(high, low))
    }

    fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Uuid(high, low) => Uuid::from_u64_pair(high, low).to_string(),
            Self::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                Err(_) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            },
        }
    }
}

/// The number that is written as exactly these bytes.
fn number(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    digits.iter().try_fold(0i64, |sum, byte| {
        let digit = i64::from(byte.checked_sub(b'0').filter(|digit| *digit < 10)?);
        let sum = sum.checked_mul(10)?;
        match negative {
            true => sum.checked_sub(digit),
            false => sum.checked_add(digit),
        }
    })
}

/// The UUID that is written as exactly these bytes: kept in two words, most keys need no look
/// beside the order.
fn uuid(bytes: &[u8]) -> Option<Key<'static>> {
    if bytes.len() != Hyphenated::LENGTH || bytes.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let (high, low) = Uuid::try_parse_ascii(bytes).ok()?.as_u64_pair();
    Some(Key::Uuid(high, low))
}

/// A key that is kept.
#[derive(Clone, Copy)]
enum Kept {
    Number(i64),
    Uuid(u64, u64),
    /// Bytes of the arena.
    Bytes(usize, usize),
}

/// An order, with its first lines: a bit each.
struct Order {
    key: Kept,
    landed: u64,
    dead: u64,
    /// Where its further lines are.
    more: Option<NonZeroU32>,
}

/// Lines of an order beyond the first.
#[derive(Default)]
struct More {
    landed: RoaringTreemap,
    dead: RoaringTreemap,
}

/// Every order that was seen. A line mostly belongs to an order that is far away in memory: all that
/// a line needs is in one place, and the table, which moves as it grows, holds no more than numbers.
#[derive(Default)]
pub(super) struct Orders {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    all: Vec<Order>,
    arena: Vec<u8>,
    more: Vec<More>,
}

impl Orders {
    /// Takes a line in; `sequence` is from 1 on.
    pub(super) fn take(&mut self, key: Key<'_>, sequence: u64, side: Side) -> Result<()> {
        let (order, more) = self.order(key)?;
        if sequence <= WORD {
            let bit = 1u64 << (sequence - 1);
            match side {
                Side::Landed => order.landed |= bit,
                Side::Dead => order.dead |= bit,
            }
            return Ok(());
        }
        let more = more_of(order, more)?;
        match side {
            Side::Landed => more.landed.insert(sequence),
            Side::Dead => more.dead.insert(sequence),
        };
        Ok(())
    }

    /// How many orders there are.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Takes in all that was seen elsewhere.
    pub(super) fn absorb(&mut self, other: &Self) -> Result<()> {
        for theirs in &other.all {
            let (own, more) = self.order(theirs.key.key(&other.arena))?;
            own.landed |= theirs.landed;
            own.dead |= theirs.dead;
            if let Some(theirs) = theirs.more(&other.more) {
                let more = more_of(own, more)?;
                more.landed |= &theirs.landed;
                more.dead |= &theirs.dead;
            }
        }
        Ok(())
    }

    /// The order with this key, and the further lines of all.
    fn order(&mut self, wanted: Key<'_>) -> Result<(&mut Order, &mut Vec<More>)> {
        let Self {
            hasher,
            table,
            all,
            arena,
            more,
        } = self;
        let hash = |key: Key<'_>| hasher.hash_one(key);
        let hashed = hash(wanted);
        let known = table.find(hashed, |at| key_of(all, arena, *at) == Some(wanted));
        let at = match known {
            Some(at) => *at as usize,
            None => {
                let new = u32::try_from(all.len()).map_err(|_| too_many("orders"))?;
                table.insert_unique(hashed, new, |at| key_of(all, arena, *at).map_or(0, hash));
                let key = Kept::keep(wanted, arena);
                all.push(Order {
                    key,
                    landed: 0,
                    dead: 0,
                    more: None,
                });
                all.len() - 1
            }
        };
        let order = all.get_mut(at).ok_or_else(|| too_many("orders"))?;
        Ok((order, more))
    }

    /// What was found.
    pub(super) fn completeness(&self) -> Completeness {
        let mut found = Completeness {
            orders: self.all.len() as u64,
            ..Completeness::default()
        };
        // The least keys, so that the same lines always give the same examples.
        let mut examples: BinaryHeap<String> = BinaryHeap::new();
        for order in &self.all {
            let sums = sums(order, order.more(&self.more));
            found.landed = found.landed.saturating_add(sums.landed);
            found.dead_lettered = found.dead_lettered.saturating_add(sums.dead);
            let lacking = sums.last - sums.landed - sums.dead;
            found.missing = found.missing.saturating_add(lacking);
            if lacking > 0 {
                let key = order.key.key(&self.arena).text();
                if examples.len() < EXAMPLES || examples.peek().is_some_and(|most| key < *most) {
                    examples.push(key);
                }
                if examples.len() > EXAMPLES {
                    examples.pop();
                }
            }
        }
        found.examples = examples.into_sorted_vec();
        found
    }
}

impl Kept {
    fn keep(key: Key<'_>, arena: &mut Vec<u8>) -> Self {
        match key {
            Key::Number(number) => Self::Number(number),
            Key::Uuid(high, low) => Self::Uuid(high, low),
            Key::Bytes(bytes) => {
                let start = arena.len();
                arena.extend_from_slice(bytes);
                Self::Bytes(start, bytes.len())
            }
        }
    }

    /// The key, with the arena that it was kept in.
    fn key(self, arena: &[u8]) -> Key<'_> {
        match self {
            Self::Number(number) => Key::Number(number),
            Self::Uuid(high, low) => Key::Uuid(high, low),
            Self::Bytes(start, length) => {
                Key::Bytes(arena.get(start..start + length).unwrap_or_default())
            }
        }
    }
}

impl Order {
    fn more<'a>(&self, all: &'a [More]) -> Option<&'a More> {
        all.get(self.more?.get() as usize - 1)
    }
}

/// Where an order's further lines go.
fn more_of<'a>(order: &mut Order, all: &'a mut Vec<More>) -> Result<&'a mut More> {
    if order.more.is_none() {
        all.push(More::default());
        order.more = u32::try_from(all.len()).ok().and_then(NonZeroU32::new);
    }
    let at = order.more.map_or(usize::MAX, |at| at.get() as usize - 1);
    all.get_mut(at).ok_or_else(|| too_many("long orders"))
}

fn key_of<'a>(all: &[Order], arena: &'a [u8], at: u32) -> Option<Key<'a>> {
    Some(all.get(at as usize)?.key.key(arena))
}

fn too_many(what: &str) -> Error {
    let message = format!("more {what} than can be counted at once");
    Error::new(Kind::TooLarge, message)
}

/// Of one order: lines that landed, lines that are dead letters alone, and its last line.
struct Sums {
    landed: u64,
    dead: u64,
    last: u64,
}

fn sums(order: &Order, more: Option<&More>) -> Sums {
    let seen = order.landed | order.dead;
    let mut sums = Sums {
        landed: order.landed.count_ones().into(),
        dead: (order.dead & !order.landed).count_ones().into(),
        last: (u64::BITS - seen.leading_zeros()).into(),
    };
    if let Some(more) = more {
        sums.landed += more.landed.len();
        sums.dead += more.dead.len() - more.dead.intersection_len(&more.landed);
        sums.last = more.landed.max().max(more.dead.max()).unwrap_or(sums.last);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_text_are_one_key() {
        for (text, right) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("-7", Some(-7)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-0", None),
            ("00", None),
            ("07", None),
            ("+7", None),
            ("7 ", None),
            ("", None),
            ("-", None),
            ("1e3", None),
        ] {
            assert_eq!(number(text.as_bytes()), right, "{text}");
        }
    }

    #[test]
    fn a_uuid_is_what_is_written_so() {
        let one = "0038d1bc-bbb7-6870-7f3c-1c2a9c6c35d1";
        assert!(matches!(Key::of(one.as_bytes()), Key::Uuid(..)));
        assert_eq!(Key::of(one.as_bytes()).text(), one);
        for other in [
            &one.to_uppercase(),
            &one.replace('-', ""),
            &one.replacen("d1bc-", "d1b-c", 1),
            &one.replace('7', "g"),
            &format!("{{{one}}}"),
        ] {
            assert_eq!(Key::of(other.as_bytes()), Key::Bytes(other.as_bytes()));
        }
    }

    #[test]
    fn what_was_seen_apart_is_one() {
        let uuid = Key::of(b"0038d1bc-bbb7-6870-7f3c-1c2a9c6c35d1");
        let (mut one, mut other) = (Orders::default(), Orders::default());
        one.take(Key::of(b"a"), 2, Side::Landed).unwrap();
        one.take(uuid, 70, Side::Landed).unwrap();
        other.take(uuid, 71, Side::Dead).unwrap();
        other.take(uuid, 1, Side::Landed).unwrap();
        other.take(Key::of(b"a"), 1, Side::Dead).unwrap();
        other.take(Key::of(b"b"), 1, Side::Landed).unwrap();
        one.absorb(&other).unwrap();
        let found = one.completeness();
        assert_eq!((found.orders, found.landed), (3, 4));
        assert_eq!((found.dead_lettered, found.missing), (2, 68));
        assert_eq!(found.examples, ["0038d1bc-bbb7-6870-7f3c-1c2a9c6c35d1"]);
    }

    #[test]
    fn lines_far_out_are_counted_exactly() {
        let mut orders = Orders::default();
        let order = Key::of(b"a");
        orders.take(order, 64, Side::Landed).unwrap();
        orders.take(order, 65, Side::Dead).unwrap();
        orders.take(order, 65, Side::Dead).unwrap();
        orders.take(order, i64::MAX as u64, Side::Landed).unwrap();
        let found = orders.completeness();
        assert_eq!((found.orders, found.landed, found.dead_lettered), (1, 2, 1));
        assert_eq!(found.missing, i64::MAX as u64 - 3);
        assert_eq!(found.examples, ["a"]);
    }

    #[test]
    fn examples_are_the_least_hundred() {
        let mut orders = Orders::default();
        for n in (1000..2000).rev() {
            orders.take(Key::Number(n), 2, Side::Landed).unwrap();
        }
        let found = orders.completeness();
        assert_eq!((found.orders, found.missing), (1000, 1000));
        assert_eq!(found.examples.len(), 100);
        assert_eq!(found.examples.first().map(String::as_str), Some("1000"));
        assert_eq!(found.examples.last().map(String::as_str), Some("1099"));
    }
}
