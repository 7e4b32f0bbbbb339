//! What tells the files of a version apart (PROTOCOL, "Action Reconciliation").

use super::path::canonical;
use super::vector::Descriptor;

/// See [`key`].
pub(crate) type Key = Box<[u8]>;

/// What a file is known by: its path and its deletion vector's id.
pub(crate) fn key(path: &str, vector: Option<&Descriptor>) -> Key {
    let mut key = canonical(path).into_owned().into_bytes();
    if let Some(vector) = vector {
        key.push(0);
        key.extend_from_slice(vector.unique_id().as_bytes());
    }
    key.into_boxed_slice()
}
