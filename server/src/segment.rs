//! The one name in a route's path, decoded once.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::failure::Failure;

/// A zone's or a table's name. What is not UTF-8 is refused as every bad request is.
pub struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let name = Path::<String>::from_request_parts(parts, state).await;
        name.map(|Path(name)| Self(name))
            .map_err(|e| Failure::bad_request(format!("the path cannot be read: {e}")))
    }
}
