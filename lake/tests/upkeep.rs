//! What is written after a commit: checkpoints, the hint that names them, version checksums.

#![cfg(feature = "write")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the corpus from the disk"
)]

#[path = "upkeep/checksums.rs"]
mod checksums;
#[path = "upkeep/content.rs"]
mod content;
#[path = "upkeep/corpus.rs"]
mod corpus;
#[path = "upkeep/faults.rs"]
mod faults;
#[path = "upkeep/hint.rs"]
mod hint;
#[path = "faults/kinds.rs"]
mod kinds;
#[path = "upkeep/rows.rs"]
mod rows;
#[path = "upkeep/statistics.rs"]
mod statistics;
#[path = "upkeep/table.rs"]
mod table;
