//! Which hours of a dataset are closed: hive partitions, publication markers, and what they prove.
//!
//! A dataset is a prefix of plain files below `event_date=…/hour=…/`. One object is atomic, a
//! prefix is not, so no listing is a version here: an hour may be read only once a marker names a
//! run, and the run is what the marker says. [`judge`] is that rule, pure; everything else finds
//! what it judges, or acts on it.

#[cfg(feature = "read")]
pub mod closed;
#[cfg(feature = "read")]
mod columns;
#[cfg(feature = "write")]
pub mod compact;
#[cfg(feature = "read")]
pub mod complete;
#[cfg(feature = "read")]
pub mod contract;
#[cfg(feature = "read")]
pub mod dataset;
pub mod day;
#[cfg(feature = "write")]
pub mod expire;
#[cfg(feature = "read")]
pub mod find;
#[cfg(feature = "read")]
#[cfg(test)]
mod fixture;
#[cfg(feature = "read")]
pub mod foreign;
#[cfg(feature = "read")]
pub mod judge;
#[cfg(feature = "read")]
pub mod key;
#[cfg(feature = "read")]
pub mod kind;
#[cfg(feature = "read")]
mod letters;
#[cfg(feature = "read")]
pub mod lint;
#[cfg(feature = "read")]
pub mod listing;
#[cfg(feature = "read")]
pub mod marker;
#[cfg(feature = "write")]
pub mod pins;
#[cfg(feature = "write")]
pub mod publish;
#[cfg(feature = "read")]
mod spelled;
pub mod state;
#[cfg(feature = "read")]
pub mod statement;
#[cfg(feature = "read")]
pub mod taken;
#[cfg(feature = "read")]
pub mod template;

#[cfg(feature = "read")]
pub use dataset::Dataset;
pub use day::{Day, Slot};
#[cfg(feature = "read")]
pub use marker::Marker;
pub use state::{Reason, Remark, State};
