//! Base85 as the Delta protocol spells it: Z85, five characters for four bytes.

use crate::{Error, Result};

const ALPHABET: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Value of each byte as a digit; 255 where it is none.
const VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut digit = 0;
    while digit < ALPHABET.len() {
        values[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// Decodes text whose length is a multiple of five. Damaged where it is not Z85.
pub fn decode(text: &str) -> Result<Vec<u8>> {
    let (groups, rest) = text.as_bytes().as_chunks::<5>();
    if !rest.is_empty() {
        return Err(Error::damaged("base85 text of a wrong length"));
    }
    let mut bytes = Vec::with_capacity(groups.len() * 4);
    for group in groups {
        let mut value = 0u64;
        for byte in group {
            let digit = VALUES.get(usize::from(*byte)).copied().unwrap_or(u8::MAX);
            if digit == u8::MAX {
                return Err(Error::damaged("text that is not base85"));
            }
            value = value * 85 + u64::from(digit);
        }
        let word = u32::try_from(value).map_err(|_| Error::damaged("text that is not base85"))?;
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_z85_specification() {
        let bytes = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B];
        assert_eq!(decode("HelloWorld").unwrap(), bytes);
        assert!(decode("").unwrap().is_empty());
    }

    #[test]
    fn what_is_not_base85_is_damaged() {
        // Too short, a stray character, a multi-byte character, more than 32 bits.
        for text in ["Hell", "Hell~", "Héll", "#####"] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
