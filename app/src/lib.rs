//! The browser's side: the page, which shows, and the worker, which reads.

pub mod acts;
pub mod app;
pub mod asked;
pub mod copy;
pub mod engine;
pub mod format;
pub mod geometry;
pub mod keys;
pub mod late;
pub mod markup;
pub mod message;
pub mod nav;
pub mod order;
pub mod pages;
pub mod parts;
pub mod route;
pub mod session;
pub mod signals;
pub mod theme;
pub mod words;
#[cfg(feature = "worker")]
pub mod worker;
