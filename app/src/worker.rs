//! The worker: answers the page's questions with `lake`, over the server's reads.

pub mod desk;
pub mod host;
pub mod roots;
pub mod store;
pub mod turn;

pub use desk::start;
