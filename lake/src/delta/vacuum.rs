//! VACUUM: objects below a table's root that no version needs any more, deleted or moved aside.
//!
//! What counts as the table's own and what is committed follows Spark; what Spark would delete of
//! other tables inside this one is left alone.

mod apply;
mod digest;
mod find;
mod guard;
mod log;
mod past;
mod planning;
mod quarantine;
mod references;
mod retention;
mod rules;
mod writer;

use std::sync::Arc;

use object_store::path::Path;

use super::action::Metadata;
use super::log::Log;
use super::write::arrived;
use crate::answer::Root;
use crate::host::SharedHost;
use crate::plan::{Leftover, Plan};
use crate::table::{Time, Version};
use crate::{Error, Result};
pub use apply::{Vacuumed, apply};
use digest::digest;
use planning::{Planned, Planning};
pub(crate) use quarantine::aside;
pub use quarantine::{empty_quarantine, list_quarantine, put_back};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Milliseconds that unreferenced objects are kept for; `None` for what the table says.
    pub retain: Option<i64>,
    /// Let `retain` be shorter than what the table says.
    pub allow_short: bool,
    /// Let it be below an hour: true for a local disk alone.
    pub below_an_hour: bool,
    /// Move aside instead of deleting.
    pub quarantine: bool,
    /// The instant taken as now, by the store's clock.
    pub as_of: Time,
    /// The newest version as the caller knows it; another one is [`crate::Kind::Conflict`].
    pub expect: Option<Version>,
}

/// A plan with all that is needed to carry it out.
#[derive(Debug)]
pub struct Vacuum {
    /// What a person reads.
    pub plan: Plan,
    root: Root,
    request: Request,
    store_time: Time,
    metadata: Metadata,
    head_time: Option<Time>,
    /// Folders that were looked through.
    folders: u64,
    /// Some of the active files that were there.
    sample: Vec<Path>,
}

impl Vacuum {
    /// The objects to delete, by key.
    fn objects(&self) -> &[Leftover] {
        let detail = self.plan.vacuum.as_ref();
        detail.map_or(&[], |detail| &detail.objects)
    }

    fn log(&self) -> Log {
        Log::new(Arc::clone(&self.root.store), self.root.path.clone())
    }

    /// Leaves out what is not among `shown`, which is sorted by key: nobody read of it.
    fn restrict(&mut self, shown: &[Leftover]) {
        let Some(detail) = self.plan.vacuum.as_mut() else {
            return;
        };
        detail.objects.retain(|object| {
            let found = shown.binary_search_by(|other| other.key.cmp(&object.key));
            found.is_ok()
        });
        self.plan.files_to_delete = detail.objects.len() as u64;
        self.plan.bytes_to_delete = bytes(&detail.objects);
        if detail.objects.is_empty() && self.plan.refused.is_none() {
            self.plan.refused = Some("nothing to do: every object is needed again".to_owned());
        }
    }
}

/// Plans a vacuum. A refusal is a plan that says why; an error means that there is no plan.
///
/// `store_time` is the store's own clock, which objects are stamped by (see
/// [`super::write::probe`]). Nothing is taken as older than that clock and `as_of` both say.
pub async fn plan(
    root: &Root,
    request: &Request,
    store_time: Time,
    host: &SharedHost,
) -> Result<Vacuum> {
    let log = Log::new(Arc::clone(&root.store), root.path.clone());
    let head = log.head().await?;
    if let Some(expected) = request.expect
        && expected != head.latest
    {
        return Err(arrived(&log, &head, expected, host).await);
    }
    let base = log.snapshot(&head, head.latest, host).await?;
    let as_of = request.as_of.min(store_time);
    let planning = Planning {
        root,
        log: &log,
        head: &head,
        request,
        base: &base,
        as_of,
        host,
    };
    let Planned {
        plan,
        folders,
        sample,
    } = planning.plan().await?;
    let mut vacuum = Vacuum {
        plan,
        root: root.clone(),
        request: Request {
            as_of,
            expect: None,
            ..request.clone()
        },
        store_time,
        head_time: base.state.timestamp,
        metadata: base.state.metadata,
        folders,
        sample,
    };
    vacuum.plan.id = digest(&vacuum)?;
    Ok(vacuum)
}

fn bytes(objects: &[Leftover]) -> u64 {
    let bytes = objects.iter().map(|object| object.bytes);
    bytes.fold(0, u64::saturating_add)
}

/// The key of an object below the root, to the letter.
fn full_key(root: &Path, key: &str) -> Result<Path> {
    Path::parse(format!("{root}/{key}"))
        .map_err(|e| Error::invalid("not a key").because(e).at("key", key))
}
