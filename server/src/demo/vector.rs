//! Deletion vectors as they are written (PROTOCOL, "Deletion Vector Format").

use lake::delta::vector::Descriptor;
use lake::{Error, Kind, Result};
use roaring::RoaringTreemap;

use super::random::uuid_text;

const MAGIC: u32 = 1_681_511_377;
const BASE85: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// A deletion vector file: its name, its bytes, and the descriptor of each vector in it.
pub struct VectorFile {
    /// Key relative to the table's root.
    pub path: String,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// One descriptor for each vector, in order.
    pub descriptors: Vec<Descriptor>,
}

/// Puts vectors into one file named after `uuid`. Each is the row indexes it masks.
pub fn vector_file(uuid: &[u8; 16], vectors: &[RoaringTreemap]) -> Result<VectorFile> {
    let mut bytes = vec![1];
    let mut descriptors = Vec::new();
    for rows in vectors {
        let data = serialize(rows)?;
        descriptors.push(Descriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: base85(uuid),
            offset: Some(bytes.len() as i64),
            size_in_bytes: data.len() as i64,
            cardinality: rows.len() as i64,
        });
        bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&data);
        bytes.extend_from_slice(&crc32(&data).to_be_bytes());
    }
    Ok(VectorFile {
        path: format!("deletion_vector_{}.bin", uuid_text(uuid)),
        bytes,
        descriptors,
    })
}

/// A vector that stands in the log itself.
pub fn inline_vector(rows: &RoaringTreemap) -> Result<Descriptor> {
    let data = serialize(rows)?;
    Ok(Descriptor {
        storage_type: "i".to_owned(),
        path_or_inline_dv: base85(&data),
        offset: None,
        size_in_bytes: data.len() as i64,
        cardinality: rows.len() as i64,
    })
}

/// Magic number and portable 64-bit roaring bitmap.
fn serialize(rows: &RoaringTreemap) -> Result<Vec<u8>> {
    let mut data = MAGIC.to_le_bytes().to_vec();
    rows.serialize_into(&mut data)
        .map_err(|e| Error::new(Kind::Internal, "a bitmap was not written").because(e))?;
    Ok(data)
}

/// Z85, zero-padded to whole groups of four bytes.
fn base85(data: &[u8]) -> String {
    let mut text = String::new();
    for chunk in data.chunks(4) {
        let mut group = [0_u8; 4];
        group[..chunk.len()].copy_from_slice(chunk);
        let number = u32::from_be_bytes(group);
        for power in [52_200_625, 614_125, 7_225, 85, 1] {
            text.push(char::from(BASE85[(number / power % 85) as usize]));
        }
    }
    text
}

/// CRC-32 as in zip.
fn crc32(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xedb8_8320;
            }
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base85_is_the_protocols() {
        // ZeroMQ RFC 32 names this pair.
        let bytes = [0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b];
        assert_eq!(base85(&bytes), "HelloWorld");
    }

    #[test]
    fn crc32_is_zips() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
