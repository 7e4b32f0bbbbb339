//! Byte ranges, as RFC 9110 reads them.

use std::ops::Range;

use object_store::GetRange;

/// One range of bytes that a client asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From the first to the last byte, both included.
    Closed(u64, u64),
    /// From this byte to the end.
    From(u64),
    /// The last so many bytes.
    Suffix(u64),
}

impl ByteRange {
    /// Reads a `Range` header. `None` where it is to be ignored: another unit, several ranges, or
    /// not well formed.
    pub fn parse(header: &str) -> Option<Self> {
        let (unit, spec) = header.split_once('=')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (first, last) = spec.trim().split_once('-')?;
        match (first.trim(), last.trim()) {
            ("", "") => None,
            ("", suffix) => Some(Self::Suffix(number(suffix)?)),
            (first, "") => Some(Self::From(number(first)?)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::Closed(first, last))
            }
        }
    }

    /// The bytes of an object of `size` that are meant; `None` where there are none.
    pub fn resolve(self, size: u64) -> Option<Range<u64>> {
        match self {
            Self::Closed(first, last) => {
                (first < size).then(|| first..last.saturating_add(1).min(size))
            }
            Self::From(first) => (first < size).then_some(first..size),
            Self::Suffix(0) => None,
            Self::Suffix(_) if size == 0 => None,
            Self::Suffix(length) => Some(size.saturating_sub(length)..size),
        }
    }

    /// The same for a store.
    pub fn to_store(self) -> GetRange {
        match self {
            Self::Closed(first, last) => GetRange::Bounded(first..last.saturating_add(1)),
            Self::From(first) => GetRange::Offset(first),
            Self::Suffix(length) => GetRange::Suffix(length),
        }
    }
}

/// Digits only; a number too large for us is the largest.
fn number(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(u64::MAX - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_a_hundred_bytes() {
        let cases = [
            ("bytes=0-99", Some(Some(0..100))),
            ("bytes=0-", Some(Some(0..100))),
            ("bytes=-8", Some(Some(92..100))),
            ("bytes=-800", Some(Some(0..100))),
            ("bytes=99-99", Some(Some(99..100))),
            ("bytes=100-", Some(None)),
            ("bytes=100-200", Some(None)),
            ("bytes=0-999", Some(Some(0..100))),
            ("bytes=-0", Some(None)),
            ("Bytes = 1-2", Some(Some(1..3))),
            ("bytes=5-99999999999999999999999", Some(Some(5..100))),
            ("bytes=5-2", None),
            ("bytes=0-0,5-5", None),
            ("bytes=", None),
            ("bytes=-", None),
            ("bytes=a-b", None),
            ("bytes=+1-2", None),
            ("lines=0-1", None),
            ("0-1", None),
        ];
        for (header, expected) in cases {
            let got = ByteRange::parse(header).map(|range| range.resolve(100));
            assert_eq!(got, expected, "{header}");
        }
        assert_eq!(ByteRange::Suffix(8).resolve(0), None);
        assert_eq!(ByteRange::From(0).resolve(0), None);
    }
}
