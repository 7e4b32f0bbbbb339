//! Whether an hour is whole, before anything of it goes: the run that has what is missing may be an
//! older one.

use std::collections::BTreeMap;
use std::sync::Arc;

use object_store::ObjectStore;

use super::rules::{Decided, decide};
use crate::host::SharedHost;
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::judge::Markers;
use crate::hours::listing::SlotObjects;
use crate::hours::publish::asked::{Asked, ask_of_current};
use crate::table::Time;
use crate::{Kind, Result};

/// What the gate said of hours of which something goes.
pub(super) type Known = BTreeMap<Slot, Asked>;

/// Decides what of an hour goes. Where something would and a gate is declared, it is asked, unless an
/// answer is known that is still true; nothing goes of an hour that it does not let pass, or of which
/// it cannot be asked.
pub(super) async fn decided(
    (dataset, store, slot): (&Dataset, &Arc<dyn ObjectStore>, Slot),
    evidence: (&Markers, &SlotObjects),
    (now, audit): (Time, i64),
    known: &mut Known,
    host: &SharedHost,
) -> Result<Decided> {
    let unasked = decide(dataset, slot, evidence, None, (now, audit));
    if unasked.groups.is_empty() || dataset.complete.is_none() {
        return Ok(unasked);
    }
    let before = known.get(&slot);
    let asked = ask_of_current(dataset, store, (slot, now), evidence, before, host).await;
    let why = match asked {
        Ok(Some(asked)) => {
            let again = decide(dataset, slot, evidence, Some(&asked.found), (now, audit));
            if !again.groups.is_empty() {
                known.insert(slot, asked);
            }
            return Ok(again);
        }
        Ok(None) => "no run of it can be read".to_owned(),
        Err(error) if error.kind() == Kind::Cancelled => return Err(error),
        Err(error) => error.to_string(),
    };
    let why = format!("nobody can say whether the hour is complete: {why}");
    Ok(unasked.withhold(&why))
}

#[cfg(test)]
mod tests;
