//! Pins, signed and timed here.

pub mod answers;

use lake::Result;
use lake::answer::Root;
use lake::delta::pins;
use lake::delta::write::probe;
use lake::host::SharedHost;
use lake::plan::{Pin, Pins};
use lake::table::Version;
use uuid::Uuid;

use super::now;

/// All pins of a table.
pub async fn pins(root: &Root) -> Result<Pins> {
    Ok(Pins {
        pins: pins::list(root).await?,
    })
}

/// Pins a version under a name that is free.
pub async fn pin(
    root: &Root,
    name: &str,
    version: Version,
    (by, reason): (Option<String>, Option<String>),
    host: &SharedHost,
) -> Result<Pin> {
    let pin = Pin {
        name: name.to_owned(),
        version,
        by,
        reason,
        at: now(),
    };
    // A store that would overwrite could move somebody else's pin.
    probe(&root.store, &root.path, &Uuid::new_v4().to_string()).await?;
    pins::pin(root, &pin, host).await?;
    Ok(pin)
}

/// Takes a pin away.
pub async fn unpin(root: &Root, name: &str, host: &SharedHost) -> Result<()> {
    pins::unpin(root, name, host).await
}
