//! Writing to a table: one commit is one create-if-absent of one key (PROTOCOL, "Delta Log
//! Entries"), recognised as ours by its `txnId`, read back and proven.

mod arrived;
mod back;
mod body;
mod columns;
mod digest;
mod duration;
mod gate;
mod info;
mod partitions;
mod protocol;
mod put;
mod remove;
mod row_ids;
mod upkeep;

pub use crate::store::probe::{Probed, probe};
pub(crate) use arrived::{arrived, commit_in_words};
pub(crate) use back::{prove_files, read_back, unproven};
pub(crate) use body::{Body, Line};
pub use columns::{CheckpointWriter, Columns};
pub(crate) use digest::Digest;
pub use duration::{duration, duration_in_words};
pub(crate) use gate::{exhausted, is_true, refusal};
pub(crate) use info::{Info, in_commit_timestamps, zoneless};
pub use partitions::Partitions;
pub(crate) use partitions::{check_partitions, selected};
pub(crate) use protocol::merge;
pub(crate) use put::{Stands, TRIES, put_commit};
pub(crate) use remove::as_remove;
pub(crate) use row_ids::{BASE_ROW_ID, RowIds, SINCE_VERSION};
pub use upkeep::{checkpoint, upkeep};

use crate::table::Time;

/// Who acts, and what is random or late by nature. Nothing of it is part of a plan.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The instant of the commit.
    pub now: Time,
    /// A random id that tells this attempt's commit from every other.
    pub txn_id: String,
    /// Who.
    pub user: Option<String>,
    /// Why, in the person's words.
    pub reason: Option<String>,
    /// The program that writes: `tidemark/0.1.0`.
    pub engine: String,
}
