//! Reads of a zone's objects: fence, sign, stream.

pub mod batch;
pub mod fetch;
pub mod key;
pub mod list;
pub mod object;
pub mod query;
pub mod range;

#[cfg(test)]
mod tests;
