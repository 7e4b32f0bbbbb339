//! A window as a grid shows it.

use std::collections::BTreeMap;

use super::rows::{findings, row_of, sizes};
use super::{closed_from, declared};
use crate::Result;
use crate::host::SharedHost;
use crate::hours::find::{Days, Memory, Source, window};
use crate::hours::{Slot, State};
use crate::table::Time;
use crate::wire::hours::{Fresh, GridDay, GridReport};

/// Hours that are listed with their reasons.
const ATTENTION: usize = 200;

/// A window of days, both ends included.
pub async fn grid(
    source: &Source,
    memory: &Memory,
    days: Days,
    fresh: Fresh,
    now: Time,
    host: &SharedHost,
) -> Result<GridReport> {
    let window = window(source, memory, days, fresh, now, host).await?;
    let verdicts = window.verdicts();
    let mut counts = BTreeMap::<State, u64>::new();
    let mut grid: Vec<GridDay> = Vec::new();
    for (slot, verdict) in &verdicts {
        *counts.entry(verdict.state).or_default() += 1;
        if grid.last().is_none_or(|day| day.date != slot.day) {
            grid.push(GridDay {
                date: slot.day,
                states: String::new(),
                objects: Vec::new(),
                bytes: Vec::new(),
                listed_at: window.listed.get(&slot.day).map(|listed| listed.at),
            });
        }
        if let Some(day) = grid.last_mut() {
            day.states.push(verdict.state.letter());
            day.objects.push(verdict.objects);
            day.bytes.push(verdict.bytes);
        }
    }
    let mut attention: Vec<_> = verdicts
        .iter()
        .filter(|(_, verdict)| verdict.state.needs_attention())
        .collect();
    attention.sort_by_key(|(slot, verdict)| (verdict.state, std::cmp::Reverse::<Slot>(*slot)));
    let total = attention.len() as u64;
    let attention = attention.into_iter().take(ATTENTION);
    Ok(GridReport {
        dataset: declared(&source.dataset),
        from: days.from,
        to: days.to,
        now,
        days: grid,
        counts: counts.into_iter().collect(),
        closed: closed_from(source, memory, &window),
        attention: attention
            .map(|(slot, verdict)| row_of(&window, *slot, verdict))
            .collect(),
        attention_total: total,
        sizes: sizes(&window, &verdicts),
        findings: findings(&window, &verdicts),
    })
}
