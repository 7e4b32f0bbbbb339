//! Arbitrary bytes as a deletion vector: bare, stored with size and checksum, and inline.
//!
//! The first bytes make the descriptor, so that sizes and cardinalities that lie are met too.

#![no_main]

use fuzz as _;
use lake::delta::vector::{self, Descriptor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((head, data)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let _ = vector::bitmap::decode(data);
    let text = String::from_utf8_lossy(data).into_owned();
    let storage_type = ["u", "i", "p", "x"][usize::from(head[0] % 4)].to_owned();
    let true_size = head[0] & 4 == 0;
    let size_in_bytes = match true_size {
        true => data.len() as i64,
        false => i64::from(i32::from_le_bytes(*head)),
    };
    let descriptor = Descriptor {
        storage_type,
        path_or_inline_dv: text,
        offset: (head[1] > 128).then(|| i64::from(head[1]) - 130),
        size_in_bytes,
        cardinality: i64::from(head[2]),
    };
    let _ = vector::decode(data, &descriptor);
    let _ = vector::decode_inline(&descriptor);
    let root = object_store::path::Path::from("t");
    for url in [None, Some("s3://bucket/t"), Some("file:///t")] {
        let _ = vector::location_at(&root, url, &descriptor);
    }
    // A checksum found by chance would keep everything behind it from being tried.
    let mut stored = (data.len() as u32).to_be_bytes().to_vec();
    stored.extend_from_slice(data);
    stored.extend_from_slice(&crc32fast::hash(data).to_be_bytes());
    let _ = vector::decode_stored(&stored, &descriptor);
    let _ = vector::decode_stored(data, &descriptor);
});
