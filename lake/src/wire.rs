//! What page, worker and server say to each other.
//!
//! The reports are the JSON of the command line too, so a figure has one shape everywhere.
//! Versions are decimal strings, times RFC 3339 UTC with milliseconds, unknown is `null`.

pub mod ask;
pub mod file;
pub mod frame;
pub mod http;
pub mod report;

pub use ask::{Answer, Ask, Envelope, FileSort, FilesQuery, HistoryQuery, Message, TableRef};
pub use report::*;
