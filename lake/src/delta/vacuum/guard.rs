//! What became needed since the start was committed: looked up before every batch, because others
//! go on committing and pinning while objects are deleted.

use hashbrown::HashSet;
use object_store::path::Path;

use super::planning::pinned;
use super::references::{Need, References};
use crate::Result;
use crate::answer::Root;
use crate::delta::commit::lines;
use crate::delta::log::Log;
use crate::delta::pins;
use crate::delta::tombstone::named;
use crate::host::SharedHost;
use crate::plan::Pin;
use crate::table::Version;

/// Knows what came since, as of the last look.
pub(super) struct Guard<'a> {
    root: &'a Root,
    log: Log,
    upto: Version,
    pins: HashSet<Version>,
    needed: References,
}

impl<'a> Guard<'a> {
    /// A guard that knows all commits up to `upto`, and what these pins keep.
    pub(super) fn new(root: &'a Root, log: Log, upto: Version, pins: &[Pin]) -> Self {
        Self {
            root,
            log,
            upto,
            pins: pins.iter().map(|pin| pin.version).collect(),
            needed: References::new(&root.path),
        }
    }

    /// Reads what was committed and pinned since. An error means that nobody knows what is needed.
    pub(super) async fn look(&mut self, host: &SharedHost) -> Result<()> {
        loop {
            let next = self.upto.next();
            let Some((_, bytes)) = self.log.read_commit(next).await? else {
                break;
            };
            for (number, text) in lines(&bytes) {
                let at = |e: crate::Error| e.at("line", number).at("version", next);
                if let Some(add) = named(text).map_err(at)?.add {
                    let vector = add.deletion_vector.as_ref();
                    let taken = self.needed.take(&add.path, vector, Need::Active);
                    taken.map_err(at)?;
                }
            }
            self.upto = next;
        }
        let pins = pins::list(self.root).await?;
        let new: Vec<Version> = pins.iter().map(|pin| pin.version).collect();
        for version in new.into_iter().filter(|v| !self.pins.contains(v)) {
            // Seldom: a pin that was made in the last seconds.
            let head = self.log.head().await?;
            pinned(&self.log, &head, version, &mut self.needed, host).await?;
        }
        self.pins.extend(pins.iter().map(|pin| pin.version));
        Ok(())
    }

    /// Why an object is needed after all.
    pub(super) fn needs(&self, key: &Path) -> Option<&'static str> {
        match self.needed.get(key) {
            Some((Need::Pinned, _)) => Some("pinned since"),
            Some(_) => Some("committed since"),
            None if self.needed.may_mean(key) => Some("committed since, by an absolute path"),
            None => None,
        }
    }
}
