//! Standard output, for programs and for people.

use std::io::{ErrorKind, IsTerminal as _, Write as _};

use lake::{Error, Kind, Result};
use serde::Serialize;

/// Prints one JSON document: indented on a terminal, on one line elsewhere.
pub(super) fn json(value: &impl Serialize) -> Result<()> {
    let text = match std::io::stdout().is_terminal() {
        true => serde_json::to_string_pretty(value),
        false => serde_json::to_string(value),
    };
    let text = text.map_err(|e| Error::new(Kind::Internal, "the answer is not JSON").because(e))?;
    out(&format!("{text}\n"))
}

/// Prints text. Whoever reads may stop reading: that is no error.
pub(super) fn out(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Error::invalid("the answer cannot be written to standard output").because(e)),
        Ok(()) => Ok(()),
    }
}
