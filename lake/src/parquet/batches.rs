//! Decoding, and the one place where a decoder's panic becomes an error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use arrow_array::RecordBatch;

use crate::{Error, Result};

/// Batches of rows, decoded as they are asked for. After an error there are no more.
///
/// The footer and the page headers are checked before anything is decoded, but the parquet crate
/// still panics on some of what compressed pages hold: a bit width beyond its type, values of a
/// dictionary that never came. Such bytes are found out only by decompressing them, which would be
/// decoding them twice, so the panic is caught here and said as damage. Where panics abort, as in
/// the browser, nothing catches them: there the worker ends, and the page starts another.
pub struct Batches {
    reader: Option<ParquetRecordBatchReader>,
}

impl Batches {
    pub(crate) fn new(reader: ParquetRecordBatchReader) -> Self {
        Self {
            reader: Some(reader),
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let batch = match caught(|| reader.next()) {
            Ok(batch) => batch?.map_err(Error::from),
            Err(error) => Err(error),
        };
        if batch.is_err() {
            self.reader = None;
        }
        Some(batch)
    }
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread becomes an error now: then a hook has nothing to print.
pub fn catching() -> bool {
    CATCHING.get()
}

/// What `decode` gives, or an error where it panics. What it left half done must not be used.
pub(crate) fn caught<T>(decode: impl FnOnce() -> T) -> Result<T> {
    let before = CATCHING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    CATCHING.set(before);
    done.map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        let said = said.unwrap_or("no reason given");
        Error::damaged(format!("columns cannot be decoded: {said}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_words() {
        let error = caught::<()>(|| panic!("bit width {}", 99)).unwrap_err();
        assert_eq!(error.kind(), crate::Kind::Damaged);
        assert!(error.message().contains("bit width 99"), "{error}");
        assert_eq!(caught(|| 5).unwrap(), 5);
        assert!(caught(catching).unwrap() && !catching());
    }
}
