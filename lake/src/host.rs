//! What long work asks of whoever runs it: to show progress, to breathe, and to lend a hand.

use std::sync::Arc;

#[cfg(feature = "read")]
use futures::channel::oneshot;
use futures::future::{BoxFuture, ready};
use serde::{Deserialize, Serialize};

#[cfg(feature = "read")]
use crate::{Error, Kind, Result};

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

/// A piece of work that computes for a few milliseconds and waits for nothing.
pub type Work = Box<dyn FnOnce() + Send>;

/// The surroundings of a long read. A browser's worker shows progress and lets a cancel message
/// in; a server does nothing.
pub trait Host: Send + Sync {
    /// Called often; must be cheap.
    fn progress(&self, progress: Progress);

    /// Called often by what moves bytes: how many are done, of how many in all.
    fn bytes(&self, done: u64, of: u64) {
        let _ = (done, of);
    }

    /// Whether a person asked for this to stop. Asked by acts between steps that leave the table
    /// whole.
    fn cancelled(&self) -> bool {
        false
    }

    /// Awaited between pieces of work that take a few milliseconds each, so that the surroundings
    /// can drop the work.
    fn pause(&self) -> BoxFuture<'static, ()>;

    /// Waits, before a store is asked again.
    fn wait(&self, millis: u64) -> BoxFuture<'static, ()> {
        let _ = millis;
        self.pause()
    }

    /// Pieces of work that can run at once.
    fn lanes(&self) -> usize {
        1
    }

    /// Small reads that may be under way at once.
    fn reads(&self) -> usize {
        64
    }

    /// Runs a piece of work to its end: beside the caller where there is another thread, else
    /// before this returns.
    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        work();
        Box::pin(ready(()))
    }
}

#[cfg(feature = "read")]
/// What `work` gives, run where `host` runs it.
pub(crate) async fn run<T: Send + 'static>(
    host: &SharedHost,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (told, tell) = oneshot::channel();
    let work = move || {
        // Nobody listens any more where the read was cancelled.
        let _ = told.send(work());
    };
    host.run(Box::new(work)).await;
    tell.await
        .map_err(|_| Error::new(Kind::Internal, "a piece of work did not run to its end"))
}

/// A host that shows nothing and never pauses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Host for Quiet {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }
}

/// A shared host.
pub type SharedHost = Arc<dyn Host>;
