//! Whether a reader may scan.

use std::collections::BTreeSet;

use futures::TryStreamExt;

use super::list::Piece;
use super::{Finder, Gate, bounded};

use crate::hours::day::{Day, Slot};
use crate::hours::listing::prefix_path;
use crate::hours::state::State;
use crate::table::Time;
use crate::wire::hours::{CheckReport, CheckWindowReport, Fresh};
use crate::{Error, Result};

impl Finder {
    /// Whether one slot may be scanned, by everything that can be read of it now.
    pub async fn check(&self, slot: Slot) -> Result<CheckReport> {
        self.fits(slot)?;
        let _held = self.hold(slot.day, slot.day);
        self.look_at(slot, Fresh::Again).await?;
        let standing = self.gated(slot).await?;
        if standing.verdict.state == State::Empty {
            // Nothing is there: unless it lies beside, where only the day is written another way.
            self.list(vec![Piece::Root]).await?;
        }
        let known = self.memory.lock();
        let standing = known.standing_or_empty(&self.dataset, slot, self.now);
        Ok(self.checked(&known, &standing))
    }

    /// Whether the store has no key at all below the dataset's prefix.
    pub async fn nothing_there(&self) -> Result<bool> {
        let prefix = prefix_path(&self.dataset.prefix)?;
        let first = self.store.list(prefix.as_ref()).try_next().await;
        let first = first.map_err(|e| Error::from(e).at("prefix", &self.dataset.prefix))?;
        Ok(first.is_none())
    }

    /// Whether all slots of the time from `from` until before `to` may be scanned together.
    pub async fn check_window(&self, from: Time, to: Time) -> Result<CheckWindowReport> {
        if from >= to {
            return Err(Error::invalid(format!("{from} is not before {to}")));
        }
        let last = Time(to.0 - 1);
        let (first, last) = (Day::of(from), Day::of(last));
        bounded(first, last)?;
        let _held = self.hold(first, last);
        self.window(first, last, Fresh::Again, Gate::All).await?;
        let known = self.memory.lock();
        let standings = self.standings(&known, first, last);
        let within = |slot: Slot| slot.end() > from && slot.start() < to;
        let hours: Vec<CheckReport> = standings
            .iter()
            .filter(|standing| within(standing.slot))
            .map(|standing| self.checked(&known, standing))
            .collect();
        let versions: BTreeSet<String> = hours
            .iter()
            .filter(|hour| hour.closed)
            .filter_map(|hour| hour.definition_version.clone())
            .collect();
        let refused = match hours.iter().find(|hour| !hour.passes) {
            Some(hour) => Some(sentence(hour)),
            None if versions.len() > 1 => {
                let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
                Some(format!(
                    "the hours have more than one definition_version: {}",
                    versions.join(", ")
                ))
            }
            None => None,
        };
        Ok(CheckWindowReport {
            dataset: self.dataset.name.clone(),
            from,
            to,
            closed: refused.is_none(),
            refused,
            prefixes: hours
                .iter()
                .filter_map(|hour| hour.prefix.clone())
                .collect(),
            object_count: hours.iter().map(|hour| hour.object_count).sum(),
            bytes: hours
                .iter()
                .fold(0, |sum, hour| sum.saturating_add(hour.bytes)),
            definition_version: match versions.len() {
                1 => versions.into_iter().next(),
                _ => None,
            },
            hours,
        })
    }

    /// A slot that the dataset has.
    pub(super) fn fits(&self, slot: Slot) -> Result<()> {
        match (self.dataset.hourly(), slot.hour) {
            (true, Some(0..=23)) | (false, None) => Ok(()),
            (true, Some(hour)) => Err(Error::invalid(format!("{hour} is no hour from 0 to 23"))),
            (true, None) => Err(Error::invalid(
                "the dataset has hours: say which one is meant, from 0 to 23",
            )),
            (false, Some(_)) => Err(Error::invalid(
                "the dataset has no hours: a whole day is meant",
            )),
        }
    }
}

/// Why a slot may not be scanned, in a sentence.
pub fn sentence(hour: &CheckReport) -> String {
    let slot = Slot {
        day: hour.date,
        hour: hour.hour,
    };
    let why = hour.reasons.first().map(|reason| match &reason.key {
        Some(key) => format!(": {} ({key})", reason.message),
        None => format!(": {}", reason.message),
    });
    format!(
        "{slot} is {}{}",
        hour.state.words(),
        why.unwrap_or_default()
    )
}
