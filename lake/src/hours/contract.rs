//! The contract of a dataset, checked from footers: which columns its files have, of which types,
//! and whether their events are of the hour they lie in. No row is read, and no value is named.

mod footer;
mod grain;
mod kinds;
mod plain;
#[cfg(test)]
mod tests;
mod times;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use object_store::ObjectStore;

use super::columns::{FOOTERS, of_file};
use super::dataset::Dataset;
use super::day::Slot;
use super::listing::{Object, path};
use crate::figures::counted;
use crate::host::{Progress, SharedHost};
use crate::parquet::reader::ParquetFile;
use crate::table::Time;
use crate::wire::{Finding, Severity};
use crate::{Error, Kind, Result};
pub use grain::{grain_blocks, grain_duplicates};

/// Files that one finding names; the others are counted.
const NAMED: usize = 5;

/// What the footers say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    /// What is not as it was declared, worst first. Errors forbid a publish, warnings do not.
    pub findings: Vec<Finding>,
    /// Why the run may not be published: the first error, and how many more there are.
    pub blocks: Option<String>,
    /// The newest event; `None` where some file does not say, or nothing says what an event is.
    pub max_event_time: Option<Time>,
    /// The oldest event, likewise.
    pub min_event_time: Option<Time>,
    /// Rows; `None` where some file does not say.
    pub rows: Option<u64>,
}

/// Checks the files of a slot against what the dataset declares, by at most two ranged reads a file.
///
/// Errors are a prohibited column, a declared column that is missing or of another type, events
/// outside the slot, and a file of which none of this can be found out. A column that nobody
/// declared, and times that no statistics prove, are warnings.
///
/// Columns are found by name, in any case where no other is alike. Prohibited names are looked for
/// at every depth. A file that is not Parquet is looked at by its header or its first record.
///
/// An error means that the store could not be asked.
pub async fn check(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    slot: Slot,
    objects: &[Object],
    host: &SharedHost,
) -> Result<Contract> {
    let mut checked = Checker::new(dataset, slot);
    let looks = futures::stream::iter(objects).map(|object| async move {
        let look = async {
            match plain::form(object) {
                plain::Form::Parquet => {
                    let file = ParquetFile::open(store, &path(&object.key)?).await?;
                    footer::look(dataset, &file)
                }
                form => plain::look(dataset, store, object, form).await,
            }
        };
        (object, look.await)
    });
    let mut looks = std::pin::pin!(looks.buffered(FOOTERS));
    let mut done = 0;
    while let Some((object, look)) = looks.next().await {
        match look {
            Ok(look) => checked.add(object, look),
            Err(error) if of_file(&error) => checked.unread(object, &error),
            Err(error) => return Err(error.at("key", &object.key)),
        }
        done += 1;
        host.progress(Progress {
            step: "checking the contract".to_owned(),
            done,
            of: Some(objects.len() as u64),
        });
        if host.cancelled() {
            return Err(Error::new(
                Kind::Cancelled,
                "the contract was not checked to its end",
            ));
        }
        host.pause().await;
    }
    Ok(checked.finish())
}

/// What one file's footer says.
#[derive(Debug, Default)]
struct Look {
    /// Rule, column and fact of each thing that is not as declared.
    faults: Vec<Fault>,
    rows: Option<u64>,
    times: times::Times,
}

/// One thing that is not as it was declared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fault {
    severity: Severity,
    rule: &'static str,
    message: String,
}

impl Fault {
    fn error(rule: &'static str, message: String) -> Self {
        Self {
            severity: Severity::Error,
            rule,
            message,
        }
    }

    fn warning(rule: &'static str, message: String) -> Self {
        Self {
            severity: Severity::Warning,
            rule,
            message,
        }
    }
}

/// What the files say together.
pub(super) struct Checker<'a> {
    dataset: &'a Dataset,
    slot: Slot,
    /// Keys of each fault, and how many there are.
    faults: BTreeMap<Fault, (Vec<String>, u64)>,
    /// Files with events outside the slot.
    outside: (Vec<Finding>, u64),
    /// Files without provable times, the first few, and why.
    unproven: (Vec<String>, u64),
    range: Option<(i128, i128)>,
    rows: Option<u64>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(dataset: &'a Dataset, slot: Slot) -> Self {
        Self {
            dataset,
            slot,
            faults: BTreeMap::new(),
            outside: (Vec::new(), 0),
            unproven: (Vec::new(), 0),
            range: None,
            rows: Some(0),
        }
    }

    fn fault(&mut self, object: &Object, fault: Fault) {
        let (keys, count) = self.faults.entry(fault).or_default();
        *count += 1;
        if keys.len() < NAMED {
            keys.push(object.key.clone());
        }
    }

    fn unread(&mut self, object: &Object, error: &Error) {
        self.rows = None;
        self.unproven.1 += 1;
        let message = format!("it cannot be checked: {}", error.sentence());
        self.fault(object, Fault::error("unreadable", message));
    }

    /// Takes a file in whose footer was read.
    #[cfg(feature = "write")]
    pub(super) fn take(&mut self, object: &Object, file: &ParquetFile) -> Result<()> {
        self.add(object, footer::look(self.dataset, file)?);
        Ok(())
    }

    fn add(&mut self, object: &Object, look: Look) {
        self.rows = self.rows.zip(look.rows).and_then(|(a, b)| a.checked_add(b));
        for fault in look.faults {
            self.fault(object, fault);
        }
        let Some(column) = &self.dataset.event_time else {
            return;
        };
        match look.times {
            times::Times::None => {}
            times::Times::Unproven(why) => {
                self.unproven.1 += 1;
                if self.unproven.0.len() < NAMED {
                    self.unproven.0.push(format!("{} ({why})", object.key));
                }
            }
            times::Times::Range(min, max) => {
                self.range = Some(match self.range {
                    None => (min, max),
                    Some((least, most)) => (least.min(min), most.max(max)),
                });
                if times::outside(self.slot, min, max) {
                    self.outside.1 += 1;
                    if self.outside.0.len() < NAMED {
                        self.outside.0.push(Finding {
                            severity: Severity::Error,
                            rule: "event_time".to_owned(),
                            location: Some(object.key.clone()),
                            message: times::sentence(column, self.slot, min, max),
                        });
                    }
                }
            }
        }
    }

    pub(super) fn finish(self) -> Contract {
        let (mut findings, outside) = self.outside;
        let shown = findings.len() as u64;
        if let Some(last) = findings.last_mut().filter(|_| outside > shown) {
            last.message = format!(
                "{}; so it is in {} more",
                last.message,
                counted(outside - shown, "file")
            );
        }
        let mut errors = outside;
        for (fault, (keys, count)) in self.faults {
            if fault.severity == Severity::Error {
                errors += count;
            }
            let more = count - keys.len() as u64;
            let last = keys.len().saturating_sub(1);
            for (at, key) in keys.into_iter().enumerate() {
                let message = match more {
                    more if more > 0 && at == last => {
                        format!(
                            "{}; so it is in {} more",
                            fault.message,
                            counted(more, "file")
                        )
                    }
                    _ => fault.message.clone(),
                };
                findings.push(Finding {
                    severity: fault.severity,
                    rule: fault.rule.to_owned(),
                    location: Some(key),
                    message,
                });
            }
        }
        let (unproven, count) = self.unproven;
        if let Some(column) = self
            .dataset
            .event_time
            .as_ref()
            .filter(|_| !unproven.is_empty())
        {
            findings.push(Finding {
                severity: Severity::Warning,
                rule: "event_time_unproven".to_owned(),
                location: None,
                message: format!(
                    "{} do not prove when their events were, by statistics of `{column}`: {}",
                    counted(count, "file"),
                    unproven.join(", ")
                ),
            });
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let first = findings
            .first()
            .filter(|finding| finding.severity == Severity::Error);
        let blocks = first.map(|finding| {
            let key = finding.location.as_deref().unwrap_or_default();
            match errors.saturating_sub(1) {
                0 => format!("{key}: {}", finding.message),
                more => format!("{key}: {}; {more} more errors", finding.message),
            }
        });
        let proven = self.range.filter(|_| count == 0);
        Contract {
            findings,
            blocks,
            max_event_time: proven.map(|(_, max)| times::millis(max)),
            min_event_time: proven.map(|(min, _)| times::millis(min)),
            rows: self.rows,
        }
    }
}
