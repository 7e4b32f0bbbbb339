//! Thrift's compact protocol, as much of it as Parquet's headers and indexes use.
//!
//! The parquet crate keeps its decoder of these to itself, and what it is given must be checked
//! before it allocates by it.

use crate::{Error, Result};

/// Why a value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end inside it: more of them may help.
    Short,
    /// The bytes are no such value.
    Bad,
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Short => Self::damaged("a Thrift structure is cut short"),
            Fault::Bad => Self::damaged("not a Thrift structure"),
        }
    }
}

/// Types of fields and of elements on the wire.
pub(crate) mod wire {
    pub(crate) const TRUE: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const BYTE: u8 = 3;
    pub(crate) const I16: u8 = 4;
    pub(crate) const I32: u8 = 5;
    pub(crate) const I64: u8 = 6;
    pub(crate) const DOUBLE: u8 = 7;
    pub(crate) const BINARY: u8 = 8;
    pub(crate) const LIST: u8 = 9;
    pub(crate) const SET: u8 = 10;
    pub(crate) const MAP: u8 = 11;
    pub(crate) const STRUCT: u8 = 12;
    pub(crate) const UUID: u8 = 13;
}

/// Structures nested deeper than this are none of Parquet's.
const DEPTH: u8 = 32;

/// A place in bytes that moves on as values are read.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(length).ok_or(Fault::Bad)?;
        let taken = self.bytes.get(self.at..end).ok_or(Fault::Short)?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.bytes.get(self.at).ok_or(Fault::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Fault::Bad)
    }

    /// A number of any width.
    pub(crate) fn int(&mut self) -> Result<i64, Fault> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A number that must fit `i32`.
    pub(crate) fn int32(&mut self) -> Result<i32, Fault> {
        i32::try_from(self.int()?).map_err(|_| Fault::Bad)
    }

    /// Bytes with their length before them.
    pub(crate) fn binary(&mut self) -> Result<&'a [u8], Fault> {
        let length = usize::try_from(self.varint()?).map_err(|_| Fault::Bad)?;
        self.take(length)
    }

    /// The head of a list: the type of its elements and how many there are. Never more than there
    /// are bytes left.
    pub(crate) fn list(&mut self) -> Result<(u8, usize), Fault> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).map_err(|_| Fault::Bad)?,
            count => usize::from(count),
        };
        if count > self.left() {
            return Err(Fault::Short);
        }
        Ok((head & 0x0f, count))
    }

    /// A boolean as the element of a list.
    pub(crate) fn flag(&mut self) -> Result<bool, Fault> {
        Ok(self.byte()? == wire::TRUE)
    }

    /// The next field's id and type; `None` at the end of the structure. `last` is the id before.
    pub(crate) fn field(&mut self, last: &mut i16) -> Result<Option<(i16, u8)>, Fault> {
        let head = self.byte()?;
        let kind = head & 0x0f;
        if kind == 0 {
            return Ok(None);
        }
        let id = match head >> 4 {
            0 => i16::try_from(self.int()?).map_err(|_| Fault::Bad)?,
            delta => last.checked_add(i16::from(delta)).ok_or(Fault::Bad)?,
        };
        *last = id;
        Ok(Some((id, kind)))
    }

    /// Passes over the value of a field of the type `kind`. A list, set or map of booleans is
    /// [`Fault::Bad`]: none of Parquet's structures has one where it is passed over, and the parquet
    /// crate, which reads the same bytes after us, gives its elements no bytes at all and so follows
    /// whatever length they claim.
    pub(crate) fn skip(&mut self, kind: u8) -> Result<(), Fault> {
        self.pass(kind, DEPTH, &mut 0)
    }

    /// As [`Cursor::skip`], counting the structures passed into `structs`.
    pub(crate) fn skip_counting(&mut self, kind: u8, structs: &mut u64) -> Result<(), Fault> {
        self.pass(kind, DEPTH, structs)
    }

    fn pass(&mut self, kind: u8, depth: u8, structs: &mut u64) -> Result<(), Fault> {
        let depth = depth.checked_sub(1).ok_or(Fault::Bad)?;
        match kind {
            wire::TRUE | wire::FALSE => {}
            wire::BYTE => drop(self.byte()?),
            wire::I16 | wire::I32 | wire::I64 => drop(self.varint()?),
            wire::DOUBLE => drop(self.take(8)?),
            wire::UUID => drop(self.take(16)?),
            wire::BINARY => drop(self.binary()?),
            wire::LIST | wire::SET => {
                let (element, count) = self.list()?;
                for _ in 0..count {
                    self.pass_element(element, depth, structs)?;
                }
            }
            wire::MAP => {
                let count = usize::try_from(self.varint()?).map_err(|_| Fault::Bad)?;
                if count > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..count {
                        self.pass_element(kinds >> 4, depth, structs)?;
                        self.pass_element(kinds & 0x0f, depth, structs)?;
                    }
                }
            }
            wire::STRUCT => {
                *structs += 1;
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.pass(kind, depth, structs)?;
                }
            }
            _ => return Err(Fault::Bad),
        }
        Ok(())
    }

    fn pass_element(&mut self, kind: u8, depth: u8, structs: &mut u64) -> Result<(), Fault> {
        match kind {
            wire::TRUE | wire::FALSE => Err(Fault::Bad),
            _ => self.pass(kind, depth, structs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width() {
        for (bytes, value) in [
            (&[0u8][..], 0),
            (&[1], -1),
            (&[0xfe, 0xff, 0xff, 0xff, 0x0f], i64::from(i32::MAX)),
            (&[0xff; 10], -1),
        ] {
            let read = Cursor::new(bytes).int();
            match bytes.len() {
                10 => assert_eq!(read, Err(Fault::Bad), "too long"),
                _ => assert_eq!(read, Ok(value)),
            }
        }
        assert_eq!(Cursor::new(&[0x80]).int(), Err(Fault::Short));
    }

    #[test]
    fn a_list_is_never_longer_than_its_bytes() {
        let mut cursor = Cursor::new(&[0xf5, 0xff, 0xff, 0xff, 0xff, 0x07]);
        assert_eq!(cursor.list(), Err(Fault::Short));
    }

    #[test]
    fn nesting_ends() {
        let lists = vec![0x19; 10_000];
        assert_eq!(Cursor::new(&lists).skip(wire::LIST), Err(Fault::Bad));
        let structs = vec![0x1c; 10_000];
        assert_eq!(Cursor::new(&structs).skip(wire::STRUCT), Err(Fault::Bad));
    }

    #[test]
    fn fields_count_from_the_one_before() {
        // 1: i32 = 5, 3: binary "ab", 20: true
        let bytes = [0x15, 10, 0x28, 2, b'a', b'b', 0x01, 40, 0];
        let mut cursor = Cursor::new(&bytes);
        let mut last = 0;
        assert_eq!(cursor.field(&mut last), Ok(Some((1, wire::I32))));
        assert_eq!(cursor.int32(), Ok(5));
        assert_eq!(cursor.field(&mut last), Ok(Some((3, wire::BINARY))));
        assert_eq!(cursor.binary(), Ok(&b"ab"[..]));
        assert_eq!(cursor.field(&mut last), Ok(Some((20, wire::TRUE))));
        assert_eq!(cursor.field(&mut last), Ok(None));
        assert_eq!(cursor.position(), bytes.len());
    }
}
