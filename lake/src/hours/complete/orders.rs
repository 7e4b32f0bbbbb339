//! Orders and which of their lines were seen, in a few bytes an order.

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use roaring::RoaringTreemap;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

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
    Bytes(&'a [u8]),
}

impl<'a> Key<'a> {
    /// The key that these bytes are.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        match number(bytes) {
            Some(number) => Self::Number(number),
            None => Self::Bytes(bytes),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
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

/// A key that is kept.
#[derive(Clone, Copy)]
enum Kept {
    Number(i64),
    /// Bytes of the arena.
    Bytes(usize, usize),
}

/// The first lines of an order: a bit each.
#[derive(Clone, Copy, Default)]
struct Lines {
    landed: u64,
    dead: u64,
}

/// Lines of an order beyond the first.
#[derive(Default)]
struct More {
    landed: RoaringTreemap,
    dead: RoaringTreemap,
}

/// Every order that was seen.
#[derive(Default)]
pub(super) struct Orders {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    keys: Vec<Kept>,
    arena: Vec<u8>,
    lines: Vec<Lines>,
    more: HashMap<u32, More>,
    last: Option<u32>,
}

impl Orders {
    /// Takes a line in; `sequence` is from 1 on.
    pub(super) fn take(&mut self, key: Key<'_>, sequence: u64, side: Side) -> Result<()> {
        // Lines of an order mostly stand together.
        let order = match self.last.filter(|last| self.is(*last, key)) {
            Some(last) => last,
            None => self.order(key)?,
        };
        self.last = Some(order);
        if sequence <= WORD {
            let bit = 1u64 << (sequence - 1);
            if let Some(lines) = self.lines.get_mut(order as usize) {
                match side {
                    Side::Landed => lines.landed |= bit,
                    Side::Dead => lines.dead |= bit,
                }
            }
        } else {
            let more = self.more.entry(order).or_default();
            match side {
                Side::Landed => more.landed.insert(sequence),
                Side::Dead => more.dead.insert(sequence),
            };
        }
        Ok(())
    }

    fn is(&self, order: u32, key: Key<'_>) -> bool {
        self.key(order) == Some(key)
    }

    fn key(&self, order: u32) -> Option<Key<'_>> {
        key(&self.keys, &self.arena, order)
    }

    /// The order with this key.
    fn order(&mut self, wanted: Key<'_>) -> Result<u32> {
        let Self {
            hasher,
            table,
            keys,
            arena,
            ..
        } = self;
        let hash = |key: Key<'_>| hasher.hash_one(key);
        let hashed = hash(wanted);
        let known = table.find(hashed, |order| key(keys, arena, *order) == Some(wanted));
        if let Some(known) = known {
            return Ok(*known);
        }
        let new = u32::try_from(keys.len())
            .map_err(|_| Error::new(Kind::TooLarge, "more orders than can be counted at once"))?;
        table.insert_unique(hashed, new, |order| {
            key(keys, arena, *order).map_or(0, hash)
        });
        keys.push(match wanted {
            Key::Number(number) => Kept::Number(number),
            Key::Bytes(bytes) => {
                let start = arena.len();
                arena.extend_from_slice(bytes);
                Kept::Bytes(start, bytes.len())
            }
        });
        self.lines.push(Lines::default());
        Ok(new)
    }

    /// What was found.
    pub(super) fn completeness(&self) -> Completeness {
        let mut found = Completeness {
            orders: self.lines.len() as u64,
            ..Completeness::default()
        };
        // The least keys, so that the same lines always give the same examples.
        let mut examples: BinaryHeap<String> = BinaryHeap::new();
        for (order, lines) in (0u32..).zip(&self.lines) {
            let sums = sums(*lines, self.more.get(&order));
            found.landed = found.landed.saturating_add(sums.landed);
            found.dead_lettered = found.dead_lettered.saturating_add(sums.dead);
            let lacking = sums.last - sums.landed - sums.dead;
            found.missing = found.missing.saturating_add(lacking);
            if lacking > 0 {
                let key = self.key(order).map(Key::text).unwrap_or_default();
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

fn key<'a>(keys: &[Kept], arena: &'a [u8], order: u32) -> Option<Key<'a>> {
    match *keys.get(order as usize)? {
        Kept::Number(number) => Some(Key::Number(number)),
        Kept::Bytes(start, length) => Some(Key::Bytes(arena.get(start..start + length)?)),
    }
}

/// Of one order: lines that landed, lines that are dead letters alone, and its last line.
struct Sums {
    landed: u64,
    dead: u64,
    last: u64,
}

fn sums(lines: Lines, more: Option<&More>) -> Sums {
    let seen = lines.landed | lines.dead;
    let mut sums = Sums {
        landed: lines.landed.count_ones().into(),
        dead: (lines.dead & !lines.landed).count_ones().into(),
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
