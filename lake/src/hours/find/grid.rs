//! A window of a dataset: for the grid, and row by row.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::forget::Held;
use super::memory::{Known, Standing};
use super::row::{declared, row};
use super::sizes::sizes;
use super::tally::Tally;
use super::{Finder, Gate, bounded};
use crate::figures::size;
use crate::hours::closed::{Seen, Stop, Walk};
use crate::hours::dataset::Dataset;
use crate::hours::day::{Day, Slot};
use crate::hours::key::{RUN, Role, findings, partition, place, role};
use crate::hours::spelled::is_day;
use crate::hours::state::{Remark, State};
use crate::wire::hours::{ClosedReport, Fresh, GridDay, GridReport, HourRow, HoursReport};
use crate::wire::{Finding, Severity};
use crate::{Error, Kind, Result};

/// Hours that need a person and are described, at most.
const ATTENTION: usize = 200;

/// Days that are read at once on the way to what holds a dataset back.
const STRIDE: i32 = 92;

/// Rounds that find nothing new until the question is given up.
const ROUNDS: usize = 4;

/// An object is small below it where the dataset has no budget.
pub(super) const SMALL: u64 = 16 * 1024 * 1024;

/// Closed hours from which on their sizes are worth a word.
const SOME: usize = 24;

impl Finder {
    /// How the hours from `from` to `to` stand, both included.
    pub async fn grid(&self, from: Day, to: Day, fresh: Fresh) -> Result<GridReport> {
        bounded(from, to)?;
        let _held = self.hold(from, to);
        self.window(from, to, fresh, Gate::Suspect).await?;
        let known = self.memory.lock();
        let standings = self.standings(&known, from, to);
        let mut attention: Vec<&Standing> = standings
            .iter()
            .filter(|standing| standing.verdict.state.needs_attention() || standing.late_data())
            .collect();
        let closed = self.closed_up_to(&known);
        attention.sort_by_key(|standing| {
            let Slot { day, hour } = standing.slot;
            let blocked = closed.blocked_by.as_ref();
            let holds = blocked.is_some_and(|b| (b.date, b.hour) == (day, hour));
            (!holds, standing.verdict.state, Reverse(standing.slot))
        });
        let days = from.to(to).map(|day| {
            let of_day = |standing: &&Standing| standing.slot.day == day;
            let first = standings.partition_point(|standing| standing.slot.day < day);
            let its = || standings.iter().skip(first).take_while(of_day);
            GridDay {
                date: day,
                states: its().map(|s| s.verdict.state.letter()).collect(),
                remarks: remarks(its().map(|s| s.remark(&self.dataset))),
                objects: its().map(|s| s.verdict.objects).collect(),
                bytes: its().map(|s| s.verdict.bytes).collect(),
                listed_at: its().filter_map(|s| s.at).min(),
            }
        });
        Ok(GridReport {
            dataset: declared(&self.dataset),
            from,
            to,
            now: self.now,
            days: days.collect(),
            counts: counts(&self.dataset, &standings).into_iter().collect(),
            declared_empty: declared_empty(&standings),
            closed,
            attention: attention
                .iter()
                .take(ATTENTION)
                .map(|s| row(&self.dataset, s))
                .collect(),
            attention_total: attention.len() as u64,
            sizes: sizes(&standings),
            findings: self.findings(&known, &standings, from, to),
        })
    }

    /// The same, row by row, and counted from the dataset's first day.
    pub async fn hours(&self, from: Day, to: Day, fresh: Fresh, gate: Gate) -> Result<HoursReport> {
        bounded(from, to)?;
        let _held = self.hold(from, to);
        self.window(from, to, fresh, gate).await?;
        let closed = self.closed().await?;
        let known = self.memory.lock();
        let standings = self.standings(&known, from, to);
        Ok(HoursReport {
            dataset: self.dataset.name.clone(),
            zone: self.dataset.zone.clone(),
            from,
            to,
            closed_up_to: closed.up_to,
            counts: counts(&self.dataset, &standings).into_iter().collect(),
            hours: standings.iter().map(|s| row(&self.dataset, s)).collect(),
            blocked_by: closed.blocked_by,
            sizes: sizes(&standings),
            findings: self.findings(&known, &standings, from, to),
            now: self.now,
        })
    }

    /// The rows alone, for whoever does not ask up to when the dataset is closed.
    pub async fn rows(&self, from: Day, to: Day, gate: Gate) -> Result<Vec<HourRow>> {
        bounded(from, to)?;
        let _held = self.hold(from, to);
        self.window(from, to, Fresh::Known, gate).await?;
        let known = self.memory.lock();
        let standings = self.standings(&known, from, to);
        Ok(standings.iter().map(|s| row(&self.dataset, s)).collect())
    }

    /// Up to when the dataset is closed. Reads from its first day on what is not known, as far as
    /// the first hour that holds it back.
    pub async fn closed(&self) -> Result<ClosedReport> {
        let mut walk = Walk::default();
        // What was read is held until it was looked at.
        let mut held: Option<(Held<'_>, Day, Day)> = None;
        let mut before = None;
        let mut same = 0;
        loop {
            let stop = self.walk(&mut walk, &self.memory.lock());
            // Each round gets further, unless somebody else makes things change or be forgotten.
            let at = match &stop {
                Stop::There(report) => return Ok(report.clone()),
                Stop::Read(day, _) => (*day, None),
                Stop::Check(slots) => (
                    slots.first().map_or(Day::of(self.now), |slot| slot.day),
                    slots.first().copied(),
                ),
            };
            same = if before == Some(at) { same + 1 } else { 0 };
            if same == ROUNDS {
                let message = "what is read changes meanwhile: ask again";
                return Err(Error::new(Kind::Conflict, message).at("date", at.0));
            }
            before = Some(at);
            match stop {
                Stop::There(report) => return Ok(report),
                Stop::Read(first, last) => {
                    let last = last.min(first.plus(STRIDE - 1));
                    held = Some((self.hold(first, last), first, last));
                    self.look(first, last, Fresh::Known).await?;
                }
                Stop::Check(slots) => {
                    let days = slots.first().zip(slots.last());
                    let (first, last) = days.map_or((at.0, at.0), |(a, b)| (a.day, b.day));
                    let holds = |(_, from, to): &(_, Day, Day)| *from <= first && last <= *to;
                    if !held.as_ref().is_some_and(holds) {
                        held = Some((self.hold(first, last), first, last));
                    }
                    self.gates(&slots, Gate::Doubt).await?;
                }
            }
        }
    }

    fn closed_up_to(&self, known: &Known) -> ClosedReport {
        self.walk(&mut Walk::default(), known).into()
    }

    fn walk(&self, walk: &mut Walk, known: &Known) -> Stop {
        let dataset = &self.dataset;
        let seen = |slot| match known.standing(dataset, slot, self.now) {
            Some(standing) if standing.unchecked(dataset) => Seen::Unchecked,
            Some(standing) => {
                let (state, why) = Self::why(&standing);
                Seen::Stands(state, why)
            }
            None if known.passed.contains(&slot) => Seen::Stands(State::Closed, String::new()),
            None => Seen::Unread,
        };
        let read = |slot| known.slots.contains_key(&slot) || known.passed.contains(&slot);
        walk.go(dataset, self.now, seen, read)
    }

    pub(super) async fn window(&self, from: Day, to: Day, fresh: Fresh, gate: Gate) -> Result<()> {
        bounded(from, to)?;
        self.look(from, to, fresh).await?;
        let slots: Vec<Slot> = from
            .to(to)
            .flat_map(|day| self.dataset.slots(day))
            .collect();
        self.gates(&slots, gate).await
    }

    /// What the listings show beside the hours: of the window's days, and beside all days.
    pub(super) fn findings(
        &self,
        known: &Known,
        standings: &[Standing],
        from: Day,
        to: Day,
    ) -> Vec<Finding> {
        let mut tally = Tally::default();
        for (_, rest) in known.days.range(from..=to) {
            tally.merge(&rest.tally);
        }
        self.beside_days(known, &mut tally);
        let mut findings = tally.findings();
        findings.extend(self.over_partitioned(standings));
        findings.extend(self.not_checked(standings));
        findings
    }

    /// Keys and folders directly below the dataset's prefix that are no day.
    fn beside_days(&self, known: &Known, tally: &mut Tally) {
        let Some((folders, keys)) = &known.root else {
            return;
        };
        let dataset = &self.dataset;
        if folders.is_empty() && keys.is_empty() {
            let message = nothing_lies(dataset);
            tally.add(
                Severity::Warning,
                "nothing_there",
                &message,
                &declared(dataset).location,
            );
        }
        for object in keys {
            let name = object.key.rsplit('/').next().unwrap_or_default();
            match place(dataset, name, object.bytes).role {
                Role::Folder => {}
                Role::Data => {
                    tally.key(dataset, object);
                    tally.stray(object);
                }
                Role::Hidden if name == "_SUCCESS" => tally.add(
                    Severity::Warning,
                    "root_marker",
                    "a marker above all partitions closes none of them",
                    &object.key,
                ),
                Role::Hidden => {}
            }
        }
        for folder in folders {
            let name = folder.rsplit('/').next().unwrap_or_default();
            if name.starts_with(".spark-staging") || name == "_temporary" {
                tally.add(
                    Severity::Warning,
                    "in_progress",
                    "a writer has begun and not finished, or left its work behind",
                    folder,
                );
            }
            if role(&format!("{name}/x"), 1) == Role::Hidden {
                continue;
            }
            let day: Option<Day> = partition(name)
                .filter(|(column, _)| column == dataset.date_column())
                .and_then(|(_, value)| value?.parse().ok());
            if let Some(day) = day {
                if is_day(dataset, day, folder) {
                    tally.add(
                        Severity::Error,
                        "partition_value",
                        "another way to write a day: no marker can close what lies there",
                        folder,
                    );
                }
                if day > Day::of(self.now).plus(1) {
                    tally.add(
                        Severity::Warning,
                        "future_partition",
                        "a day that is yet to come has keys: does a writer's clock run ahead?",
                        folder,
                    );
                }
                continue;
            }
            let found = findings(dataset, &format!("{name}/x"));
            for finding in &found {
                tally.add(finding.severity, &finding.rule, &finding.message, folder);
            }
            if found.is_empty() && !name.starts_with(RUN) {
                tally.add(
                    Severity::Error,
                    "stray_key",
                    "a folder that is no partition of the dataset: no marker can close what lies in it",
                    folder,
                );
            }
        }
    }

    /// Closed hours of which nobody knows whether they are complete.
    fn not_checked(&self, standings: &[Standing]) -> Option<Finding> {
        let mut all = standings.iter().filter(|s| s.unchecked(&self.dataset));
        let first = all.next()?.slot;
        let count = 1 + all.count();
        Some(Finding {
            severity: Severity::Warning,
            rule: "completeness_not_checked".to_owned(),
            location: None,
            message: match count {
                1 => format!("{first} is closed, and its completeness was not checked"),
                n => {
                    format!("{n} closed hours whose completeness was not checked, from {first} on")
                }
            },
        })
    }

    /// Closed hours that hold one small object each.
    fn over_partitioned(&self, standings: &[Standing]) -> Option<Finding> {
        let small = self.dataset.budget.median_bytes.unwrap_or(SMALL);
        let closed = standings.iter().filter(|s| s.verdict.state.is_closed());
        let all = closed.clone().count();
        let thin = closed
            .filter(|s| s.verdict.objects == 1 && s.verdict.bytes < small)
            .count();
        (all >= SOME && thin * 2 > all).then(|| Finding {
            severity: Severity::Warning,
            rule: "over_partitioned".to_owned(),
            location: None,
            message: format!(
                "{thin} of {all} closed hours hold one object below {} each (called out from half of {SOME} hours on): partitions of a day would do",
                size(small)
            ),
        })
    }
}

/// The letters of a day, as [`GridDay::remarks`] has them.
fn remarks(all: impl Iterator<Item = Option<Remark>>) -> String {
    let letters: String = all.map(|r| r.map_or('.', Remark::letter)).collect();
    match letters.bytes().all(|letter| letter == b'.') {
        true => String::new(),
        false => letters,
    }
}

/// Empty slots of which somebody, or a marker without data, says so.
fn declared_empty(standings: &[Standing]) -> u64 {
    let empty = standings.iter().map(|standing| &standing.verdict);
    let empty = empty.filter(|verdict| verdict.state == State::Empty);
    let said = empty.filter(|verdict| verdict.reasons.iter().any(|why| why.key.is_some()));
    said.count() as u64
}

/// What is said of a dataset without any key.
pub fn nothing_lies(dataset: &Dataset) -> String {
    let location = declared(dataset).location;
    format!("nothing lies under {location}: is the prefix right?")
}

/// Slots by state, worst first. Those before the dataset's first day are none of its own.
pub(super) fn counts(dataset: &Dataset, standings: &[Standing]) -> BTreeMap<State, u64> {
    let mut counts = BTreeMap::new();
    let of_dataset = |standing: &&Standing| {
        standing.verdict.state != State::Empty || !dataset.before_first(standing.slot)
    };
    for standing in standings.iter().filter(of_dataset) {
        *counts.entry(standing.verdict.state).or_default() += 1;
    }
    counts
}
