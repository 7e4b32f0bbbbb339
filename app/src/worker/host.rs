//! How work in the worker shows its progress and lets messages in.

use std::cell::Cell;

use futures::future::{BoxFuture, ready};
use lake::host::{Host, Progress};
use send_wrapper::SendWrapper;

use super::turn::next_turn;

/// Milliseconds between two reports of one question's progress.
const REPORT_EVERY: f64 = 100.0;

/// Milliseconds of work after which messages are let in.
const WORK_AT_MOST: f64 = 8.0;

thread_local! {
    /// When messages were last let in. All questions share the thread, so they share this.
    static LET_IN: Cell<f64> = const { Cell::new(0.0) };
}

/// The surroundings of one question.
pub struct WorkerHost(SendWrapper<Inner>);

struct Inner {
    report: Box<dyn Fn(Progress)>,
    reported: Cell<f64>,
}

impl WorkerHost {
    /// Reports progress through `report`, and not at once: most answers are there before.
    pub fn new(report: impl Fn(Progress) + 'static) -> Self {
        Self(SendWrapper::new(Inner {
            report: Box::new(report),
            reported: Cell::new(js_sys::Date::now()),
        }))
    }
}

impl Host for WorkerHost {
    fn progress(&self, progress: Progress) {
        let now = js_sys::Date::now();
        if now - self.0.reported.get() >= REPORT_EVERY {
            self.0.reported.set(now);
            (self.0.report)(progress);
        }
    }

    /// All that are wanted: the store sends many in one request.
    fn reads(&self) -> usize {
        4096
    }

    fn pause(&self) -> BoxFuture<'static, ()> {
        if js_sys::Date::now() - LET_IN.get() < WORK_AT_MOST {
            return Box::pin(ready(()));
        }
        Box::pin(SendWrapper::new(async {
            next_turn().await;
            LET_IN.set(js_sys::Date::now());
        }))
    }
}
