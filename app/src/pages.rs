//! One module a page.

pub mod audit;
pub mod closed;
pub mod commit;
pub mod common;
pub mod dataset_layout;
pub mod diff;
pub mod file;
pub mod hour;
pub mod hours;
pub mod lake;
pub mod layout;
pub mod maintenance;
pub mod nothing;
pub mod restore;
pub mod snapshot;
pub mod timeline;
pub mod unknown;
pub mod zones;
