//! Delta Lake: the log, its replay, its history.

pub mod action;
pub(crate) mod changes;
pub(crate) mod checkpoint;
pub mod commit;
pub mod features;
pub mod files;
pub(crate) mod history;
pub(crate) mod key;
pub mod log;
pub mod path;
pub(crate) mod presence;
pub(crate) mod rebuild;
pub(crate) mod removed;
pub(crate) mod replay;
#[cfg(feature = "write")]
pub mod restore;
pub mod schema;
pub(crate) mod segment;
pub mod snapshot;
pub mod stats;
pub(crate) mod time;
pub mod vector;
#[cfg(feature = "write")]
pub(crate) mod verbatim;
#[cfg(feature = "write")]
pub mod write;
