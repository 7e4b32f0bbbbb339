//! The serialised bitmaps inside a deletion vector (PROTOCOL, "Deletion Vector Format").

use roaring::{RoaringBitmap, RoaringTreemap};

use crate::{Error, Result};

/// Marks the format of the protocol: 64-bit count, then a 32-bit key before each bitmap.
const PORTABLE: u32 = 1_681_511_377;

/// Marks what the first writers wrote: 32-bit count, then the length of each bitmap before it;
/// keys count from 0. The protocol's own inline example is one, with its numbers in big endian.
const NATIVE: u32 = 1_681_511_376;

/// Decodes magic and bitmaps. Memory is bounded by a small multiple of the bytes given.
pub fn decode(bytes: &[u8]) -> Result<RoaringTreemap> {
    let (magic, rest) = word(bytes)?;
    match magic {
        PORTABLE => portable(rest),
        NATIVE => native(rest, |word| word),
        _ if magic.swap_bytes() == NATIVE => native(rest, u32::swap_bytes),
        _ => Err(Error::damaged(format!(
            "no deletion vector starts with {magic:#010x}"
        ))),
    }
}

fn portable(bytes: &[u8]) -> Result<RoaringTreemap> {
    let Some((count, mut rest)) = bytes.split_first_chunk::<8>() else {
        return Err(cut_short());
    };
    let count = u64::from_le_bytes(*count);
    let mut bitmaps = Vec::new();
    let mut above = None;
    // Each turn takes at least its key from the bytes, so a count from nowhere ends early.
    for _ in 0..count {
        let (key, after) = word(rest)?;
        if above.replace(key).is_some_and(|above| above >= key) {
            return Err(Error::damaged("bitmaps out of order in a deletion vector"));
        }
        rest = after;
        let bitmap = bitmap(&mut rest)?;
        bitmaps.push((key, bitmap));
    }
    Ok(RoaringTreemap::from_bitmaps(bitmaps))
}

/// `order` turns a number read as little endian into what was written.
fn native(bytes: &[u8], order: fn(u32) -> u32) -> Result<RoaringTreemap> {
    let (count, mut rest) = word(bytes)?;
    let mut bitmaps = Vec::new();
    for key in 0..order(count) {
        let (length, after) = word(rest)?;
        let length = usize::try_from(order(length)).unwrap_or(usize::MAX);
        let Some((mut own, after)) = after.split_at_checked(length) else {
            return Err(cut_short());
        };
        rest = after;
        bitmaps.push((key, bitmap(&mut own)?));
    }
    Ok(RoaringTreemap::from_bitmaps(bitmaps))
}

fn bitmap(bytes: &mut &[u8]) -> Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes)
        .map_err(|e| Error::damaged("a bitmap of the deletion vector cannot be read").because(e))
}

fn word(bytes: &[u8]) -> Result<(u32, &[u8])> {
    match bytes.split_first_chunk::<4>() {
        Some((word, rest)) => Ok((u32::from_le_bytes(*word), rest)),
        None => Err(cut_short()),
    }
}

fn cut_short() -> Error {
    Error::damaged("the deletion vector is cut short")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> RoaringTreemap {
        [0, 3, 70_000, (1 << 32) + 5, (7 << 32) + 1]
            .into_iter()
            .collect()
    }

    #[test]
    fn portable_bitmaps_keep_rows_beyond_32_bits() {
        let mut bytes = PORTABLE.to_le_bytes().to_vec();
        rows().serialize_into(&mut bytes).unwrap();
        assert_eq!(decode(&bytes).unwrap(), rows());
    }

    #[test]
    fn native_bitmaps_count_their_keys() {
        for order in [u32::to_le_bytes, u32::to_be_bytes] {
            let mut bytes = order(NATIVE).to_vec();
            bytes.extend_from_slice(&order(2));
            for values in [vec![1u32, 9], vec![5]] {
                let mut own = Vec::new();
                let bitmap: RoaringBitmap = values.into_iter().collect();
                bitmap.serialize_into(&mut own).unwrap();
                bytes.extend_from_slice(&order(own.len() as u32));
                bytes.extend_from_slice(&own);
            }
            let rows: Vec<u64> = decode(&bytes).unwrap().iter().collect();
            assert_eq!(rows, [1, 9, (1 << 32) + 5]);
        }
    }

    #[test]
    fn every_cut_is_damaged() {
        let mut bytes = PORTABLE.to_le_bytes().to_vec();
        rows().serialize_into(&mut bytes).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn a_count_from_nowhere_ends_early() {
        let mut bytes = PORTABLE.to_le_bytes().to_vec();
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
        bytes.extend_from_slice(&[0; 64]);
        assert!(decode(&bytes).is_err());
        let mut bytes = NATIVE.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[0xff; 64]);
        assert!(decode(&bytes).is_err());
    }

    #[test]
    fn bitmaps_out_of_order_are_damaged() {
        let mut bytes = PORTABLE.to_le_bytes().to_vec();
        bytes.extend_from_slice(&2u64.to_le_bytes());
        for _ in 0..2 {
            bytes.extend_from_slice(&4u32.to_le_bytes());
            let bitmap: RoaringBitmap = [1].into_iter().collect();
            bitmap.serialize_into(&mut bytes).unwrap();
        }
        assert!(decode(&bytes).is_err());
    }
}
