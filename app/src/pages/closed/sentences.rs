//! What is to be said of the hours of all datasets, worst first: pure sums over what was read.

use std::sync::Arc;

use lake::hours::{Slot, State};
use lake::wire::hours::{GridReport, HourRow};
use lake::wire::http::LakeReport;

use crate::pages::hours::inputs::{Unclosed, unclosed};
use crate::route::Route;

/// One sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Sentence {
    /// Hours that need a person: the worst and newest of them, why, and how many others there are.
    Hours {
        dataset: String,
        slot: Slot,
        state: State,
        why: String,
        more: u64,
    },
    /// Hours that are correct and badly stored.
    Budget {
        dataset: String,
        slot: Slot,
        hours: u64,
        owner: Option<String>,
    },
    /// A dataset or a table that cannot go on before an input has.
    Waits {
        reader: String,
        href: String,
        input: Unclosed,
    },
}

impl Sentence {
    /// Worst first; who waits comes after what is waited for.
    fn rank(&self) -> (State, bool) {
        match self {
            Self::Hours { state, .. } => (*state, false),
            Self::Waits { .. } => (State::Late, true),
            Self::Budget { .. } => (State::OverBudget, false),
        }
    }
}

/// What there is to say, worst first. `reports` are those of the lake's datasets in their order, as
/// far as they have come.
pub fn sentences(lake: &LakeReport, reports: &[Option<Arc<GridReport>>]) -> Vec<Sentence> {
    let report_of = |name: &str| {
        let mut known = lake.datasets.iter().zip(reports);
        known.find(|(d, _)| d.name == name)?.1.as_ref()
    };
    let waits = |reads: &[String], slot: Slot| {
        let mut inputs = reads.iter();
        inputs.find_map(|input| unclosed(input, &report_of(input)?.days, slot))
    };
    let mut all = Vec::new();
    for (entry, report) in lake.datasets.iter().zip(reports) {
        let Some(report) = report else { continue };
        let bad = report.attention.iter();
        let bad =
            bad.filter(|row| row.state <= lake.attention.hour && row.state < State::OverBudget);
        // What only waits is not what somebody can mend there.
        let (waiting, own): (Vec<_>, Vec<_>) = bad.partition(|row| {
            row.state == State::Late && waits(&entry.reads, slot_of(row)).is_some()
        });
        if let Some(worst) = own.first() {
            let reason = worst.reasons.first();
            all.push(Sentence::Hours {
                dataset: entry.name.clone(),
                slot: slot_of(worst),
                state: worst.state,
                why: reason.map(|r| r.message.clone()).unwrap_or_default(),
                more: own.len() as u64 - 1,
            });
        }
        let oldest = waiting.iter().map(|row| slot_of(row)).min();
        if let Some(input) = oldest.and_then(|slot| waits(&entry.reads, slot)) {
            let dataset = entry.name.clone();
            all.push(Sentence::Waits {
                reader: entry.name.clone(),
                href: Route::Hours { dataset }.href(),
                input: Unclosed {
                    more: waiting.len() - 1,
                    ..input
                },
            });
        }
        let mut over = report.attention.iter();
        let over = over.find(|row| row.state == State::OverBudget);
        if let Some(row) = over {
            let count = report.counts.iter().find(|(s, _)| *s == State::OverBudget);
            all.push(Sentence::Budget {
                dataset: entry.name.clone(),
                slot: slot_of(row),
                hours: count.map_or(1, |(_, count)| *count),
                owner: report.dataset.compaction_owner.clone(),
            });
        }
    }
    for table in &lake.tables {
        let late = table.reads.iter().find_map(|input| {
            let report = report_of(input)?;
            let mut bad = report.attention.iter();
            let worst = bad.find(|row| row.state <= State::Late)?;
            let count = report.counts.iter().filter(|(s, _)| *s <= State::Late);
            Some(Unclosed {
                dataset: input.clone(),
                slot: slot_of(worst),
                state: worst.state,
                more: count.map(|(_, n)| *n as usize).sum::<usize>() - 1,
            })
        });
        if let Some(input) = late {
            let href = Route::Timeline {
                table: table.name.clone(),
            };
            all.push(Sentence::Waits {
                reader: table.name.clone(),
                href: href.href(),
                input,
            });
        }
    }
    all.sort_by_key(Sentence::rank);
    all
}

fn slot_of(row: &HourRow) -> Slot {
    Slot {
        day: row.date,
        hour: row.hour,
    }
}

#[cfg(test)]
mod tests;
