//! Which codecs this build decodes.

use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;

use crate::{Error, Result};

/// The codec as the format spells it.
pub(crate) fn name(codec: Compression) -> &'static str {
    match codec {
        Compression::UNCOMPRESSED => "UNCOMPRESSED",
        Compression::SNAPPY => "SNAPPY",
        Compression::GZIP(_) => "GZIP",
        Compression::LZO => "LZO",
        Compression::BROTLI(_) => "BROTLI",
        Compression::LZ4 => "LZ4",
        Compression::ZSTD(_) => "ZSTD",
        Compression::LZ4_RAW => "LZ4_RAW",
    }
}

/// An error that names the codec, where the chunk's cannot be decoded. The chunk's range must have
/// been found sound.
pub(crate) fn check(chunk: &ColumnChunkMetaData) -> Result<()> {
    // What is compiled in depends on the binary, so the decoder itself is asked for its codec; it
    // reads nothing before the first page is asked for.
    let asked = SerializedPageReader::new(Arc::new(Bytes::new()), chunk, 0, None);
    let Err(error) = asked else {
        return Ok(());
    };
    let name = name(chunk.compression());
    let message = match chunk.compression() {
        Compression::LZO => format!("the codec {name} cannot be decoded"),
        _ => format!("the codec {name} is not in this build; the command line reads it"),
    };
    Err(Error::unsupported(message).because(error))
}

#[cfg(test)]
mod tests {
    use ::parquet::basic::Type as Physical;
    use ::parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};

    use super::*;
    use crate::Kind;

    fn chunk(codec: Compression) -> ColumnChunkMetaData {
        let column = Type::primitive_type_builder("c", Physical::INT32).build();
        let path = ColumnPath::from("c");
        let column = ColumnDescriptor::new(Arc::new(column.unwrap()), 0, 0, path);
        let built = ColumnChunkMetaData::builder(Arc::new(column));
        built.set_compression(codec).build().unwrap()
    }

    #[test]
    fn codecs_of_the_browser() {
        for codec in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            Compression::ZSTD(Default::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
        ] {
            check(&chunk(codec)).unwrap();
        }
    }

    #[test]
    fn another_codec_is_named() {
        let error = check(&chunk(Compression::LZO)).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.message().contains("LZO"), "{error}");
        // In a workspace build the server brings brotli along.
        if let Err(error) = check(&chunk(Compression::BROTLI(Default::default()))) {
            assert_eq!(error.kind(), Kind::Unsupported);
            assert_eq!(
                error.message(),
                "the codec BROTLI is not in this build; the command line reads it"
            );
        }
    }
}
