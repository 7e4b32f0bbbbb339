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
mod pages;
mod positions;
mod preview;
pub mod reader;
mod scalar;
mod statistics;
mod thrift;
mod walk;
