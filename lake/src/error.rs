//! One error for the whole domain: what the caller can do about it, what happened, and where.

#[cfg(feature = "read")]
mod foreign;
mod redacted;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

#[cfg(feature = "write")]
pub(crate) use foreign::lasting;
pub use redacted::redacted;

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an error. The page chooses its sentence by it, the server its
/// status, the command line its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// The thing asked for is not there: no such table, version, file.
    NotFound,
    /// What was asked cannot be meant: an impossible number, a time without an offset.
    Invalid,
    /// The store says that these credentials may not.
    Denied,
    /// The store does not answer, or answers with a fault of its own.
    Unreachable,
    /// Bytes in the store are not what the format says they are.
    Damaged,
    /// The table needs a feature that this build does not have.
    Unsupported,
    /// Somebody else committed first.
    Conflict,
    /// Nobody waits for the answer any more.
    Cancelled,
    /// A limit of this build was reached; nothing is wrong with the table.
    TooLarge,
    /// A fault of this program. Please report it.
    Internal,
}

/// An error with its kind, a sentence, and where it happened (key, version, line).
///
/// Cloning is cheap: answers that failed are shared between the views that wait for them.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: Kind,
    message: String,
    context: Vec<(&'static str, String)>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` that says `message`: one sentence, no full stop, no key (see [`Error::at`]).
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            context: Vec::new(),
            source: None,
        }))
    }

    /// The thing asked for is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    /// What was asked cannot be meant.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// Bytes in the store are not what the format says.
    pub fn damaged(message: impl Into<String>) -> Self {
        Self::new(Kind::Damaged, message)
    }

    /// A feature that this build does not have.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported, message)
    }

    /// Adds where it happened: `key`, `version`, `line`, `column`…
    #[must_use]
    pub fn at(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        if !inner.context.iter().any(|(n, _)| *n == name) {
            inner.context.push((name, value.to_string()));
        }
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn because(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.0).source = Some(Arc::new(source));
        self
    }

    /// The same error under a sentence of wider view; the places stay.
    #[must_use]
    pub fn within(mut self, sentence: impl fmt::Display) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.message = format!("{sentence}: {}", inner.message);
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The sentence, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it happened, as name and value.
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// Where it happened, in one string: `_delta_log/00…3.json, line 2`. `None` if unknown.
    pub fn location(&self) -> Option<String> {
        if self.0.context.is_empty() {
            return None;
        }
        let parts = self.0.context.iter().map(|(name, value)| match *name {
            "key" | "location" => value.clone(),
            _ => format!("{name} {value}"),
        });
        Some(parts.collect::<Vec<_>>().join(", "))
    }

    /// The sentence with the reason below it, for a place that shows one line.
    pub fn sentence(&self) -> String {
        match &self.0.source {
            Some(source) => format!("{}: {source}", self.0.message),
            None => self.0.message.clone(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        match self.location() {
            Some(location) => write!(f, " ({location})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_ref()?;
        Some(source.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_and_where() {
        let error = Error::damaged("not JSON")
            .at("key", "_delta_log/3.json")
            .at("line", 2);
        assert_eq!(error.to_string(), "not JSON (_delta_log/3.json, line 2)");
        assert_eq!(error.kind(), Kind::Damaged);
    }

    #[test]
    fn the_innermost_place_wins() {
        let error = Error::damaged("x").at("key", "inner").at("key", "outer");
        assert_eq!(error.location().as_deref(), Some("inner"));
    }
}
