//! Pins, signed and timed here.

pub mod answers;

use lake::answer::Root;
use lake::delta::pins;
use lake::delta::write::probe;
use lake::figures::counted;
use lake::host::SharedHost;
use lake::plan::{Pin, PinRequest, Pins};
use lake::{Error, Result};
use uuid::Uuid;

use super::{bounded, is_table, now};

/// All pins of a table.
pub async fn pins(root: &Root) -> Result<Pins> {
    is_table(root).await?;
    pins::show(root).await
}

/// Pins a version under a name that is free.
pub async fn pin(
    root: &Root,
    name: &str,
    asked: PinRequest,
    by: Option<String>,
    host: &SharedHost,
) -> Result<Pin> {
    let pin = Pin {
        name: name.to_owned(),
        version: asked.version,
        by,
        reason: bounded(asked.reason)?,
        at: now(),
    };
    if !asked.allow_missing {
        let absent = pins::absent(root, pin.version, host).await?;
        if let Some(first) = absent.first() {
            return Err(Error::not_found(format!(
                "version {} cannot be pinned whole: {} that it needs not in the store \
                 any more, `{first}` among them; --allow-missing (`allow_missing`) pins what is left",
                pin.version,
                counted(absent.len() as u64, "object")
            )));
        }
    }
    // A store that would overwrite could move somebody else's pin.
    probe(&root.store, &root.path, &Uuid::new_v4().to_string()).await?;
    pins::pin(root, &pin, host).await?;
    Ok(pin)
}

/// Takes a pin away.
pub async fn unpin(root: &Root, name: &str, host: &SharedHost) -> Result<()> {
    is_table(root).await?;
    pins::unpin(root, name, host).await
}
