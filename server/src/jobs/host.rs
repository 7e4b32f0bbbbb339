//! What a job's work tells of itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::BoxFuture;
use lake::host::{Host, Progress};

use super::Running;

/// The surroundings of a job.
pub(super) struct JobHost(pub(super) Arc<Running>);

impl Host for JobHost {
    fn progress(&self, progress: Progress) {
        self.0.job.send_modify(|job| {
            job.step = progress.step;
            job.done = progress.done;
            job.of = progress.of;
        });
    }

    fn bytes(&self, done: u64, of: u64) {
        self.0.job.send_modify(|job| {
            job.bytes_done = done;
            job.bytes_of = Some(of);
        });
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(tokio::task::yield_now())
    }

    fn wait(&self, millis: u64) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(millis)))
    }
}
