//! Everything that crosses a crate, in one binary, so that it is linked once.

mod browser;
mod stores;
