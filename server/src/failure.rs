//! What goes wrong, as an HTTP answer: a status and `{"error":{"kind","message","location"}}`.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lake::wire::ErrorReport;
use lake::{Error, Kind};
use serde::Serialize;

/// The one shape of an error, over HTTP and on standard output.
#[derive(Debug, Serialize)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorReport,
}

impl From<&Error> for ErrorBody {
    fn from(error: &Error) -> Self {
        Self {
            error: ErrorReport::from(error),
        }
    }
}

/// An error on its way to a client.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    error: Error,
}

impl Failure {
    /// An error with a status of its own.
    pub fn new(status: StatusCode, error: Error) -> Self {
        Self { status, error }
    }

    /// The request cannot be meant.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::from(Error::invalid(message))
    }

    /// A request's body, or why it cannot be read. `what`: `the batch`.
    pub fn body<T>(body: Result<Json<T>, JsonRejection>, what: &str) -> Result<T, Self> {
        let Json(value) = body.map_err(|rejection| {
            let error = Error::invalid(format!("{what} cannot be read")).because(rejection);
            match error.sentence().contains("length limit") {
                true => Self::new(StatusCode::PAYLOAD_TOO_LARGE, error),
                false => Self::new(StatusCode::BAD_REQUEST, error),
            }
        })?;
        Ok(value)
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The error.
    pub fn error(&self) -> &Error {
        &self.error
    }
}

/// The status a kind of error is answered with.
pub fn status_of(kind: Kind) -> StatusCode {
    match kind {
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::Denied => StatusCode::FORBIDDEN,
        Kind::Unreachable => StatusCode::BAD_GATEWAY,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::Damaged | Kind::Unsupported | Kind::TooLarge => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(status_of(error.kind()), error)
    }
}

impl From<object_store::Error> for Failure {
    fn from(error: object_store::Error) -> Self {
        Error::from(error).into()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        if self.status.is_server_error() {
            tracing::warn!(status = self.status.as_u16(), error = %self.error, "request failed");
        }
        (self.status, Json(ErrorBody::from(&self.error))).into_response()
    }
}
