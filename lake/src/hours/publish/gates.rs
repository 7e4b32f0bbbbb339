//! What a run must pass before a marker names it: the contract of its columns, its grain, and
//! completeness.

use std::sync::Arc;

use object_store::ObjectStore;

use super::asked::{Asked, ask};
use crate::Result;
use crate::figures::counted;
use crate::host::SharedHost;
use crate::hours::columns::of_file;
use crate::hours::day::Slot;
use crate::hours::judge::Completeness;
use crate::hours::letters::Letters;
use crate::hours::listing::Object;
use crate::hours::{Dataset, contract};
use crate::table::Time;
use crate::wire::{Finding, Severity};

/// What the gates found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gated {
    /// What the contract has against the run.
    pub(crate) findings: Vec<Finding>,
    /// The newest event by the files' own statistics.
    pub(crate) newest: Option<Time>,
    /// What the gate of completeness said.
    pub(crate) asked: Option<Asked>,
    /// Rows that repeat the grain of a row before them, where that was looked for.
    pub(crate) repeated: Option<u64>,
    /// What whoever publishes should know.
    pub(crate) warnings: Vec<String>,
    /// Why the run may not be published.
    pub(crate) refused: Option<String>,
}

/// Puts a run to them. Each is asked only where the one before lets the run pass: the later ones
/// read more. `known` is what the gate of completeness said a while ago.
pub(crate) async fn gates(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
    run: &[Object],
    known: Option<&Asked>,
    host: &SharedHost,
) -> Result<Gated> {
    let mut gated = Gated::default();
    let declares = dataset.event_time.is_some()
        || !dataset.prohibited_columns.is_empty()
        || !dataset.columns.is_empty();
    if declares {
        let found = contract::check(dataset, store, slot, run, host).await?;
        gated.findings = found.findings;
        gated.newest = found.max_event_time;
        gated.refused = found.blocks;
    }
    if gated.refused.is_none() {
        grain(dataset, store, run, &mut gated, host).await?;
    }
    if let (None, Some(rule)) = (&gated.refused, &dataset.complete) {
        let letters = Letters::of(dataset, store, slot).await?;
        let asked = ask(dataset, store, (run, &letters), known, host).await?;
        if !asked.found.passes(rule.report) {
            gated.refused = Some(incomplete(&asked.found, rule.report));
        }
        gated.asked = Some(asked);
    }
    Ok(gated)
}

/// Counts the rows that repeat the grain of another. Where an event may be delivered twice, that is
/// told and forbids nothing, and neither does a file that lacks the columns.
async fn grain(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    run: &[Object],
    gated: &mut Gated,
    host: &SharedHost,
) -> Result<()> {
    if dataset.grain.is_empty() {
        return Ok(());
    }
    let blocks = contract::grain_blocks(dataset);
    let message = match contract::grain_duplicates(dataset, store, run, host).await {
        Ok(repeated) => {
            gated.repeated = Some(repeated);
            if repeated == 0 {
                return Ok(());
            }
            format!(
                "{} the grain ({}) of a row before them",
                match repeated {
                    1 => "1 row repeats".to_owned(),
                    n => format!("{n} rows repeat"),
                },
                dataset.grain.join(", ")
            )
        }
        Err(error) if !blocks && of_file(&error) => {
            format!("rows that repeat the grain were not counted: {error}")
        }
        Err(error) => return Err(error),
    };
    gated.findings.push(Finding {
        severity: match blocks {
            true => Severity::Error,
            false => Severity::Warning,
        },
        rule: "grain".to_owned(),
        location: None,
        message: message.clone(),
    });
    match blocks {
        true => gated.refused = Some(message),
        false => gated.warnings.push(message),
    }
    Ok(())
}

/// Why the gate does not let a run pass, with its figures.
pub(crate) fn incomplete(found: &Completeness, report: bool) -> String {
    let mut why = Vec::new();
    why.extend(found.unreadable.clone());
    if found.missing > 0 {
        why.push(format!(
            "{} of {} neither landed nor dead-lettered",
            counted(found.missing, "line"),
            counted(found.orders, "order")
        ));
    }
    if found.dead_lettered > 0 && !report {
        why.push(format!(
            "{} only among the dead letters",
            counted(found.dead_lettered, "line")
        ));
    }
    format!("the hour is not complete: {}", why.join("; "))
}
