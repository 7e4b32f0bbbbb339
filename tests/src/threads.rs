//! A host that lends threads, as the command line does.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use lake::host::{Host, Progress, Work};

/// Lends so many.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

impl Threads {
    /// One for each core.
    pub fn all() -> Self {
        Self(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl Host for Threads {
    fn progress(&self, _: Progress) {}

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(tokio::task::yield_now())
    }

    fn lanes(&self) -> usize {
        self.0
    }

    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        Box::pin(tokio::task::spawn_blocking(work).map(drop))
    }
}
