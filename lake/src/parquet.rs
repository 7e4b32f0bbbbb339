//! Parquet files: reading them by ranges, and what is in them.

pub mod batches;
mod bind;
mod cell;
mod codec;
mod fetch;
pub mod file;
mod footer;
mod group;
mod guard;
mod heads;
mod index;
mod logical;
#[cfg(feature = "write")]
pub(crate) mod output;
mod pages;
mod positions;
mod preview;
mod ranges;
pub mod reader;
mod scalar;
pub(crate) mod schema;
#[cfg(feature = "write")]
pub(crate) mod slices;
mod statistics;
mod thrift;
mod value;
mod walk;
