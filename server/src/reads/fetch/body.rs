//! An object's bytes on their way: from a file in large pieces, or cut out of more than was asked.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};

pub(super) type Pieces = BoxStream<'static, object_store::Result<Bytes>>;

/// Bytes of a file read at a time.
const PIECE: u64 = 256 * 1024;

/// The bytes of a range of a file. One that has become shorter is an error.
pub(super) fn of_file(file: File, range: Range<u64>) -> Pieces {
    let state = (file, range.start, range.end, true);
    futures::stream::try_unfold(state, |(mut file, at, end, first)| async move {
        if at >= end {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            if first {
                file.seek(SeekFrom::Start(at))?;
            }
            let wanted = (end - at).min(PIECE);
            let mut piece = Vec::new();
            (&mut file).take(wanted).read_to_end(&mut piece)?;
            if (piece.len() as u64) < wanted {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof));
            }
            Ok((file, piece))
        });
        let (file, piece) = match read.await {
            Ok(Ok(read)) => read,
            Ok(Err(source)) => {
                return Err(object_store::Error::Generic {
                    store: "local disk",
                    source: Box::new(source),
                });
            }
            Err(source) => return Err(object_store::Error::JoinError { source }),
        };
        let at = at + piece.len() as u64;
        Ok(Some((Bytes::from(piece), (file, at, end, false))))
    })
    .boxed()
}

/// The bytes of a stream after the first `skip`, at most `length` of them.
pub(super) fn cut(stream: Pieces, skip: u64, length: u64) -> Pieces {
    let state = (stream, skip, length);
    futures::stream::try_unfold(state, |(mut stream, mut skip, mut left)| async move {
        while left > 0 {
            let Some(mut piece) = stream.try_next().await? else {
                break;
            };
            let size = piece.len() as u64;
            if skip >= size {
                skip -= size;
                continue;
            }
            piece = piece.split_off(usize::try_from(skip).unwrap_or(usize::MAX));
            skip = 0;
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            left -= piece.len() as u64;
            return Ok(Some((piece, (stream, skip, left))));
        }
        Ok(None)
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cut_is_exactly_its_range() {
        for skip in 0..10u64 {
            for length in 0..10u64 {
                let pieces =
                    ["abc", "", "defg", "h"].map(|piece| Ok(Bytes::from_static(piece.as_bytes())));
                let cut = cut(futures::stream::iter(pieces).boxed(), skip, length);
                let got: Vec<Bytes> = cut.try_collect().await.unwrap();
                let all = "abcdefgh";
                let start = all.len().min(skip as usize);
                let end = all.len().min((skip + length) as usize);
                assert_eq!(got.concat(), all.as_bytes()[start..end], "{skip} {length}");
            }
        }
    }
}
