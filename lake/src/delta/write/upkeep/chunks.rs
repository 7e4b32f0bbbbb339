//! Bytes of a file that grows, in pieces that are never moved.

use std::io::{self, Write};
use std::mem::take;

use bytes::Bytes;
use object_store::PutPayload;

const PIECE: usize = 4 * 1024 * 1024;

/// What was written so far.
#[derive(Default)]
pub(super) struct Chunks {
    full: Vec<Bytes>,
    open: Vec<u8>,
}

impl Chunks {
    /// All of it, to be put.
    pub(super) fn payload(mut self) -> PutPayload {
        if !self.open.is_empty() {
            self.full.push(Bytes::from(self.open));
        }
        self.full.into_iter().collect()
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open.extend_from_slice(bytes);
        if self.open.len() >= PIECE {
            self.full.push(Bytes::from(take(&mut self.open)));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
