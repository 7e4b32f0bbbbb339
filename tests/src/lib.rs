//! What tests share: tables in a named state or of a great size, and fixtures: what Tidemark is set
//! against, started for a test and ended with it.

#![warn(missing_docs)]

pub mod asking;
pub mod big;
pub mod blocked;
pub mod chromium;
pub mod closed_hours;
pub mod hive;
pub mod hour;
pub mod place;
pub mod process;
pub mod relay;
pub mod script;
pub mod scrolled;
pub mod seaweed;
pub mod served;
pub mod table;
pub mod threads;
pub mod trino;
pub mod webdriver;
pub mod wire;

pub use table::{Built, Hint, Layout, TableBuilder};

/// A client of HTTP, for a test to set more on.
pub fn http() -> reqwest::ClientBuilder {
    // A client wants to know its encryption before it knows whether it will need any.
    server::stores::encryption();
    reqwest::Client::builder()
}
