//! What page, worker and server say to each other.
//!
//! The reports are the JSON of the command line too, so a figure has one shape everywhere.
//! Versions are decimal strings, times RFC 3339 UTC with milliseconds, unknown is `null`.

pub mod ask;
mod diff;
mod error;
pub mod file;
#[cfg(feature = "read")]
pub mod frame;
mod history;
pub mod hours;
pub mod http;
mod layout;
mod snapshot;
pub mod zones;

pub use ask::{Answer, Ask, Envelope, FileSort, FilesQuery, HistoryQuery, Message, TableRef};
pub use diff::*;
pub use error::ErrorReport;
pub use history::*;
pub use layout::*;
pub use snapshot::*;
