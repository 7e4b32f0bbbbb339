//! What the pages about a version share.

pub mod asking;
pub mod changes;
pub mod facts;
pub mod files;
pub mod filter;
pub mod here;
pub mod json;
pub mod kept;
pub mod not_done;
pub mod paged;
pub mod partitions;
pub mod rollup;
pub mod save;
pub mod say;
pub mod sheet;
pub mod switch;
pub mod tiles;

pub use asking::asking_lake;
pub use changes::{KeyChanges, SchemaChanges};
pub use facts::{fact, key_fact, tile};
pub use files::{FileList, Files};
pub use filter::line as filter_line;
pub use here::Here;
pub use json::{Json, laid_out_text, named};
pub use kept::{Kept, pin_href, restore_key};
pub use not_done::NotDone;
pub use partitions::Partitions;
pub use save::{csv_button, json_link};
pub use say::{Say, Warnings};
pub use sheet::Sheet;
pub use switch::Switch;
pub use tiles::{DiffTiles, changed};
