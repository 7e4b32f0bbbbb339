//! Completeness: whether every line of every order became a row, or is known to be a dead letter.
//!
//! A count of objects that matches says nothing of records that never became objects. Orders number
//! their lines from 1, so a hole shows: for each order, the lines that landed and those that were
//! dead-lettered must cover 1 to the largest number seen.

mod letters;
mod lines;
mod orders;
mod take;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::{StreamExt, TryStreamExt, stream, try_join};
use object_store::ObjectStore;

use super::columns::{FOOTERS, GROUPS, of_file, parts};
use super::dataset::{Complete, Dataset};
use super::judge::Completeness;
use super::listing::Object;
use crate::host::{Progress, SharedHost};
use crate::{Error, Kind, Result};
use letters::{Form, form, whole};
use orders::Side;
use take::{Shared, Taken, take};

/// Asks the gate about a run. `dead_letters` are the objects that landed under the dead-letter
/// prefix for the same hour; `None` where there is no such prefix, or it cannot be listed: then the
/// gate fails, and says so.
///
/// Only the columns of key and sequence are fetched. A row that landed twice is one line, and one
/// that landed and is a dead letter too has landed. Keys are compared as text, whether a file has
/// them as text, bytes or whole numbers. A row without a key, or whose sequence is no whole number
/// from 1 on, is a line nobody can account for: whichever side it is on, it makes the gate fail, by
/// [`Completeness::unreadable`], which names the file and the row, and never a value.
///
/// An error means that the store could not be asked. What a file holds, or that it is gone, is an
/// answer.
pub async fn gate(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    run: &[Object],
    dead_letters: Option<&[Object]>,
    host: &SharedHost,
) -> Result<Completeness> {
    let Some(rule) = &dataset.complete else {
        return Err(Error::invalid(format!(
            "`{}` declares no sequence of lines, so nothing can be said of its completeness",
            dataset.name
        )));
    };
    let of = run.len() + dead_letters.map_or(0, <[Object]>::len);
    let reading = Reading {
        rule,
        store,
        host,
        orders: Shared::default(),
        done: AtomicU64::new(0),
        of: of as u64,
    };
    let (landed, dead) = try_join!(
        reading.files(run, Side::Landed),
        reading.letters(dead_letters.unwrap_or_default())
    )?;
    let mut reasons = Vec::new();
    if dead_letters.is_none() {
        reasons.push(match &rule.dead_letters {
            None => "no prefix is configured where dead letters land, so a line that is missing cannot be told from one that was dead-lettered".to_owned(),
            Some(prefix) => format!("the dead letters below {prefix}/ cannot be listed"),
        });
    }
    reasons.extend(landed.sentence("row of the run", "rows of the run", rule));
    reasons.extend(dead.sentence("dead letter", "dead letters", rule));
    let mut found = reading.orders.gathered()?.completeness();
    found.unreadable = (!reasons.is_empty()).then(|| reasons.join("; "));
    Ok(found)
}

/// Lines that cannot be accounted for.
#[derive(Default)]
struct Bad {
    count: u64,
    /// The first of them: file and place in it.
    first: Option<String>,
    /// Files that could not be read to their end.
    files: u64,
    /// The first of them, and what is wrong with it.
    file: Option<String>,
    last_file: Option<String>,
}

impl Bad {
    fn lines(&mut self, object: &Object, count: u64, first: impl FnOnce() -> String) {
        self.count += count;
        let first = || format!("{}, {}", object.key, first());
        self.first.get_or_insert_with(first);
    }

    /// Notes a file that cannot be read; where the store could not be asked, that is the answer.
    fn file(&mut self, object: &Object, error: Error) -> Result<()> {
        if !of_file(&error) {
            return Err(error.at("key", &object.key));
        }
        // Row groups of one file come one after another.
        if self.last_file.as_ref() != Some(&object.key) {
            self.last_file = Some(object.key.clone());
            self.files += 1;
        }
        let first = || format!("{}: {}", object.key, error.sentence());
        self.file.get_or_insert_with(first);
        Ok(())
    }

    /// Both.
    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            first: self.first.or(other.first),
            files: self.files + other.files,
            file: self.file.or(other.file),
            last_file: other.last_file,
        }
    }

    fn sentence(&self, one: &str, many: &str, rule: &Complete) -> Option<String> {
        let Complete { key, sequence, .. } = rule;
        let of = format!("from which `{key}` and `{sequence}` cannot be read");
        let lines = self.first.as_ref().map(|first| match self.count {
            1 => format!("a {one} {of} ({first})"),
            n => format!("{n} {many} {of} (the first: {first})"),
        });
        let files = self.file.as_ref().map(|first| match self.files {
            1 => format!("a file of {many} that cannot be read ({first})"),
            n => format!("{n} files of {many} that cannot be read (the first: {first})"),
        });
        match (lines, files) {
            (Some(lines), Some(files)) => Some(format!("{lines}; {files}")),
            (lines, files) => lines.or(files),
        }
    }
}

struct Reading<'a> {
    rule: &'a Complete,
    store: &'a Arc<dyn ObjectStore>,
    host: &'a SharedHost,
    orders: Shared,
    done: AtomicU64,
    of: u64,
}

impl Reading<'_> {
    /// Takes Parquet files in.
    async fn files(&self, objects: &[Object], side: Side) -> Result<Bad> {
        let names = [self.rule.key.as_str(), self.rule.sequence.as_str()];
        let parts = parts(self.store, objects, &names).map(|part| async {
            match part {
                Ok(part) => take(part, side, &self.orders, self.host).await,
                Err(unread) => Ok(Taken::from(unread)),
            }
        });
        let lanes = self.host.lanes().clamp(1, GROUPS);
        let mut taken = parts.buffered(lanes).boxed();
        let mut bad = Bad::default();
        while let Some(part) = taken.try_next().await? {
            let object = part.object;
            if let Some(row) = part.first_bad {
                bad.lines(object, part.bad, || format!("row {}", row + 1));
            }
            if let Some(error) = part.error {
                bad.file(object, error)?;
            }
            if part.last {
                self.read()?;
            }
        }
        Ok(bad)
    }

    /// Takes dead letters in, whatever form they landed in.
    async fn letters(&self, objects: &[Object]) -> Result<Bad> {
        let mut bad = Bad::default();
        let mut parquet = Vec::new();
        let heads = stream::iter(objects)
            .map(|object| async move { (object, form(self.store, object).await) });
        let mut heads = heads.buffered(FOOTERS).boxed();
        while let Some((object, form)) = heads.next().await {
            let json = match form {
                Ok(Form::Parquet) => {
                    parquet.push(object.clone());
                    continue;
                }
                Ok(Form::Json(bytes)) => Ok(bytes),
                // One at a time: they may be large.
                Ok(Form::LongJson) => whole(self.store, object).await,
                Err(error) => Err(error),
            };
            let read = json.and_then(|json| {
                self.orders.with(|orders| {
                    letters::read(&json, self.rule, orders, |place| {
                        bad.lines(object, 1, || place.to_string());
                    })
                })
            });
            if let Err(error) = read {
                bad.file(object, error)?;
            }
            self.read()?;
            self.host.pause().await;
        }
        drop(heads);
        Ok(bad.and(self.files(&parquet, Side::Dead).await?))
    }

    /// Tells of one file more.
    fn read(&self) -> Result<()> {
        self.host.progress(Progress {
            step: "checking completeness".to_owned(),
            done: self.done.fetch_add(1, Ordering::Relaxed) + 1,
            of: Some(self.of),
        });
        match self.host.cancelled() {
            true => Err(Error::new(
                Kind::Cancelled,
                "the gate was not asked to its end",
            )),
            false => Ok(()),
        }
    }
}
