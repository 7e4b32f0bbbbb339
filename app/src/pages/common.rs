//! What the pages about a version share.

mod changes;
mod facts;
mod files;
mod filter;
mod here;
mod json;
mod paged;
mod partitions;
mod rollup;
mod say;
mod switch;
mod tiles;

pub(super) use changes::{KeyChanges, SchemaChanges};
pub(super) use facts::{fact, key_fact, tile};
pub(super) use files::{FileList, Files};
pub(super) use filter::line as filter_line;
pub(super) use here::Here;
pub(super) use json::{Json, laid_out_text};
pub(super) use partitions::Partitions;
pub(super) use say::{Say, Warnings};
pub(super) use switch::Switch;
pub(super) use tiles::DiffTiles;
