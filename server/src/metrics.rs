//! What the server counts, and how `/metrics` says it.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters since the start. Cheap to touch from any thread.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Requests answered, by the hundred of their status.
    pub answers: [Counter; 6],
    /// Requests being answered.
    pub in_flight: Counter,
    /// Bytes of objects sent to clients.
    pub bytes_sent: Counter,
    /// Reads of an object at a store, ranges and heads included.
    pub store_gets: Counter,
    /// Listing requests at a store; a stream of pages counts once.
    pub store_lists: Counter,
    /// Writes, copies and deletes at a store.
    pub store_writes: Counter,
    /// Requests a store did not answer well; an absent object is a good answer.
    pub store_errors: Counter,
    /// Reads whose bytes came from the cache after the store confirmed them.
    pub cache_hits: Counter,
    /// Reads that could have come from the cache and did not.
    pub cache_misses: Counter,
    /// Bytes in the cache.
    pub cache_bytes: Counter,
}

/// A number that several threads change.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn one(&self) {
        self.add(1);
    }

    /// Adds `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// Takes `n` away.
    pub fn sub(&self, n: u64) {
        self.0.fetch_sub(n, Ordering::Relaxed);
    }

    /// Replaces the number.
    pub fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Metrics {
    /// Counts an answer by its status.
    pub fn answered(&self, status: u16) {
        if let Some(counter) = self.answers.get(usize::from(status / 100)) {
            counter.one();
        }
    }

    /// The counters in Prometheus' text format.
    pub fn render(&self) -> String {
        let mut out = String::new();
        let head = |name: &str, kind: &str, help: &str| {
            format!("# HELP tidemark_{name} {help}\n# TYPE tidemark_{name} {kind}\n")
        };
        out.push_str(&head("requests_total", "counter", "Requests answered."));
        for (hundred, counter) in self.answers.iter().enumerate().skip(1) {
            let _ = writeln!(
                out,
                "tidemark_requests_total{{status=\"{hundred}xx\"}} {}",
                counter.get()
            );
        }
        out.push_str(&head(
            "store_requests_total",
            "counter",
            "Requests to object stores.",
        ));
        for (operation, counter) in [
            ("get", &self.store_gets),
            ("list", &self.store_lists),
            ("write", &self.store_writes),
        ] {
            let _ = writeln!(
                out,
                "tidemark_store_requests_total{{operation=\"{operation}\"}} {}",
                counter.get()
            );
        }
        let rest = [
            (
                "requests_in_flight",
                "gauge",
                "Requests being answered.",
                &self.in_flight,
            ),
            (
                "sent_bytes_total",
                "counter",
                "Bytes of objects sent.",
                &self.bytes_sent,
            ),
            (
                "store_errors_total",
                "counter",
                "Requests an object store failed.",
                &self.store_errors,
            ),
            (
                "cache_hits_total",
                "counter",
                "Reads answered from the cache.",
                &self.cache_hits,
            ),
            (
                "cache_misses_total",
                "counter",
                "Reads the cache could not answer.",
                &self.cache_misses,
            ),
            (
                "cache_bytes",
                "gauge",
                "Bytes in the cache.",
                &self.cache_bytes,
            ),
        ];
        for (name, kind, help, counter) in rest {
            out.push_str(&head(name, kind, help));
            let _ = writeln!(out, "tidemark_{name} {}", counter.get());
        }
        out
    }
}
