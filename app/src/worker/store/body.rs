//! The bytes of an answer: as many as were promised, and picked up where a connection broke.

use std::ops::Range;

use bytes::Bytes;
use futures::stream::{self, LocalBoxStream, Stream, StreamExt};
use lake::{Error, Kind, Result};

use crate::worker::turn::sleep;

use super::fetch::{PAUSES, Question, Reply, fetch};

/// Bytes of an object that are on their way.
pub(super) struct Body {
    /// Where the object is asked for.
    pub(super) url: String,
    /// Its tag. Without one nobody knows whether the rest is of the same object.
    pub(super) etag: Option<String>,
    /// What was promised and has not come yet.
    pub(super) left: Range<u64>,
}

impl Body {
    /// The bytes as they come. Fails unless they are as many as were promised.
    pub(super) fn stream(self, reply: Reply) -> impl Stream<Item = Result<Bytes>> + use<> {
        let state = (self, reply.stream(), PAUSES.iter());
        stream::try_unfold(state, |(mut body, mut pieces, mut pauses)| async move {
            loop {
                match body.take(pieces.next().await) {
                    Ok(None) => return Ok(None),
                    Ok(Some(piece)) => return Ok(Some((piece, (body, pieces, pauses)))),
                    Err(error) => {
                        let pause = pauses.next().filter(|_| error.kind() == Kind::Unreachable);
                        let (Some(pause), Some(etag)) = (pause, &body.etag) else {
                            return Err(error);
                        };
                        sleep(*pause).await;
                        pieces = body.again(etag, error).await?;
                    }
                }
            }
        })
    }

    fn take(&mut self, piece: Option<Result<Bytes>>) -> Result<Option<Bytes>> {
        let left = self.left.end - self.left.start;
        match piece.transpose()? {
            None if left == 0 => Ok(None),
            None => Err(wrong("fewer bytes than it promised")),
            Some(piece) if piece.len() as u64 > left => Err(wrong("more bytes than it promised")),
            Some(piece) => {
                self.left.start += piece.len() as u64;
                Ok(Some(piece))
            }
        }
    }

    /// Asks for what is left of the same object; fails with `error` where that is not to be had.
    async fn again(
        &self,
        etag: &str,
        error: Error,
    ) -> Result<LocalBoxStream<'static, Result<Bytes>>> {
        let Range { start, end } = self.left;
        let Some(last) = end.checked_sub(1).filter(|last| *last >= start) else {
            return Err(error);
        };
        let question = Question {
            headers: vec![
                ("range", format!("bytes={start}-{last}")),
                ("if-match", etag.to_owned()),
            ],
            ..Question::get(&self.url)
        };
        let reply = fetch(&question).await?;
        let place = format!("bytes {start}-{last}/");
        let same = reply
            .header("content-range")
            .is_some_and(|r| r.starts_with(&place))
            && reply.header("etag").as_deref() == Some(etag);
        match reply.status() {
            206 if same => Ok(reply.stream().boxed_local()),
            _ => Err(error),
        }
    }
}

fn wrong(what: &str) -> Error {
    Error::new(
        Kind::Unreachable,
        format!("the server answered with {what}"),
    )
}
