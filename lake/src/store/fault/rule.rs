//! Which calls go wrong, and how.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures::future::BoxFuture;
use object_store::Error;
use object_store::path::Path;

use crate::store::Request;

/// Which error a call ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants of `object_store::Error`")]
pub enum Failure {
    Generic,
    NotFound,
    AlreadyExists,
    Precondition,
    NotModified,
    PermissionDenied,
    Unauthenticated,
}

/// Changes the bytes that a GET answers with.
pub type Change = Arc<dyn Fn(Bytes) -> Bytes + Send + Sync>;

/// Makes the wait before a call. There is no clock here, so the caller brings one.
pub type Wait = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

#[derive(Clone)]
pub(super) enum Then {
    Fail(Failure),
    /// The call reaches the store, and its answer is lost: what a timed-out PUT does.
    FailAfter(Failure),
    Wait(Wait),
    /// The call reaches the store twice, and the second answer is the caller's.
    Twice,
    Damage(Change),
    /// The bytes stop after this many, with an error.
    Cut(u64),
    /// A put's condition is not looked at.
    Forget,
}

/// Which calls go wrong, and how. Built from [`Rule::on`]; without a number, all that match.
#[derive(Clone)]
pub struct Rule {
    request: Option<Request>,
    key: String,
    nth: Option<u64>,
    seen: Arc<AtomicU64>,
    pub(super) then: Then,
}

/// The half of a [`Rule`] that says which calls.
#[derive(Clone, Debug, Default)]
pub struct Match {
    request: Option<Request>,
    key: String,
    nth: Option<u64>,
}

impl Rule {
    /// Calls of this kind. `Rule::on(None)` is every call.
    pub fn on(request: impl Into<Option<Request>>) -> Match {
        Match {
            request: request.into(),
            ..Match::default()
        }
    }

    /// How many calls have matched so far.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Whether the conditions of puts under this key are forgotten.
    pub(super) fn forgets(&self, key: &str) -> bool {
        matches!(self.then, Then::Forget) && key.contains(&self.key)
    }

    /// Whether the call matches; counts it.
    pub(super) fn takes(&self, request: Request, key: &str) -> bool {
        if self.request.is_some_and(|r| r != request) || !key.contains(&self.key) {
            return false;
        }
        let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        self.nth.is_none_or(|nth| nth == seen)
    }
}

impl Match {
    /// Only keys that contain this text.
    #[must_use]
    pub fn key(mut self, part: impl Into<String>) -> Self {
        self.key = part.into();
        self
    }

    /// Only the `nth` call that matches otherwise, from 1.
    #[must_use]
    pub fn nth(mut self, nth: u64) -> Self {
        self.nth = Some(nth);
        self
    }

    /// The call fails and never reaches the store.
    pub fn fails(self, failure: Failure) -> Rule {
        self.then(Then::Fail(failure))
    }

    /// The call reaches the store and fails for the caller.
    pub fn fails_after(self, failure: Failure) -> Rule {
        self.then(Then::FailAfter(failure))
    }

    /// The call first waits.
    pub fn waits(self, wait: Wait) -> Rule {
        self.then(Then::Wait(wait))
    }

    /// The call reaches the store twice and the caller is told of the second time, as by a client
    /// that asks again after an answer it never got: what was to be created exists, what was to be
    /// deleted is not there.
    pub fn twice(self) -> Rule {
        self.then(Then::Twice)
    }

    /// The call never ends.
    pub fn hangs(self) -> Rule {
        self.waits(Arc::new(|| Box::pin(std::future::pending())))
    }

    /// A GET answers with other bytes, and says of length and range what it said before.
    pub fn damages(self, change: impl Fn(Bytes) -> Bytes + Send + Sync + 'static) -> Rule {
        self.then(Then::Damage(Arc::new(change)))
    }

    /// A GET's bytes end early with an error.
    pub fn cuts(self, after: u64) -> Rule {
        self.then(Then::Cut(after))
    }

    /// A put overwrites, whatever its condition is: what a store does that does not know
    /// If-None-Match. Only for puts, and for all that match the key.
    pub fn forgets(self) -> Rule {
        self.then(Then::Forget)
    }

    fn then(self, then: Then) -> Rule {
        Rule {
            request: self.request,
            key: self.key,
            nth: self.nth,
            seen: Arc::default(),
            then,
        }
    }
}

impl Failure {
    pub(super) fn error(self, path: &Path) -> Error {
        let path = path.to_string();
        let source = "on purpose".into();
        match self {
            Self::Generic => Error::Generic {
                store: "fault",
                source,
            },
            Self::NotFound => Error::NotFound { path, source },
            Self::AlreadyExists => Error::AlreadyExists { path, source },
            Self::Precondition => Error::Precondition { path, source },
            Self::NotModified => Error::NotModified { path, source },
            Self::PermissionDenied => Error::PermissionDenied { path, source },
            Self::Unauthenticated => Error::Unauthenticated { path, source },
        }
    }
}
