//! An error as it travels.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind};

/// An error as it travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// What the caller can do about it.
    pub kind: Kind,
    /// The sentence.
    pub message: String,
    /// Key, version, line.
    pub location: Option<String>,
}

impl From<&Error> for ErrorReport {
    fn from(error: &Error) -> Self {
        Self {
            kind: error.kind(),
            message: error.sentence(),
            location: error.location(),
        }
    }
}

impl From<ErrorReport> for Error {
    fn from(report: ErrorReport) -> Self {
        let error = Self::new(report.kind, report.message);
        match report.location {
            Some(location) => error.at("key", location),
            None => error,
        }
    }
}
