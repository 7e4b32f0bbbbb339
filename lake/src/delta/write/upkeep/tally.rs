//! Whether the files that were written are those of the snapshot, without holding either.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::delta::key::Key;
use crate::delta::snapshot::Snapshot;

/// Files counted so that two counts are equal only where the files are, in whatever order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) files: u64,
    bytes: u64,
    keys: u64,
}

impl Tally {
    pub(super) fn take(&mut self, hasher: &DefaultHashBuilder, key: &Key, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.wrapping_add(bytes);
        self.keys = self.keys.wrapping_add(hasher.hash_one((key, bytes)));
    }

    pub(super) fn of(snapshot: &Snapshot, hasher: &DefaultHashBuilder) -> Self {
        let mut tally = Self::default();
        for file in snapshot.files.iter() {
            tally.take(hasher, &file.key(), file.bytes());
        }
        tally
    }
}
