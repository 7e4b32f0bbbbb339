//! Everything that crosses a crate, in one binary, so that it is linked once.

mod browser;
mod damage;
mod peers;
mod sample;
mod stores;
