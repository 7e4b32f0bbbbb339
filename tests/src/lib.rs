//! What the tests of several crates share: tables in a named state, and tables of a great size.

#![expect(
    clippy::unwrap_used,
    reason = "a test tool that fails has to stop its test"
)]

pub mod big;
pub mod table;

pub use table::{Built, Hint, Layout, TableBuilder};
