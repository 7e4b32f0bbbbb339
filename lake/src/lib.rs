//! What a lakehouse table is, from bytes to values.
//!
//! Everything here reads through [`object_store::ObjectStore`] and returns values. There is no
//! HTTP, no user interface, no clock, no thread and no file in this crate: the same code answers in
//! a browser's worker and next to the bucket. What needs the time is given it.
//!
//! Without the feature `read` there are the values alone: what the page shows, and nothing that
//! finds it.

#![warn(missing_docs)]

#[cfg(feature = "read")]
pub mod answer;
#[cfg(feature = "read")]
pub mod delta;
#[cfg(feature = "read")]
pub mod diff;
pub mod error;
pub mod figures;
pub mod host;
pub mod hours;
#[cfg(feature = "read")]
pub mod layout;
#[cfg(feature = "read")]
pub mod parquet;
pub mod plan;
pub mod predicate;
pub mod schema;
#[cfg(feature = "read")]
pub mod store;
pub mod table;
pub mod wire;

pub use error::{Error, Kind, Result};
