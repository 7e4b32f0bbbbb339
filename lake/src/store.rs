//! Wrappers around a store, and what every store must do.

pub mod conformance;
pub mod counting;
#[cfg(feature = "write")]
pub(crate) mod erase;
pub mod fault;
#[cfg(feature = "write")]
pub mod probe;
pub mod survey;

pub use counting::{CountingStore, Counts};
pub use fault::{FaultStore, Rule};

use std::pin::Pin;
use std::task::{Context, Poll};

/// Keys that one LIST request answers at most, in every store we know.
pub const LIST_PAGE: u64 = 1000;

/// What kind of request a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the requests' own names")]
pub enum Request {
    Get,
    Head,
    List,
    Put,
    Delete,
    Copy,
}

/// Lets everything else that is ready run once.
struct YieldOnce(bool);

impl Future for YieldOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn yield_once() -> YieldOnce {
    YieldOnce(false)
}
