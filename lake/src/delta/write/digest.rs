//! What makes two plans the same: a digest of all that they would do.

use serde::Serialize;
use sha2::Digest as _;
use sha2::Sha256;

use crate::{Error, Kind, Result};

/// A plan's id in the making: values taken one after another, as JSON spells them. What is random
/// or late by nature is left out by whoever makes it.
#[derive(Default)]
pub(crate) struct Digest(Sha256);

impl Digest {
    /// Takes a value.
    pub(crate) fn take(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(value)
            .map_err(|e| Error::new(Kind::Internal, "a plan that JSON cannot hold").because(e))?;
        self.0.update(text);
        self.0.update(b"\n");
        Ok(())
    }

    /// The id, in hexadecimal.
    pub(crate) fn finish(self) -> String {
        let bytes = self.0.finalize();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
