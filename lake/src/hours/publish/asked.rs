//! How an hour stands, with the gate of completeness asked about the run that its marker names, and
//! answers that are kept for as long as they are true.

use std::sync::Arc;

use object_store::ObjectStore;

use super::look::Look;
use crate::Result;
use crate::host::SharedHost;
use crate::hours::day::Slot;
use crate::hours::judge::{Completeness, Evidence, Markers, Verdict, judge};
use crate::hours::letters::{Letters, stray};
use crate::hours::listing::{Object, SlotObjects, fingerprint};
use crate::hours::state::State;
use crate::hours::{Dataset, complete};
use crate::table::Time;

/// What the gate found, and in what.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// What it found, with the fingerprint of the dead letters.
    pub(crate) found: Completeness,
    /// The fingerprint of the run.
    run: String,
}

/// Asks the gate about a run; an answer that is `known` is given again where it is about the same
/// objects.
pub(crate) async fn ask(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    (run, letters): (&[Object], &Letters),
    known: Option<&Asked>,
    host: &SharedHost,
) -> Result<Asked> {
    if let Letters::Stray(key) = letters {
        let found = Completeness {
            unreadable: Some(stray(key)),
            ..Completeness::default()
        };
        let run = fingerprint(run);
        return Ok(Asked { found, run });
    }
    let letters = letters.objects();
    let of = (fingerprint(run), letters.map(fingerprint));
    let same = |known: &&Asked| known.run == of.0 && known.found.letters == of.1;
    if let Some(known) = known.filter(same) {
        return Ok(known.clone());
    }
    let mut found = complete::gate(dataset, store, run, letters, host).await?;
    found.letters = of.1;
    Ok(Asked { found, run: of.0 })
}

/// Asks the gate about the run that the current marker names; `None` where there is no gate, or no
/// run that could be scanned anyway.
pub(crate) async fn ask_of_current(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    (slot, now): (Slot, Time),
    (markers, objects): (&Markers, &SlotObjects),
    known: Option<&Asked>,
    host: &SharedHost,
) -> Result<Option<Asked>> {
    let scan = markers.marker().and_then(|marker| marker.scan(dataset));
    let (Some(_), Some(scan)) = (&dataset.complete, scan) else {
        return Ok(None);
    };
    let verdict = judged(dataset, (slot, now), (markers, objects), None);
    if [State::Lost, State::Mutated, State::Invalid].contains(&verdict.state) {
        return Ok(None);
    }
    let run: Vec<Object> = objects.below(&scan).cloned().collect();
    let letters = Letters::of(dataset, store, slot).await?;
    let asked = ask(dataset, store, (&run, &letters), known, host);
    asked.await.map(Some)
}

/// How an hour stands.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) verdict: Verdict,
    /// What the gate says of the run that is current.
    pub(crate) asked: Option<Asked>,
}

/// Judges an hour that was looked at, the gate asked.
pub(crate) async fn standing(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    (slot, now): (Slot, Time),
    seen: &Look,
    known: Option<&Asked>,
    host: &SharedHost,
) -> Result<Standing> {
    let evidence = (&seen.markers, &seen.objects);
    let asked = ask_of_current(dataset, store, (slot, now), evidence, known, host).await?;
    let found = asked.as_ref().map(|asked| &asked.found);
    let verdict = judged(dataset, (slot, now), evidence, found);
    Ok(Standing { verdict, asked })
}

/// Judges an hour by what is known.
pub(crate) fn judged(
    dataset: &Dataset,
    (slot, now): (Slot, Time),
    (markers, objects): (&Markers, &SlotObjects),
    completeness: Option<&Completeness>,
) -> Verdict {
    let evidence = Evidence {
        slot,
        markers,
        objects,
        completeness,
        now,
    };
    judge(dataset, evidence)
}

#[cfg(test)]
pub(in crate::hours) mod tests;
