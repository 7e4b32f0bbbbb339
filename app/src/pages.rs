//! One module a page.

pub mod audit;
pub mod commit;
pub mod common;
pub mod diff;
pub mod file;
pub mod lake;
pub mod layout;
pub mod maintenance;
pub mod restore;
pub mod snapshot;
pub mod timeline;
pub mod unknown;
