//! Parquet files: reading them by ranges, and what is in them.

pub mod file;
pub mod reader;
