//! The browser's side: the page, which shows, and the worker, which reads.

pub mod engine;
