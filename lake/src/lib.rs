//! What a lakehouse table is, from bytes to values.
//!
//! Everything here reads through [`object_store::ObjectStore`] and returns values. There is no
//! HTTP, no user interface, no clock, no thread and no file in this crate: the same code answers in
//! a browser's worker and next to the bucket. What needs the time is given it.

#![warn(missing_docs)]

pub mod answer;
pub mod delta;
pub mod diff;
pub mod error;
pub mod host;
pub mod layout;
pub mod parquet;
pub mod schema;
pub mod store;
pub mod table;
pub mod wire;

pub use error::{Error, Kind, Result};
