//! What the libraries that read say, as errors of ours.

use std::fmt;
use std::io;

use super::{Error, Kind, redacted};

/// What a store said, without the secrets that its address may hold.
#[derive(Debug)]
struct Told(String);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Told {}

/// What a disk says that asking again does not change, and what can be done about it.
fn disk(error: &object_store::Error) -> Option<(Kind, &'static str)> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            match error.kind() {
                io::ErrorKind::ReadOnlyFilesystem => {
                    return Some((Kind::Denied, "the disk is read-only"));
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    return Some((Kind::Denied, "the disk is full"));
                }
                io::ErrorKind::PermissionDenied => {
                    return Some((Kind::Denied, "the disk denies access"));
                }
                io::ErrorKind::InvalidFilename => {
                    return Some((Kind::Invalid, "a name that is too long for the disk"));
                }
                _ => {}
            }
        }
        cause = error.source();
    }
    None
}

/// Whether a store denied what the crate tells as no more than an error: so it is with listings. Its
/// type for that is private; what it writes of the status stands before anything that a store said.
fn denied(error: &object_store::Error) -> bool {
    let told = error.to_string();
    let status = told.split("non-2xx status code: ").nth(1);
    status.is_some_and(|status| status.starts_with("403") || status.starts_with("401"))
}

/// Whether a store said what asking again does not change.
#[cfg(any(feature = "write", test))]
pub(crate) fn lasting(error: &object_store::Error) -> bool {
    use object_store::Error as E;
    let refused = matches!(
        error,
        E::PermissionDenied { .. }
            | E::Unauthenticated { .. }
            | E::NotImplemented { .. }
            | E::NotSupported { .. }
            | E::InvalidPath { .. }
            | E::UnknownConfigurationKey { .. }
    );
    refused || denied(error) || disk(error).is_some()
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as E;
        // A wrapper such as the browser's store has already decided what happened.
        let source = std::error::Error::source(&error);
        if let Some(known) = source.and_then(|source| source.downcast_ref::<Error>()) {
            return known.clone();
        }
        let (kind, message, path) = match &error {
            E::NotFound { path, .. } => (Kind::NotFound, "no such object", Some(path.clone())),
            E::AlreadyExists { path, .. } => (Kind::Conflict, "already exists", Some(path.clone())),
            E::Precondition { path, .. } | E::NotModified { path, .. } => {
                let message = "the object changed while it was read";
                (Kind::Conflict, message, Some(path.clone()))
            }
            E::PermissionDenied { path, .. } | E::Unauthenticated { path, .. } => {
                (Kind::Denied, "the store denies access", Some(path.clone()))
            }
            // Keys that somebody asked for are looked at before a store is: this one was listed.
            E::InvalidPath { .. } => {
                let message = "the store holds a key that this build cannot name, such as one with a line break";
                (Kind::Unsupported, message, None)
            }
            E::NotSupported { .. } | E::NotImplemented { .. } => {
                (Kind::Unsupported, "the store cannot do this", None)
            }
            E::UnknownConfigurationKey { .. } => (Kind::Invalid, "unknown store setting", None),
            other if denied(other) => (Kind::Denied, "the store denies access", None),
            other => match disk(other) {
                Some((kind, message)) => (kind, message, None),
                None => (Kind::Unreachable, "the store did not answer", None),
            },
        };
        let built = Self::new(kind, message).because(Told(redacted(&error.to_string())));
        match path {
            Some(path) => built.at("key", path),
            None => built,
        }
    }
}

impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::damaged("columns cannot be decoded").because(error)
    }
}

impl From<::parquet::errors::ParquetError> for Error {
    fn from(error: ::parquet::errors::ParquetError) -> Self {
        use ::parquet::errors::ParquetError as P;
        let text = error.to_string();
        match error {
            P::NYI(_) => Self::unsupported("this build cannot read this Parquet").because(error),
            // parquet answers a codec that was not compiled in with a general error.
            P::General(_) if text.contains("feature") && text.contains("disabled") => {
                Self::unsupported("this build has no decoder for the file's codec").because(error)
            }
            _ => Self::damaged("not a readable Parquet file").because(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_that_is_denied_is_denied() {
        let told = |text: &str| {
            let source = Box::<dyn std::error::Error + Send + Sync>::from(text.to_owned());
            Error::from(object_store::Error::Generic {
                store: "S3",
                source,
            })
            .kind()
        };
        let said = "Error performing list request: Error performing GET http://h/b in 2ms - Server returned non-2xx status code: ";
        assert_eq!(
            told(&format!("{said}403 Forbidden: <Error/>")),
            Kind::Denied
        );
        assert_eq!(told(&format!("{said}401 Unauthorized: ")), Kind::Denied);
        assert_eq!(told(&format!("{said}503 Slow: 403")), Kind::Unreachable);
        assert_eq!(told("403 Forbidden"), Kind::Unreachable);
    }

    #[test]
    fn a_disk_is_no_network() {
        let of = |kind: io::ErrorKind| object_store::Error::Generic {
            store: "LocalFileSystem",
            source: Box::new(io::Error::from(kind)),
        };
        let cases = [
            (io::ErrorKind::ReadOnlyFilesystem, Kind::Denied, "read-only"),
            (io::ErrorKind::StorageFull, Kind::Denied, "full"),
            (io::ErrorKind::PermissionDenied, Kind::Denied, "denies"),
            (io::ErrorKind::InvalidFilename, Kind::Invalid, "too long"),
        ];
        for (io, kind, words) in cases {
            assert!(lasting(&of(io)), "{io}");
            let error = Error::from(of(io));
            assert_eq!(error.kind(), kind, "{io}");
            assert!(error.message().contains(words), "{error}");
        }
        let passing = of(io::ErrorKind::TimedOut);
        assert!(!lasting(&passing));
        assert_eq!(Error::from(passing).kind(), Kind::Unreachable);
    }

    #[test]
    fn a_key_that_cannot_be_named_is_nobody_s_usage() {
        let source = object_store::path::Path::parse("d/a\nb").unwrap_err();
        let error = Error::from(object_store::Error::from(source));
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.to_string().contains("line break"), "{error}");
    }
}
