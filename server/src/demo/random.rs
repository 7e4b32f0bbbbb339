//! Numbers that look random and are the same in every run (SplitMix64).

/// A stream of numbers that its seed decides.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `end`, without `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number().checked_rem(end).unwrap_or(0)
    }

    /// A number from `start` to `end`, without `end`.
    pub fn between(&mut self, start: i64, end: i64) -> i64 {
        start + self.below(end.abs_diff(start)) as i64
    }

    /// True so many times in a thousand.
    pub fn per_mille(&mut self, share: u64) -> bool {
        self.below(1000) < share
    }

    /// One of a table of choices, which must not be empty.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Bytes of a version 4 UUID.
    pub fn uuid_bytes(&mut self) -> [u8; 16] {
        let number = (u128::from(self.number()) << 64) | u128::from(self.number());
        let mut bytes = number.to_be_bytes();
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        bytes
    }

    /// A version 4 UUID as text.
    pub fn uuid(&mut self) -> String {
        uuid_text(&self.uuid_bytes())
    }
}

/// The usual text of a UUID.
pub fn uuid_text(bytes: &[u8; 16]) -> String {
    let number = u128::from_be_bytes(*bytes);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        number >> 96,
        (number >> 80) & 0xffff,
        (number >> 64) & 0xffff,
        (number >> 48) & 0xffff,
        number & 0xffff_ffff_ffff
    )
}
