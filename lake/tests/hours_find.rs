//! Finding the hours of a dataset: what it costs, and what is remembered.

#![expect(clippy::unwrap_used, reason = "a test may panic; that is how it fails")]

#[path = "hours_find/bed.rs"]
mod bed;
#[path = "hours_find/cost.rs"]
mod cost;
#[path = "hours_find/gated.rs"]
mod gated;
#[path = "hours_find/memory.rs"]
mod memory;
#[path = "hours_find/ranged.rs"]
mod ranged;
#[path = "hours_find/reports.rs"]
mod reports;
