//! How far it is, on standard error, for what takes over a second: a bar on a terminal, and lines of
//! JSON where a program reads.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use lake::host::{Host, Progress, Work};
use lake::table::Time;
use serde_json::{Value, json};

use crate::acts::now;

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two drawings of the bar.
const FRAME: Duration = Duration::from_millis(100);

/// Time between two lines.
const LINE: Duration = Duration::from_secs(1);

/// Whom it is shown to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nobody,
    /// A person: one line, drawn over and over.
    Person,
    /// A program: an object a line, in the shape of a job.
    Program,
}

/// What the surroundings of a command tell of it.
pub(super) struct Bar {
    shown: Shown,
    started: (Instant, Time),
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    drawn: Option<Instant>,
    bytes: Option<(u64, u64)>,
}

impl Bar {
    /// One that has shown nothing yet; in lines, where the answer is a document.
    pub(super) fn new(json: bool) -> Self {
        let shown = match (json, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Program,
            (false, true) => Shown::Person,
            (false, false) => Shown::Nobody,
        };
        Self {
            shown,
            started: (Instant::now(), now()),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Bar {
    fn progress(&self, progress: Progress) {
        if self.shown == Shown::Nobody || self.started.0.elapsed() < PATIENCE {
            return;
        }
        let apart = match self.shown {
            Shown::Program => LINE,
            _ => FRAME,
        };
        let mut state = self.state();
        if state.drawn.is_some_and(|at| at.elapsed() < apart) {
            return;
        }
        state.drawn = Some(Instant::now());
        let _ = match self.shown {
            Shown::Program => {
                let job = job(&progress, state.bytes, self.started.1);
                writeln!(std::io::stderr(), "{job}")
            }
            _ => write!(std::io::stderr(), "\r\x1b[K{}", line(&progress)),
        };
    }

    fn bytes(&self, done: u64, of: u64) {
        self.state().bytes = Some((done, of));
    }

    fn pause(&self) -> BoxFuture<'static, ()> {
        Box::pin(tokio::task::yield_now())
    }

    fn wait(&self, millis: u64) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(millis)))
    }

    fn lanes(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        // What it gives is told on its own channel, and so is that it panicked: by its silence.
        let running = tokio::task::spawn_blocking(work);
        Box::pin(running.map(drop))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let drawn = state.unwrap_or_else(PoisonError::into_inner).drawn;
        if drawn.is_some() && self.shown == Shown::Person {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// A job's shape. What a command knows at its end alone, or has none of, is null.
fn job(progress: &Progress, bytes: Option<(u64, u64)>, started: Time) -> Value {
    json!({
        "id": null, "kind": null, "location": null, "plan_id": null, "state": "running",
        "by": null, "started": started, "ended": null,
        "step": progress.step, "done": progress.done, "of": progress.of,
        "bytes_done": bytes.map_or(0, |(done, _)| done), "bytes_of": bytes.map(|(_, of)| of),
        "error": null, "result": null,
    })
}

fn line(progress: &Progress) -> String {
    const WIDTH: u64 = 24;
    let step = super::text::short(&progress.step, 40);
    match progress.of {
        Some(of) if of > 0 => {
            let done = progress.done.min(of);
            let filled = (u128::from(done) * u128::from(WIDTH) / u128::from(of)) as usize;
            let bar: String = "#".repeat(filled) + &"-".repeat(WIDTH as usize - filled);
            let percent = u128::from(done) * 100 / u128::from(of);
            let (done, of) = (super::text::count(done), super::text::count(of));
            format!("[{bar}] {percent:>3}%  {done} of {of}  {step}")
        }
        _ => format!("{}  {step}", super::text::count(progress.done)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_is() {
        let progress = |done, of| Progress {
            step: "reading checkpoint".to_owned(),
            done,
            of,
        };
        assert_eq!(
            line(&progress(512, Some(1024))),
            "[############------------]  50%  512 of 1,024  reading checkpoint"
        );
        assert_eq!(line(&progress(7, None)), "7  reading checkpoint");
        assert!(line(&progress(9, Some(3))).contains("100%"));
    }

    #[test]
    fn a_program_reads_a_job() {
        let progress = Progress {
            step: "packing objects".to_owned(),
            done: 7,
            of: Some(9),
        };
        let told = job(&progress, Some((70, 90)), Time(1_762_783_500_000));
        let told: serde_json::Map<String, Value> = serde_json::from_value(told).unwrap();
        assert_eq!(told["state"], "running");
        assert_eq!(told["started"], "2025-11-10T14:05:00.000Z");
        assert_eq!((&told["done"], &told["of"]), (&json!(7), &json!(9)));
        let bytes = (&told["bytes_done"], &told["bytes_of"]);
        assert_eq!(bytes, (&json!(70), &json!(90)));
        assert_eq!(job(&progress, None, Time(0))["bytes_of"], Value::Null);
    }
}
