//! Everything that crosses a crate, in one binary, so that it is linked once.

mod browser;
mod compact;
mod damage;
mod engines;
mod flow;
mod killed;
mod optimize;
mod peers;
mod publish;
mod race;
mod readme;
mod reads;
mod rebuild;
mod restore;
mod sample;
mod stores;
mod time_travel;
mod upkeep;
mod vacuum;
