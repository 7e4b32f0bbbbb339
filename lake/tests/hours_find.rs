//! Finding the hours of a dataset: what it costs, and what is remembered.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "hours_find/bed.rs"]
mod bed;
#[path = "hours_find/cost.rs"]
mod cost;
#[path = "hours_find/memory.rs"]
mod memory;
#[path = "hours_find/reports.rs"]
mod reports;
