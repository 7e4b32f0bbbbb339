//! A progress bar on a terminal, for what takes over a second.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use lake::host::{Host, Progress, Work};

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two drawings.
const FRAME: Duration = Duration::from_millis(100);

/// Draws on standard error where that is a terminal.
pub(super) struct Bar {
    shown: bool,
    started: Instant,
    drawn: Mutex<Option<Instant>>,
}

impl Bar {
    /// A bar that has shown nothing yet.
    pub(super) fn new() -> Self {
        Self {
            shown: std::io::stderr().is_terminal(),
            started: Instant::now(),
            drawn: Mutex::new(None),
        }
    }
}

impl Host for Bar {
    fn progress(&self, progress: Progress) {
        if !self.shown || self.started.elapsed() < PATIENCE {
            return;
        }
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.is_some_and(|at| at.elapsed() < FRAME) {
            return;
        }
        *drawn = Some(Instant::now());
        let _ = write!(std::io::stderr(), "\r\x1b[K{}", line(&progress));
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
        let drawn = self.drawn.get_mut().unwrap_or_else(PoisonError::into_inner);
        if drawn.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
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
}
