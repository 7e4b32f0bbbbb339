//! What long work asks of whoever runs it: to show progress, and to breathe.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// How far a long read has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// What is being done, in words a person reads: `reading checkpoint`.
    pub step: String,
    /// Units done.
    pub done: u64,
    /// Units in all, where they are known.
    pub of: Option<u64>,
}

/// The surroundings of a long read. A browser's worker shows progress and lets a cancel message
/// in; a server does nothing.
pub trait Host: Send + Sync {
    /// Called often; must be cheap.
    fn progress(&self, progress: Progress);

    /// Awaited between pieces of work that take a few milliseconds each, so that the surroundings
    /// can drop the work.
    fn pause(&self) -> BoxFuture<'static, ()>;
}

/// A host that shows nothing and never pauses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Host for Quiet {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A shared host.
pub type SharedHost = Arc<dyn Host>;
