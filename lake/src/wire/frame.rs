//! The framed stream that answers a batch: for each read a header and its bytes.
//!
//! A frame is the header's length (4 bytes, little endian), the header as JSON, and then as many
//! bytes as the header's `length` says.

use bytes::{Buf, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::table::Time;
use crate::{Error, Result};

/// What precedes the bytes of one read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameHeader {
    /// Position of the read in the request.
    pub index: u32,
    /// HTTP status that the read alone would have had: 200, 206, 404, 416…
    pub status: u16,
    /// Bytes that follow.
    pub length: u64,
    /// First byte of the object that follows.
    pub start: u64,
    /// Bytes of the whole object.
    pub size: u64,
    /// The store's entity tag.
    pub etag: Option<String>,
    /// When the object was put.
    pub modified: Option<Time>,
    /// Why there are no bytes.
    pub error: Option<String>,
}

/// A header longer than this is not one of ours.
const MAX_HEADER: usize = 64 * 1024;

/// The bytes before a frame's body.
pub fn encode_header(header: &FrameHeader) -> Result<Bytes> {
    let json = serde_json::to_vec(header)
        .map_err(|e| Error::new(crate::Kind::Internal, "frame header").because(e))?;
    let mut out = BytesMut::with_capacity(json.len() + 4);
    out.extend_from_slice(&(json.len() as u32).to_le_bytes());
    out.extend_from_slice(&json);
    Ok(out.freeze())
}

/// Takes frames out of a stream that arrives in pieces of any size.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: BytesMut,
}

impl FrameDecoder {
    /// Adds bytes that arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame, if it has arrived.
    pub fn next_frame(&mut self) -> Result<Option<(FrameHeader, Bytes)>> {
        let Some(length) = self.buffer.first_chunk::<4>() else {
            return Ok(None);
        };
        let header_len = u32::from_le_bytes(*length) as usize;
        if header_len > MAX_HEADER {
            return Err(Error::damaged("the batch answer is not framed"));
        }
        let Some(json) = self.buffer.get(4..4 + header_len) else {
            return Ok(None);
        };
        let header: FrameHeader = serde_json::from_slice(json)
            .map_err(|e| Error::damaged("the batch answer is not framed").because(e))?;
        let body = usize::try_from(header.length)
            .map_err(|_| Error::new(crate::Kind::TooLarge, "a frame exceeds the memory"))?;
        let whole = (4 + header_len).checked_add(body);
        if whole.is_none_or(|whole| self.buffer.len() < whole) {
            return Ok(None);
        }
        self.buffer.advance(4 + header_len);
        Ok(Some((header, self.buffer.split_to(body).freeze())))
    }

    /// Whether bytes of an unfinished frame are left.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(index: u32, length: u64) -> FrameHeader {
        FrameHeader {
            index,
            status: 200,
            length,
            start: 0,
            size: length,
            etag: None,
            modified: None,
            error: None,
        }
    }

    #[test]
    fn frames_survive_any_split() {
        let mut stream = Vec::new();
        for (index, body) in [(0, &b"hello"[..]), (1, b""), (2, b"x")] {
            stream.extend_from_slice(&encode_header(&header(index, body.len() as u64)).unwrap());
            stream.extend_from_slice(body);
        }
        for step in 1..stream.len() {
            let mut decoder = FrameDecoder::default();
            let mut seen = Vec::new();
            for piece in stream.chunks(step) {
                decoder.push(piece);
                while let Some((header, body)) = decoder.next_frame().unwrap() {
                    seen.push((header.index, body.to_vec()));
                }
            }
            assert_eq!(
                seen,
                [(0, b"hello".to_vec()), (1, vec![]), (2, b"x".to_vec())],
                "step {step}"
            );
            assert!(decoder.is_empty());
        }
    }

    #[test]
    fn noise_is_refused() {
        let mut decoder = FrameDecoder::default();
        decoder.push(b"<html><body>502</body></html>");
        assert!(decoder.next_frame().is_err());
    }
}
