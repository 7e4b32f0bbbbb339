//! From an answer that is no object to an error of a store.

use lake::wire::ErrorReport;
use lake::{Error, Kind};
use object_store::path::Path;
use serde::Deserialize;

use super::fetch::Reply;

/// A server's error is a sentence or two.
const LONGEST: usize = 64 * 1024;

#[derive(Deserialize)]
struct Body {
    error: ErrorReport,
}

/// What a status other than 200 and 206 means, with the server's own words where it has some.
pub(super) async fn error_from_reply(reply: Reply, path: &Path) -> object_store::Error {
    let status = reply.status();
    let bytes = reply.bytes(LONGEST).await.unwrap_or_default();
    let error = match serde_json::from_slice::<Body>(&bytes) {
        Ok(body) => Error::from(body.error),
        Err(_) => Error::new(kind_from_status(status), format!("the answer was {status}")),
    };
    error_from_status(status, error, path)
}

/// The variant of a status. The error inside it is what `lake` takes out again.
pub(super) fn error_from_status(status: u16, error: Error, path: &Path) -> object_store::Error {
    use object_store::Error as E;
    let source = Box::new(error.at("key", path));
    let path = path.to_string();
    match status {
        304 => E::NotModified { path, source },
        401 => E::Unauthenticated { path, source },
        403 => E::PermissionDenied { path, source },
        404 => E::NotFound { path, source },
        409 | 412 => E::Precondition { path, source },
        501 => E::NotSupported { source },
        _ => E::Generic {
            store: "server",
            source,
        },
    }
}

pub(super) fn kind_from_status(status: u16) -> Kind {
    match status {
        400 | 416 => Kind::Invalid,
        401 | 403 => Kind::Denied,
        404 => Kind::NotFound,
        304 | 409 | 412 => Kind::Conflict,
        413 => Kind::TooLarge,
        422 | 501 => Kind::Unsupported,
        _ => Kind::Unreachable,
    }
}

/// The variant of an error that has no status.
pub(super) fn generic(error: Error) -> object_store::Error {
    object_store::Error::Generic {
        store: "server",
        source: Box::new(error),
    }
}
